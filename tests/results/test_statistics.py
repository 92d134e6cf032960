"""What is measured from rows, against figures worked out by hand."""

from dataclasses import asdict

import numpy as np
import pytest

from endive.formats.delta import words as delta
from endive.results import Columns, Statistics, Window, columns_of, summarise
from endive.results import schema as s
from endive.results.schema import Ints
from endive.vocabulary import (
    ABORTED,
    FAST_APPEND,
    IN_FLIGHT_COMMITTING,
    IN_FLIGHT_EXECUTING,
    RETRIES_EXHAUSTED,
    REWRITE_FILES,
    TIMEOUT,
    VALIDATION_EXCEPTION,
)

S = 1_000_000  # microseconds
WINDOW = Window(duration_us=40 * S, warmup_us=10 * S, cooldown_us=10 * S)  # 20 s


_ICEBERGS = ("validation_exception", "commit_state_unknown", "history_expired")
NONE_ABORTED = dict.fromkeys(("retries_exhausted", "timeout", "storage_failed", *_ICEBERGS, *delta.REASONS), 0)


def columns_with_a_table_each(rows: Ints) -> Columns:
    return columns_of(rows, np.zeros(len(rows), np.int64))


def statistics_of(*rows, window=WINDOW, sources=("stream",)) -> Statistics:
    statistics = Statistics(window, sources)
    if rows:
        statistics.record(columns_with_a_table_each(np.array(rows)))
    return statistics


@pytest.fixture
def commit(make_row):
    """``commit(submit_us, latency_us, ...)``: a txn that worked for a second, then committed in that time."""

    def make(submit_us, latency_us, **given):
        start_us = submit_us + S
        return make_row(submit_us=submit_us, commit_start_us=start_us, end_us=start_us + latency_us, **given)

    return make


# ---- the window ------------------------------------------------------------------------------------


def test_the_window_is_what_warm_up_and_cool_down_leave():
    window = Window.of_ms(duration_ms=3_600_000, warmup_ms=900_000, cooldown_ms=900_000.0004)

    assert (window.start_us, window.end_us, window.length_us) == (900 * S, 2700 * S, 1800 * S)
    assert window.to_dict() == {
        "duration_ms": 3_600_000.0,
        "warmup_ms": 900_000.0,
        "cooldown_ms": 900_000.0,
        "start_ms": 900_000.0,
        "end_ms": 2_700_000.0,
        "length_s": 1800.0,
    }


def test_the_first_instant_counts_and_the_last_does_not():
    instants = np.array([10 * S - 1, 10 * S, 30 * S - 1, 30 * S])

    assert WINDOW.contains(instants).tolist() == [False, True, True, False]


def test_an_empty_window_has_no_rates():
    window = Window(duration_us=10, warmup_us=6, cooldown_us=6)

    assert (window.length_us, window.per_s(3)) == (0, None)


# ---- the summary -----------------------------------------------------------------------------------


def test_a_txn_counts_if_it_was_submitted_in_the_window(commit):
    report = summarise(
        statistics_of(commit(10 * S - 1, 100), commit(10 * S, 100), commit(30 * S - 1, 100), commit(30 * S, 100))
    )

    assert report["summary"]["txns"]["submitted"] == 2
    assert report["window"]["txns_outside"] == 2


def test_rates_are_per_second_of_window(commit, make_row):
    aborted = make_row(submit_us=20 * S, end_us=22 * S, status=ABORTED, reason=TIMEOUT)
    summary = summarise(statistics_of(*(commit(15 * S, 100) for _ in range(5)), aborted))["summary"]

    assert (summary["offered_per_s"], summary["committed_per_s"]) == (6 / 20, 5 / 20)


def test_commits_of_the_window_and_commits_in_the_window_are_different_rates(commit):
    before_and_ends_inside = commit(8 * S, 2 * S)  # ends at 11 s
    inside_and_ends_inside = commit(20 * S, 2 * S)
    inside_and_ends_after = [commit(29 * S, 2 * S), commit(28 * S, 1 * S)]  # at 32 s and at exactly 30 s
    summary = summarise(statistics_of(before_and_ends_inside, inside_and_ends_inside, *inside_and_ends_after))[
        "summary"
    ]

    assert summary["committed_per_s"] == 3 / 20
    assert summary["committed_in_window_per_s"] == 2 / 20


def test_percentiles_interpolate_linearly_between_committed_txns(commit):
    latencies_us = [4_000, 1_000, 2_000, 3_000]
    summary = summarise(statistics_of(*(commit(15 * S, latency) for latency in latencies_us)))["summary"]

    assert summary["commit_latency_ms"] == pytest.approx({"p50": 2.5, "p95": 3.85, "p99": 3.97, "mean": 2.5})
    assert summary["total_latency_ms"] == pytest.approx({"p50": 1002.5, "p95": 1003.85, "p99": 1003.97, "mean": 1002.5})


def test_aborted_txns_have_no_part_in_latencies_and_phases(commit, make_row):
    aborted = make_row(
        submit_us=15 * S, commit_start_us=16 * S, end_us=29 * S, status=ABORTED, reason=TIMEOUT, phase_backoff_us=9 * S
    )
    summary = summarise(statistics_of(commit(15 * S, 7_000, phase_backoff_us=3_000), aborted))["summary"]

    assert summary["commit_latency_ms"]["p99"] == summary["commit_latency_ms"]["mean"] == 7.0
    assert summary["phases_ms"]["backoff"] == 3.0


def test_every_outcome_is_counted_under_its_name(commit, make_row):
    def abort(reason):
        return make_row(submit_us=15 * S, end_us=20 * S, status=ABORTED, reason=reason, attempts=1)

    def in_flight(status):
        return make_row(submit_us=15 * S, end_us=s.NONE, status=status)

    rows = [commit(15 * S, 100) for _ in range(6)]
    rows += [abort(VALIDATION_EXCEPTION)] * 1
    rows += [abort(RETRIES_EXHAUSTED)] * 2
    rows += [abort(TIMEOUT)] * 3
    rows += [in_flight(IN_FLIGHT_EXECUTING)] * 4 + [in_flight(IN_FLIGHT_COMMITTING)] * 5
    summary = summarise(statistics_of(*rows))["summary"]

    assert summary["txns"] == {
        "submitted": 21,
        "committed": 6,
        "aborted": NONE_ABORTED | {"validation_exception": 1, "retries_exhausted": 2, "timeout": 3},
        "in_flight": {"executing": 4, "committing": 5},
    }
    assert summary["success_rate"] == 6 / 12


def test_mean_retries_are_those_of_txns_that_ended(commit, make_row):
    exhausted = make_row(submit_us=15 * S, end_us=20 * S, status=ABORTED, reason=RETRIES_EXHAUSTED, attempts=5)
    still_trying = make_row(submit_us=15 * S, end_us=s.NONE, status=IN_FLIGHT_COMMITTING, attempts=100)
    never_tried = make_row(submit_us=15 * S, end_us=16 * S, status=ABORTED, reason=TIMEOUT, attempts=0)
    rows = (commit(15 * S, 100, attempts=3), exhausted, still_trying, never_tried)

    assert summarise(statistics_of(*rows))["summary"]["retries_mean"] == (2 + 4 + 0) / 3


def test_phases_are_means_over_committed_txns(commit):
    phases = {f"phase_{name}_us": 2_000 * (i + 1) for i, name in enumerate(s.PHASES)}
    summary = summarise(statistics_of(commit(15 * S, 100, **phases), commit(15 * S, 100)))["summary"]

    assert summary["phases_ms"] == {name: float(i + 1) for i, name in enumerate(s.PHASES)}


def test_a_commit_belongs_to_the_half_of_the_window_it_was_submitted_in(commit):
    rows = (commit(10 * S, 1_000), commit(20 * S - 1, 3_000), commit(20 * S, 8_000), commit(9 * S, 77_000))
    summary = summarise(statistics_of(*rows))["summary"]

    assert summary["halves"] == {
        "first": {"committed": 2, "commit_latency_mean_ms": 2.0},
        "second": {"committed": 1, "commit_latency_mean_ms": 8.0},
    }


def test_without_a_txn_in_the_window_figures_are_null_and_counts_are_zero():
    report = summarise(statistics_of())
    nothing = {"p50": None, "p95": None, "p99": None, "mean": None}

    assert report["summary"] == {
        "offered_per_s": 0.0,
        "committed_per_s": 0.0,
        "committed_in_window_per_s": 0.0,
        "success_rate": None,
        "commit_latency_ms": nothing,
        "total_latency_ms": nothing,
        "retries_mean": None,
        "freshness_ms": {**nothing, "max": None},
        "stale_share": None,
        "data": dict.fromkeys(("batches", "visible", "lost", "waiting", "twice")),
        "lost_share": None,
        "txns": {
            "submitted": 0,
            "committed": 0,
            "aborted": NONE_ABORTED,
            "in_flight": {"executing": 0, "committing": 0},
        },
        "halves": {half: {"committed": 0, "commit_latency_mean_ms": None} for half in ("first", "second")},
        "phases_ms": dict.fromkeys(s.PHASES),
        "counters": dict.fromkeys(("restarts", "history_lists", *s.COUNTERS), 0),
        "saturated": None,
    }
    assert (report["by_operation"], report["by_source"]) == ({}, {})
    nothing_sent = {"counts": {}, "total": 0, "per_committed_txn": None, "bytes_read": 0, "bytes_written": 0}
    assert report["requests"] == nothing_sent


# ---- groups, requests, counters --------------------------------------------------------------------


def test_operations_and_sources_are_measured_apart(commit):
    rows = [
        commit(15 * S, 1_000, source=0, kind=FAST_APPEND),
        commit(15 * S, 3_000, source=1, kind=FAST_APPEND),
        commit(15 * S, 9_000, source=1, kind=REWRITE_FILES),
    ]
    report = summarise(statistics_of(*rows, sources=("stream", "nightly", "idle")))

    def means(blocks):
        return {name: block["commit_latency_ms"]["mean"] for name, block in blocks.items()}

    assert means(report["by_operation"]) == {"fast_append": 2.0, "rewrite_files": 9.0}
    assert means(report["by_source"]) == {"stream": 1.0, "nightly": 6.0}
    assert report["summary"]["commit_latency_ms"]["mean"] == 13 / 3


def test_requests_of_every_outcome_are_on_the_bill(commit, make_row):
    sent = {"requests_manifest_list_read": 40, "bytes_read": 700}
    aborted = make_row(submit_us=15 * S, end_us=20 * S, status=ABORTED, reason=VALIDATION_EXCEPTION, **sent)
    committed = commit(15 * S, 100, requests_catalog_read=1, requests_catalog_cas=1, bytes_read=70, bytes_written=30)
    outside = commit(5 * S, 100, requests_catalog_read=1000)
    report = summarise(statistics_of(committed, aborted, outside))

    assert report["requests"] == {
        "counts": {"catalog": {"read": 1, "cas": 1}, "manifest_list": {"read": 40}},
        "total": 42,
        "per_committed_txn": 42.0,
        "bytes_read": 770,
        "bytes_written": 30,
    }
    assert report["by_source"]["stream"]["requests"] == report["requests"]


def test_counters_of_the_summary_are_those_of_the_window(commit):
    given = {name: 2**i for i, name in enumerate(("restarts", "history_lists", *s.COUNTERS))}
    report = summarise(statistics_of(commit(15 * S, 100, **given), commit(5 * S, 100, **given)))

    assert report["summary"]["counters"] == given


def test_the_seeds_counters_are_those_of_the_whole_run(commit, make_row):
    named = [name for name in s.COUNTERS if name not in ("gathered", "compactions_undone", "answers_kib")]
    given = {name: 10 + i for i, name in enumerate(named)}  # the three are not the seed's
    sent = {"manifest_list_read": 1, "manifest_list_write": 2, "manifest_read": 3, "manifest_write": 4}
    requests = {f"requests_{name}": count for name, count in sent.items()}
    aborted = make_row(submit_us=39 * S, end_us=40 * S, status=ABORTED, reason=VALIDATION_EXCEPTION)
    exhausted = make_row(end_us=40 * S, status=ABORTED, reason=RETRIES_EXHAUSTED)
    statistics = statistics_of(commit(0, 100, **given), commit(15 * S, 100, **requests), aborted, exhausted)

    assert asdict(statistics.counters) == {
        "committed": 2,
        "aborted": 2,
        "validation_exceptions": 1,
        "manifest_list_reads": 1,
        "manifest_list_writes": 2,
        "manifest_file_reads": 3,
        "manifest_file_writes": 4,
        **given,
    }


def test_rows_one_at_a_time_measure_the_same_as_all_at_once(commit, make_row):
    rows = [
        commit(15 * S + i, 1_000 * i, source=i % 2, kind=i % 4, requests_log_append=i, restarts=i) for i in range(20)
    ]
    rows.append(make_row(submit_us=15 * S, end_us=s.NONE, status=IN_FLIGHT_COMMITTING))
    one_by_one = Statistics(WINDOW, ("a", "b"))
    for row in reversed(rows):
        one_by_one.record(columns_with_a_table_each(row.reshape(1, -1)))

    assert summarise(statistics_of(*rows, sources=("a", "b"))) == summarise(one_by_one)


def test_more_rows_after_a_summary_are_counted_too(commit):
    statistics = statistics_of(commit(15 * S, 1_000))
    summarise(statistics)
    statistics.record(columns_with_a_table_each(np.array([commit(15 * S, 3_000)])))

    assert summarise(statistics)["summary"]["commit_latency_ms"]["mean"] == 2.0


# ---- warnings --------------------------------------------------------------------------------------


def test_a_window_without_txns_is_a_warning():
    assert summarise(statistics_of())["warnings"] == [
        "No txn was submitted in the window from 10,000 to 30,000 ms, so nothing was measured. "
        "Raise simulation.duration_ms, or lower simulation.warmup_ms and simulation.cooldown_ms."
    ]


@pytest.mark.parametrize(
    ("status", "n", "n_warnings"),
    [(IN_FLIGHT_COMMITTING, 1, 0), (IN_FLIGHT_COMMITTING, 2, 1), (IN_FLIGHT_EXECUTING, 90, 0)],
)
def test_more_than_one_percent_still_committing_is_a_warning_and_any_number_executing_none(
    commit, make_row, status, n, n_warnings
):
    in_flight = make_row(submit_us=15 * S, end_us=s.NONE, status=status)

    warnings = summarise(statistics_of(*[commit(15 * S, 1_000)] * (100 - n), *[in_flight] * n))["warnings"]

    assert len(warnings) == n_warnings
    assert all(w.startswith("2.0% of the window's txns (2 of 100) were still committing") for w in warnings)


def test_a_window_of_which_nothing_ended_is_a_warning(make_row):
    executing = make_row(submit_us=15 * S, end_us=s.NONE, status=IN_FLIGHT_EXECUTING)
    report = summarise(statistics_of(executing))

    assert report["warnings"] == [
        "None of the window's 1 txns ended before the simulation did. "
        "Raise simulation.duration_ms and simulation.cooldown_ms beyond the txns' runtime."
    ]
    assert report["summary"]["saturated"] is None


@pytest.mark.parametrize(("n_aborted", "saturated"), [(0, False), (5, False), (6, True)])
def test_success_below_95_percent_is_saturated(commit, make_row, n_aborted, saturated):
    aborted = make_row(submit_us=15 * S, end_us=16 * S, status=ABORTED, reason=RETRIES_EXHAUSTED)
    report = summarise(statistics_of(*[commit(15 * S, 1_000)] * (100 - n_aborted), *[aborted] * n_aborted))

    assert report["summary"]["saturated"] is saturated
    assert report["warnings"] == []  # judging is the objective's, see endive.objectives


@pytest.mark.parametrize(("slow_us", "saturated"), [(2_000, False), (2_001, True)])
def test_p95_of_commit_latency_above_twice_p50_is_saturated(commit, slow_us, saturated):
    report = summarise(statistics_of(*[commit(15 * S, 1_000)] * 80, *[commit(15 * S, slow_us)] * 20))

    assert report["summary"]["saturated"] is saturated
    assert report["warnings"] == []
