"""``spark.read.format("endive")``: a study as a DataFrame."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.pipeline.in_process import InProcessSpark
from tools.make_docs import SCRIPT, pieces_of

from endive.errors import ConfigError
from endive.pipeline import SweepFolder, run_sweep
from endive.pipeline.dataset.dataset_table import create_views
from endive.pipeline.sweep.datasource import EndiveDataSource

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[3]

SCALE = "`transaction.inter_arrival.scale`"
POLICY = "`transaction.retry_backoff.policy`"


@pytest.fixture
def read(spark, study_file):
    """``read(option=value)``: the small study as a DataFrame."""

    def load(**options):
        reader = spark.read.format("endive").option("study", str(study_file))
        return reader.options(**options).load()

    return load


def partition_count(frame) -> int:
    from pyspark.sql import functions as F  # noqa: N812

    return frame.select(F.spark_partition_id().alias("id")).distinct().count()


def test_the_runs_are_those_a_sweep_writes(read, planned, tmp_path):
    run_sweep(planned(), tmp_path / "out", InProcessSpark, detail="runs")
    written = pq.read_table(tmp_path / "out" / "runs").to_pylist()

    found = [row.asDict(recursive=True) for row in read().orderBy("point", "seed").collect()]
    assert found == written


def test_filters_on_axes_choose_the_runs_that_are_simulated(read):
    frame = read(partitions=100).filter(f"{SCALE} > 500 and {POLICY} in ('none', 'x') and seed = 43")

    assert sorted(row[0] for row in frame.select(SCALE).collect()) == [1000, 2000]
    assert partition_count(frame) == 2
    assert partition_count(read(partitions=100)) == 12


def test_a_filter_on_what_is_measured_is_left_to_spark(read):
    frame = read(partitions=100).filter(f"{SCALE} = 2000")

    assert (4, 0) == (frame.filter("txns > 0").count(), frame.filter("txns < 0").count())
    assert 0 == read().filter(f"{SCALE} = 1").count()


def test_txns_come_with_the_axes_of_their_run(read, planned):
    frame = read(detail="transactions", set="transaction.inter_arrival.scale=2000", seeds="1")

    found = frame.filter(f"{POLICY} = 'none'").select("run_id", "seed", SCALE, "txn_id", "status").collect()
    run = planned("transaction.inter_arrival.scale=2000").runs[0]
    assert {row["run_id"] for row in found} == {run.run_id}
    assert {(row["seed"], row["transaction.inter_arrival.scale"]) for row in found} == {(42, 2000)}
    assert sorted(row["txn_id"] for row in found) == list(range(len(found)))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"detail": "all"}, "option detail = 'all' is not known"),
        ({"seeds": "0"}, "option seeds = '0' must be a whole number from 1"),
        ({"color": "red"}, "option 'color' is not known"),
        ({"study": "nowhere.toml"}, "'nowhere.toml' does not exist"),
        ({"set": "catalog.num_table=3"}, "Did you mean 'catalog.num_tables'?"),
    ],
)
def test_an_option_that_cannot_be_used_is_told(study_file, options, problem):
    with pytest.raises(ConfigError, match=re.escape(problem)):
        EndiveDataSource({"study": str(study_file), **options}).schema()


def test_the_snippet_of_the_guide_runs_as_it_stands(spark, monkeypatch, capsys):
    text = (ROOT / "docs/guides/cluster.md").read_text(encoding="utf-8")
    snippet = next(piece for piece in pieces_of(text) if piece.kind == SCRIPT)
    monkeypatch.chdir(ROOT)

    exec(snippet.body, {})

    assert ["4.0", "8.0"] == sorted({line.split("|")[1].strip() for line in capsys.readouterr().out.splitlines()[3:-2]})


def test_a_dataset_is_read_by_its_place_and_filters_choose_its_files(spark, whole):
    txns = spark.read.format("endive").load(str(whole))
    chosen = txns.where("point = 3 and seed = 43")

    expected = pq.read_table(whole / "transactions", filters=[("point", "=", 3), ("seed", "=", 43)])
    columns = ["run_id", "seed", "txn_id", "kind", "status", "submit_ms", "total_latency_ms", "attempts"]
    assert expected.select(columns).sort_by("txn_id").to_pylist() == [
        row.asDict() for row in chosen.select(*columns).orderBy("txn_id").collect()
    ]
    assert {1000} == {row[0] for row in chosen.select(SCALE).distinct().collect()}
    assert (1, 2) == (partition_count(chosen), partition_count(txns.where("point = 3")))


def test_runs_points_and_latencies_are_tables_too(spark, whole):
    def rows(table):
        return spark.read.format("endive").option("table", table).load(str(whole))

    written = pq.read_table(whole / "runs").to_pylist()
    assert written == [row.asDict(recursive=True) for row in rows("runs").orderBy("point", "seed").collect()]
    assert [(point, 2) for point in range(6)] == [
        tuple(row) for row in rows("points").select("point", "seeds").orderBy("point").collect()
    ]
    commits = rows("latencies").where("latency = 'commit'").agg({"txns": "sum"}).first()[0]
    assert sum(row["txns_committed"] for row in written) == commits


def test_sql_has_tables_and_views_of_a_dataset(spark, whole):
    spark.sql(f"CREATE TABLE swept_points USING endive OPTIONS (path '{whole}', `table` 'points')")
    try:
        assert 6 == spark.table("swept_points").count()
    finally:
        spark.sql("DROP TABLE swept_points")
    create_views(spark, SweepFolder.read(whole))
    plan = spark.sql("EXPLAIN SELECT * FROM txns WHERE point = 3").first()[0]
    assert "PartitionFilters: [isnotnull(point" in plan
    counted = spark.sql("SELECT point, count(*) FROM txns GROUP BY point ORDER BY point").collect()
    made = spark.sql("SELECT point, sum(txns) FROM runs GROUP BY point ORDER BY point").collect()
    assert [tuple(row) for row in made] == [tuple(row) for row in counted]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"table": "txn"}, "option table = 'txn' is not known. Choose one of: txns"),
        ({"tabel": "runs"}, "'tabel' is not"),
    ],
)
def test_a_table_or_an_option_that_there_is_not_is_refused(spark, whole, options, message):
    with pytest.raises(Exception, match=message):
        spark.read.format("endive").options(**options).load(str(whole)).count()


def test_a_frame_that_holds_no_runs_is_not_written(spark, whole):
    frame = spark.range(3).write.format("endive").mode("append")
    with pytest.raises(Exception, match="Writing runs needs the option 'study'"):
        frame.save(str(whole))
    options = {"study": "small", "engine": "auto", "notes": "n", "staging": "s"}
    with pytest.raises(Exception, match=r"A frame of runs has the columns task, part, .*; this one has id"):
        frame.options(**options).save(str(whole))
