"""What a page shows is what its commands print."""

import re
from pathlib import Path

import pytest
from tools.make_docs import CONSOLE, ROOT, PageError, all_pages, commands_of, differences, pieces_of, remake

# Quick to make, and between them every kind of piece but studies.
IN_EVERY_TEST_RUN = ("docs/reference/profiles.md", "docs/reference/configuration.md", "docs/model/storage.md")


def assert_as_made(name: str, *, is_quick: bool) -> None:
    page = ROOT / name
    kept = page.read_text(encoding="utf-8")
    made = remake(page, is_quick=is_quick, writes=False)

    assert [] == list(differences(page, kept, made)), f"run: python -m tools.make_docs {name}"


@pytest.mark.parametrize("name", IN_EVERY_TEST_RUN)
def test_a_page_shows_what_its_commands_print(name):
    assert_as_made(name, is_quick=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", [str(page.relative_to(ROOT)) for page in all_pages()])
def test_every_page_shows_what_its_quick_commands_print(name):
    assert_as_made(name, is_quick=True)


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: page.name)
def test_every_mark_in_a_page_is_understood(page):
    pieces = list(pieces_of(page.read_text(encoding="utf-8")))

    for piece in pieces:
        if piece.kind == CONSOLE:
            assert commands_of(piece)


def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> Path:
    monkeypatch.setattr("tools.make_docs.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


def test_the_site_leads_to_every_page():
    named = set(re.findall(r"(docs/\S+\.md)\s*$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    pages = {str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md") if page.name != "template.md"}

    assert set() == pages - named


def test_only_the_lines_below_a_command_change(tmp_path, monkeypatch):
    page = written(tmp_path, monkeypatch, "Before\n\n```console\n$ echo one; echo two\nold\n```\n\nAfter\n")

    made = remake(page, is_quick=True, writes=False)

    assert "Before\n\n```console\n$ echo one; echo two\none\ntwo\n```\n\nAfter\n" == made


def test_lines_can_be_chosen_and_cut(tmp_path, monkeypatch):
    marked = "<!-- output: lines one | three -->\n```console\n$ printf 'one\\ntwo\\nthree\\n'\n```\n"
    cut = "```console\n$ printf 'one\\ntwo\\nthree\\n'\nx\n...\n```\n"
    page = written(tmp_path, monkeypatch, marked + cut)

    made = remake(page, is_quick=True, writes=False)

    assert marked.replace("'\n", "'\none\nthree\n") + cut.replace("x\n", "one\n") == made


def test_what_a_command_makes_stands_between_its_marks(tmp_path, monkeypatch):
    page = written(tmp_path, monkeypatch, "<!-- made by: echo '| a |' -->\nold\n<!-- end -->\n")

    made = remake(page, is_quick=True, writes=False)

    assert "<!-- made by: echo '| a |' -->\n\n| a |\n\n<!-- end -->\n" == made


def test_a_command_that_fails_stops_with_its_line_and_what_it_said(tmp_path, monkeypatch):
    page = written(tmp_path, monkeypatch, "Text\n\n```console\n$ echo broken; exit 3\n```\n")

    with pytest.raises(PageError) as stopped:
        remake(page, is_quick=True, writes=False)

    assert (4, "'echo broken; exit 3' ended with 3:\nbroken") == (stopped.value.line, str(stopped.value))


def test_a_picture_that_differs_is_named(tmp_path, monkeypatch):
    page = written(tmp_path, monkeypatch, "<!-- made by: cp /dev/null docs/a.svg -->\n<!-- end -->\n")

    with pytest.raises(PageError, match=r"writes another docs/a\.svg than the one kept"):
        remake(page, is_quick=True, writes=False)


def test_a_mark_without_a_block_is_a_mistake():
    with pytest.raises(PageError, match="is not followed by a block"):
        list(pieces_of("<!-- output: slow -->\n\ntext\n"))


def test_what_is_slow_stays_as_it_is_in_a_quick_check(tmp_path, monkeypatch):
    text = "<!-- output: slow -->\n```console\n$ echo new\nold\n```\n"
    page = written(tmp_path, monkeypatch, text)

    assert text == remake(page, is_quick=True, writes=False)
