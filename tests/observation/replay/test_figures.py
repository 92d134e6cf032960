"""When model and reality agree, and how well each is known."""

from dataclasses import replace

import numpy as np
import pytest

from endive.objectives.intervals import wilson
from endive.observation.exact_intervals import Z_95
from endive.observation.folder import TraceRow
from endive.observation.replay.figures import Seen, figures_of, order_interval, seen_of_trace


def seen(durations, attempts=None, failed=0, every_ms=1000.0, **more) -> Seen:
    count = len(durations)
    return Seen(
        times_ms=every_ms * np.arange(count),
        durations_ms=np.asarray(durations, dtype=np.float64),
        attempts=np.asarray(attempts if attempts is not None else [], dtype=np.int64),
        failed=failed,
        ended=count + failed,
        **more,
    )


def figure(name, real, runs):
    return next(each for each in figures_of(real, runs, []) if each.name == name)


def test_a_duration_within_ten_percent_agrees_and_beyond_does_not():
    real = seen([100.0] * 50)

    assert [True, True, False] == [
        figure("commit P50", real, [seen([ms] * 50)] * 3).holds for ms in (100.0, 109.9, 111.0)
    ]


def test_a_value_that_runs_of_the_model_reach_by_chance_agrees():
    real = seen([100.0] * 50)
    runs = [seen([ms] * 50) for ms in np.linspace(90, 160, 40)]

    found = figure("commit P50", real, runs)

    assert (True, 125.0) == (found.holds, pytest.approx(found.model))


def test_failures_of_the_model_are_held_against_few_commits_whose_rate_tells_nothing():
    found = figures_of(seen([1.0] * 5), [seen([], failed=5)] * 3, [], knows_failures=False)

    assert [("failed", 0.0, 100.0, False, False)] == [
        (each.name, each.real, each.model, each.holds, each.is_unclear) for each in found
    ]


def test_a_share_agrees_within_five_points():
    real = seen([1.0] * 100, attempts=[2] * 20 + [1] * 80)
    runs = [[seen([1.0] * 100, attempts=[2] * n + [1] * (100 - n))] * 3 for n in (24, 26)]

    assert [True, False] == [figure("more than one attempt", real, each).holds for each in runs]


def test_a_share_off_by_no_more_than_few_commits_can_tell_is_unclear():
    of_eight = seen([1.0] * 8, attempts=[2] * 2 + [1] * 6)
    of_many = seen([1.0] * 800, attempts=[2] * 200 + [1] * 600)
    half = [seen([1.0] * 8, attempts=[2] * 4 + [1] * 4)] * 3

    assert [(False, True), (False, False)] == [
        (found.holds, found.is_unclear)
        for found in (figure("more than one attempt", real, half) for real in (of_eight, of_many))
    ]


def test_gaps_are_compared_where_no_duration_is_known():
    real = replace(seen([5.0] * 20), durations_ms=np.array([]))

    assert ["commits", "gap P50", "gap P95"] == [each.name for each in figures_of(real, [seen([5.0] * 20)], [])]


def test_failures_are_compared_whoever_has_them_if_the_history_would_tell_of_them():
    """A log tells, and what it has committed the model may fail; of a table alone, none seen is not none."""
    logged, silent = seen([1.0] * 20, failed=5), seen([1.0] * 20)

    assert [True, True, False, False] == [
        "failed" in [each.name for each in figures_of(real, [model] * 3, [], knows_failures=knows)]
        for real, model, knows in (
            (logged, silent, True),
            (silent, logged, True),
            (silent, silent, True),
            (silent, logged, False),
        )
    ]


def test_ten_failures_of_ten_are_enough_to_tell_and_keep_their_reason():
    real = seen([], failed=10, reasons={"validation_exception": 10})
    commits, other, same = (
        seen([1.0] * 10),
        seen([], failed=10, reasons={"retries_exhausted": 10}),
        seen([], failed=10, reasons={"validation_exception": 10}),
    )

    assert {
        "commits": [("failed", False, False), ("failed: validation_exception", False, False)],
        "other": [("failed", True, False), ("failed: validation_exception", False, False)],
        "same": [("failed", True, False), ("failed: validation_exception", True, False)],
    } == {
        name: [(each.name, each.holds, each.is_unclear) for each in figures_of(real, [model] * 3, [])]
        for name, model in (("commits", commits), ("other", other), ("same", same))
    }


def test_attempts_of_those_that_failed_count_where_they_are_known():
    lost = {"failed": 10, "lost_attempts": np.full(10, 5)}
    model = seen([1.0] * 10, [1] * 10, **lost)

    assert [50.0, 0.0] == [
        figure("more than one attempt", real, [model]).model
        for real in (seen([1.0] * 10, [1] * 10, **lost), seen([1.0] * 10, [1] * 10))
    ]


def test_of_few_commits_without_failures_nothing_is_compared():
    assert () == figures_of(seen([1.0] * 7), [seen([1.0] * 7)], [])


def test_intervals_are_those_of_the_text_books():
    assert (0.2366, 0.7634) == pytest.approx(wilson(0.5, 10, Z_95), abs=1e-4)
    assert (40.0, 60.0) == order_interval(np.arange(101.0)[:100], 0.5)


def test_the_work_of_a_statement_is_no_part_of_its_commit():
    known = {"operation": "append", "source": "w", "attempts": None, "is_committed": True, "reason": ""}
    told = TraceRow(begin_us=0, duration_ms=5_000.0, runtime_ms=3_500.0, **known)
    rows = [told, replace(told, begin_us=60_000_000, duration_ms=4_000.0, runtime_ms=None)]

    seen = seen_of_trace(rows)["w"]

    assert [1_500.0, 4_000.0] == seen.durations_ms.tolist()
    assert 59_000.0 == seen.times_ms[1] - seen.times_ms[0]  # they end when the whole statement has
    assert [1_500.0] == seen_of_trace(rows, {"w"})["w"].durations_ms.tolist()  # the other one is a whole statement
