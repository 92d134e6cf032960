"""A folder is checked before Spark sees it: what is wrong is named, and nothing is changed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.pipeline.swept import change_column, change_manifest, change_value, reseal_summaries

from endive.errors import OutputError
from endive.pipeline.analysis.open_dataset import open_dataset
from endive.pipeline.dataset import dataset_table
from endive.pipeline.dataset.dataset_table import join_studies
from endive.results.provenance import MODEL_VERSION


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_refused(folder, message):
    before = files(folder)
    with pytest.raises(OutputError, match=message):
        open_dataset(folder)
    assert before == files(folder)


def test_the_axes_of_all_studies_stand_side_by_side(swept):
    found = open_dataset(swept)

    axes = ("source.appends.arrivals.mean_ms", "catalog.type", "simulation.duration_ms")
    assert (*axes, "transaction.inter_arrival.scale") == found.axes
    assert {"mixed": 12, "lengths": 3, "bare": 6, "sampled": 6} == Counter(found.runs["study"].to_pylist())
    assert ("mixed", "lengths", "sampled") == found.detailed
    lengths = [row["simulation.duration_ms"] for row in found.runs.to_pylist() if row["study"] != "lengths"]
    assert [None] * 24 == lengths


def test_a_column_that_two_studies_type_differently_is_a_double_or_a_text():
    joined = join_studies({"a": pa.table({"x": [1], "y": [1]}), "b": pa.table({"x": ["t"], "y": [0.5]})})

    assert {"study": ["a", "b"], "x": ["1", "t"], "y": [1.0, 0.5]} == joined.to_pydict()


def test_a_foreign_file_among_the_data_is_named(dataset):
    (dataset / "transactions" / "study=mixed" / "mine.parquet").write_bytes(b"x")
    assert_refused(dataset, r"mine\.parquet does not belong to this sweep")


def with_older_requests(table: pa.Table, written: int | None) -> pa.Table:
    """As a release wrote it that counted every pair of object and operation, and had no column for others."""
    count = table["requests_catalog_cas"]
    older = pa.array([None if value is None else written for value in count.to_pylist()], count.type)
    return table.drop_columns(["requests_other_any"]).append_column("requests_metadata_append", older)


def test_a_dataset_with_the_columns_of_an_older_release_is_read(dataset):
    expected = open_dataset(dataset)
    for path in (*dataset.glob("runs/*/runs.parquet"), *dataset.glob("groups/*/groups.parquet")):
        pq.write_table(with_older_requests(pq.ParquetFile(path).read(), 0), path)
    reseal_summaries(dataset)

    found = open_dataset(dataset)

    assert expected.axes == found.axes
    assert expected.runs == found.runs
    assert expected.groups.to_pylist() == found.groups.to_pylist()


def test_requests_that_an_older_release_told_apart_are_counted_together(dataset):
    for path in dataset.glob("runs/*/runs.parquet"):
        pq.write_table(with_older_requests(pq.ParquetFile(path).read(), 3), path)
    reseal_summaries(dataset)

    runs = open_dataset(dataset).runs

    assert "requests_metadata_append" not in runs.column_names
    told = zip(runs["requests_other_any"].to_pylist(), runs["status"].to_pylist(), strict=True)
    assert {3: "ok", None: "failed"} == dict(told)


def test_a_folder_of_another_model_version_is_refused(dataset):
    change_manifest(dataset, lambda manifest: manifest.update(model_version=0))
    assert_refused(dataset, "model version 0")


def test_runs_of_another_model_version_than_their_folders_are_refused(dataset):
    _write_column(dataset, "model_version", lambda present: [0, *present[1:]])
    assert_refused(dataset, f"has runs of model version 0; its folder is of {MODEL_VERSION}")


def test_a_dataset_of_an_older_model_is_opened_by_itself(dataset):
    _write_column(dataset, "model_version", lambda present: [MODEL_VERSION - 1] * len(present))
    change_manifest(dataset, lambda manifest: manifest.update(model_version=MODEL_VERSION - 1))

    assert MODEL_VERSION - 1 == open_dataset(dataset).folder.model_version


def _write_column(dataset, name, change):
    """Change what the runs of every study say."""
    for path in dataset.glob("runs/*/runs.parquet"):
        change_column(path, name, change)
    reseal_summaries(dataset)


def test_a_folder_whose_runs_all_failed_has_nothing_to_analyse(dataset):
    _write_column(dataset, "status", lambda present: ["failed"] * len(present))
    _write_column(dataset, "error", lambda present: ["by nought"] * len(present))
    assert_refused(dataset, r"All 27 runs in .* failed, so there is nothing to analyse\. The first, .* said: by nought")


def test_a_folder_without_a_finished_run_says_how_to_go_on(dataset):
    for pattern in ("runs/*/runs.parquet", "groups/*/groups.parquet", "studies/*", "_records/*/_checksums.json"):
        for path in dataset.glob(pattern):
            path.unlink()
    assert_refused(dataset, "holds no finished run")


def test_runs_that_a_sweep_has_planned_and_not_finished_are_known(dataset):
    part = {"name": "part-99999-0123456789ab", "runs": ["0123456789abcdef", "fedcba9876543210"]}
    change_manifest(dataset, lambda manifest: manifest["studies"]["mixed"]["parts"].append(part))

    found = open_dataset(dataset)

    assert 14 == found.studies["mixed"].runs_planned
    assert 12 == found.runs["study"].to_pylist().count("mixed")


@pytest.mark.parametrize(
    "file", ["studies/mixed.toml", "groups/study=mixed/groups.parquet", "runs/study=mixed/runs.parquet"]
)
def test_a_summary_that_is_gone_is_named(dataset, file):
    (dataset / file).unlink()
    assert_refused(dataset, r"is damaged: it is missing or cannot be read .* Start the same 'endive sweep' again")


def test_a_column_that_is_no_axis_is_refused(dataset):
    path = dataset / "runs" / "study=mixed" / "runs.parquet"
    table = pq.ParquetFile(path).read()
    pq.write_table(table.append_column("a`, java_method('x') as `b", pa.array([1] * table.num_rows)), path)
    reseal_summaries(dataset)
    assert_refused(dataset, "which is no axis of a study")


def test_escape_sequences_do_not_leave_the_dataset(dataset):
    path = dataset / "studies" / "mixed.toml"
    path.write_text(path.read_text().replace('"Mixed load"', '"Mixed \\u001b]0;load"'))
    runs = dataset / "runs" / "study=mixed" / "runs.parquet"
    change_value(runs, "catalog.type", 0, lambda _: "\x1b[2J")
    reseal_summaries(dataset)

    found = open_dataset(dataset)

    assert "Mixed \ufffd]0;load" == found.studies["mixed"].document["study"]["title"]
    assert "\ufffd[2J" == found.runs["catalog.type"].to_pylist()[0]


def test_a_dataset_is_opened_without_reading_a_file_of_its_parts(dataset, monkeypatch):
    """However many there are: they are checked by the tasks that read them."""
    opened = []
    read, parquet = Path.read_bytes, dataset_table.parquet_file
    monkeypatch.setattr(Path, "read_bytes", lambda self: (opened.append(self.name), read(self))[1])
    monkeypatch.setattr(
        dataset_table, "parquet_file", lambda path, **options: (opened.append(path.name), parquet(path))[1]
    )

    open_dataset(dataset)

    assert 4 == opened.count("runs.parquet")
    assert [] == [name for name in opened if name.startswith("part-")]
