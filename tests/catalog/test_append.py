"""The append catalog under every interleaving: what it says committed was applied, once, and nothing else was.

The catalog is driven directly: clients are generators, and a seeded draw decides whose server decision comes next.
"""

from __future__ import annotations

import random
from collections.abc import Generator
from typing import Any

import pytest
from tests.catalog import calls
from tests.catalog.calls import LATENCY_US, finished, intend
from tests.clock import HandClock, RandomClock

from endive.catalog import AppendCatalog, AppendResult
from endive.rng import START_READ
from endive.storage.client import Client, count_sent
from endive.vocabulary import CAS, HEAD, LOG

PRESETS = ("log", "append_design")
ENTRY_BYTES = 100


def make_catalog(clock: Any, preset: str, **options: Any) -> Any:
    defaults = {"physical_attempts_max": 10 if preset == "log" else 0, "log_entry_bytes": ENTRY_BYTES}
    return calls.make_catalog(f"append {preset}", clock, **(defaults | options))


class Writer:
    """A client that commits one txn, reading again and retrying until it is told that it committed."""

    def __init__(
        self, txn_id: int, clock: Any, catalog: AppendCatalog, tables: tuple[int, ...], n_written: int
    ) -> None:
        self.client = Client(txn_id, txn_id, clock)
        self.catalog = catalog
        self.tables = tables
        self.n_written = n_written
        self.refusals: list[Any] = []

    def live(self, attempts_max: int) -> Generator[int, None, bool]:
        known = yield from self.catalog.read(client=self.client, step=START_READ)
        for _ in range(attempts_max):
            self.client.row.attempts += 1
            record = intend(self.client.txn_id, known, *self.tables, n_written=self.n_written)
            result = yield from self.catalog.commit(record, client=self.client)
            if result.success:
                assert result.snapshot is None
                return True
            self.refusals.append(result)
            if result.snapshot is not None:  # whoever tells the state tells the reason
                assert any(result.snapshot.tables[t].version > known.tables[t].version for t in self.tables)
            known = result.snapshot
            if known is None:
                known = yield from self.catalog.read(client=self.client, step=START_READ)
        return False


class Recorded(AppendCatalog):
    """An append catalog that writes down which txns it applied, in order."""

    def _decide(self, intention: Any) -> bool:
        before = self.state.seq
        applied = super()._decide(intention)
        assert self.state.seq == before + applied
        if applied:
            self.__dict__.setdefault("applied_txns", []).append(intention)
        return applied


@pytest.mark.lengthy
@pytest.mark.parametrize("preset", PRESETS)
def test_told_committed_is_applied_under_two_thousand_random_interleavings(preset):
    refused = landed_unapplied = compacted = 0
    for seed in range(2_000):
        draw = random.Random(seed)
        clock = RandomClock(seed)
        catalog = make_catalog(
            clock,
            preset,
            num_tables=3,
            compaction_max_entries=draw.choice((0, 1, 2, 3, 10)),
            compaction_threshold_bytes=draw.choice((ENTRY_BYTES, 250, 16_000_000)),
            physical_attempts_max=draw.choice((0, 1, 2, 10)) if preset == "log" else 0,
        )
        catalog.__class__ = Recorded
        writers = []
        for txn_id in range(draw.randint(2, 6)):
            tables = tuple(draw.sample(range(3), draw.randint(1, 3)))
            writers.append(Writer(txn_id, clock, catalog, tables, draw.randint(1, len(tables))))
        lives = [clock.start(writer.live(attempts_max=draw.randint(1, 5))) for writer in writers]
        clock.run()

        told = [writer.client.txn_id for writer, life in zip(writers, lives, strict=True) if life.value]
        applied = getattr(catalog, "applied_txns", [])
        assert sorted(told) == sorted(record.txn_id for record in applied)
        assert catalog.state.seq == len(told)
        for table in range(3):
            writes = sum(table in record.tables[: record.n_written] for record in applied)
            assert writes == catalog.state.snapshot(0).tables[table].version
        check_counters(writers, catalog)
        refused += sum(len(writer.refusals) for writer in writers)
        landed_unapplied += sum(w.client.row.append_logical_conflict for w in writers)
        compacted += catalog.state.log.epoch

    # The interleavings reached what they were meant to reach.
    assert refused > 1_000
    assert landed_unapplied > 1_000
    assert compacted > 1_000


def check_counters(writers: list[Writer], catalog: AppendCatalog) -> None:
    """What the txns counted is what happened to the log."""

    def total(name: str) -> int:
        return sum(getattr(writer.client.row, name) for writer in writers)

    log = catalog.state.log
    landed = total("append_physical_success")
    assert landed * ENTRY_BYTES == log.offset
    assert total("append_compactions_completed") == log.epoch
    assert total("append_compactions_triggered") == log.epoch + log.is_sealed
    assert total("append_logical_success") == catalog.state.seq
    with_compaction = 0 if catalog.is_append_design else log.epoch  # records carried by a compacting swap
    assert landed + with_compaction == total("append_logical_success") + total("append_logical_conflict")
    assert 0 == total("append_duplicates")
    assert log.offset - log.checkpoint == log.entries * ENTRY_BYTES


# ---- what a client is told, and when -----------------------------------------------------------------


def test_a_landed_append_tells_its_offset_and_not_whether_it_was_applied():
    assert ("physical_success", "new_offset", "latency_ms") == AppendResult._fields


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("is_stale", [False, True])
def test_the_outcome_is_known_only_after_a_discovery_read(preset, is_stale):
    """Append and read back, applied or not: two round trips."""
    clock = HandClock()
    catalog = make_catalog(clock, preset)
    first = catalog.state.snapshot(0)
    if is_stale:
        catalog.state.apply(intend(9, first, 0))
        # the log did not move with it: the record will land, on a table that has
    client = Client(1, 1, clock)
    call = finished(clock, catalog.commit(intend(1, first, 0), client=client))

    assert (not is_stale, 2 * LATENCY_US) == (call.value.success, call.end_us)
    counts = [getattr(client.row, f"append_{name}") for name in ("physical_success", "logical_conflict")]
    assert [1, int(is_stale)] == counts
    assert ENTRY_BYTES == catalog.state.log.offset  # in the log, applied or not
    assert (1 if is_stale else None) == (call.value.snapshot and call.value.snapshot.seq)


@pytest.mark.parametrize(("preset", "round_trips", "heads"), [("append_design", 3, 0), ("log", 4, 1)])
def test_a_moved_offset_costs_another_append_and_in_the_working_implementation_a_head(preset, round_trips, heads):
    clock = HandClock()
    catalog = make_catalog(clock, preset)
    stale = catalog.state.snapshot(0)
    other = Client(2, 2, clock)
    begin_us = finished(clock, catalog.commit(intend(2, stale, 1), client=other)).end_us
    client = Client(1, 1, clock)
    call = finished(clock, catalog.commit(intend(1, stale, 0), client=client))

    assert call.value.success  # another table
    assert round_trips * LATENCY_US == call.end_us - begin_us
    assert (1, 1) == (client.row.append_physical_failure, client.row.append_physical_success)
    assert heads == count_sent(client.row, LOG, HEAD)


def test_ten_physical_failures_end_an_attempt_without_a_word_on_the_state():
    """The log moves before every one of its appends; then a whole Iceberg attempt starts over."""
    clock = HandClock()
    catalog = make_catalog(clock, "log", num_tables=1)
    client = Client(1, 1, clock)
    call = clock.start(catalog.commit(intend(1, catalog.state.snapshot(0), 0), client=client))
    for append_number in range(20):
        # An append is evaluated half a latency after it is sent, and then every two round trips (append, HEAD).
        clock.run(until_us=append_number * 2 * LATENCY_US + LATENCY_US // 4)
        catalog.state.log.offset += ENTRY_BYTES
    clock.run()

    assert not call.value.success
    assert call.value.snapshot is None
    assert 10 == client.row.append_physical_failure
    assert 0 == client.row.append_physical_success
    assert (10 + 9) * LATENCY_US == call.end_us


# ---- a record is applied once ------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_a_txn_that_lands_twice_is_applied_once_and_told_committed_both_times(preset):
    clock = HandClock()
    catalog = make_catalog(clock, preset)
    client = Client(1, 1, clock)
    for _ in range(2):
        record = intend(1, catalog.state.snapshot(clock.now_us), 0)
        assert finished(clock, catalog.commit(record, client=client)).value.success

    assert (1, 1) == (catalog.state.seq, catalog.state.snapshot(0).tables[0].version)
    assert (1, 1) == (client.row.append_logical_success, client.row.append_duplicates)
    assert 2 * ENTRY_BYTES == catalog.state.log.offset


@pytest.mark.parametrize("preset", PRESETS)
def test_a_table_that_was_only_read_must_not_have_moved_either(preset):
    clock = HandClock()
    catalog = make_catalog(clock, preset)
    base = catalog.state.snapshot(0)
    catalog.state.apply(intend(9, base, 1))
    call = finished(clock, catalog.commit(intend(1, base, 0, 1, n_written=1), client=Client(1, 1, clock)))

    assert not call.value.success
    assert 0 == catalog.state.snapshot(0).tables[0].version


# ---- sealing and compacting --------------------------------------------------------------------------


def commit_alone(clock: HandClock, catalog: AppendCatalog, txn_id: int) -> tuple[Client, int]:
    """A txn that reads and commits with nobody beside it; its bill, and how long the commit took."""
    client = Client(txn_id, txn_id, clock)
    read = finished(clock, catalog.read(client=client))
    call = finished(clock, catalog.commit(intend(txn_id, read.value, 0), client=client))
    assert call.value.success
    return client, call.end_us - read.end_us


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    ("options", "landings"),
    [
        ({"compaction_max_entries": 3}, 3),
        ({"compaction_max_entries": 0, "compaction_threshold_bytes": 2 * ENTRY_BYTES}, 3),  # above, not at
        ({"compaction_max_entries": 5, "compaction_threshold_bytes": ENTRY_BYTES}, 2),  # whichever comes first
    ],
)
def test_a_log_is_sealed_at_its_threshold_and_compacted_by_the_next_committer(preset, options, landings):
    clock = HandClock()
    catalog = make_catalog(clock, preset, **options)
    for txn_id in range(landings):
        client, _ = commit_alone(clock, catalog, txn_id)
        assert int(txn_id == landings - 1) == client.row.append_compactions_triggered
    assert (1, landings) == (catalog.state.log.is_sealed, catalog.state.log.entries)

    client, took_us = commit_alone(clock, catalog, landings)

    log = catalog.state.log
    assert (0, 1) == (log.is_sealed, log.epoch)
    assert 1 == client.row.append_compactions_completed
    if preset == "append_design":  # a swap of its own, then append and discovery
        assert (3 * LATENCY_US, 1) == (took_us, log.entries)
        assert 1 == client.row.append_physical_success
    else:  # the swap carries the txn, and needs no discovery
        assert (LATENCY_US, 0) == (took_us, log.entries)
        assert 0 == client.row.append_physical_success
    assert landings + 1 == catalog.state.seq


@pytest.mark.parametrize("preset", PRESETS)
def test_of_two_that_find_the_log_sealed_one_compacts(preset):
    clock = HandClock()
    catalog = make_catalog(clock, preset, compaction_max_entries=3)
    for txn_id in range(3):
        commit_alone(clock, catalog, txn_id)
    sealed = catalog.state.snapshot(clock.now_us)
    clients = [Client(txn_id, txn_id, clock) for txn_id in (3, 4)]
    commits = [
        clock.start(catalog.commit(intend(client.txn_id, sealed, table), client=client))
        for table, client in enumerate(clients)
    ]
    clock.run()

    assert [True, True] == [call.value.success for call in commits]
    assert [1, 0] == [client.row.append_compactions_completed for client in clients]
    assert (1, 5) == (catalog.state.log.epoch, catalog.state.seq)
    in_log = 2 if preset == "append_design" else 1  # the other one travelled with the compaction
    assert in_log == catalog.state.log.entries


@pytest.mark.parametrize("preset", PRESETS)
def test_a_compaction_expects_the_log_it_saw_and_not_any_sealed_one(preset):
    """Sealed, compacted by somebody else, sealed again: the swap of whoever saw the first log is refused."""
    clock = HandClock()
    catalog = make_catalog(clock, preset, compaction_max_entries=1)
    commit_alone(clock, catalog, 0)
    stale = catalog.state.snapshot(clock.now_us)
    while catalog.state.log.epoch == 0 or catalog.state.log.is_sealed == 0:
        commit_alone(clock, catalog, 10 + catalog.state.seq)
    client = Client(1, 1, clock)
    assert finished(clock, catalog.commit(intend(1, stale, 1), client=client)).value.success
    assert 2 == count_sent(client.row, LOG, CAS)
    assert (1, 2) == (client.row.append_compactions_completed, catalog.state.log.epoch)


def test_the_log_shrinks_what_is_read_back():
    """Checkpoint and log are read together: the bytes of the log fall away when it is compacted."""
    clock = HandClock()
    catalog = make_catalog(clock, "append_design", compaction_max_entries=2)
    empty = catalog.state.size_bytes
    commit_alone(clock, catalog, 0)
    commit_alone(clock, catalog, 1)
    assert empty + 2 * ENTRY_BYTES == catalog.state.size_bytes

    commit_alone(clock, catalog, 2)
    assert empty + ENTRY_BYTES == catalog.state.size_bytes
