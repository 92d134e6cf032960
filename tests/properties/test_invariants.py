"""Laws that hold in every run, whatever is configured: tried on random configurations of the whole space.

Each law is recounted from what was observed (decisions of the server, messages, requests), never from the counters
the simulator keeps for itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from hypothesis import given
from tests.properties.recording import Decision, Row, Run, observe
from tests.properties.strategies import configs

from endive.catalog.rules import CLASS_OVERWRITE, CLASS_REPLACE
from endive.simulation.build import build_storage, us_of
from endive.vocabulary import (
    APPEND,
    CAS,
    CATALOG,
    COMMITTED,
    HEAD,
    LOG,
    MANIFEST_LIST,
    NO_REASON,
    NONE,
    OBJECTS,
    OPERATIONS,
    PHASES,
    READ,
    RETRIES_EXHAUSTED,
    REWRITE_FILES,
    TIMEOUT,
    VALIDATED_OVERWRITE,
    VALIDATION_EXCEPTION,
)


def law(test: Callable[[Run], None]) -> Callable[[], None]:
    """Try a law on random configurations: the same ones for every law, so that each is simulated once."""

    @given(mapping=configs())
    def tried(mapping: dict[str, Any]) -> None:
        test(observe(mapping))

    tried.__name__ = tried.__qualname__ = test.__name__
    tried.__doc__ = test.__doc__
    tried.__module__ = test.__module__
    tried.law = test  # type: ignore[attr-defined]
    return tried


# ---- versions: one after another, none lost ----------------------------------------------------------


@law
def test_the_sequence_number_moves_by_exactly_one_per_commit(run):
    seqs = [decision.seq for decision in run.record.applied]

    assert list(range(1, len(seqs) + 1)) == seqs
    assert len(seqs) == run.catalog.state.seq


@law
def test_a_txn_is_told_committed_if_and_only_if_it_was_applied_once(run):
    """Txns in flight may be applied without having heard of it yet; nobody else."""
    applied = Counter(decision.intention.txn_id for decision in run.record.applied)
    committed = {row["txn_id"] for row in run.rows if row["status"] == COMMITTED}
    in_flight = {row["txn_id"] for row in run.rows if row["end_us"] == NONE}

    assert all(count == 1 for count in applied.values())
    assert committed <= applied.keys() <= committed | in_flight


@law
def test_no_update_is_lost(run):
    """A table's version is the number of commits that wrote it, a partition's of those that wrote the partition."""
    state = run.catalog.state
    wrote, wrote_partition = Counter(), Counter()
    for decision in run.record.applied:
        for table, partitions in written(decision):
            wrote[table] += 1
            wrote_partition.update((table, partition) for partition in partitions)

    for table in state.snapshot(0).tables:
        assert run.config.table.initial_snapshots + wrote[table.table_id] == table.version
        for partition, version in enumerate(table.partition_versions):
            assert wrote_partition[table.table_id, partition] == version


def written(decision: Decision) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Tables a commit wrote, and which of their partitions."""
    intention = decision.intention
    for position, table in enumerate(intention.tables[: intention.n_written]):
        partitions: tuple[int, ...] = ()
        if intention.partitions:
            touched, n_written = intention.partitions[position]
            partitions = touched[:n_written]
        yield table, partitions


# ---- snapshots ---------------------------------------------------------------------------------------


@law
def test_a_snapshot_shows_all_commits_before_its_instant_and_none_after(run):
    """Read at the end of the run, long after they were made: so this also says that snapshots never change."""
    initial = run.config.table.initial_snapshots
    versions = Counter({table.table_id: initial for table in run.catalog.state.snapshot(0).tables})
    applied = iter(run.record.applied)
    shown = 0
    for seen in run.record.snapshots:
        while shown < seen.applied:
            versions.update(table for table, _ in written(next(applied)))
            shown += 1
        assert seen.applied == seen.snapshot.seq
        assert versions == Counter({table.table_id: table.version for table in seen.snapshot.tables})


@law
def test_a_txn_builds_on_nothing_newer_than_what_it_was_told(run):
    """Every base was captured by the server while the txn waited for that very answer."""
    given_out = {id(seen.snapshot) for seen in run.record.snapshots}
    for row in run.ended:
        for _, _, attempt, _, _, base in run.situations(row):
            if attempt.intention is not None:
                assert base is attempt.intention.base
                assert id(base) in given_out
                assert run.requests[row["txn_id"]][0][0] <= base.timestamp_us


# ---- hazard windows ----------------------------------------------------------------------------------


def watched(run: Run, decision: Decision) -> Callable[[Decision], bool]:
    """Whether a rival's commit touches what this intention is checked against, by the scope's definition."""
    catalog, intention = run.config.catalog, decision.intention
    tables = set(intention.tables)
    if catalog.scope == "catalog":
        return lambda rival: True
    if catalog.scope == "group":
        groups = {table % catalog.num_groups for table in tables}
        return lambda rival: any(table % catalog.num_groups in groups for table, _ in written(rival))
    if catalog.scope == "table":
        return lambda rival: any(table in tables for table, _ in written(rival))
    touched = {
        (table, partition)
        for table, (partitions, _) in zip(intention.tables, intention.partitions, strict=True)
        for partition in partitions
    }
    return lambda rival: any((t, p) in touched for t, partitions in written(rival) for p in partitions)


@law
def test_no_rival_commits_inside_the_hazard_window_of_a_commit(run):
    applied = run.record.applied
    for decision in applied:
        base, conflicts = decision.intention.base, watched(run, decision)
        for rival in applied:
            if base.timestamp_us < rival.at_us < decision.at_us:
                assert not conflicts(rival)


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
    for row in run.ended:
        if row["status"] == COMMITTED:
            decision = by_txn[row["txn_id"]]
            assert decision.at_us - decision.intention.base.timestamp_us == row["hazard_window_us"]


# ---- every txn is accounted for ----------------------------------------------------------------------


@law
def test_every_txn_submitted_has_exactly_one_row(run):
    assert list(range(len(run.rows))) == [row["txn_id"] for row in run.rows]
    assert run.requests.keys() == {row["txn_id"] for row in run.rows}


@law
def test_the_phases_of_a_txn_add_up_to_its_life(run):
    for row in run.ended:
        phases = sum(row[f"phase_{phase}_us"] for phase in PHASES)
        assert row["end_us"] - row["submit_us"] == phases
        if not row["restarts"]:
            assert row["end_us"] - row["commit_start_us"] == phases - row["phase_runtime_us"]


@law
def test_an_aborted_txn_has_one_reason_and_that_reason_is_true(run):
    for row in run.ended:
        source = run.source(row)
        lost = row["attempts"] - row["restarts"] if row["reason"] != VALIDATION_EXCEPTION else 0
        if row["status"] == COMMITTED:
            assert NO_REASON == row["reason"]
        elif row["reason"] == RETRIES_EXHAUSTED and not row["restarts"]:
            assert source.retry + 1 == lost
        elif row["reason"] == TIMEOUT:
            assert 0.0 < source.total_timeout_ms
            assert us_of(source.total_timeout_ms) < row["end_us"] - row["commit_start_us"]
            assert row["attempts"] >= 2
        else:
            assert row["reason"] in (VALIDATION_EXCEPTION, RETRIES_EXHAUSTED)
        assert (source.retry + 1) * (row["restarts"] + 1) >= row["attempts"] >= 1
        assert source.application_retries >= row["restarts"]


@law
def test_the_bill_of_a_txn_lists_every_request_it_sent(run):
    for row in run.ended:
        sent = Counter()
        for _, _, _, obj, op, count in run.requests[row["txn_id"]]:
            sent[obj, op] += count
        for obj, object_name in enumerate(OBJECTS):
            for op, operation in enumerate(OPERATIONS):
                assert sent[obj, op] == row[f"requests_{object_name}_{operation}"]


@law
def test_every_attempt_asks_the_catalog_or_ends_in_a_real_conflict(run):
    for row in run.ended:
        attempts = run.record.life(row["txn_id"]).attempts
        swapped = sum(attempt.has_reached_the_swap for attempt in attempts.values())
        in_conflict = row["restarts"] + (row["reason"] == VALIDATION_EXCEPTION)
        assert row["attempts"] == swapped + in_conflict


# ---- the uniform interface ---------------------------------------------------------------------------


@law
def test_success_tells_no_state_and_a_refusal_only_where_the_catalog_tells(run):
    tells = run.config.catalog.refusal_returns_snapshot
    has_physical_limit = run.config.catalog.type == "append"
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


# ---- floors ------------------------------------------------------------------------------------------


@law
def test_no_storage_request_is_answered_sooner_than_the_floor(run):
    """A txn waits for each answer before it asks again, so its own requests lie at least a floor apart."""
    storage = build_storage(run.config)
    floor_ms = run.config.storage.min_latency_ms
    if floor_ms is None:
        overridden = run.config.storage.latency_overrides()
        floor_ms = 0.0 if overridden else storage.profile.min_latency_ms
    floor_us = us_of(floor_ms)
    has_object = run.config.catalog.type in ("cas", "append")
    for row in run.ended:
        requests = run.requests[row["txn_id"]]
        if run.config.commit.own_manifest == "each_attempt":  # lists are read while the own manifest is written
            requests = [each for each in requests if not (each[3] == MANIFEST_LIST and each[4] in (READ, HEAD))]
        ends = [request[0] for request in requests[1:]] + [row["end_us"]]
        for (sent_us, _, _, obj, _, _), next_us in zip(requests, ends, strict=True):
            if obj != CATALOG or has_object:
                assert next_us - sent_us >= floor_us


# ---- exactly N manifest lists ------------------------------------------------------------------------


def classes_between(run: Run, table: int, first_seq: int, last_seq: int) -> list[int]:
    """What the snapshots of a table between two sequence numbers did."""
    found = []
    for decision in run.record.applied[first_seq:last_seq]:
        for position, (written_table, _) in enumerate(written(decision)):
            if written_table == table:
                found.append(decision.intention.effects[position].effect_class)
    return found


def n_matching(row: Row, source: Any, classes: list[int]) -> int:
    """How many of these snapshots the operation has to look into, by the table of Iceberg's own validations."""
    overwrites = classes.count(CLASS_OVERWRITE)
    if row["kind"] == REWRITE_FILES:
        return overwrites
    if row["kind"] == VALIDATED_OVERWRITE and source.overwrite != "replace_partitions":
        if source.isolation == "serializable":
            return len(classes) - classes.count(CLASS_REPLACE)
        return overwrites
    return 0


def expected_history(run: Run, row: Row) -> int:
    """Lists of history the txn has to have read over all its attempts."""
    commit, source = run.config.commit, run.source(row)
    is_all = (
        row["kind"] == VALIDATED_OVERWRITE
        and source.overwrite != "replace_partitions"
        and source.isolation == "serializable"
    )
    total = 0
    for _, nth, _, start, previous, base in run.situations(row):
        if nth == 1 and (commit.io == "after_failure" or commit.history != "fixed_start"):
            continue
        for position, table in enumerate(run.tables[row["txn_id"]][: row["n_tables_written"]]):
            since_start = classes_between(run, table, start.seq, base.seq)
            since_last = classes_between(run, table, previous.seq, base.seq)
            if commit.history == "fixed_start":
                total += n_matching(row, source, since_start)
            elif commit.history == "fixed_start_on_retry":  # deletes and overwrites are looked at four times
                overwrites = [each for each in since_start if each == CLASS_OVERWRITE]
                total += n_matching(row, source, since_start) + 3 * n_matching(row, source, overwrites)
            elif commit.history == "since_last_attempt":
                total += len(since_last) if is_all else n_matching(row, source, since_last)
            elif commit.history == "every_kind" and run.config.catalog.scope != "partition":
                total += len(since_last)
            elif commit.history == "every_kind":
                touched = run.record.partitions[row["txn_id"]][position][0]
                now, before = base.tables[table].partition_versions, previous.tables[table].partition_versions
                total += sum(now[p] - before[p] for p in touched)
    return total


@law
def test_n_snapshots_behind_means_exactly_n_manifest_lists(run):
    for row in run.ended:
        assert expected_history(run, row) == row["history_lists"]


# ---- real and false conflicts ------------------------------------------------------------------------


@law
def test_by_overlap_a_conflict_is_real_exactly_if_a_partition_it_writes_was_changed(run):
    """Asked of a validating operation once a rival it has to look at has committed; appends never abort."""
    if run.config.conflict.detector != "partition_overlap":
        return
    aborts = run.config.commit.real_conflict == "abort"
    for row in run.ended:
        source, partitions = run.source(row), run.record.partitions[row["txn_id"]]
        real = 0
        for _, _, attempt, _, previous, base in run.situations(row):
            is_real = False
            for position, table in enumerate(run.tables[row["txn_id"]][: row["n_tables_written"]]):
                classes = classes_between(run, table, previous.seq, base.seq)
                rivals = n_matching(row, source, classes) if aborts else len(classes)
                touched, n_written = partitions[position]
                now, then = base.tables[table].partition_versions, previous.tables[table].partition_versions
                is_real |= rivals > 0 and any(now[p] != then[p] for p in touched[:n_written])
            real += is_real
            if aborts:
                assert is_real == (not attempt.has_reached_the_swap)
        assert real == row["real_conflicts"]


@law
def test_every_retry_is_a_false_conflict_or_a_real_one(run):
    for row in run.ended:
        retries = sum(nth > 1 for _, nth, *_ in run.situations(row))
        first_attempts = row["attempts"] - retries
        assert first_attempts == row["restarts"] + 1
        assert retries <= row["false_conflicts"] + row["real_conflicts"] <= row["attempts"]


@law
def test_only_operations_that_validate_are_ever_in_real_conflict_unless_conflicts_are_merged(run):
    if run.config.commit.real_conflict == "merge":
        assert all(row["reason"] != VALIDATION_EXCEPTION for row in run.rows)
        return
    for row in run.ended:
        source = run.source(row)
        validates = row["kind"] == REWRITE_FILES or (
            row["kind"] == VALIDATED_OVERWRITE and source.overwrite != "replace_partitions"
        )
        if not validates:
            assert (0, 0) == (row["real_conflicts"], row["restarts"])
            assert VALIDATION_EXCEPTION != row["reason"]


# ---- the append protocol tells less ------------------------------------------------------------------


@law
def test_a_landed_record_is_followed_by_a_discovery_read_before_anything_is_known(run):
    if run.config.catalog.type != "append":
        return
    for row in run.ended:
        requests = run.requests[row["txn_id"]]
        discoveries = 0
        for (_, _, attempt, obj, op, _), following in pairwise(requests):
            if (obj, op) == (LOG, APPEND):
                discoveries += following[2:5] == (attempt, CATALOG, READ)
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
        assert 0 == sum(row[f"requests_log_{operation}"] for operation in OPERATIONS)
        assert 0 == row["append_physical_success"] + row["append_physical_failure"]


# ---- manifest lists that are appended to -------------------------------------------------------------


@law
def test_a_list_entry_is_tentative_and_appended_once_per_start_unless_it_was_merged_away(run):
    """Whether it counts is decided by the catalog alone: a retry after a false conflict appends nothing."""
    is_appended = run.config.transaction.manifest_list_mode == "append"
    for row in run.ended:
        entries = row["manifest_append_physical_success"] + row["manifest_append_sealed_rewrite"]
        if not is_appended:
            assert 0 == entries + row["requests_manifest_list_append"]
            continue
        firsts = sum(nth == 1 and attempt.has_reached_the_swap for _, nth, attempt, *_ in run.situations(row))
        least = firsts * row["n_tables_written"]
        most = least + row["real_conflicts"] * row["n_tables_written"]
        assert least <= entries <= most
        if run.config.commit.real_conflict == "abort":
            assert least == entries


@law
def test_after_a_conflict_a_list_with_all_commits_is_read_before_the_next_swap(run):
    """Unless lists are appended to and conflicts merged: then the entry stands as it is (append design)."""
    is_appended = run.config.transaction.manifest_list_mode == "append"
    if is_appended and run.config.commit.real_conflict == "merge":
        return
    for row in run.ended:
        reads = Counter()
        for _, _, attempt, obj, op, count in run.requests[row["txn_id"]]:
            if (obj, op) == (MANIFEST_LIST, READ):
                reads[attempt] += count
        for number, nth, attempt, *_ in run.situations(row):
            if nth > 1 and attempt.has_reached_the_swap:
                assert row["n_tables_written"] <= reads[number]


# ---- conditional requests are answered ---------------------------------------------------------------


@law
def test_only_a_cas_catalog_swaps_an_object_and_once_per_attempt_that_reached_it(run):
    if run.config.catalog.type == "append":
        return
    for row in run.ended:
        asked = sum(a.intention is not None for a in run.record.life(row["txn_id"]).attempts.values())
        swaps = sum(r[3:5] == (CATALOG, CAS) for r in run.requests[row["txn_id"]])
        assert asked == swaps
