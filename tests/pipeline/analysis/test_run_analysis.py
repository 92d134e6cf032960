"""The analysis as a whole: what is written, what is said, and what is refused."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.pipeline.swept import BARE, change_rows, change_value, sweep_into

from endive.errors import ConfigError, EngineError, OutputError
from endive.pipeline.analysis.count_frames import collect_counts
from endive.pipeline.analysis.open_dataset import open_dataset
from endive.pipeline.analysis.run_analysis import TITLES, analyze, explain, spark_errors

TXN_TABLES = {"attempts", "convoy", "timeline"}


def no_session():
    raise AssertionError("Spark must not be started")


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_table_is_written_in_three_formats_and_listed_in_the_index(analysis):
    index = json.loads((Path(str(analysis.folder)) / "index.json").read_text())

    assert list(TITLES) == list(index["tables"])
    expected = {f"{name}.{kind}" for name in TITLES for kind in ("parquet", "csv", "md")} | {"index.json"}
    assert expected == set(files(Path(str(analysis.folder))))
    for name, table in analysis.tables.items():
        assert table.equals(pq.read_table(str(analysis.folder / f"{name}.parquet")))
        assert table.num_rows == index["tables"][name]["rows"]
        assert table.column_names == [column["name"] for column in index["tables"][name]["columns"]]


def test_the_index_says_how_the_numbers_were_made(analysis):
    index = analysis.index
    assert (60, True) == (index["bins"], "from how seeds differ" in index["interval"])
    mixed = dict(index["studies"]["mixed"])
    simulated = mixed.pop("simulated")
    first = simulated["configuration"]["source"][0]
    assert ([42, 43, 44], 150.0) == (simulated["seeds"], first["arrivals"]["mean_ms"])
    assert ("appends", "overwrites") == tuple(mixed.pop("sources"))
    assert ("fast_append", "merge_append", "validated_overwrite") == tuple(mixed.pop("kinds"))
    assert {
        **{"title": "Mixed load", "question": None, "look_for": None, "subject": None},
        "objective": "every source.success_rate >= 99 %",
        "report": {},
        "detail": "transactions",
        "axes": ["source.appends.arrivals.mean_ms", "catalog.type"],
        "load_axis": "source.appends.arrivals.mean_ms",
        "series": ["catalog.type"],
        **{"points": 4, "seeds_min": 2, "seeds_max": 3, "runs": 12, "runs_failed": 1, "runs_planned": 12},
    } == mixed
    lengths = index["studies"]["lengths"]
    assert (None, ["simulation.duration_ms"]) == (lengths["load_axis"], lengths["series"])


def test_warnings_are_about_what_was_found(analysis):
    rows = analysis.tables["warnings"].to_pylist()
    found = {(row["study"], row["point"], row["seed"], row["warning"]) for row in rows}
    assert {
        ("mixed", 2, 44, "failed_run"),
        ("lengths", None, None, "single_seed"),
        ("lengths", 0, 42, "nothing_measured"),
        ("lengths", 1, 42, "none_ended"),
    } <= found
    assert "unfinished_sweep" not in {row["warning"] for row in rows}


def test_the_same_folder_gives_the_same_bytes_again(analysis, spark):
    before = files(Path(str(analysis.folder)))

    analyze(analysis.folder.parent, lambda: spark)

    assert before == files(Path(str(analysis.folder)))


def test_a_sweep_without_txns_has_every_table_that_needs_none(spark, tmp_path):
    sweep_into(tmp_path / "out", BARE, tmp_path, detail="runs")

    found = analyze(tmp_path / "out", lambda: spark)

    assert set(TITLES) - TXN_TABLES == set(found.tables)
    (row,) = (row for row in found.tables["sustained"].to_pylist() if row["scope"] == "all")
    assert ("transaction.inter_arrival.scale", 3) == (row["load_axis"], row["points"])


@pytest.mark.parametrize(("column", "what"), [("timeline", "transactions"), ("latencies", "commits")])
def test_counts_that_do_not_add_up_are_refused(spark, dataset, column, what):
    """Whatever was checked before: what was summed is compared with what the runs measured."""
    change_value(dataset, "mixed", column, 0, lambda rows: rows[1:])

    message = rf"has [\d,]+ {what} of study mixed, point \d+, but its runs made [\d,]+\. .*endive check"
    with pytest.raises(OutputError, match=message):
        collect_counts(spark, open_dataset(dataset))


def test_a_table_of_runs_that_was_damaged_is_named(spark, dataset):
    (path,) = (dataset / "runs" / "study=mixed").glob("*.parquet")
    content = bytearray(path.read_bytes())
    content[40:400] = bytes(360)
    path.write_bytes(content)

    with pytest.raises(OutputError, match=rf"{path.name} is damaged.*--repair"):
        analyze(dataset, lambda: spark)
    assert not (dataset / "analysis").exists()


def test_a_study_that_has_not_finished_is_analysed_with_a_warning(spark, dataset):
    change_rows(dataset, "bare", lambda table: table.slice(2))

    found = analyze(dataset, lambda: spark)

    warnings = {
        (row["study"], row["value"])
        for row in found.tables["warnings"].to_pylist()
        if row["warning"] == "unfinished_sweep"
    }
    assert {("bare", 2.0)} == warnings


def test_the_plan_shows_what_spark_scans_exchanges_and_aggregates(spark, swept):
    plan = explain(swept, lambda: spark)

    assert all(step in plan for step in ("FileScan parquet", "Exchange hashpartitioning", "HashAggregate"))


def test_a_load_that_is_no_axis_is_refused(dataset):
    with pytest.raises(ConfigError, match=r"--load catalog.kind is not an axis. The axes: .*source.appends"):
        analyze(dataset, no_session, load="catalog.kind")


def test_a_place_that_cannot_be_replaced_is_found_before_spark_starts(dataset):
    (dataset / "analysis").mkdir()
    (dataset / "analysis" / "thesis.docx").write_bytes(b"x")
    with pytest.raises(OutputError, match=r"thesis\.docx"):
        analyze(dataset, no_session)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("java.lang.OutOfMemoryError: Java heap space", r"ran out of memory.*spark\.driver\.memory=4g"),
        ("[SOMETHING] went wrong\n\tat org.apache.spark", r"^Spark failed: \[SOMETHING\] went wrong\.$"),
        ("", r"^Spark failed: RuntimeError\.$"),
    ],
)
def test_what_spark_says_comes_down_to_one_sentence(said, message):
    with pytest.raises(EngineError, match=message), spark_errors():
        raise RuntimeError(said)


def test_what_a_worker_says_of_a_file_is_said_in_its_words():
    said = "Traceback (most recent call last):\n  File x\nendive.errors.OutputError: p.parquet is damaged. Sweep again."
    with pytest.raises(EngineError, match=r"^p\.parquet is damaged\. Sweep again\.$"), spark_errors():
        raise RuntimeError(said)
