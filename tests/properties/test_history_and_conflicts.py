"""Laws of what attempts read and whom they lose to: history, real and false conflicts, lists, maintenance.

Tried like those of ``test_invariants``; what is compared with the rows is counted in ``history``.
"""

from collections import Counter

import pytest
from tests.properties.history import (
    adds_vectors,
    builds_as_loaded,
    classes_between,
    is_validating,
    lists_of_history,
    misses_history,
    misses_manifests,
    n_matching,
    says_no_start,
    snapshots_expired,
    snapshots_installed,
    snapshots_undone,
)
from tests.properties.law import law

from endive import vocabulary as v
from endive.formats.operation import CLASS_NONE
from endive.simulation.build_source import us_of

pytestmark = pytest.mark.lengthy


@law
def test_n_snapshots_behind_means_exactly_n_manifest_lists(run):
    """Not counted here: the check for vectors, where it looks into more than the operation does without it."""
    for row in run.whole:
        source = run.source(row)
        if adds_vectors(run, row) and not (source.checks == "all" and source.referenced_files):
            continue
        expected = sum(
            lists_of_history(run, row, situation, position, table)
            for situation in run.situations(row)
            for position, table in enumerate(run.tables_written(row))
        )
        assert expected == row["history_lists"]


@law
def test_by_overlap_a_conflict_is_real_exactly_if_a_partition_it_writes_was_changed(run):
    """Asked of a validating operation once a rival it has to look at has committed; appends never abort.

    A rewrite of manifests has a rule of its own, and an attempt may also end because its history was expired.
    """
    if run.config.conflict.detector != "partition_overlap":
        return
    aborts = run.config.commit.real_conflict == "abort"
    for row in run.whole:
        source, partitions = run.source(row), run.record.partitions[row["txn_id"]]
        real = 0
        for situation in run.situations(row):
            _, _, attempt, _, previous, base = situation
            is_real = is_missed = False
            for position, table in enumerate(run.tables_written(row)):
                classes = classes_between(run, table, previous.seq, base.seq)
                rivals = n_matching(row, source, classes) if aborts else len(classes)
                touched, n_written = partitions[position]
                now, then = base.tables[table].partition_versions, previous.tables[table].partition_versions
                is_real |= rivals > 0 and any(now[p] != then[p] for p in touched[:n_written])
                is_real |= row["kind"] == v.REWRITE_MANIFESTS and misses_manifests(run, table, situation)
                is_missed |= misses_history(run, row, situation, table)
            real += is_real
            assert attempt.has_reached_the_swap == (not is_missed and not (aborts and is_real))
        assert real == row["real_conflicts"]


@law
def test_every_retry_is_a_false_conflict_or_a_real_one(run):
    for row in run.whole:
        retries = sum(nth > 1 for _, nth, *_ in run.situations(row))
        first_attempts = row["attempts"] - retries
        assert first_attempts == row["restarts"] + 1
        assert retries <= row["false_conflicts"] + row["real_conflicts"] <= row["attempts"]


@law
def test_only_operations_that_validate_are_ever_in_real_conflict_unless_conflicts_are_merged(run):
    if run.config.commit.real_conflict == "merge":
        assert all(row["reason"] != v.VALIDATION_EXCEPTION for row in run.rows)
        return
    for row in run.ended:
        is_looking = is_validating(row, run.source(row)) or adds_vectors(run, row)
        if not is_looking and row["kind"] != v.REWRITE_MANIFESTS:
            assert 0 == row["real_conflicts"]
            assert run.reruns_most(row) >= row["restarts"]  # which need no conflict
            assert v.VALIDATION_EXCEPTION != row["reason"]


@law
def test_a_list_entry_is_tentative_and_appended_once_per_start_unless_it_was_merged_away(run):
    """Whether it counts is decided by the catalog alone: a retry after a false conflict appends nothing."""
    is_appended = run.config.transaction.manifest_list_mode == "append"
    for row in run.whole:
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
    """Unless lists are appended to and conflicts merged: then the entry stands as it is (append design).

    An expiry makes no list, so it reads none to build on.
    """
    is_appended = run.config.transaction.manifest_list_mode == "append"
    if is_appended and run.config.commit.real_conflict == "merge":
        return
    for row in run.whole:
        reads = Counter()
        for _, _, attempt, obj, op, count, is_throttled in run.requests[row["txn_id"]]:
            if (obj, op) == (v.MANIFEST_LIST, v.READ) and not is_throttled:
                reads[attempt] += count
        for number, nth, attempt, *_ in run.situations(row):
            if nth > 1 and attempt.has_reached_the_swap:
                least = 0 if row["kind"] == v.EXPIRE_SNAPSHOTS else row["n_tables_written"]
                assert least <= reads[number]


@law
def test_an_expiry_installs_no_snapshot_and_everything_else_one(run):
    kinds = {row["txn_id"]: row["kind"] for row in run.rows}
    for decision in run.record.applied:
        for _, effect, _ in decision.written:
            is_expiry = kinds[decision.intention.txn_id] == v.EXPIRE_SNAPSHOTS
            assert is_expiry == (effect.effect_class == CLASS_NONE)
            assert is_expiry or 0 == effect.expired


@law
def test_an_expiry_leaves_the_newest_snapshots_and_those_younger_than_the_age_it_keeps(run):
    committed = {row["txn_id"]: row for row in run.ended if row["status"] == v.COMMITTED}
    initial = run.config.table.initial_snapshots
    for decision in run.record.applied:
        row = committed.get(decision.intention.txn_id)
        if row is None or row["kind"] != v.EXPIRE_SNAPSHOTS:
            continue
        source, before_seq = run.source(row), decision.seq - 1
        for table, effect, _ in decision.written:
            old = snapshots_installed(run, table, before_seq) - snapshots_undone(run, table, decision.seq)
            old -= source.retain_last
            if source.expire_older_than_ms:
                since_us = run.last_began_us(row) - us_of(source.expire_older_than_ms)
                made = [d.at_us for d, e in run.effects[table] if d.seq <= before_seq and e.effect_class != CLASS_NONE]
                old = min(old, initial + sum(at_us < since_us for at_us in made))
            assert max(0, old - snapshots_expired(run, table, before_seq)) == effect.expired


@law
def test_an_expiry_writes_no_list_and_no_manifest_and_reads_lists_only_after_it_has_committed(run):
    """Where a server gathers commits, whoever opens a batch is billed for the list of all."""
    if run.config.catalog.service.batch_ms is not None:
        return
    for row in run.ended:
        if row["kind"] == v.EXPIRE_SNAPSHOTS:
            assert 0 == row["requests_manifest_list_write"] + row["requests_manifest_write"] + row["history_lists"]
            if row["status"] != v.COMMITTED:
                assert 0 == row["requests_manifest_list_read"] + row["requests_manifest_read"]


@law
def test_an_attempt_whose_history_was_expired_never_reaches_the_swap(run):
    for row in run.whole:
        for situation in run.situations(row):
            if any(misses_history(run, row, situation, table) for table in run.tables_written(row)):
                assert not situation.attempt.has_reached_the_swap
        if row["reason"] == v.HISTORY_EXPIRED:
            is_looking = is_validating(row, run.source(row)) or says_no_start(run, row)
            assert is_looking or builds_as_loaded(run, row)


@law
def test_a_rewrite_of_manifests_is_in_real_conflict_exactly_if_manifests_were_taken_out_of_the_list(run):
    """Or merges, where conflicts are merged: then any snapshot beside it may be in its way too."""
    aborts = run.config.commit.real_conflict == "abort"
    for row in run.whole:
        if row["kind"] == v.REWRITE_MANIFESTS:
            found = [
                any(misses_manifests(run, table, situation) for table in run.tables_written(row))
                for situation in run.situations(row)
            ]
            assert sum(found) == row["real_conflicts"] if aborts else sum(found) <= row["real_conflicts"]
            if aborts:
                reached = [situation.attempt.has_reached_the_swap for situation in run.situations(row)]
                assert [not is_gone for is_gone in found] == reached
