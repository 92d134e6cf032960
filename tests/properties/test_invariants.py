"""Laws that hold in every run, whatever is configured: tried on random configurations of the whole space.

Each law is recounted from what was observed (decisions of the server, messages, requests), never from the counters
the simulator keeps for itself. What attempts read and whom they lose to is in ``test_history_and_conflicts``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import groupby, pairwise

import pytest
from tests.properties.history import is_validating, misses_history, says_no_start
from tests.properties.law import law
from tests.properties.recording import Decision, Run

from endive import vocabulary as v
from endive.simulation.build import build_storage
from endive.simulation.build_source import us_of

pytestmark = pytest.mark.lengthy


@law
def test_the_sequence_number_moves_by_exactly_one_per_commit(run):
    seqs = [decision.seq for decision in run.record.applied]

    assert list(range(1, len(seqs) + 1)) == seqs
    assert len(seqs) == run.catalog.state.seq


@law
def test_a_txn_is_told_committed_if_and_only_if_it_was_applied_once(run):
    """Txns in flight may be applied without having heard of it yet, and those that cannot tell; nobody else."""
    applied = Counter(decision.intention.txn_id for decision in run.record.applied)
    committed = {row["txn_id"] for row in run.own if row["status"] == v.COMMITTED}
    in_flight = {row["txn_id"] for row in run.rows if row["end_us"] == v.NONE}
    unknowing = {row["txn_id"] for row in run.ended if row["reason"] == v.COMMIT_STATE_UNKNOWN}

    assert all(count == 1 for count in applied.values())
    assert committed <= applied.keys() <= committed | in_flight | unknowing


@law
def test_no_update_is_lost(run):
    """A table's version is the number of commits that wrote it, a partition's of those that wrote the partition.

    An expiry is a commit to its table and writes no partition.
    """
    state = run.catalog.state
    wrote, wrote_partition = Counter(), Counter()
    for decision in run.record.applied:
        for table, _, partitions in decision.written:
            wrote[table] += 1
            wrote_partition.update((table, partition) for partition in partitions)

    for table in state.snapshot(0).tables:
        assert run.config.table.initial_snapshots + wrote[table.table_id] == table.version
        for partition, version in enumerate(table.partition_versions):
            assert wrote_partition[table.table_id, partition] == version


@law
def test_a_snapshot_shows_all_commits_before_its_instant_and_none_after(run):
    """Read at the end of the run, long after they were made: so this also says that snapshots never change."""
    initial = run.config.table.initial_snapshots
    versions = Counter({table.table_id: initial for table in run.catalog.state.snapshot(0).tables})
    applied = iter(run.record.applied)
    shown = 0
    for seen in run.record.snapshots:
        while shown < seen.applied:
            versions.update(table for table, _, _ in next(applied).written)
            shown += 1
        assert seen.applied == seen.snapshot.seq
        assert versions == Counter({table.table_id: table.version for table in seen.snapshot.tables})


@law
def test_a_txn_builds_on_nothing_newer_than_what_it_was_told(run):
    """Every base was captured by the server while the txn waited for that very answer.

    One whose client keeps its table may build on what that was told last, before the txn was submitted.
    """
    given_out = {id(seen.snapshot) for seen in run.record.snapshots}
    for row in run.whole:
        for number, tried, attempt, start, _, base in run.situations(row):
            if attempt.intention is not None:
                if tried == 1 or run.config.commit.repair == "after_refresh":
                    assert base is attempt.intention.base
                base = attempt.intention.base
                assert id(base) in given_out
                if number == 1 and base is start and run.source(row).keeps_table:
                    assert base.timestamp_us <= row["commit_start_us"]
                else:
                    assert run.requests[row["txn_id"]][0][0] <= base.timestamp_us


def watched(run: Run, decision: Decision) -> Callable[[Decision], bool]:
    """Whether a rival's commit touches what this intention is checked against, by the scope's definition."""
    catalog, intention = run.config.catalog, decision.intention
    tables = set(intention.tables)
    if catalog.scope == "catalog":
        return lambda rival: True
    if catalog.scope == "group":
        groups = {table % catalog.num_groups for table in tables}
        return lambda rival: any(table % catalog.num_groups in groups for table, _, _ in rival.written)
    if catalog.scope == "table":
        return lambda rival: any(table in tables for table, _, _ in rival.written)
    touched = {
        (table, partition)
        for table, (partitions, _) in zip(intention.tables, intention.partitions, strict=True)
        for partition in partitions
    }
    return lambda rival: any((t, p) in touched for t, _, partitions in rival.written for p in partitions)


@law
def test_no_rival_commits_inside_the_hazard_window_of_a_commit(run):
    applied = run.record.applied
    for decision in applied:
        base, conflicts = decision.intention.base, watched(run, decision)
        is_undoing = run.config.catalog.service.rolls_back_compactions and len(decision.intention.tables) == 1
        for rival in applied:
            if base.timestamp_us < rival.at_us < decision.at_us:
                gives_way = is_undoing and rival.intention.operation.kind in (v.REWRITE_FILES, v.REWRITE_MANIFESTS)
                assert gives_way or not conflicts(rival)


@law
def test_a_commit_is_built_on_a_state_in_the_past_of_the_newest(run):
    """Where compactions are taken back: their states are gone, and nobody goes on from one of them."""
    if not run.config.catalog.service.rolls_back_compactions:
        return
    pasts: dict[int, list[int]] = {}
    for decision in run.record.applied:
        for table in decision.intention.tables[: decision.intention.n_written]:
            base = decision.intention.base.tables[table].state.version
            past = pasts.setdefault(table, [base])
            newest = past[-1]
            assert base in past
            assert decision.undone == len(past) - 1 - past.index(base)
            past[past.index(base) + 1 :] = [newest + 1]


@law
def test_an_attempt_is_refused_only_if_a_rival_committed_inside_its_window(run):
    applied = run.record.applied
    for decision in run.record.decisions:
        if not decision.is_applied:
            base, conflicts = decision.intention.base, watched(run, decision)
            inside = (r for r in applied if base.timestamp_us <= r.at_us <= decision.at_us)
            assert any(conflicts(rival) for rival in inside)


@law
def test_a_committed_txn_reports_the_window_it_committed_in(run):
    by_txn = {decision.intention.txn_id: decision for decision in run.record.applied}
    for row in run.own:
        if row["status"] == v.COMMITTED:
            decision = by_txn[row["txn_id"]]
            assert decision.at_us - decision.intention.base.timestamp_us == row["hazard_window_us"]


@law
def test_every_txn_submitted_has_exactly_one_row(run):
    assert list(range(len(run.rows))) == [row["txn_id"] for row in run.rows]
    assert run.requests.keys() == {row["txn_id"] for row in run.rows}


@law
def test_the_phases_of_a_txn_add_up_to_its_life(run):
    for row in run.ended:
        phases = sum(row[f"phase_{phase}_us"] for phase in v.PHASES)
        assert row["end_us"] - row["submit_us"] == phases
        if row["commit_start_us"] == v.NONE:  # its load failed
            pauses = row["restarts"] * us_of(run.source(row).after_failure.pause_ms)
            assert (v.STORAGE_FAILED, phases) == (row["reason"], row["phase_runtime_us"] + pauses)
        elif not row["restarts"]:
            assert row["end_us"] - row["commit_start_us"] == phases - row["phase_runtime_us"]


@law
def test_an_aborted_txn_has_one_reason_and_that_reason_is_true(run):
    for row in run.own:
        source = run.source(row)
        if row["status"] == v.COMMITTED:
            assert v.NO_REASON == row["reason"]
        elif row["reason"] == v.RETRIES_EXHAUSTED:
            assert run.retries_most(row) + 1 == run.situations(row)[-1].nth
        elif row["reason"] == v.TIMEOUT and run.situations(row)[-1].attempt.is_locked_out:
            lock = run.config.catalog.service.lock
            assert us_of(lock.timeout_ms) <= row["end_us"] - run.last_began_us(row)
        elif row["reason"] == v.TIMEOUT:
            assert 0.0 < source.total_timeout_ms
            assert us_of(source.total_timeout_ms) < row["end_us"] - run.last_began_us(row)
            assert run.situations(row)[-1].nth >= 2
        elif row["reason"] == v.HISTORY_EXPIRED:
            last = run.situations(row)[-1]
            assert any(misses_history(run, row, last, table) for table in run.tables_written(row))
            assert not last.attempt.has_reached_the_swap
        elif row["reason"] == v.COMMIT_STATE_UNKNOWN:
            assert run.situations(row)[-1].attempt.is_lost
        elif row["reason"] == v.STORAGE_FAILED:
            assert run.config.failures.throttle_tries <= run.throttled(row)
        else:
            assert v.VALIDATION_EXCEPTION == row["reason"]
        has_begun = row["commit_start_us"] != v.NONE
        assert (run.retries_most(row) + 1) * (row["restarts"] + 1) >= row["attempts"] >= has_begun


@law
def test_a_txn_starts_over_as_often_as_it_may_and_no_more(run):
    """An application does so after a real conflict or a lost history, a scheduler unless it may have committed."""
    for row in run.ended:
        most = run.source(row).application_retries + run.reruns_most(row)
        assert most >= row["restarts"]
        is_rerun = run.reruns_most(row) and row["reason"] not in (v.NO_REASON, v.COMMIT_STATE_UNKNOWN)
        if is_rerun or row["reason"] in (v.VALIDATION_EXCEPTION, v.HISTORY_EXPIRED):
            assert most == row["restarts"]


@law
def test_the_bill_of_a_txn_lists_every_request_it_sent(run):
    for row in run.ended:
        sent = Counter()
        for _, _, _, obj, op, count, _ in run.requests[row["txn_id"]]:
            sent[obj, op] += count
        billed = {(v.OBJECTS[obj], v.OPERATIONS[op]): count for (obj, op), count in sent.items() if count}
        columns = {pair: row[f"requests_{pair[0]}_{pair[1]}"] for pair in v.REQUEST_PAIRS}
        assert billed == {pair: count for pair, count in columns.items() if count}


@law
def test_every_attempt_asks_the_catalog_or_ends_in_a_real_conflict_or_without_its_history(run):
    """One that does not ask is the last of its start. A rerun may also follow one that asked for the last time."""
    for row in run.whole:
        source, situations = run.source(row), run.situations(row)
        *others, last = situations
        ends = [each for each, following in pairwise(situations) if following.nth == 1]
        assert row["restarts"] == len(ends)
        assert all(each.attempt.has_reached_the_swap for each in others if not any(each is end for end in ends))
        assert last.attempt.has_reached_the_swap != (row["reason"] in (v.VALIDATION_EXCEPTION, v.HISTORY_EXPIRED))
        for end in ends:
            if end.attempt.has_reached_the_swap:
                assert run.reruns_most(row)
                assert end.nth == run.retries_most(row) + 1 or (source.total_timeout_ms and end.nth >= 2)
            else:
                is_looking = is_validating(row, source) or says_no_start(run, row)
                assert is_looking or row["kind"] == v.REWRITE_MANIFESTS


@law
def test_success_tells_no_state_and_a_refusal_only_where_the_catalog_tells(run):
    catalog = run.config.catalog
    tells = catalog.refusal_returns_snapshot
    has_physical_limit = catalog.type == "append"
    for life in run.record.lives.values():
        for attempt in life.attempts.values():
            result = attempt.result
            if result is None:
                continue
            if result.success or not tells:
                assert result.snapshot is None
            elif not has_physical_limit:
                assert result.snapshot is not None


@law
def test_the_topology_is_the_workloads_and_never_changes(run):
    catalog = run.config.catalog
    num_partitions = catalog.partitions.num_partitions if catalog.partitions.enabled else 0
    for seen in run.record.snapshots:
        assert catalog.num_tables == len(seen.snapshot.tables)
        assert {num_partitions} == {table.num_partitions for table in seen.snapshot.tables}
    for row in run.rows:
        tables = run.tables[row["txn_id"]]
        assert len(set(tables)) == len(tables) == row["n_tables_read"]
        assert set(tables) <= set(range(catalog.num_tables))
        assert 1 <= row["n_tables_written"] <= row["n_tables_read"]
    for decision in run.record.decisions:
        for partitions, n_written in decision.intention.partitions:
            assert 1 <= len(set(partitions)) == len(partitions)
            assert set(partitions) <= set(range(num_partitions))
            assert 0 <= n_written <= len(partitions)


@law
def test_no_storage_request_is_answered_sooner_than_the_floor(run):
    """A txn waits for each answer before it asks again, so its own requests lie at least a floor apart.

    Not where a server gathers commits: what it writes for a batch is written down when the batch is opened.
    """
    if run.config.catalog.service.batch_ms is not None:
        return
    storage = build_storage(run.config)
    floor_ms = run.config.storage.min_latency_ms
    if floor_ms is None:
        overridden = run.config.storage.latency_overrides()
        floor_ms = 0.0 if overridden else storage.profile.min_latency_ms
    floor_us = us_of(floor_ms)
    has_object = run.config.catalog.type in ("cas", "append")
    for row in run.own:
        requests = run.requests[row["txn_id"]]
        if run.config.commit.own_manifest == "each_attempt":  # lists are read while the own manifest is written
            requests = [each for each in requests if not (each[3] == v.MANIFEST_LIST and each[4] in (v.READ, v.HEAD))]
        batches = [next(batch) for _, batch in groupby(requests, key=lambda each: (each[0], *each[3:5]))]
        ends = [request[0] for request in batches[1:]] + [row["end_us"]]
        for (sent_us, _, _, obj, *_), next_us in zip(batches, ends, strict=True):
            if obj != v.CATALOG or has_object:
                assert next_us - sent_us >= floor_us


@law
def test_a_landed_record_is_followed_by_a_discovery_read_before_anything_is_known(run):
    if run.config.catalog.type != "append":
        return
    for row in run.ended:
        requests, starts_us = run.requests[row["txn_id"]], run.record.life(row["txn_id"]).asked_us
        discoveries = 0
        for (_, _, attempt, obj, op, _, _), following in pairwise(requests):
            if (obj, op) == (v.LOG, v.APPEND):
                is_start = following[0] == starts_us.get(attempt)  # of the run after the one that failed
                discoveries += not is_start and following[2:5] == (attempt, v.CATALOG, v.READ)
        assert row["append_physical_success"] == discoveries
        appends = row["append_physical_success"] + row["append_physical_failure"]
        swaps = row["requests_log_cas"]
        assert row["requests_log_append"] <= appends <= row["requests_log_append"] + swaps
        judged = row["append_logical_success"] + row["append_logical_conflict"]
        carried = 0 if run.config.catalog.append_preset == "append_design" else row["append_compactions_completed"]
        assert row["append_physical_success"] + carried == judged


@law
def test_outside_an_append_catalog_nothing_goes_to_a_log(run):
    if run.config.catalog.type == "append":
        return
    for row in run.ended:
        assert 0 == sum(row[f"requests_{obj}_{op}"] for obj, op in v.REQUEST_PAIRS if obj == "log")
        assert 0 == row["append_physical_success"] + row["append_physical_failure"]


@law
def test_only_a_cas_catalog_swaps_an_object_and_once_per_attempt_that_reached_it(run):
    if run.config.catalog.type == "append":
        return
    for row in run.ended:
        asked = sum(a.result is not None for a in run.record.life(row["txn_id"]).attempts.values())
        swaps = sum(r[3:5] == (v.CATALOG, v.CAS) and not r[6] for r in run.requests[row["txn_id"]])
        assert asked == swaps
