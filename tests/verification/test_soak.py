"""``make soak``: what a part says becomes an entry of the page, and a part that fails is told."""

from __future__ import annotations

import pytest

from verification import soak
from verification.soak import PARTS, Part, Ran, entry, run_part


def test_the_parts_share_the_whole_time():
    assert pytest.approx(1.0) == sum(part.share for part in PARTS)


def test_an_entry_says_how_long_each_part_ran_and_how_it_ended():
    ran = [Ran(PARTS[0], 21.0, 0, "agree"), Ran(PARTS[1], 12.5, 1, "3 failed | x")]

    text = entry(ran, "2026-11-16")

    assert "## 2026-11-16, 34 minutes" in text
    assert "| engines | 21.0 | held | agree |" in text
    assert "| files | 12.5 | FAILED (1) | 3 failed / x |" in text


@pytest.mark.parametrize(
    ("code", "told"), [(0, "5 of 6 held"), (1, "Warning: old")], ids=["its summary", "what it complained of"]
)
def test_a_part_is_a_process_whose_code_and_last_words_are_kept(code, told, tmp_path, monkeypatch):
    text = "import sys; print('5 of 6 held'); print('Warning: old', file=sys.stderr); sys.exit"
    (tmp_path / "trouble.py").write_text(f"{text}({code})")
    monkeypatch.setattr(soak, "ROOT", tmp_path)

    ran = run_part(Part("trouble", "", 1.0, "trouble"), 0.01)

    assert (code, told) == (ran.code, ran.told)


def test_pieces_go_to_the_part_furthest_behind_and_make_one_entry_in_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(soak, "PIECES", tmp_path / "out" / "soak.json")
    monkeypatch.setattr(soak, "run_part", lambda part, minutes: Ran(part, minutes, int(part.name == "page"), "said"))
    page = tmp_path / "soak.md"
    monkeypatch.setattr("sys.argv", ["soak", "--minutes", "20", "--piece", "4", "--page", str(page)])

    codes = [soak.main() for _ in range(4)]

    assert ["engines", "files", "sweeps", "analyses"] == [each.part.name for each in soak.read_pieces(soak.PIECES)]
    assert ([0, 0, 0, 0], False) == (codes, page.exists())
    assert 1 == soak.main()
    assert "| page | 4.0 | FAILED (1) | said |" in page.read_text()
    assert not soak.PIECES.exists()
