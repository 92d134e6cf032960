"""The worked examples of the documents the model came from, replayed with real rivals and compared figure by figure.

Everything is deterministic: constant latencies, fixed arrivals. The docstrings say where a figure of the document
rests on an assumption, and what comes out without it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from endive import Simulation
from endive.catalog import Catalog
from endive.config import parse_config
from endive.simulation.build import build_catalog
from endive.vocabulary import CAS, CATALOG, LOG, MANIFEST_LIST, METADATA, READ, WRITE


def run(config: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[Any], Catalog]:
    """Rows, trace and the catalog as it is at the end."""
    resolved = parse_config(config)
    catalogs: list[Catalog] = []

    def make(storage: Any, state: Any) -> Catalog:
        catalogs.append(build_catalog(resolved, storage, state))
        return catalogs[0]

    trace: list[Any] = []
    result = Simulation(resolved, catalog=make).run(trace=trace)
    return result.transactions.to_pylist(), trace, catalogs[0]


# ---- internals document: a commit 150 s behind -----------------------------------------------------------------

RIVAL_PERIOD_MS, RIVAL_OFFSET_MS = 40.0, 20.0  # 25 commits a second
RIVAL_COMMIT_MS = RIVAL_OFFSET_MS + 1.5  # a read of 1 ms, then half a swap of 1 ms
LIST_MS, ROUND_TRIP_MS, PARALLEL = 30.0, 1.0, 4
RUNTIME_MS = 150_000.0
COMMIT_START_MS = ROUND_TRIP_MS + RUNTIME_MS
AFTER_THE_FIRST_RETRY_MS, NEVER_MS = 178_205.0, 1_000_000.0


def once(name: str, runtime_ms: float, **changes: Any) -> dict[str, Any]:
    arrivals = {"kind": "periodic", "period_ms": 1_000_000.0}
    return {"name": name, "arrivals": arrivals, "runtime": {"distribution": "fixed", "ms": runtime_ms}, **changes}


def rivals(name: str, period_ms: float, **changes: Any) -> dict[str, Any]:
    arrivals = {"kind": "periodic", "period_ms": period_ms, "offset_ms": RIVAL_OFFSET_MS}
    return {"name": name, "arrivals": arrivals, "runtime": {"distribution": "fixed", "ms": 0.0}, **changes}


@lru_cache
def play_seed_000(stop_ms: float, repair: str = "after_refresh") -> tuple[dict[str, Any], list[Any]]:
    """The victim's row and its requests. Rivals commit to its partition until ``stop_ms``, and to another one.

    The document's worked example reads its base before it repairs, its pseudocode after it.
    """
    fast = {"mean": ROUND_TRIP_MS, "stddev": 0.0}
    at_30_ms = {"mean": LIST_MS, "stddev": 0.0}
    first, second = {"weights": [1.0, 0.0]}, {"weights": [0.0, 1.0]}
    config = {
        "simulation": {"duration_ms": 200_000.0},
        "storage": {
            "provider": "instant",
            "max_parallel": PARALLEL,
            "T_CAS": fast,
            "T_METADATA_ROOT": fast,
            "T_MANIFEST_LIST": {"read": at_30_ms, "write": at_30_ms},
        },
        "catalog": {"scope": "partition", "partitions": {"enabled": True, "num_partitions": 2}},
        "commit": {"protocol": "merge", "repair": repair},
        "source": [
            once("victim", RUNTIME_MS, partitions=first),
            rivals("same", RIVAL_PERIOD_MS, stop_ms=stop_ms, partitions=first),
            rivals("other", 10 * RIVAL_PERIOD_MS, partitions=second),
        ],
    }
    rows, trace, _ = run(config)
    assert all(row["retries"] == 0 for row in rows if row["source"] != "victim" and row["status"] == "committed")
    victim = next(row for row in rows if row["source"] == "victim")
    return victim, [request for request in trace if request[1] == victim["txn_id"]]


def lists_read(trace: list[Any], attempt: int) -> list[int]:
    """Sizes of the batches of lists an attempt read; the current list, read last and alone, left out."""
    batches = [count for _, _, at, obj, op, count, _ in trace if (at, obj, op) == (attempt, MANIFEST_LIST, READ)]
    return batches[:-1]


def test_the_first_retry_of_a_commit_150_s_behind_reads_3750_lists_in_938_batches():
    victim, trace = play_seed_000(AFTER_THE_FIRST_RETRY_MS)

    full, rest = lists_read(trace, attempt=2)  # all full batches are one sum of draws, and one entry of the trace
    assert (3_750, 3_750 % PARALLEL) == (full + rest, rest)
    assert 938 == full // PARALLEL + 1
    assert 28_140.0 == 938 * LIST_MS
    assert 0 == victim["n_behind_first"]  # it swaps on what it started from


def test_rivals_that_stop_after_the_first_retry_leave_a_commit_latency_of_33_6_s():
    """28.2 s and 5.4 s: the document's sum, in which the second retry wins because nobody commits beside it."""
    victim, trace = play_seed_000(AFTER_THE_FIRST_RETRY_MS)

    resolving_ms = 2 * LIST_MS  # the current list read, a new one written
    refused_ms = ROUND_TRIP_MS
    first_ms = ROUND_TRIP_MS + 938 * LIST_MS + resolving_ms + ROUND_TRIP_MS
    second_ms = ROUND_TRIP_MS + 177 * LIST_MS + resolving_ms + ROUND_TRIP_MS
    assert (28_202.0, 5_372.0) == (first_ms, second_ms)
    assert 705 == sum(lists_read(trace, attempt=3))  # 28.2 s at 25 commits a second
    assert ("committed", 3) == (victim["status"], victim["attempts"])
    assert refused_ms + first_ms + second_ms == victim["commit_latency_ms"]
    assert 33.6 == round(victim["commit_latency_ms"] / 1000.0, 1)


def test_rivals_that_go_on_never_let_it_commit():
    """A retry takes 32 ms of round trips and lists at the very least and resolving 60 ms more: longer than the
    40 ms between two rivals. So every retry finds somebody, its reads shrink to two or three lists and stay
    there, and after ten of them the txn gives up. The document's 33.6 s needs the rivals to stop.
    """
    victim, trace = play_seed_000(NEVER_MS)

    def committed_by(now_ms: float) -> int:
        return math.floor((now_ms - RIVAL_COMMIT_MS) / RIVAL_PERIOD_MS) + 1

    expected, seen = [], 0
    now_ms = COMMIT_START_MS + ROUND_TRIP_MS
    for _ in range(10):
        committed = committed_by(now_ms + ROUND_TRIP_MS / 2)  # when the server evaluates its read
        expected.append(committed - seen)
        seen = committed
        now_ms += 2 * ROUND_TRIP_MS + math.ceil(expected[-1] / PARALLEL) * LIST_MS + 2 * LIST_MS

    assert [3_750, 705, 134, 27, 7] == expected[:5]
    assert expected == [sum(lists_read(trace, attempt)) for attempt in range(2, 12)]
    assert ("retries_exhausted", 11) == (victim["reason"], victim["attempts"])
    assert now_ms == victim["end_ms"]


def test_merge_repairs_first_and_reads_its_base_last():
    """Lines 229 to 246: the refusal tells how far behind it is, the lists are read, then a fresh snapshot, then the
    swap. Only the last two are in the hazard window, so a retry wins beside rivals that never stop."""
    victim, trace = play_seed_000(NEVER_MS, "before_refresh")

    order = [(obj, op) for _, _, at, obj, op, _, _ in trace if at == 2]
    assert [(CATALOG, READ), (CATALOG, CAS)] == order[-2:]
    assert {(MANIFEST_LIST, READ), (MANIFEST_LIST, WRITE)} == set(order[:-2])
    assert ("committed", 2) == (victim["status"], victim["attempts"])
    assert 3_750 == victim["history_lists"]
    assert ROUND_TRIP_MS == victim["hazard_window_ms"]
    repair_ms = 938 * LIST_MS + 2 * LIST_MS
    assert ROUND_TRIP_MS + repair_ms + 2 * ROUND_TRIP_MS == victim["commit_latency_ms"]


def test_under_merge_the_first_attempt_swaps_from_the_start():
    _, trace = play_seed_000(NEVER_MS, "before_refresh")

    assert [(CATALOG, CAS)] == [(obj, op) for _, _, at, obj, op, _, _ in trace if at == 1]


# ---- append design: two txns side by side -----------------------------------------------------------------

STEP_MS = 10.0  # every request


def play_seed_004(folder: Path, submissions: list[tuple[float, int]], **sections: Any) -> Any:
    """Two appends, each submitted at its time to its table; no work of their own."""
    path = folder / "trace.csv"
    lines = [f"{submit_ms},fast_append,0,{table}" for submit_ms, table in submissions]
    path.write_text("\n".join(["submit_ms,kind,runtime_ms,table", *lines]))
    config = {
        "simulation": {"duration_ms": 10_000.0},
        "storage": {"provider": "constant", "latency_ms": STEP_MS},
        "commit": {"protocol": "merge", "history": "none"},
        "source": [{"name": "txns", "arrivals": {"kind": "trace", "path": str(path)}}],
        **sections,
    }
    rows, trace, catalog = run(config)
    assert ["committed", "committed"] == [row["status"] for row in rows]
    assert 2 == catalog.state.seq
    return rows, trace, catalog


AT_ONCE = [(0.0, 0), (0.0, 1)]  # T1 updates table A, T2 table B
APPEND = {"type": "append", "append_preset": "append_design", "num_tables": 2}


def test_example_1_under_compare_and_swap_the_second_txn_fails_once_though_the_tables_differ(tmp_path):
    (first, second), _, _ = play_seed_004(tmp_path, AT_ONCE, catalog={"type": "cas", "num_tables": 2})

    assert (1, 0) == (first["attempts"], first["requests_manifest_list_read"])
    assert (2, 1) == (second["attempts"], second["retries"])
    assert (1, 1) == (second["requests_manifest_list_read"], second["requests_manifest_list_write"])
    assert (1, 0) == (second["false_conflicts"], second["real_conflicts"])


def test_example_1_in_append_mode_a_moved_offset_costs_one_more_append_and_no_conflict(tmp_path):
    (first, second), _, catalog = play_seed_004(tmp_path, AT_ONCE, catalog=APPEND)

    assert (1, 0) == (first["append_physical_success"], first["append_physical_failure"])
    assert (1, 1) == (second["append_physical_success"], second["append_physical_failure"])
    for row in (first, second):
        assert (1, 0) == (row["append_logical_success"], row["append_logical_conflict"])
        assert (1, 0) == (row["attempts"], row["retries"])
        assert (0, 0) == (row["requests_manifest_list_read"], row["requests_manifest_list_write"])
    assert 200 == catalog.state.log.offset
    # T1: start read, append, discovery. T2: the same and one append more; the failure told it the offset.
    assert (3 * STEP_MS, 4 * STEP_MS) == (first["total_latency_ms"], second["total_latency_ms"])
    assert 0 == second["requests_log_head"]


def test_example_1_in_the_working_implementation_the_new_offset_costs_a_head(tmp_path):
    log = {**APPEND, "append_preset": "log"}
    (_, second), _, _ = play_seed_004(tmp_path, AT_ONCE, catalog=log)

    assert (1, 1) == (second["append_physical_failure"], second["requests_log_head"])
    assert 5 * STEP_MS == second["total_latency_ms"]


# T2 reads the catalog when T1's entry is in the manifest list (15 ms) and T1 is not in the log yet (25 ms).
BETWEEN = [(0.0, 0), (12.0, 0)]
ML_PLUS = {"manifest_list_mode": "append"}


def test_example_2_a_logical_failure_with_a_false_conflict_appends_nothing_to_the_list_again(tmp_path):
    """T2 appends at offset 50 at once, is refused by the table's version once, and commits on its retry.

    T2 must have read the catalog before T1's record landed, or it would know version 1; so its first append to
    the log also finds the offset moved. The document does not count that physical failure.
    """
    catalog = {**APPEND, "num_tables": 1}
    (first, second), _, found = play_seed_004(tmp_path, BETWEEN, catalog=catalog, transaction=ML_PLUS)

    assert (1, 0) == (first["attempts"], first["append_logical_conflict"])
    for row in (first, second):
        assert (1, 0) == (row["manifest_append_physical_success"], row["manifest_append_physical_failure"])
        assert 1 == row["requests_manifest_list_append"]  # 0 re-appends
        assert (0, 0) == (row["requests_manifest_list_read"], row["requests_manifest_list_write"])
    assert (1, 1) == (second["append_logical_conflict"], second["append_logical_success"])
    assert (2, 1) == (second["append_physical_success"], second["append_physical_failure"])
    assert (2, 1, 0) == (second["attempts"], second["false_conflicts"], second["real_conflicts"])
    (table,) = found.state.snapshot(0).tables
    assert (2 * 50, 2) == (table.state.iceberg.list_offset, table.version)
    # Three records are in the log: T1's, T2's that was not applied, and T2's that was.
    assert (300, 3) == (found.state.log.offset, found.state.log.entries)


def test_example_2_with_a_real_conflict_merges_manifests_and_appends_a_second_entry(tmp_path):
    manifests = {"distribution": "fixed", "value": 2}
    transaction = {**ML_PLUS, "real_conflict_probability": 1.0, "conflicting_manifests": manifests}
    catalog = {**APPEND, "num_tables": 1}
    (_, second), _, _ = play_seed_004(tmp_path, BETWEEN, catalog=catalog, transaction=transaction)

    assert (2, 0, 1) == (second["attempts"], second["false_conflicts"], second["real_conflicts"])
    assert (1, 2) == (second["requests_manifest_list_read"], second["manifest_append_physical_success"])
    assert (2, 2) == (second["requests_manifest_read"], second["requests_manifest_write"])


@pytest.mark.parametrize("preset", ["append_design", "log"])
def test_txns_on_different_tables_never_conflict_logically_however_many_there_are(tmp_path, preset):
    """The claim the append design makes: physical failures are all that concurrency costs."""
    config = {
        "simulation": {"duration_ms": 20_000.0},
        "storage": {"provider": "constant", "latency_ms": STEP_MS},
        "catalog": {"type": "append", "append_preset": preset, "num_tables": 6},
        "commit": {"protocol": "spec"},
        "transaction": {"runtime": {"distribution": "fixed", "ms": 0.0}},
        "source": [
            {
                "name": f"writer{table}",
                "arrivals": {"kind": "closed", "clients": 1, "think_ms": think_ms},
                "tables": {"only": [table]},
            }
            for table, think_ms in enumerate((3.0, 5.0, 7.0, 11.0, 13.0, 17.0))
        ],
    }
    rows, _, _ = run(config)
    ended = [row for row in rows if row["status"] != "in_flight"]
    assert 0 == sum(row["append_logical_conflict"] for row in ended)
    assert 0 < sum(row["append_physical_failure"] for row in ended)
    assert {"committed"} == {row["status"] for row in ended}
    for row in ended:
        # An attempt is lost only by ten physical failures in a row, and the append design never gives up on one.
        lost = 0 if preset == "append_design" else row["append_physical_failure"] // 10
        assert lost == row["retries"]


@pytest.mark.parametrize(
    ("catalog", "committed_by"),
    [({"type": "append", "append_preset": "append_design"}, LOG), ({"type": "cas"}, CATALOG)],
)
def test_the_design_reads_table_metadata_at_the_start_and_writes_it_before_the_commit(catalog, committed_by):
    """Lines 160 to 174, metadata of its own: read for each table at the start, written before the commit."""
    config = {
        "simulation": {"duration_ms": 10_000.0},
        "storage": {"provider": "constant", "latency_ms": STEP_MS},
        "catalog": {**catalog, "table_metadata_inlined": False},
        "commit": {"metadata": "each_attempt"},
        "source": [once("only", 100.0)],
    }
    _, trace, _ = run(config)

    order = [(obj, op) for _, _, _, obj, op, *_ in trace]
    assert [(CATALOG, READ), (METADATA, READ)] == order[:2]
    commits = [place for place, (obj, op) in enumerate(order) if obj == committed_by and op != READ]
    assert order.index((METADATA, WRITE)) < commits[0]


def test_commits_to_other_tables_are_not_in_a_txns_history():
    """Fidelity report, 2.5: a table's history is its own, whatever the catalog's sequence number says."""
    config = {
        "simulation": {"duration_ms": 60_000.0},
        "storage": {"provider": "constant", "latency_ms": STEP_MS},
        "catalog": {"num_tables": 2, "scope": "table"},
        "commit": {"protocol": "merge"},
        "source": [
            once("victim", 20_000.0, tables={"only": [0]}),
            rivals("others", 1_000.0, tables={"only": [1]}),
        ],
    }
    rows, _, _ = run(config)

    victim = next(row for row in rows if row["source"] == "victim")
    assert ("committed", 1, 0) == (victim["status"], victim["attempts"], victim["history_lists"])
