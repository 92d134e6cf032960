"""Warnings, from rows made by hand."""

import pytest

from endive.pipeline.analysis.warning_table import warnings

RUN = {
    "study": "s",
    "point": 0,
    "seed": 42,
    "run_id": "r0",
    "status": "ok",
    "error": None,
    "txns_submitted": 1000,
    "txns_committed": 990,
    "txns_in_flight_executing": 0,
    "txns_in_flight_committing": 10,
    "success_rate": 1.0,
}
POINT = {
    "study": "s",
    "point": 0,
    "seeds": 3,
    "success_rate": 1.0,
    "retries_mean": 0.39,
    "commit_latency_p50_ms": 100.0,
    "commit_latency_p95_ms": 150.0,
    "commit_latency_drift": 0.25,
    "commits_half_min": 400,
}


def told(run=None, point=None, planned=1):
    rows = warnings([{**RUN, **(run or {})}], [{**POINT, **(point or {})}], {"s": planned}).to_pylist()
    return [(row["warning"], row["point"], row["seed"], row["value"]) for row in rows]


def test_a_run_at_every_limit_is_worth_no_warning():
    assert [] == told()


@pytest.mark.parametrize(
    ("run", "point", "expected"),
    [
        ({"txns_in_flight_committing": 11}, {}, ("still_committing", 0, 42, 0.011)),
        ({"txns_submitted": 0, "txns_in_flight_committing": 0}, {}, ("nothing_measured", 0, 42, 0.0)),
        ({"success_rate": None, "txns_in_flight_committing": 0}, {}, ("none_ended", 0, 42, 1000.0)),
        ({"status": "failed", "txns_submitted": None}, {}, ("failed_run", 0, 42, None)),
        ({}, {"commit_latency_drift": 0.26}, ("unsteady_window", 0, None, 0.26)),
        ({}, {"commit_latency_drift": -0.26}, ("unsteady_window", 0, None, -0.26)),
        ({}, {"seeds": 1}, ("single_seed", None, None, 1.0)),
        ({}, {"retries_mean": 0.4, "seeds": 15}, ("few_seeds", None, None, 1.0)),
    ],
)
def test_a_run_or_a_configuration_beyond_a_limit_is_worth_one(run, point, expected):
    assert [expected] == told(run, point)


def test_seeds_that_differ_in_what_commits_are_few_until_256():
    """Sixteen that agree are enough; half of these commit nothing."""

    def kinds(*committed):
        runs = [{**RUN, "seed": seed, "txns_committed": committed[seed % 2]} for seed in range(16)]
        point = {**POINT, "seeds": 16, "retries_mean": 0.4}
        return [row["text"] for row in warnings(runs, [point], {"s": 16}).to_pylist()]

    assert [] == kinds(900, 900)
    (text,) = kinds(900, 0)
    assert (
        "1 of 1 configurations. Txns retry, so a run may tip over for good: 16 runs may all miss what 17 % of runs do; "
        "intervals do not know what no run did. Take 256 runs or more to rely on them." == text
    )


def test_too_few_commits_do_not_tell_drift_from_chance():
    assert [] == told(point={"commit_latency_drift": 9.0, "commits_half_min": 399})
    assert [] == told(point={"commit_latency_drift": None, "commits_half_min": None})


def test_a_sweep_that_has_not_finished_is_worth_one():
    assert [("unfinished_sweep", None, None, 2.0)] == told(planned=3)


def test_a_warning_says_what_was_found_and_what_to_do():
    (row,) = warnings([{**RUN, "txns_in_flight_committing": 25}], [POINT], {"s": 1}).to_pylist()
    assert (
        "2.5% of the window's txns (25 of 1,000) were still committing when the simulation ended. They are the slow "
        "ones, so latencies are too low and the success rate is uncertain. Raise simulation.cooldown_ms, or offer "
        "less load."
    ) == row["text"]
