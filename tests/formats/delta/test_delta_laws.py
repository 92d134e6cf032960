"""Delta's rules by themselves: who minds what, when the log is cleaned up, and one process that commits in turn."""

from __future__ import annotations

import pytest

from endive import simulate
from endive.formats.delta.attempt import DeltaPlan, DeltaSituation
from endive.formats.delta.conflicts import (
    ADDED_AFTER_READING,
    BLINDLY_ADDED,
    REARRANGED,
    REMOVED,
    minds_added,
    minds_removed,
)
from endive.formats.delta.plan import describe_situation, plan_clean_up
from endive.formats.delta.protocol import DELTA_RS, SPARK, DeltaProtocol, last_checkpoint
from endive.formats.delta.table import DeltaTable
from endive.formats.nesting import TableState
from endive.formats.operation import Operation
from endive.vocabulary import (
    APPEND_AFTER_READ,
    BLIND_APPEND,
    MERGE,
    OPTIMIZE,
    SERIALIZABLE,
    SNAPSHOT,
    WRITE_SERIALIZABLE,
)

CHANGES = (BLINDLY_ADDED, ADDED_AFTER_READING, REMOVED, REARRANGED)


@pytest.mark.parametrize(
    ("client", "kind", "isolation", "minded"),
    [
        (SPARK, MERGE, SERIALIZABLE, {BLINDLY_ADDED, ADDED_AFTER_READING, REMOVED, REARRANGED}),
        (SPARK, MERGE, WRITE_SERIALIZABLE, {ADDED_AFTER_READING, REMOVED, REARRANGED}),
        (SPARK, MERGE, SNAPSHOT, {REMOVED, REARRANGED}),
        (SPARK, APPEND_AFTER_READ, WRITE_SERIALIZABLE, {ADDED_AFTER_READING, REMOVED, REARRANGED}),
        (SPARK, BLIND_APPEND, SERIALIZABLE, set()),
        (SPARK, OPTIMIZE, SERIALIZABLE, set()),
        (DELTA_RS, MERGE, SERIALIZABLE, {BLINDLY_ADDED, ADDED_AFTER_READING, REMOVED}),
        (DELTA_RS, MERGE, SNAPSHOT, {BLINDLY_ADDED, ADDED_AFTER_READING, REMOVED}),
        (DELTA_RS, OPTIMIZE, SERIALIZABLE, set()),
    ],
)
def test_what_happens_where_it_has_read_fails_a_txn_by_kind_level_and_client(client, kind, isolation, minded):
    operation = Operation(kind=kind, isolation=isolation, client=client, adds_rows=1)

    assert minded == {
        change for change in CHANGES if minds_added(operation, change) or minds_removed(operation, change)
    }


@pytest.mark.parametrize(("older", "clean_to", "deletes"), [(0, 0, 0), (3, 3, 4), (20, 10, 15)])
def test_expired_commits_and_the_checkpoints_among_them_are_deleted_and_no_others(older, clean_to, deletes):
    plan = DeltaPlan()
    protocol = DeltaProtocol(checkpoint_interval=2, cleans_log=1)
    plan_clean_up(protocol, DeltaSituation(base=10, older=older, cleaned=0), plan)

    assert (clean_to, deletes) == (plan.clean_to, plan.deletes)


@pytest.mark.parametrize(("cleaned", "is_lost"), [(4, 0), (5, 0), (6, 1)])
def test_a_log_that_was_cleaned_up_is_lost_to_who_has_to_look_into_it(cleaned, is_lost):
    known, base = TableState(version=5), TableState(version=9)
    base.delta = DeltaTable(cleaned=cleaned)
    situation = DeltaSituation()
    describe_situation(1, known, known, base, 0, situation)

    assert is_lost == situation.is_log_lost


def test_delta_rs_counts_commits_to_a_checkpoint_and_delta_spark_their_numbers():
    versions = range(1, 12)
    of_rs, of_spark = (DeltaProtocol(client=client, checkpoint_interval=5) for client in (DELTA_RS, SPARK))

    assert [5, 10] == [version for version in versions if last_checkpoint(of_rs, version) == version]
    assert [6, 11] == [version for version in versions if last_checkpoint(of_spark, version) == version]


def test_threads_that_commit_in_turn_lose_no_race_but_to_who_came_before_them():
    """Delta Spark's lock (``lockCommitIfEnabled``): what it loses is the version it had read, once."""
    source = {
        "name": "threads",
        "arrivals": {"kind": "closed", "clients": 8, "think_ms": 200},
        "operation_types": {"blind_append": 1.0},
        "runtime": {"distribution": "fixed", "ms": 100},
    }
    document = {
        "simulation": {"duration_ms": 60_000, "seed": 3},
        "table": {"format": "delta"},
        "catalog": {"type": "single_driver"},
    }
    loose, locked = (
        simulate({**document, "source": [{**source, **queue}]}, engine="reference").transactions.to_pylist()
        for queue in ({}, {"commit_queue": "driver"})
    )

    assert 2 == max(row["attempts"] for row in locked)
    assert max(row["attempts"] for row in loose) > 2
