"""Append catalog: a checkpoint and a log of intention records; the log's end is the meeting point.

A txn appends at an offset, learns that the log has moved, discovers whether its record was applied, compacts a sealed
log; what it does when it was refused is its own business.

Storage says only whether the record landed (physical). Whether it was applied (logical) is decided by the
table versions at that instant, and the txn has to read the catalog to find out. Two presets:

* ``append_design``: a failed append returns the new offset; tried again until it lands; a sealed log is compacted by
  a swap of its own first.
* ``log``: a failed append costs a HEAD to learn the offset; after ``physical_attempts_max`` the whole attempt
  is given up; the compacting swap carries the committer's own record, and needs no discovery read.
"""

from collections.abc import Callable, Generator
from typing import NamedTuple

from endive.catalog import rules
from endive.catalog.catalog import StoredCatalog
from endive.catalog.rules import LANDED, LogState
from endive.catalog.snapshot import AppendResult, CatalogSnapshot, CommitResult, IntentionRecord
from endive.catalog.state import CatalogState
from endive.distributions import LatencyDistribution
from endive.errors import UnsupportedOperationError
from endive.record import copied
from endive.rng import (
    BASE_READ,
    COMMIT,
    COMPACTION,
    DISCOVERY,
    LOG_ENTRIES,
    LOG_HEAD,
    LOOK_READ,
    POINTER_READ,
    READ_BACK,
    REFRESH,
    START_READ,
    slot,
)
from endive.storage.client import Client
from endive.storage.provider import Request, StorageProvider
from endive.vocabulary import APPEND, CAS, CATALOG, HEAD, LOG, READ

LOG_KEY = "log"
DRAWS_PER_REQUEST = 3  # success, refusal, penalty: the draws of one conditional request

# Which read of one attempt the per-entry cost is drawn for: positions of the LOG_ENTRIES slot.
BACK_ENTRIES = 5
BASE_ENTRIES = 6
LOOK_ENTRIES = 7
ENTRIES_POSITIONS = {
    START_READ: 0,
    REFRESH: 1,
    DISCOVERY: 2,
    POINTER_READ: 3,
    READ_BACK: BACK_ENTRIES,
    BASE_READ: BASE_ENTRIES,
    LOOK_READ: LOOK_ENTRIES,
}
COMPACTION_ENTRIES = 4
# Position of the DISCOVERY slot for the read before a compaction; position 0 is the read after an append.
COMPACTION_READ = 1


class _Landing(NamedTuple):
    """One physical attempt: what the server knows, of which the answer tells the log's end alone."""

    is_applied: bool
    evaluated_us: int
    size_bytes: int  # of checkpoint and log, to be read back
    log_end: LogState


class AppendCatalog(StoredCatalog):
    """A log that every commit appends to; tables decide conflicts, the log's offset only orders them."""

    def __init__(
        self,
        storage: StorageProvider,
        state: CatalogState,
        *,
        preset: str = "log",
        log_entry_bytes: int = 100,
        compaction_threshold_bytes: int = 16_000_000,
        compaction_max_entries: int = 10_000,
        physical_attempts_max: int = 10,
        log_entry_read: LatencyDistribution | None = None,
    ) -> None:
        if not (storage.supports_append and storage.supports_cas):
            raise UnsupportedOperationError(
                "catalog.type = 'append' needs a storage provider with conditional append and compare-and-swap; "
                f"'{storage.name}' lacks one of them."
            )
        super().__init__(storage, state, refusal_returns_snapshot=True)
        self.is_append_design = preset == "append_design"
        self.log_entry_bytes = log_entry_bytes
        self.compaction_threshold_bytes = compaction_threshold_bytes
        self.compaction_max_entries = compaction_max_entries
        self.physical_attempts_max = physical_attempts_max
        self.log_entry_read = log_entry_read
        self._applied: set[int] = set()  # txn ids applied since the last checkpoint

    @property
    def distributions(self) -> tuple[LatencyDistribution, ...]:
        return () if self.log_entry_read is None else (self.log_entry_read,)

    @property
    def _log(self) -> LogState:
        assert self.state.log is not None, "the state of an append catalog has a log"
        return self.state.log

    @staticmethod
    def _log_of(snapshot: CatalogSnapshot) -> LogState:
        assert snapshot.log is not None
        return snapshot.log

    def read(
        self, *, client: Client | None = None, step: int = START_READ, expected_size_bytes: int | None = None
    ) -> Generator[int, None, CatalogSnapshot]:
        """Read checkpoint and log."""
        client = self._client(client)
        size_bytes = self.state.size_bytes if expected_size_bytes is None else expected_size_bytes
        entries = slot(client.attempt, LOG_ENTRIES, ENTRIES_POSITIONS[step])
        return (yield from self._read(client, slot(client.attempt, step, 0), entries, size_bytes))

    def _read(
        self, client: Client, counter: int, entries_counter: int, size_bytes: int
    ) -> Generator[int, None, CatalogSnapshot]:
        snapshot = yield from self._look(client, CATALOG, READ, counter, size_bytes)
        entries = self._log_of(snapshot).entries
        if self.log_entry_read is not None and entries:
            yield self.log_entry_read.sample_us(client.key, entries_counter) * entries
        return snapshot

    def commit(self, intention: IntentionRecord, *, client: Client | None = None) -> Generator[int, None, CommitResult]:
        """Append the intention, then discover what became of it."""
        client = self._client(client)
        sent_us = self._clock.now_us
        end = newest = self._log_of(intention.base)  # of the log now, and as this client last read it whole
        tries, evaluated_us = 0, sent_us
        while True:
            if end.is_sealed and self.is_append_design:
                end = yield from self._compact(end.epoch, intention.base.size_bytes, tries, client)
            elif end.is_sealed:
                if newest.is_sealed == 0 or newest.epoch != end.epoch:
                    counter = slot(client.attempt, DISCOVERY, COMPACTION_READ) + tries
                    entries = slot(client.attempt, LOG_ENTRIES, COMPACTION_ENTRIES) + tries
                    snapshot = yield from self._read(client, counter, entries, intention.base.size_bytes)
                    newest = self._log_of(snapshot)
                done = yield from self._compact_with(intention, end.epoch, tries, client)
                if done is not None:
                    applied, evaluated_us = done
                    return self._result(sent_us, applied, None, evaluated_us)
            else:
                answer, landed = yield from self._append(intention, end.offset, tries, client)
                evaluated_us = landed.evaluated_us
                if answer.physical_success:
                    snapshot = yield from self.read(
                        client=client, step=DISCOVERY, expected_size_bytes=landed.size_bytes
                    )
                    applied = landed.is_applied
                    return self._result(sent_us, applied, None if applied else snapshot, evaluated_us)
                end = landed.log_end
            tries += 1
            if self.physical_attempts_max and tries >= self.physical_attempts_max:
                return self._result(sent_us, False, None, evaluated_us)
            if not self.is_append_design:
                end = yield from self._head(tries, client)

    def _result(self, sent_us: int, success: bool, snapshot: CatalogSnapshot | None, evaluated_us: int) -> CommitResult:
        return CommitResult(success, snapshot, (self._clock.now_us - sent_us) / 1000.0, evaluated_us)

    def _append(
        self, intention: IntentionRecord, offset: int, tries: int, client: Client
    ) -> Generator[int, None, tuple[AppendResult, _Landing]]:
        """One physical attempt."""
        landings: list[_Landing] = []

        def evaluate() -> bool:
            is_landed = rules.find_log(self._log, offset) == LANDED
            is_applied = is_landed and self._land(intention, client)
            landings.append(_Landing(is_applied, self._clock.now_us, self.state.size_bytes, copied(self._log)))
            return is_landed

        counter = slot(client.attempt, COMMIT, 0) + DRAWS_PER_REQUEST * tries
        request = Request(LOG, APPEND, counter, self.log_entry_bytes, key=LOG_KEY, evaluate=evaluate)
        result = yield from self._storage.ask(request, client)
        if result.success:
            client.row.append_physical_success += 1
        else:
            client.row.append_physical_failure += 1
        return AppendResult(result.success, landings[0].log_end.offset, result.latency_ms), landings[0]

    def _land(self, intention: IntentionRecord, client: Client) -> bool:
        """The record is in the log; apply it if its tables have not moved."""
        applied = self._apply_once(intention, client)
        if rules.land_entry(
            self._log, self.log_entry_bytes, self.compaction_threshold_bytes, self.compaction_max_entries
        ):
            client.row.append_compactions_triggered += 1
        self.state.refresh_log()
        return applied

    def _apply_once(self, intention: IntentionRecord, client: Client) -> bool:
        """The logical check; a txn's record is applied at most once, however often it lands."""
        if intention.txn_id in self._applied:
            client.row.append_duplicates += 1
            return True
        applied = self._decide(intention)
        if applied:
            self._applied.add(intention.txn_id)
            client.row.append_logical_success += 1
        else:
            client.row.append_logical_conflict += 1
        return applied

    def _head(self, tries: int, client: Client) -> Generator[int, None, LogState]:
        """Learn where the log ends now."""
        counter = slot(client.attempt, LOG_HEAD, 0) + tries
        head = Request(LOG, HEAD, counter, evaluate=lambda: copied(self._log))
        result = yield from self._storage.ask(head, client)
        end: LogState = result.observed
        return end

    def _seal_broken(self, epoch: int) -> bool:
        """At the server: the log is still sealed in ``epoch``; start a new one behind a checkpoint."""
        log = self._log
        if log.is_sealed == 0 or log.epoch != epoch:
            return False
        rules.compact_log(log)
        self.state.refresh_log()
        self._applied.clear()
        return True

    def _compact(self, epoch: int, size_bytes: int, tries: int, client: Client) -> Generator[int, None, LogState]:
        """``append_design``: a swap that does nothing but compact. Its answer tells where the log ends."""
        ends: list[LogState] = []

        def evaluate() -> bool:
            is_done = self._seal_broken(epoch)
            ends.append(copied(self._log))
            return is_done

        if (yield from self._compacting_swap(size_bytes, tries, client, evaluate)):
            client.row.append_compactions_completed += 1
        return ends[0]

    def _compact_with(
        self, intention: IntentionRecord, epoch: int, tries: int, client: Client
    ) -> Generator[int, None, tuple[bool, int] | None]:
        """``log``: compact and commit in one swap. None if another committer compacted first."""
        applied, evaluated_us = False, 0

        def evaluate() -> bool:
            nonlocal applied, evaluated_us
            evaluated_us = self._clock.now_us
            if not self._seal_broken(epoch):
                return False
            applied = self._apply_once(intention, client)
            return True

        if not (yield from self._compacting_swap(intention.base.size_bytes, tries, client, evaluate)):
            client.row.append_physical_failure += 1
            return None
        client.row.append_compactions_completed += 1
        return applied, evaluated_us

    def _compacting_swap(
        self, size_bytes: int, tries: int, client: Client, evaluate: Callable[[], bool]
    ) -> Generator[int, None, bool]:
        counter = slot(client.attempt, COMPACTION, 0) + DRAWS_PER_REQUEST * tries
        swap = Request(LOG, CAS, counter, size_bytes, key=LOG_KEY, evaluate=evaluate)
        result = yield from self._storage.ask(swap, client)
        return result.success
