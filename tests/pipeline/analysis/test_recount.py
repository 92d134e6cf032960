"""Every figure derived from txns is the one the sweep wrote, and a wrong one is found."""

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.pipeline.swept import change_value, reseal_summaries

from endive.pipeline.analysis.open_dataset import open_dataset
from endive.pipeline.analysis.recount import BRACKETS, COUNTS, RECOUNTED, recount

pytestmark = [pytest.mark.spark, pytest.mark.slow]  # that a dataset verifies is in test_study_command


def raise_a_count(dataset):
    """One txn more in one bin of a run whose txns are kept."""
    transactions = sorted((dataset / "transactions/study=sampled").rglob("*.parquet"))[0]
    kept = set(pc.unique(pq.ParquetFile(transactions).read()["run_id"]).to_pylist())
    for file in sorted((dataset / "latencies/study=sampled").glob("*.parquet")):
        runs = pq.ParquetFile(file).read()["run_id"].to_pylist()
        if runs and runs[0] in kept:
            change_value(file, "txns", 0, lambda value: value + 1)
            return


def test_txns_give_every_figure_again_but_a_last_bit_a_percentile_and_a_count_that_were_changed(spark, dataset):
    """A last bit, a percentile outside its bin, and a count that is one too high, each in a study of its own."""
    runs = dataset / "runs/study=mixed/runs.parquet"
    change_value(runs, "commit_latency_p95_ms", 2, lambda value: value * (1 + 2**-52))
    change_value(dataset / "runs/study=bare/runs.parquet", "total_latency_p50_ms", 0, lambda value: 10 * value)
    reseal_summaries(dataset)
    opened = open_dataset(dataset)  # which would not open what is changed next
    raise_a_count(dataset)

    found = {(each.study, each.figure): each for each in recount(spark, opened)}

    studies = {name: {figure for study, figure in found if study == name} for name in ("mixed", "sampled", "bare")}
    assert {*RECOUNTED, COUNTS, BRACKETS} == studies["mixed"] == studies["sampled"]
    assert {BRACKETS} == studies["bare"]
    groups = pq.ParquetFile(dataset / "groups/study=mixed/groups.parquet").read()
    assert found["mixed", "success_rate"].values == 11 + groups.num_rows  # runs that ended, and their groups
    assert found["sampled", "success_rate"].values == 3 * 3  # one seed of three points, by all, type and source

    wrong = {place: each.values - each.equal for place, each in found.items() if each.equal != each.values}
    assert 1 == wrong.pop(("mixed", "commit_latency_p95_ms"))
    assert 1 == wrong.pop(("bare", BRACKETS))  # without txns
    assert 1 == wrong.pop(("sampled", COUNTS))
    assert {("sampled", BRACKETS)} >= set(wrong)  # which the count belongs to
    run_id = pq.ParquetFile(runs).read()["run_id"][2].as_py()
    assert found["mixed", "commit_latency_p95_ms"].difference.startswith(f"{run_id} all all: ")
