"""The law of a writer's submissions is found again in times drawn from it."""

import math

import numpy as np
import pytest

from endive.observation.fitting.arrivals import begins_us, exponential_distance, fit_arrivals
from endive.observation.history import Commit


def commits_at(times_ms, durations_ms=None, attempts=None) -> list[Commit]:
    return [
        Commit(
            time_us=round(1000 * ms),
            operation="append",
            kind="merge_append",
            duration_ms=None if durations_ms is None else durations_ms[index],
            attempts=None if attempts is None else attempts[index],
            is_submission=durations_ms is not None and attempts is None,
        )
        for index, ms in enumerate(times_ms)
    ]


def fit(times_ms, durations_ms=None):
    return fit_arrivals(commits_at(times_ms, durations_ms), float(max(times_ms) - min(times_ms)))


def test_a_clock_with_jitter_is_periodic():
    rng = np.random.default_rng(1)
    found = fit(60_000.0 * np.arange(400) + rng.uniform(0, 6000, 400))

    assert "periodic" == found.pattern
    assert 60_000.0 == pytest.approx(found.table["period_ms"], rel=1e-3)
    assert 6_000.0 == pytest.approx(found.table["jitter_ms"], rel=0.1)


def test_a_clock_that_misses_ticks_is_still_a_clock():
    ticks = np.delete(np.arange(200), [7, 8, 40, 111])

    assert {"kind": "periodic", "period_ms": 1000.0, "jitter_ms": 0.0} == fit(1000.0 * ticks).table


@pytest.mark.parametrize(
    ("first_late", "offset_ms"), [(0.0, 0.0), (634.0, 10_000.0 - 634.0)], ids=["on time", "late for a tick before it"]
)
def test_a_clock_that_keeps_time_has_its_period_and_its_phase_whoever_was_late(first_late, offset_ms):
    """A stream's first batch runs when the query starts, later ones at multiples of its interval."""
    late = np.random.default_rng(4).uniform(0, 60, 48)
    late[[0, 17, 30]] = first_late, 3_000.0, 2_000.0
    table = fit(10_000.0 * np.arange(48) + late).table

    assert 10_000.0 == pytest.approx(table["period_ms"], abs=1.0)
    assert offset_ms == pytest.approx(table.get("offset_ms", 0.0), abs=30.0)
    assert table["jitter_ms"] < 120.0


def test_the_ticks_of_a_client_that_sleeps_between_two_commits_wander():
    gaps = 10_000.0 + np.random.default_rng(5).uniform(0, 1_000, 100)
    table = fit(np.cumsum(gaps)).table

    assert gaps[1:].mean() == pytest.approx(table["period_ms"], abs=1e-3)
    assert table["jitter_ms"] == pytest.approx(np.sqrt(6) * gaps[1:].std(), rel=1e-3)


def test_random_times_are_a_poisson_process():
    found = fit(np.cumsum(np.random.default_rng(2).exponential(5000.0, 1000)))

    assert "poisson" == found.pattern
    assert 5000.0 == pytest.approx(found.table["mean_ms"], rel=0.08)


def test_bursts_are_told_from_random_times():
    gaps = np.where(np.arange(600) % 10 == 0, 100_000.0, 50.0)
    found = fit(np.cumsum(gaps))

    assert ("bursts", "lognormal") == (found.pattern, found.table["kind"])
    assert gaps[1:].mean() == pytest.approx(found.table["mean_ms"], rel=1e-6)


def test_a_writer_that_starts_again_when_it_has_finished_is_a_busy_loop():
    rng = np.random.default_rng(3)
    durations = rng.uniform(200, 400, 100)
    pauses = rng.uniform(10, 30, 100)
    begins = np.concatenate([[0.0], np.cumsum(durations + pauses)[:-1]])
    found = fit(begins, durations)

    assert ("busy loop", 1) == (found.pattern, found.table["clients"])
    middle = dict(found.table["think_ms"]["quantiles"])[0.5]
    assert float(np.median(pauses[:-1])) == pytest.approx(middle, abs=0.01)


def test_a_writer_with_long_pauses_is_no_busy_loop():
    found = fit(60_000.0 * np.arange(50), np.full(50, 300.0))

    assert "periodic" == found.pattern


def test_a_few_commits_say_nothing_but_their_rate():
    found = fit([0.0, 10.0, 40.0, 100.0])

    assert ("too few to tell", {"kind": "poisson", "mean_ms": 25.0}) == (found.pattern, found.table)


def test_a_snapshot_is_stamped_a_quarter_of_an_attempt_before_the_end_and_before_lost_lists_are_deleted():
    commits = commits_at([1000.0, 5000.0, 1100.0], durations_ms=[200.0, 900.0, 900.0], attempts=[1, 3, 5])

    # 200 - 50, 900 - 50 - 2 * 32 and 900 - 50 - 4 * 32 before the stamp, in the order of the commits
    assert [850_000, 4_214_000, 378_000] == begins_us(commits)


@pytest.mark.parametrize(
    ("gaps", "expected"),
    [([100.0] * 3, 1.0 - math.exp(-1.0)), ([1.0] * 3, math.exp(-0.01)), ([300.0], 1.0 - math.exp(-3.0))],
)
def test_the_distance_from_the_exponential_law_is_the_larger_of_the_one_above_and_the_one_below(gaps, expected):
    assert expected == pytest.approx(exponential_distance(gaps, 100.0))
