"""A dataset is checked before Spark sees it: what is wrong is named, and nothing is changed."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from tests.pipeline.swept import change_marker, change_rows, change_value

from endive.errors import OutputError
from endive.pipeline.analysis.open_dataset import open_dataset
from endive.pipeline.dataset import files
from endive.results.provenance import MODEL_VERSION

STUDIES = ("mixed", "lengths", "bare", "sampled")


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_refused(folder, message):
    before = contents(folder)
    with pytest.raises(OutputError, match=message):
        open_dataset(folder)
    assert before == contents(folder)


def set_column(folder, name, value):
    """Let the runs of every study say something else."""

    def change(table):
        index = table.column_names.index(name)
        return table.set_column(index, name, pa.array([value] * table.num_rows, table.schema.field(name).type))

    for study in STUDIES:
        change_rows(folder, study, change)


def test_the_axes_of_all_studies_stand_side_by_side(swept):
    found = open_dataset(swept)

    axes = ("source.appends.arrivals.mean_ms", "catalog.type", "simulation.duration_ms")
    assert {*axes, "transaction.inter_arrival.scale"} == set(found.axes)
    assert {"mixed": 12, "lengths": 3, "bare": 6, "sampled": 6} == Counter(found.runs["study"].to_pylist())
    assert {"mixed", "lengths", "sampled"} == set(found.detailed)
    lengths = [row["simulation.duration_ms"] for row in found.runs.to_pylist() if row["study"] != "lengths"]
    assert [None] * 24 == lengths


def test_a_dataset_of_another_model_version_is_refused(dataset):
    change_marker(dataset, lambda marker: marker.update(model_version=0))
    assert_refused(dataset, "model version 0")


def test_runs_of_another_model_version_than_their_datasets_are_refused(dataset):
    change_value(dataset, "mixed", "model_version", 0, lambda _: 0)
    assert_refused(dataset, f"has runs of model version 0; its folder is of {MODEL_VERSION}")


def test_a_dataset_of_an_older_model_is_opened_by_itself(dataset):
    set_column(dataset, "model_version", MODEL_VERSION - 1)
    change_marker(dataset, lambda marker: marker.update(model_version=MODEL_VERSION - 1))

    assert MODEL_VERSION - 1 == open_dataset(dataset).model_version


def test_a_dataset_whose_runs_all_failed_has_nothing_to_analyse(dataset):
    set_column(dataset, "status", "failed")
    set_column(dataset, "error", "by nought")
    assert_refused(dataset, r"All 27 runs in .* failed, so there is nothing to analyse\. The first, .* said: by nought")


def test_a_dataset_without_a_finished_run_says_how_to_go_on(dataset):
    for path in dataset.glob("runs/*/*.parquet"):
        path.unlink()
    assert_refused(dataset, "holds no finished run")


def test_runs_that_a_sweep_has_planned_and_not_finished_are_known(dataset):
    change_rows(dataset, "mixed", lambda table: table.slice(2))

    found = open_dataset(dataset)

    assert 12 == found.studies["mixed"].runs_planned
    assert 10 == found.runs["study"].to_pylist().count("mixed")


def test_a_study_file_that_is_gone_is_named(dataset):
    (dataset / "studies" / "mixed.toml").unlink()
    assert_refused(dataset, r"mixed\.toml")


def test_a_column_that_is_no_axis_is_refused(dataset):
    name = "a`, java_method('x') as `b"
    change_rows(dataset, "mixed", lambda table: table.append_column(name, pa.array([1] * table.num_rows)))
    assert_refused(dataset, "which is no axis of a study")


def test_escape_sequences_do_not_leave_the_dataset(dataset):
    path = dataset / "studies" / "mixed.toml"
    path.write_text(path.read_text().replace('"Mixed load"', '"Mixed \\u001b]0;load"'))
    change_value(dataset, "mixed", "catalog.type", 0, lambda _: "\x1b[2J")

    found = open_dataset(dataset)

    assert "Mixed \ufffd]0;load" == found.studies["mixed"].document["study"]["title"]
    assert "\ufffd[2J" in found.runs["catalog.type"].to_pylist()


def test_a_dataset_is_opened_without_reading_a_transaction(dataset, monkeypatch):
    opened = []
    real = files.Place.open
    monkeypatch.setattr(files.Place, "open", lambda self: (opened.append(str(self)), real(self))[1])

    open_dataset(dataset)

    assert opened
    assert [] == [name for name in opened if "/transactions/" in name]


def test_rows_that_are_there_twice_are_summed_once(dataset, spark):
    from endive.pipeline.analysis.count_frames import collect_counts

    expected = collect_counts(spark, open_dataset(dataset))
    (path,) = (dataset / "runs" / "study=mixed").glob("*.parquet")
    content = path.read_bytes()
    change_rows(dataset, "mixed", lambda table: table.slice(4))
    path.write_bytes(content)

    found = collect_counts(spark, open_dataset(dataset))

    for name, table in expected.items():
        keys = [(column, "ascending") for column in table.column_names]
        assert table.sort_by(keys).equals(found[name].sort_by(keys))
