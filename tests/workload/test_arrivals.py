"""Laws of arrivals: when txns come, for every kind."""

import math
from dataclasses import replace

import numpy as np
import pytest

from endive.distributions import ExponentialLatency, FixedLatency, LatencyDistribution, LognormalLatency, UniformLatency
from endive.errors import ConfigError
from endive.rng import uniform
from endive.workload import NEVER_US, NO_MORE, Arrivals, Closed, Periodic, Renewal, Trace, TraceLog
from endive.workload.arrivals import closed_index

KEY = 20_261_115
DRAWS = 40_000


def renewal(gap: LatencyDistribution, start_us: int = 0, stop_us: int = NEVER_US) -> Renewal:
    return Renewal(start_us=start_us, stop_us=stop_us, gap=gap)


def closed(clients: int, think: LatencyDistribution, start_us: int = 0, stop_us: int = NEVER_US) -> Closed:
    return Closed(start_us=start_us, stop_us=stop_us, client_count=clients, think=think)


def periodic(period_us: int, offset_us: int = 0, jitter_us: int = 0, **span: int) -> Periodic:
    span = {"start_us": 0, "stop_us": NEVER_US} | span
    return Periodic(period_us=period_us, offset_us=offset_us, jitter_us=jitter_us, **span)


def trace(*submit_us: int, start_us: int = 0, stop_us: int = NEVER_US) -> Trace:
    nothing = (-1,) * len(submit_us)
    log = TraceLog(submit_us=submit_us, kinds=nothing, runtimes_us=nothing, tables=nothing)
    return Trace(start_us=start_us, stop_us=stop_us, log=log)


def times_us(arrivals: Arrivals, count: int) -> list[int]:
    """The first arrivals of an open source, as many as there are."""
    times: list[int] = []
    while len(times) < count:
        following = arrivals.next_us(len(times), times[-1] if times else 0, key=KEY)
        if following == NO_MORE:
            break
        times.append(following)
    return times


# ---- renewals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gap", "mean_ms", "variance_ms2", "kurtosis"),
    [
        (ExponentialLatency(100.0), 100.0, 10_000.0, 9.0),
        (UniformLatency(50.0, 150.0), 100.0, 100.0**2 / 12.0, 1.8),
        (LognormalLatency.by_mean(100.0, 0.5), 100.0, 10_000.0 * (math.exp(0.25) - 1.0), 8.898),
    ],
    ids=["poisson", "uniform", "lognormal"],
)
def test_gaps_have_the_mean_and_variance_their_key_names(gap, mean_ms, variance_ms2, kurtosis):
    gaps_ms = np.diff([0, *times_us(renewal(gap), DRAWS)]) / 1000.0

    error_of_mean = math.sqrt(variance_ms2 / DRAWS)
    error_of_variance = variance_ms2 * math.sqrt((kurtosis - 1.0) / DRAWS)
    assert mean_ms == pytest.approx(gaps_ms.mean(), abs=4.0 * error_of_mean)
    assert variance_ms2 == pytest.approx(gaps_ms.var(), abs=4.0 * error_of_variance)


def test_counts_of_a_poisson_process_in_windows_vary_as_much_as_their_mean():
    times = np.array(times_us(renewal(ExponentialLatency(100.0)), DRAWS))
    windows = 3000
    counts = np.histogram(times, bins=windows, range=(0, windows * 1_000_000))[0]

    error = math.sqrt((2.0 + 1.0 / 10.0) / windows)
    assert 10.0 == pytest.approx(counts.mean(), abs=4.0 * math.sqrt(10.0 / windows))
    assert 1.0 == pytest.approx(counts.var() / counts.mean(), abs=4.0 * error)


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ({"start_us": 1000}, [3000, 5000, 7000]),
        ({"stop_us": 6000}, [2000, 4000]),
        ({"stop_us": 6001}, [2000, 4000, 6000]),
    ],
)
def test_fixed_arrivals_come_after_the_start_one_gap_apart_and_before_the_stop(span, expected):
    assert expected == times_us(renewal(FixedLatency(2.0), **span), 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: renewal(FixedLatency(0.0004)),
            "the mean gap between arrivals is 0.0004 ms: it must be at least one tick of the clock, 0.001 ms.",
        ),
        (lambda: closed(0, FixedLatency(5.0)), "clients = 0: a closed loop needs at least 1 client."),
    ],
)
def test_gaps_shorter_than_a_tick_and_a_loop_without_clients_are_refused(make, message):
    with pytest.raises(ConfigError) as refusal:
        make()

    assert message == str(refusal.value)


# ---- periodic --------------------------------------------------------------------------------------


def test_periodic_arrivals_come_at_start_plus_offset_plus_whole_periods():
    arrivals = periodic(300_000_000, offset_us=60_000_000, start_us=5_000_000)

    assert [65_000_000, 365_000_000, 665_000_000] == times_us(arrivals, 3)


def test_jitter_is_uniform_below_its_bound_and_does_not_accumulate():
    late_us = np.array(times_us(periodic(1_000, jitter_us=800), DRAWS)) - 1_000 * np.arange(DRAWS)

    assert set(range(800)) == set(late_us.tolist())
    assert 399.5 == pytest.approx(late_us.mean(), abs=4.0 * 800.0 / math.sqrt(12.0 * DRAWS))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"jitter_us": 1000}, "jitter_ms = 1.0: it must be 0 or above and less than period_ms = 1.0, "
         "or arrivals would overtake each other."),
        ({"offset_us": -1}, "offset_ms = -0.001: it must be 0 or above."),
        ({"period_us": 0}, "period_ms = 0.0: it must be at least one tick of the clock, 0.001 ms."),
        ({"start_us": -1}, "start_ms = -0.001: a source cannot start before time 0."),
        ({"start_us": 10, "stop_us": 10}, "stop_ms = 0.01 is not after start_ms = 0.01: the source would "
         "submit nothing; choose a later stop or leave it out."),
    ],
)  # fmt: skip
def test_impossible_periods_are_refused(changes, message):
    with pytest.raises(ConfigError) as refusal:
        periodic(**({"period_us": 1000} | changes))

    assert message == str(refusal.value)


# ---- traces ----------------------------------------------------------------------------------------


def test_a_trace_is_replayed_from_the_start_of_its_source_and_ends_with_it():
    assert [1000, 1000, 3500] == times_us(trace(0, 0, 2500, start_us=1000), 10)
    assert [0, 2499] == times_us(trace(0, 2499, 2500, stop_us=2500), 10)


def test_a_trace_of_one_client_waits_until_the_txn_before_has_ended():
    waiting = replace(trace(0, 100, 2_500, start_us=1_000), is_serial=True)

    assert (1, 0) == (waiting.clients, trace(0).clients)
    assert [1_000, 1_700, 3_500, NO_MORE] == [
        waiting.next_us(turn, ended_us, key=0) for turn, ended_us in enumerate((0, 1_700, 3_000, 9_000))
    ]


# ---- closed loops ----------------------------------------------------------------------------------


def test_every_client_submits_at_the_start_and_thinks_after_its_txn_has_ended():
    loop = closed(3, FixedLatency(5.0), start_us=2000)

    assert [2000] * 3 == [loop.next_us(closed_index(client, 0), 0, key=KEY) for client in range(3)]
    assert 90_000 + 5000 == loop.next_us(closed_index(2, 4), 90_000, key=KEY)


def test_a_client_whose_think_time_ends_at_the_stop_submits_no_more():
    loop = closed(1, FixedLatency(5.0), stop_us=10_000)

    assert NO_MORE == loop.next_us(closed_index(0, 1), 5_000, key=KEY)
    assert 9_999 == loop.next_us(closed_index(0, 1), 4_999, key=KEY)


# ---- arrivals of the user's own --------------------------------------------------------------------


class Halves(LatencyDistribution):
    """A user's distribution: one millisecond, or two."""

    def quantile(self, p: float) -> float:
        return 1.0 if p < 0.5 else 2.0


class EverySecond(Arrivals):
    """A user's arrivals."""

    def next_us(self, index: int, previous_us: int, *, key: int) -> int:
        return 1_000_000 * index


def test_a_users_gaps_and_arrivals_run_on_the_reference_engine_only():
    arrivals, own = renewal(Halves()), EverySecond(start_us=0, stop_us=NEVER_US)

    assert (False, False) == (arrivals.is_built_in, own.is_built_in)
    assert 5000 + (1000 if uniform(KEY, 3) < 0.5 else 2000) == arrivals.next_us(3, 5000, key=KEY)
    with pytest.raises(NotImplementedError, match="EverySecond runs on the reference engine only"):
        _ = own.timing


@pytest.mark.parametrize("arrivals", [renewal(FixedLatency(1.0)), periodic(5), trace(0), closed(1, FixedLatency(0))])
def test_arrivals_of_ours_are_built_in(arrivals):
    assert arrivals.is_built_in
