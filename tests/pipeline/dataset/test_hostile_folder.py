"""A stranger's dataset: every file is covered, no link is followed, no document is too deep or without end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.pipeline.dataset.test_check import swept
from typer.testing import CliRunner

from endive.cli.main import app
from endive.errors import OutputError
from endive.pipeline.analysis.analysis_folder import refuse_foreign
from endive.pipeline.dataset.check import ANALYSIS, INDEX, check_dataset
from endive.pipeline.dataset.part_files import RECORDS
from endive.pipeline.dataset.seal import is_page_whole, seal_document, seal_page
from endive.pipeline.dataset.sweep_folder import MANIFEST, SweepFolder
from endive.report.reading import open_analysis

__all__ = ["swept"]

DEEP = b"[" * 100_000 + b"]" * 100_000
PAGE = b"<!doctype html>\n<p>All is well.</p>\n"


@pytest.fixture
def folder(swept: tuple[Path, Path], tmp_path: Path) -> Path:
    """A copy that may be damaged, with an analysis of one file."""
    shutil.copytree(swept[0], tmp_path / "out")
    analysis = tmp_path / "out" / ANALYSIS
    analysis.mkdir()
    (analysis / INDEX).write_bytes(seal_document({"digests": {}, "tables": {}}))
    return tmp_path / "out"


def damages(folder: Path) -> list[str]:
    return [damage.text for damage in check_dataset(folder).damages]


def test_every_flipped_bit_of_a_report_is_noticed(folder: Path) -> None:
    whole = seal_page(PAGE)
    assert is_page_whole(whole)
    for place in range(len(whole)):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        assert not is_page_whole(bytes(flipped)), place

    (folder / "report.html").write_bytes(whole)
    assert [] == damages(folder)
    (folder / "report.html").write_bytes(whole.replace(b"well", b"lost"))
    assert [f"{folder / 'report.html'} is not what was written. Run: endive report {folder}"] == damages(folder)


def test_a_report_is_written_with_its_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from endive.report import page

    monkeypatch.setattr(page, "render", lambda report: PAGE.decode())
    page.write_report(None, tmp_path / "report.html")  # type: ignore[arg-type]

    assert is_page_whole((tmp_path / "report.html").read_bytes())


def test_a_linked_analysis_is_not_followed(folder: Path, tmp_path: Path) -> None:
    (folder / ANALYSIS).rename(tmp_path / "elsewhere")
    (folder / ANALYSIS).symlink_to(tmp_path / "elsewhere")
    told = f"{folder / ANALYSIS} is a link out of the dataset, which is not followed. Remove it."

    assert [told] == damages(folder)
    for read in (refuse_foreign, open_analysis):
        with pytest.raises(OutputError, match="is a link out of the dataset"):
            read(folder)


@pytest.mark.parametrize("read", [check_dataset, SweepFolder.read])
def test_a_linked_manifest_is_not_followed(folder: Path, tmp_path: Path, read: Callable[[Path], object]) -> None:
    (folder / MANIFEST).rename(tmp_path / "elsewhere")
    (folder / MANIFEST).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(OutputError, match="is a link out of the dataset"):
        read(folder)


@pytest.mark.parametrize("target", ["/dev/zero", "PIPE"])
@pytest.mark.parametrize("victim", [f"{ANALYSIS}/{INDEX}", MANIFEST, f"{RECORDS}/study=tiny/part-00000.json"])
def test_a_document_that_is_a_device_or_a_pipe_is_damage(folder: Path, victim: str, target: str) -> None:
    places = [folder / victim, *sorted(folder.glob(f"{RECORDS}/study=tiny/part-*.json"))]
    place = next(path for path in places if path.exists())
    place.unlink()
    if target == "PIPE":
        os.mkfifo(place)
    else:
        place.symlink_to(target)

    if place.name == MANIFEST:
        with pytest.raises(OutputError, match="is not the folder of a sweep"):
            check_dataset(folder)
    else:
        assert any(str(place) in text for text in damages(folder))


@pytest.mark.parametrize(
    ("command", "victim"),
    [
        ("check", f"{ANALYSIS}/{INDEX}"),
        *((command, MANIFEST) for command in ("check", "analyze")),
        ("check", "RECORD"),  # which an analysis does not read
    ],
)
def test_a_deep_document_is_damage_and_no_mistake_of_ours(folder: Path, command: str, victim: str) -> None:
    record = sorted(folder.glob(f"{RECORDS}/study=tiny/part-*.json"))[0]
    (record if victim == "RECORD" else folder / victim).write_bytes(b'{"digest": "x", "runs": ' + DEEP + b"}")

    answer = CliRunner().invoke(app, [command, str(folder)])

    assert "mistake in Endive" not in answer.output
    assert answer.exit_code in (1, 2)
