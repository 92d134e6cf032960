"""A stranger's dataset: every file is covered, no link is followed, no document is too deep or without end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.pipeline.dataset.test_check import swept
from tests.pipeline.swept import change_rows
from typer.testing import CliRunner

from endive.cli.main import app
from endive.errors import OutputError
from endive.pipeline.analysis.analysis_folder import refuse_foreign
from endive.pipeline.analysis.open_dataset import open_dataset
from endive.pipeline.dataset.check import ANALYSIS, INDEX, check_dataset
from endive.pipeline.dataset.files import place_of
from endive.pipeline.dataset.runs_table import IDENTITY, MEASURED, OBJECT, append_rows, run_objects
from endive.pipeline.dataset.seal import is_page_whole, seal_document, seal_page
from endive.pipeline.dataset.sweep_dataset import MANIFEST, STUDIES, read_dataset
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
            read(place_of(folder))


@pytest.mark.parametrize("read", [check_dataset, read_dataset])
def test_a_linked_manifest_is_not_followed(folder: Path, tmp_path: Path, read: Callable[[Path], object]) -> None:
    (folder / MANIFEST).rename(tmp_path / "elsewhere")
    (folder / MANIFEST).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(OutputError, match="is a link out of the dataset"):
        read(folder)


@pytest.mark.parametrize("victim", ["runs", "transactions", STUDIES, "_files"])
def test_a_linked_folder_is_damage(folder: Path, tmp_path: Path, victim: str) -> None:
    (folder / victim).rename(tmp_path / "elsewhere")
    (folder / victim).symlink_to(tmp_path / "elsewhere")

    assert f"{folder / victim} is a link out of the dataset, which is not followed. Remove it." in damages(folder)


@pytest.mark.parametrize("target", ["/dev/zero", "PIPE", "ELSEWHERE"])
@pytest.mark.parametrize(
    "victim", [f"{ANALYSIS}/{INDEX}", MANIFEST, f"{STUDIES}/tiny.json", f"{STUDIES}/tiny.toml", "runs", "transactions"]
)
def test_a_document_that_is_a_link_a_device_or_a_pipe_is_damage(
    folder: Path, tmp_path: Path, victim: str, target: str
) -> None:
    place = folder / victim
    if place.is_dir():
        place = next(place.glob("study=tiny/*.parquet"))
    place.rename(tmp_path / "elsewhere")
    if target == "PIPE":
        os.mkfifo(place)
    else:
        place.symlink_to(target if target != "ELSEWHERE" else tmp_path / "elsewhere")

    if place.name == MANIFEST:
        with pytest.raises(OutputError, match=r"is not the folder of a sweep|is a link out of the dataset"):
            check_dataset(folder)
    else:
        assert any(str(place) in text for text in damages(folder))


@pytest.mark.parametrize(
    ("command", "victim"),
    [
        ("check", f"{ANALYSIS}/{INDEX}"),
        *((command, victim) for command in ("check", "analyze") for victim in (MANIFEST, f"{STUDIES}/tiny.json")),
    ],
)
def test_a_deep_document_is_damage_and_no_mistake_of_ours(folder: Path, command: str, victim: str) -> None:
    (folder / victim).write_bytes(b'{"digest": "x", "runs": ' + DEEP + b"}")

    answer = CliRunner().invoke(app, [command, str(folder)])

    assert "mistake in Endive" not in answer.output
    assert answer.exit_code in (1, 2)


SHAPES = [None, 3, "text", [], {}, [1], {"a": 1}, True]


@pytest.mark.parametrize("key", ["studies", "tables", "digests", "model_version", "format", "endive"])
@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_an_index_of_another_shape_is_one_line(folder: Path, key: str, shape: object) -> None:
    index = {"endive": "analysis", "format": 2, "model_version": 1, "studies": {}, "tables": {}, "digests": {}}
    (folder / ANALYSIS / INDEX).write_bytes(seal_document({**index, key: shape}))

    with pytest.raises(OutputError):
        open_analysis(place_of(folder))


@pytest.mark.parametrize("key", ["detail", "runs_planned", "study"])
@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_a_study_document_of_another_shape_is_one_line(folder: Path, key: str, shape: object) -> None:
    document = {"study": "tiny", "detail": "transactions", "runs_planned": 4}
    (folder / STUDIES / "tiny.json").write_bytes(seal_document({**document, key: shape}))

    if not (key == "runs_planned" and shape == 3):
        with pytest.raises(OutputError, match="cannot be read as the document of a study"):
            read_dataset(folder)


@pytest.mark.parametrize("key", ["format", "model_version", "schema_version"])
@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_a_marker_of_another_shape_is_one_line(folder: Path, key: str, shape: object) -> None:
    marker = {"endive": "sweep", "format": 6, "model_version": 1, "schema_version": 1}
    (folder / MANIFEST).write_bytes(seal_document({**marker, key: shape}))

    if not (key == "model_version" and shape == 3 and shape is not True):
        with pytest.raises(OutputError):
            read_dataset(folder)


def runs_object(folder: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    change_rows(folder, "tiny", change)


@pytest.mark.parametrize(
    "column", ["run_id", "status", "config", "groups", "success_rate", "file", "point", "latencies"]
)
def test_a_table_of_runs_with_a_column_of_another_type_is_one_line(folder: Path, column: str) -> None:
    def change(table: pa.Table) -> pa.Table:
        index = table.column_names.index(column)
        return table.set_column(index, column, pa.array([[1]] * table.num_rows))

    runs_object(folder, change)

    answer = CliRunner().invoke(app, ["analyze", str(folder)])
    assert (2, 1) == (answer.exit_code, len(answer.stderr.strip().splitlines())), answer.output


@pytest.mark.parametrize("column", ["run_id", "status", "config", "groups", "success_rate", "point"])
def test_a_table_of_runs_that_lacks_a_column_is_one_line(folder: Path, column: str) -> None:
    runs_object(folder, lambda table: table.drop_columns([column]))

    answer = CliRunner().invoke(app, ["analyze", str(folder)])
    assert (2, 1) == (answer.exit_code, len(answer.stderr.strip().splitlines())), answer.output


def test_an_object_outside_the_folder_of_its_study_is_not_read(folder: Path, tmp_path: Path) -> None:
    """A row of a stranger's may name any file; only its last part counts."""
    outside = tmp_path / "secret.parquet"
    outside.write_bytes(b"secret")

    def change(table: pa.Table) -> pa.Table:
        names = pa.array([str(outside)] * table.num_rows)
        return table.set_column(table.column_names.index("file"), "file", names)

    runs_object(folder, change)

    assert any("secret.parquet is missing" in text for text in damages(folder))
    assert not any(text.startswith(str(outside)) for text in damages(folder))


def test_a_table_of_runs_without_one_of_its_columns_is_one_line_though_its_digest_fits(folder: Path) -> None:
    place = place_of(folder)
    (study,) = read_dataset(place).studies
    (whole,) = run_objects(place, study)
    rows = pq.ParquetFile(folder / "runs" / f"study={study}" / whole.name).read()

    for column in (field.name for field in (*IDENTITY, *MEASURED, *OBJECT)):
        for each in run_objects(place, study):
            each.unlink()
        append_rows(place, study, rows.drop_columns([column]))

        read = check_dataset if column in {field.name for field in OBJECT} else open_dataset
        with pytest.raises(OutputError, match=f"has no column {column}, so it is no table of runs"):
            read(folder)
