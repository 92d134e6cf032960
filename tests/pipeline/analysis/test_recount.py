"""Every figure derived from txns is the one the sweep wrote, and a wrong one is found."""

from __future__ import annotations

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.pipeline.swept import change_value, reseal_summaries

from endive.pipeline.analysis.open_dataset import open_dataset
from endive.pipeline.analysis.recount import BRACKETS, COUNTS, RECOUNTED, recount

pytestmark = pytest.mark.spark


def test_txns_give_every_figure_again_to_the_last_bit(spark, swept):
    found = recount(spark, open_dataset(swept))

    assert [] == [each for each in found if each.equal != each.values]
    studies = {study: {each.figure for each in found if each.study == study} for study in ("mixed", "sampled", "bare")}
    assert {*RECOUNTED, COUNTS, BRACKETS} == studies["mixed"] == studies["sampled"]
    assert {BRACKETS} == studies["bare"]
    values = {(each.study, each.figure): each.values for each in found}
    groups = pq.ParquetFile(swept / "groups/study=mixed/groups.parquet").read()
    assert values["mixed", "success_rate"] == 11 + groups.num_rows  # runs that ended, and their groups
    assert values["sampled", "success_rate"] == 3 * 3  # one seed of three points, by all, operation type and source


def raise_a_count(dataset):
    """One txn more in one bin of a run whose txns are kept."""
    transactions = sorted((dataset / "transactions/study=sampled").rglob("*.parquet"))[0]
    kept = set(pc.unique(pq.ParquetFile(transactions).read()["run_id"]).to_pylist())
    for file in sorted((dataset / "latencies/study=sampled").glob("*.parquet")):
        runs = pq.ParquetFile(file).read()["run_id"].to_pylist()
        if runs and runs[0] in kept:
            change_value(file, "txns", 0, lambda value: value + 1)
            return


def test_a_last_bit_a_percentile_outside_its_bin_and_a_count_that_is_one_too_high_are_found(spark, dataset):
    runs = dataset / "runs/study=mixed/runs.parquet"
    change_value(runs, "commit_latency_p95_ms", 2, lambda value: value * (1 + 2**-52))
    change_value(dataset / "runs/study=bare/runs.parquet", "total_latency_p50_ms", 0, lambda value: 10 * value)
    reseal_summaries(dataset)
    opened = open_dataset(dataset)  # which would not open what is changed next
    raise_a_count(dataset)

    found = {(each.study, each.figure): each for each in recount(spark, opened) if each.equal != each.values}

    wrong = {place: each.values - each.equal for place, each in found.items()}
    assert 1 == wrong.pop(("mixed", "commit_latency_p95_ms"))
    assert 1 == wrong.pop(("bare", BRACKETS))  # without txns
    assert 1 == wrong.pop(("sampled", COUNTS))
    assert {"sampled"} >= {study for study, _ in wrong}  # what the count belongs to
    run_id = pq.ParquetFile(runs).read()["run_id"][2].as_py()
    assert found["mixed", "commit_latency_p95_ms"].difference.startswith(f"{run_id} all all: ")
