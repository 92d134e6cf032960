"""``endive.spark``: a DataFrame of configurations and seeds in, one with their results out."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from tests.pipeline.contents import rows

import endive
import endive.spark
from endive.errors import ConfigError
from endive.tables.figure_columns import FIGURES

pytestmark = pytest.mark.spark

CONFIG = {"simulation": {"duration_ms": 20_000}, "transaction": {"inter_arrival": {"scale": 500}}}


def frame(spark, configs, **columns):
    count = len(configs)
    return spark.createDataFrame(
        pa.table({"config": configs, "seed": list(range(1, count + 1)), **{k: v * count for k, v in columns.items()}})
    )


def test_a_row_out_is_what_the_run_alone_measures_and_other_columns_pass_through(spark):
    runs = frame(spark, [json.dumps(CONFIG)] * 3, **{"my.label": ["x"]})

    found = endive.spark.simulate(runs).toArrow().to_pylist()

    assert ["config", "seed", "my.label"] == list(found[0])[:3]
    for row in found:
        alone = endive.simulate(CONFIG, seed=row["seed"])
        assert ("ok", alone.fingerprint, "x") == (row["status"], row["fingerprint"], row["my.label"])
        assert alone.summary()["success_rate"] == row["success_rate"]
        assert (None, None) == (row["file"], row["timeline"])
    assert {1, 2, 3} == {row["seed"] for row in found}


def test_nothing_runs_before_an_action(spark):
    runs = frame(spark, ["{broken"])

    results = endive.spark.simulate(runs)

    assert set(FIGURES) < set(results.columns)
    assert {"groups", "latencies", "timeline", "outcomes", "file", "bytes", "digest"} < set(results.columns)


def test_a_configuration_that_cannot_be_read_fails_alone(spark):
    configs = [json.dumps(CONFIG)] * 40
    configs[17] = '{"simulation": {"duration": 1}}'

    found = endive.spark.simulate(frame(spark, configs)).select("seed", "status", "error").toArrow().to_pylist()

    failed = [row for row in found if row["status"] != "ok"]
    assert [18] == [row["seed"] for row in failed]
    assert "simulation.duration" in failed[0]["error"]
    assert 40 == len(found)


def test_a_configuration_may_be_a_struct(spark):
    runs = spark.createDataFrame(pa.table({"config": [CONFIG], "seed": [5]}))

    (row,) = endive.spark.simulate(runs).select("fingerprint", "status").toArrow().to_pylist()

    assert endive.simulate(CONFIG, seed=5).fingerprint == row["fingerprint"]


def test_transactions_are_objects_that_rows_name(spark, tmp_path):
    runs = frame(spark, [json.dumps(CONFIG)] * 2)

    found = endive.spark.simulate(runs, detail="transactions", out=str(tmp_path / "txns")).toArrow().to_pylist()

    for row in found:
        txns = spark.read.parquet(str(tmp_path / "txns" / row["file"]))
        assert row["txns"] == txns.where(f"run_id = '{row['run_id']}'").count()
        assert row["txns"] == sum(cell["submitted"] for cell in row["timeline"])


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"config": ["{}"]}, {}, "this one has no 'seed'"),
        ({"seed": [1]}, {}, "this one has no 'config'"),
        ({"config": ["{}"], "seed": [1], "status": ["x"]}, {}, "'status' of the runs has the name of a result"),
        ({"config": ["{}"], "seed": [1]}, {"detail": "all"}, "detail = 'all' is not known"),
        ({"config": ["{}"], "seed": [1]}, {"detail": "transactions"}, "needs a place for the transactions"),
    ],
)
def test_what_cannot_be_simulated_is_refused_at_once(spark, columns, options, message):
    with pytest.raises(ConfigError, match=message):
        endive.spark.simulate(spark.createDataFrame(pa.table(columns)), **options)


def test_a_study_is_a_frame_of_runs(spark, study_file, whole):
    runs = endive.spark.plan(spark, study_file)

    results = endive.spark.simulate(runs)

    key = "transaction.inter_arrival.scale"
    found = sorted(results.toArrow().to_pylist(), key=lambda row: (row["point"], row["seed"]))
    assert [(row[key], row["fingerprint"]) for row in rows(whole)] == [(row[key], row["fingerprint"]) for row in found]


# ---- reading what a sweep has written ----------------------------------------------------------------


@pytest.fixture(scope="module")
def attached(spark, whole):
    endive.spark.attach(spark, whole)
    return spark


def test_views_hold_the_runs_the_points_and_the_transactions(attached, whole):
    expected = rows(whole)

    assert [(6, 12)] == [tuple(row) for row in attached.sql("select count(*), sum(seeds) from points").collect()]
    counts = attached.sql("select run_id, count(*) n, min(point) p from txns group by run_id").toArrow().to_pylist()
    assert {row["run_id"]: (row["txns"], row["point"]) for row in expected} == {
        row["run_id"]: (row["n"], row["p"]) for row in counts
    }
    query = "select avg(t.commit_latency_ms) ms from txns t join runs r using (study, run_id) where r.point = 1"
    assert attached.sql(query).first()["ms"] > 0.0


@pytest.mark.parametrize("table", ["txns", "runs", "points"])
def test_the_data_source_reads_the_same_from_any_place(attached, whole, table):
    found = attached.read.format("endive").option("table", table).load(str(whole))

    view = attached.table(table)
    assert sorted(view.columns) == sorted(found.columns)
    order = [column for column in ("study", "point", "run_id", "txn_id") if column in view.columns]
    columns = [f"`{name}`" for name in sorted(view.columns) if name != "warnings"]
    tables = [each.select(*columns).orderBy(*order).toArrow() for each in (view, found)]
    assert tables[0].to_pylist() == tables[1].to_pylist()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"table": "none"}, "option table = 'none' is not known"), ({"colour": "red"}, "option 'colour' is not known")],
)
def test_an_option_that_is_not_known_is_refused(attached, whole, options, message):
    with pytest.raises(Exception, match=message):
        attached.read.format("endive").options(**options).load(str(whole)).schema  # noqa: B018


def test_a_task_reads_objects_where_spark_lacks_the_connector(spark, whole, monkeypatch):
    from endive.pipeline.dataset import dataset_table, scan

    expected = dataset_table.create_views(spark, whole, "there_")["txns"].count()
    monkeypatch.setattr(scan, "spark_path", lambda place: f"nowhere://lake/{place}")

    assert expected == dataset_table.create_views(spark, whole, "here_")["txns"].count()
