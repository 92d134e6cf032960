"""Every figure derived from txns is the one the sweep wrote, and a wrong one is found."""

import pytest
from tests.pipeline.contents import rows
from tests.pipeline.swept import change_value

from endive.pipeline.analysis.open_dataset import open_dataset
from endive.pipeline.analysis.recount import BRACKETS, COUNTS, OUTCOMES, RECOUNTED, TIMELINE, recount

pytestmark = pytest.mark.spark


def test_transactions_give_every_metric_again_but_those_that_were_changed(spark, dataset):
    """A last bit, a percentile outside its bin, and counts that are one too high, each in a place of its own."""
    change_value(dataset, "mixed", "commit_latency_p95_ms", 2, lambda value: value * (1 + 2**-52))
    change_value(dataset, "bare", "total_latency_p50_ms", 0, lambda value: 10 * value)
    for column in ("latencies", "timeline", "outcomes"):
        name = "latency_us" if column == "timeline" else "txns"
        change_value(
            dataset, "sampled", column, 0, lambda rows, name=name: [{**rows[0], name: rows[0][name] + 1}, *rows[1:]]
        )

    found = {(each.study, each.figure): each for each in recount(spark, open_dataset(dataset))}

    studies = {name: {figure for study, figure in found if study == name} for name in ("mixed", "sampled", "bare")}
    assert {*RECOUNTED, COUNTS, TIMELINE, OUTCOMES, BRACKETS} == studies["mixed"] == studies["sampled"]
    assert {BRACKETS} == studies["bare"]
    groups = sum(len(run["groups"] or ()) for run in rows(dataset, "mixed"))
    assert 11 + groups == found["mixed", "success_rate"].values  # runs that ended, and their groups
    assert 3 * 3 == found["sampled", "success_rate"].values  # one seed of three points, by all, type and source

    wrong = {place: each.values - each.equal for place, each in found.items() if each.equal != each.values}
    assert 1 == wrong.pop(("mixed", "commit_latency_p95_ms"))
    assert 1 == wrong.pop(("bare", BRACKETS))  # without transactions
    assert [1, 1, 1] == [wrong.pop(("sampled", name)) for name in (COUNTS, TIMELINE, OUTCOMES)]
    assert {("sampled", BRACKETS)} >= set(wrong)  # which the count belongs to
    run_id = rows(dataset, "mixed")[2]["run_id"]
    assert found["mixed", "commit_latency_p95_ms"].difference.startswith(f"{run_id} all all: ")
