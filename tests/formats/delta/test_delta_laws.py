"""Delta's rules by themselves: who minds what, when the log is cleaned up, and one process that commits in turn."""

from typing import Any

import pytest

from endive import simulate
from endive.formats.data_files import shuffled, unshuffled
from endive.formats.delta.attempt import DeltaPlan, DeltaSituation
from endive.formats.delta.conflicts import (
    ADDED_AFTER_READING,
    BLINDLY_ADDED,
    REARRANGED,
    REMOVED,
    ground_against,
    minds_added,
    minds_removed,
)
from endive.formats.delta.effects import install, publish
from endive.formats.delta.plan import describe_situation, plan_attempt, plan_clean_up
from endive.formats.delta.protocol import DELTA_RS, SPARK, DeltaProtocol, last_checkpoint
from endive.formats.delta.table import ALL_CHECKSUMS, DeltaTable, has_checksum
from endive.formats.nesting import TableState
from endive.formats.operation import Operation
from endive.vocabulary import (
    APPEND_AFTER_READ,
    BLIND_APPEND,
    MERGE,
    OPTIMIZE,
    READS_FILES,
    READS_NOTHING,
    READS_PARTITIONS,
    READS_TABLE,
    SERIALIZABLE,
    SNAPSHOT,
    WRITE_SERIALIZABLE,
)
from verification.suites.delta.told_story import tell

CHANGES = (BLINDLY_ADDED, ADDED_AFTER_READING, REMOVED, REARRANGED)
APPENDS = {"operation_types": {"blind_append": 1.0}}


def run(engine: str, *sources: dict[str, Any], latency_ms: float = 20.0, **sections: Any) -> list[dict[str, Any]]:
    """A minute of sources on a Delta table, on a store of constant latency."""
    document = {
        "simulation": {"duration_ms": 60_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0, "seed": 3},
        "storage": {"provider": "constant", "latency_ms": latency_ms},
        "table": {"format": "delta"},
        "source": list(sources),
        **sections,
    }
    return simulate(document, engine=engine).transactions.to_pylist()


def source(name: str, arrivals: dict[str, Any], runtime_ms: float, **keys: Any) -> dict[str, Any]:
    runtime = {"distribution": "fixed", "ms": runtime_ms}
    return {"name": name, "arrivals": arrivals, "runtime": runtime, **APPENDS, **keys}


STORY = {"commits": 5, "interval": 0, "is_cleaned": False, "earlier": [], "lost": []}


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


@pytest.mark.parametrize(
    ("older", "at_once", "clean_to", "deletes"),
    [(0, 1, 0, 0), (3, 1, 3, 4), (20, 1, 10, 15), (20, 1000, 10, 1), (20, 7, 10, 3)],
)
def test_expired_commits_and_the_checkpoints_among_them_are_deleted_and_no_others(older, at_once, clean_to, deletes):
    plan = DeltaPlan()
    protocol = DeltaProtocol(checkpoint_interval=2, cleans_log=1, files_per_delete=at_once)
    plan_clean_up(protocol, DeltaSituation(base=10, older=older, cleaned=0), plan)

    assert (clean_to, deletes) == (plan.clean_to, plan.deletes)


@pytest.mark.parametrize(("client", "first_lost"), [(SPARK, 6), (DELTA_RS, 5)])
def test_a_log_that_was_cleaned_up_is_lost_to_who_has_to_look_into_it(client, first_lost):
    """delta-rs lists from the commit its table was loaded from, Delta Spark from the next."""
    known, base, protocol = TableState(version=5), TableState(version=9), DeltaProtocol(client=client)
    lost, reads = set(), {}
    for cleaned in (4, 5, 6):
        base.delta = DeltaTable(cleaned=cleaned)
        situation, plan = DeltaSituation(), DeltaPlan()
        describe_situation(protocol, 1, known, known, base, 0, situation)
        plan_attempt(protocol, Operation(kind=MERGE), situation, plan)
        lost |= {cleaned} if situation.is_log_lost else set()
        reads[cleaned] = plan.winner_reads

    assert {cleaned for cleaned in (4, 5, 6) if cleaned >= first_lost} == lost
    assert {cleaned: 0 if cleaned in lost else 4 for cleaned in (4, 5, 6)} == reads


@pytest.mark.parametrize("client", [SPARK, DELTA_RS])
def test_a_log_that_nobody_has_cleaned_up_is_lost_to_nobody(client):
    """Not to a writer either that has kept the table since it was created, as version 0."""
    situation = DeltaSituation()
    created, protocol = TableState(version=0), DeltaProtocol(client=client)
    describe_situation(protocol, 1, created, created, TableState(version=3, delta=DeltaTable(cleaned=0)), 0, situation)

    assert 3 == situation.behind
    assert 0 == situation.is_log_lost


@pytest.mark.parametrize(
    ("reads", "changes", "is_in_partition", "is_on_file", "ground"),
    [
        (READS_TABLE, (BLINDLY_ADDED,), False, False, 1 + BLINDLY_ADDED),
        (READS_TABLE, (ADDED_AFTER_READING, REARRANGED), False, False, 1 + ADDED_AFTER_READING),
        (READS_PARTITIONS, (BLINDLY_ADDED,), False, False, 0),
        (READS_PARTITIONS, (REMOVED,), True, False, 1 + REMOVED),
        (READS_FILES, (REMOVED,), True, False, 0),
        (READS_FILES, (REMOVED,), True, True, 1 + REMOVED),
        (READS_NOTHING, (BLINDLY_ADDED, ADDED_AFTER_READING), True, False, 0),
        (READS_NOTHING, (ADDED_AFTER_READING, REARRANGED), True, True, 1 + REARRANGED),
    ],
)
def test_a_winner_is_held_against_what_a_merge_has_read_in_the_order_of_its_changes(
    reads, changes, is_in_partition, is_on_file, ground
):
    operation = Operation(kind=MERGE, isolation=SERIALIZABLE, client=SPARK, reads=reads)
    bits = sum(1 << change for change in changes)

    assert ground == ground_against(operation, bits, is_in_partition, is_on_file)


@pytest.mark.parametrize("count", [1, 7, 16, 40])
def test_a_place_is_found_back_among_the_files_of_a_txn(count):
    places = [shuffled(99, 1, index, count) for index in range(count)]

    assert list(range(count)) == [unshuffled(99, 1, place, count) for place in places]


@pytest.mark.parametrize(("reads", "winner_reads"), [("table", 1), ("partitions", 4)])
def test_a_client_that_fails_has_read_the_winners_up_to_the_first_that_conflicts(reads, winner_reads):
    """A MERGE of twenty seconds beside appends: the first elsewhere, the fourth where it has read."""
    operation = "merge, by id alone" if reads == "table" else "merge, p = 3"
    behind = [["append, p = 9", "committed"]] * 3 + [["append, p = 3", "committed"]] * 2
    played = tell({**STORY, "operation": operation, "behind": behind})

    assert ("aborted", "concurrent_append") == (played.outcome, played.reason)
    assert winner_reads == played.bill["commit_file.read"]


def test_a_table_of_delta_rs_stays_as_old_as_it_was_when_its_call_fails():
    """The second call reads what the first had missed: three commits once, and three twice to bring its table up."""
    rivals = [["append, p = 3", "committed"]] * 2
    earlier = [{"operation": "merge, p = 3", "rivals": rivals, "outcome": "failed"}]
    told = tell({**STORY, "operation": "append, p = 9", "earlier": earlier, "behind": [["append, p = 9", "committed"]]})

    assert 3 + 2 * 3 + 2 == told.bill["commit_file.read"]  # and its own commit twice


def test_delta_rs_counts_commits_to_a_checkpoint_and_delta_spark_their_numbers():
    versions = range(1, 12)
    of_rs, of_spark = (DeltaProtocol(client=client, checkpoint_interval=5) for client in (DELTA_RS, SPARK))

    assert [5, 10] == [version for version in versions if last_checkpoint(of_rs, version) == version]
    assert [6, 11] == [version for version in versions if last_checkpoint(of_spark, version) == version]


def test_threads_that_commit_in_turn_lose_no_race_but_to_who_came_before_them():
    """Delta Spark's lock (``lockCommitIfEnabled``): what it loses is the version it had read, once."""
    loop = {"kind": "closed", "clients": 8, "think_ms": 200}
    loose, locked = (
        run("reference", source("threads", loop, 100.0, **queue), catalog={"type": "single_driver"})
        for queue in ({}, {"commit_queue": "driver"})
    )

    assert 2 == max(row["attempts"] for row in locked)
    assert max(row["attempts"] for row in loose) > 2


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_the_log_is_replayed_whenever_it_was_read(engine):
    """delta-rs: after its commit, and before it if others have committed since it loaded its table."""
    sources = [
        source(name, {"kind": "periodic", "period_ms": 40_000, "offset_ms": offset_ms}, runtime_ms)
        for name, offset_ms, runtime_ms in (("long", 1_000, 6_000), ("short", 3_000, 100))
    ]
    plain, replaying = (
        run(engine, *sources, delta={"client": "delta_rs", **more}) for more in ({}, {"log_replay_ms": 7.0})
    )
    longer_ms = {
        (after["source"], round(after["commit_latency_ms"] - before["commit_latency_ms"], 3))
        for before, after in zip(plain, replaying, strict=True)
    }

    assert {("long", 14.0), ("short", 7.0)} == longer_ms


def test_a_version_has_its_checksum_from_the_moment_its_own_writer_published_it_in_whatever_order():
    table, append = TableState(version=7), Operation(kind=BLIND_APPEND)
    table.delta.checksums = ALL_CHECKSUMS
    plans = [DeltaPlan(version=version, is_checksummed=1) for version in (8, 9)]
    seen = []

    for plan in plans:
        install(table, append, plan)
        seen.append(has_checksum(table.delta))
    for plan in (plans[0], plans[1]):
        publish(table, plan)
        seen.append(has_checksum(table.delta))

    assert [False, False, False, True] == seen
    assert ALL_CHECKSUMS == table.delta.checksums


@pytest.mark.parametrize(("checksum_reads", "is_there", "is_bare"), [(1, True, 0), (1, False, 1), (0, False, 0)])
def test_who_lost_a_race_asks_for_the_checksum_of_the_version_before(checksum_reads, is_there, is_bare):
    table, plan = TableState(version=7), DeltaPlan(version=8, checksum_reads=checksum_reads)
    table.delta.checksums = ALL_CHECKSUMS if is_there else ALL_CHECKSUMS - 1

    install(table, Operation(kind=BLIND_APPEND), plan)

    assert is_bare == plan.is_bare


def test_writers_that_commit_close_together_read_the_log_and_a_lone_one_for_its_checkpoints_alone():
    """A checkpoint is made of ten commits, so the lone one reads a commit file for each that it makes."""

    def reads(clients):
        rows = run("auto", source("w", {"kind": "closed", "clients": clients}, 100.0, keeps_table=True))
        made = 10 * sum(row["requests_checkpoint_write"] for row in rows)
        return sum(row["requests_commit_file_read"] for row in rows) / made

    assert 1.0 == pytest.approx(reads(1), abs=0.02)
    assert 3.0 < reads(4)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_a_table_that_moves_while_delta_spark_loads_it_is_brought_up_to_date_before_the_work(engine):
    """The rival's commit is decided at 1,230 ms, between the reader's listings; it lists again when it has loaded."""
    rival, reader = ({"kind": "periodic", "period_ms": 1e7, "offset_ms": at_ms} for at_ms in (780, 1_000))
    reading = {"operation_types": {"append_after_read": 1.0}, "read": "files", "touched_files": 1}
    rows = run(
        engine,
        source("rival", rival, 0.0),
        source("reader", reader, 0.0, **reading),
        latency_ms=100.0,
        table={"format": "delta", "data_files": 100},
        delta={"initial_version": 5},
    )
    (row,) = [row for row in rows if row["source"] == "reader"]

    assert (1, 0) == (row["attempts"], row["n_behind_first"])
    assert (2, 2) == (row["requests_commit_file_list"], row["requests_checksum_read"])
    assert 11 == row["requests_commit_file_read"]  # five, then all six
