"""The analysis as a whole: what is written, what is said, and what is refused."""

import json
import shutil

import pyarrow.parquet as pq
import pytest
from tests.pipeline.swept import BARE, change_value, reseal_summaries, sweep_into

from endive.errors import ConfigError, EngineError, OutputError
from endive.pipeline.analysis import run_analysis
from endive.pipeline.analysis.count_tables import collect_counts
from endive.pipeline.analysis.open_dataset import open_dataset
from endive.pipeline.analysis.run_analysis import TITLES, analyze, session_settings, spark_errors

TXN_TABLES = {"attempts", "convoy", "timeline"}


def no_session():
    raise AssertionError("Spark must not be started")


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_table_is_written_in_three_formats_and_listed_in_the_index(analysis):
    index = json.loads((analysis.folder / "index.json").read_text())

    assert list(TITLES) == list(index["tables"])
    expected = {f"{name}.{kind}" for name in TITLES for kind in ("parquet", "csv", "md")} | {"index.json"}
    assert expected == set(files(analysis.folder))
    for name, table in analysis.tables.items():
        assert table.equals(pq.read_table(analysis.folder / f"{name}.parquet"))
        assert table.num_rows == index["tables"][name]["rows"]
        assert table.column_names == [column["name"] for column in index["tables"][name]["columns"]]


def test_the_index_says_how_the_numbers_were_made(analysis):
    index = analysis.index
    assert (6, True) == (index["bins"], "from how seeds differ" in index["interval"])
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
    before = files(analysis.folder)

    analyze(analysis.folder.parent, lambda: spark, bins=6)

    assert before == files(analysis.folder)


def test_a_sweep_without_txns_has_every_table_that_needs_none(spark, tmp_path):
    sweep_into(tmp_path / "out", BARE, tmp_path, detail="runs")

    found = analyze(tmp_path / "out", lambda: spark)

    assert set(TITLES) - TXN_TABLES == set(found.tables)
    (row,) = (row for row in found.tables["sustained"].to_pylist() if row["scope"] == "all")
    assert ("transaction.inter_arrival.scale", 3) == (row["load_axis"], row["points"])


@pytest.mark.parametrize(
    ("folder", "what", "is_gone"), [("transactions", "txns", True), ("latencies", "commits", False)]
)
def test_a_file_that_is_missing_or_too_much_does_not_add_up(spark, dataset, monkeypatch, folder, what, is_gone):
    """Whatever was checked before: what was scanned is compared with what the runs made."""
    found = open_dataset(dataset)
    path = sorted((dataset / folder / "study=mixed").rglob("*.parquet"))[0]
    if is_gone:
        path.unlink()
    else:
        shutil.copy(path, path.with_name("copy.parquet"))

    message = rf"{folder} has [\d,]+ {what} of study mixed, point \d+, but its runs made [\d,]+\. .*endive check"
    with pytest.raises(OutputError, match=message):
        collect_counts(spark, found, 6)


@pytest.mark.parametrize(
    ("table", "figure", "change"),
    [
        ("runs", "commit_latency_mean_ms", lambda value: value * (1 + 2**-52)),
        ("runs", "txns_aborted_retries_exhausted", lambda value: value + 1),
        ("groups", "committed_in_window_per_s", lambda value: value + 1e-9),
    ],
)
def test_a_figure_that_the_txns_of_its_run_do_not_give_is_refused(spark, dataset, table, figure, change):
    """To the last bit, of whole runs and of their groups; aborts are compared by their number."""
    change_value(dataset / f"{table}/study=mixed/{table}.parquet", figure, 0, change)
    reseal_summaries(dataset)
    name = "txns_ended" if "aborted" in figure else figure

    with pytest.raises(OutputError, match=rf"study mixed, run_id \w+, .* give {name} = [\d.]+, the sweep wrote [\d.]+"):
        collect_counts(spark, open_dataset(dataset), 6)


@pytest.mark.parametrize(("folder", "kept_bytes"), [("transactions", 100), ("transactions", None), ("latencies", -8)])
def test_a_file_that_was_damaged_is_named_by_the_task_that_reads_it(spark, dataset, folder, kept_bytes):
    """Cut off, or with pages that are not what their checksums say."""
    path = sorted((dataset / folder / "study=mixed").rglob("*.parquet"))[0]
    content = bytearray(path.read_bytes())
    content[40:400] = bytes(360)
    path.write_bytes(content if kept_bytes is None else path.read_bytes()[:kept_bytes])

    with pytest.raises(OutputError, match=rf"{path.name} is damaged and cannot be read.*Delete it and start the same"):
        analyze(dataset, lambda: spark)

    assert not (dataset / "analysis").exists()


def test_a_large_dataset_gets_a_session_that_compiles_for_long(swept, tmp_path, monkeypatch):
    key = "spark.driver.extraJavaOptions"
    assert key not in session_settings(swept, "local[2]")
    monkeypatch.setattr(run_analysis, "LARGE_TXNS", 1_000)

    assert "TieredStopAtLevel" not in session_settings(swept, None)[key]
    assert key not in session_settings(swept, "spark://host:7077")  # whose driver has little to do
    assert key not in session_settings(tmp_path, None)


@pytest.mark.parametrize("bins", [0, -1, 10_001])
def test_a_number_of_bins_that_makes_no_sense_is_refused(dataset, bins):
    with pytest.raises(ConfigError, match=rf"--bins {bins} must be from 1 to 10,000"):
        analyze(dataset, no_session, bins=bins)


def test_a_load_that_is_no_axis_is_refused(dataset):
    with pytest.raises(ConfigError, match=r"--load catalog.kind is not an axis. The axes: source.appends"):
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
        ("[SOMETHING] went wrong\n\tat org.apache.spark", r"^Spark gave up: \[SOMETHING\] went wrong$"),
        ("", "no reason given"),
    ],
)
def test_what_spark_says_comes_down_to_one_sentence(said, message):
    with pytest.raises(EngineError, match=message), spark_errors():
        raise RuntimeError(said)


def test_what_a_worker_says_of_a_file_is_said_in_its_words():
    said = "Traceback (most recent call last):\n  File x\nendive.errors.OutputError: p.parquet is damaged. Sweep again."
    with pytest.raises(OutputError, match=r"^p\.parquet is damaged\. Sweep again\.$"), spark_errors():
        raise RuntimeError(said)
