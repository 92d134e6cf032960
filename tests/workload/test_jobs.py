"""Jobs: one submission per period each, never two at once."""

import pytest

import endive
from endive.workload import NEVER_US, NO_MORE, Jobs, closed_index

PERIOD_US = 10_000
KEY = 99


def jobs(**changes):
    figures = {"start_us": 0, "stop_us": NEVER_US, "job_count": 4, "period_us": PERIOD_US, "jitter_us": 0}
    return Jobs(**{**figures, "phase": "spread", **changes})


def first_us(arrivals, job):
    return arrivals.next_us(closed_index(job, 0), 0, key=KEY)


def test_spread_jobs_tick_evenly_within_a_period():
    assert [0, 2_500, 5_000, 7_500] == [first_us(jobs(), job) for job in range(4)]


def test_jobs_together_all_tick_at_the_start():
    assert [50] * 4 == [first_us(jobs(phase="together", start_us=50), job) for job in range(4)]


def test_random_phases_lie_within_a_period_and_are_the_same_every_time():
    arrivals = jobs(phase="random")
    phases = [first_us(arrivals, job) for job in range(4)]

    assert phases == [first_us(jobs(phase="random"), job) for job in range(4)]
    assert len(set(phases)) == 4
    assert all(0 <= phase < PERIOD_US for phase in phases)


def test_a_job_in_time_submits_at_its_next_tick():
    next_us = jobs().next_us(closed_index(1, 1), 4_000, key=KEY, submitted_us=2_500)

    assert next_us == 12_500


def test_a_job_that_was_busy_at_its_tick_submits_when_it_is_done_and_is_on_time_again_after_that():
    arrivals = jobs()
    late_us = arrivals.next_us(closed_index(1, 1), 41_000, key=KEY, submitted_us=2_500)
    following_us = arrivals.next_us(closed_index(1, 2), 41_500, key=KEY, submitted_us=late_us)

    assert late_us == 41_000
    assert following_us == 42_500


def test_jitter_delays_a_tick_by_less_than_itself():
    arrivals = jobs(jitter_us=500)
    delays = [
        arrivals.next_us(closed_index(0, turn), 0, key=KEY, submitted_us=(turn - 1) * PERIOD_US) - turn * PERIOD_US
        for turn in range(1, 50)
    ]

    assert all(0 <= delay < 500 for delay in delays)
    assert len(set(delays)) > 40


def test_a_job_stops_with_its_source():
    assert NO_MORE == jobs(stop_us=12_000).next_us(closed_index(1, 1), 4_000, key=KEY, submitted_us=2_500)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_thirty_jobs_submit_thirty_txns_a_period(engine):
    config = {
        "simulation": {"duration_ms": 50_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "storage": {"provider": "instant"},
        "catalog": {"type": "instant", "latency_ms": 0.1},
        "transaction": {"runtime": {"distribution": "fixed", "ms": 1.0}},
        "source": [{"name": "stream", "arrivals": {"kind": "jobs", "jobs": 30, "period_ms": 10_000.0}}],
    }
    rows = endive.simulate(config, engine=engine).transactions.to_pylist()

    assert len(rows) == 150
    assert dict.fromkeys(range(30), 5) == {c: sum(r["client"] == c for r in rows) for c in range(30)}
