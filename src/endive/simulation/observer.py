"""The observer of a run: every answer of the catalog is held against a second set of books.

The rules of a serial history are ``endive.catalog.ledger``'s. The observer changes nothing: a run is the same with it
or without.

It stands between txns and catalog and believes neither. It sees when a request leaves, when it wakes, and
whether the server's state has changed in between; what the catalog's own code thinks of that, it does not ask.

* A read shows the versions of the instant it is stamped with, and that instant is not before the request leg is over.
* A commit is built on a state that its txn was shown, and nothing it touches has changed since; or the server
  says when it rebased it (``CommitResult.rebased_us``), the change commutes, and nothing has changed since then.
  Compactions since its base do not count where the catalog undoes them for it.
* The versions installed are those before it plus one, on what it writes and nowhere else.
* A txn is applied once at most, and told "committed" if and only if it was. One that ends without knowing
  (``commit_state_unknown``) is told nothing; if it was applied, that is counted.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple, NoReturn

from endive.catalog import ledger as books
from endive.catalog.catalog import Catalog
from endive.catalog.ledger import Violation
from endive.catalog.snapshot import CatalogSnapshot, CommitResult, IntentionRecord
from endive.catalog.state import CatalogState
from endive.errors import HistoryError
from endive.formats.rules import replaces
from endive.results.history import HistoryCheck
from endive.rng import START_READ
from endive.storage.client import Client, Clock

Looks = list[tuple[int, tuple[int, ...]]]  # instants at which a request woke, and the versions in the books then


class Rebase(NamedTuple):
    """A commit whose own base was old: the instants at which its server may have rebased it, and what else is wrong."""

    instants_us: frozenset[int]
    violation: Violation


class ObservedCatalog(Catalog):
    """Passes both calls on to the catalog it wraps, and watches."""

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog.state, refusal_returns_snapshot=catalog.refusal_returns_snapshot)
        self._catalog = catalog
        state = catalog.state
        self._can_undo: bool = getattr(catalog, "undoes_compactions", False)
        self._ledger = books.open_ledger(state.log)
        self._units = books.open_units(state.versions)
        self._versions = tuple(state.versions)
        self._entry_bytes: int | None = getattr(catalog, "log_entry_bytes", None) if state.log is not None else None
        # Of txns in flight only: what they were shown, the instant they were applied, an old base.
        self._shown: dict[int, list[CatalogSnapshot]] = {}
        self._applied: dict[int, int] = {}
        self._rebased: dict[int, Rebase] = {}
        self._left_behind: dict[int, CatalogSnapshot] = {}  # what each left behind
        self._carrying: dict[int, tuple[int, bool]] = {}  # how many each carries that was applied, or was not
        self._kept: dict[int, CatalogSnapshot] = {}  # by clients that keep their table, between two of their txns

    def __getattr__(self, name: str) -> Any:
        """Whatever else a catalog of the user's own offers to his txns."""
        if name == "_catalog":  # not there yet: a copy is being made
            raise AttributeError(name)
        return getattr(self._catalog, name)

    def attach(self, clock: Clock) -> None:
        super().attach(clock)
        self._catalog.attach(clock)

    def is_current(self, intention: IntentionRecord) -> bool:
        return self._catalog.is_current(intention)

    # --- the two calls ------------------------------------------------------------------------------

    def read(
        self, *, client: Client | None = None, step: int = START_READ, expected_size_bytes: int | None = None
    ) -> Generator[int, None, CatalogSnapshot]:
        """As the catalog answers it, if that is the state at the server's instant."""
        client = self._client(client)
        txn_id, clock = client.txn_id, self._clock
        looks: Looks = []
        request = self._catalog.read(client=client, step=step, expected_size_bytes=expected_size_bytes)
        send = request.send
        try:
            while True:
                yield send(None)
                looks.append((clock.now_us, self._versions))
        except StopIteration as answer:
            snapshot: CatalogSnapshot = answer.value
        if self.state.versions[0] != self._ledger.commits:
            self._blame(books.CHANGED_BY_NOBODY, txn_id, self._ledger.commits, self.state.versions[0])
        self._show(txn_id, snapshot, looks)
        return snapshot

    def commit(self, intention: IntentionRecord, *, client: Client | None = None) -> Generator[int, None, CommitResult]:
        """As the catalog answers it, if what it did is what it says."""
        client = self._client(client)
        txn_id, clock = client.txn_id, self._clock
        looks: Looks = []
        request = self._catalog.commit(intention, client=client)
        send, versions, ledger, has_log = request.send, self.state.versions, self._ledger, self._entry_bytes is not None
        is_answered, delay_us = False, 0
        while not is_answered:
            try:
                delay_us = send(None)
            except StopIteration as answer:
                result: CommitResult = answer.value
                is_answered, delay_us = True, 0
            if versions[0] != ledger.commits:
                if not looks and delay_us > 0:
                    self._blame(books.COMMITTED_BEFORE_ARRIVAL, txn_id, clock.now_us + delay_us, clock.now_us)
                self._account(txn_id, intention, looks)
            elif has_log:
                self._account_log(txn_id, False)
            if not is_answered:
                yield delay_us
                looks.append((clock.now_us, self._versions))
        self._hear(txn_id, result, looks)
        return result

    # --- answers ------------------------------------------------------------------------------------

    def _hear(self, txn_id: int, result: CommitResult, looks: Looks) -> None:
        """A txn hears of its commit."""
        if result.success != (txn_id in self._applied):
            books.check_told(self._ledger, txn_id, result.success, int(not result.success), self._clock.now_us)
            self._fail()
        rebase = self._rebased.pop(txn_id, None)
        if rebase is not None and result.rebased_us not in rebase.instants_us:
            self._ledger.violation = rebase.violation
            self._fail()
        if result.snapshot is not None:
            self._show(txn_id, result.snapshot, looks)

    def _show(self, txn_id: int, snapshot: CatalogSnapshot, looks: Looks) -> None:
        """The txn is shown a snapshot; it must be the state of its instant, and that one within the request."""
        stamped_us, seen = snapshot.timestamp_us, snapshot.versions
        for at_us, versions in looks:
            if at_us == stamped_us and (seen is versions or seen == versions):
                self._shown.setdefault(txn_id, []).append(snapshot)
                return
        if looks or stamped_us != self._clock.now_us or seen != self._versions:
            self._refute(txn_id, snapshot, looks or [(self._clock.now_us, self._versions)])
        self._shown.setdefault(txn_id, []).append(snapshot)  # a catalog of the user's own that takes no time

    def _refute(self, txn_id: int, snapshot: CatalogSnapshot, looks: Looks) -> NoReturn:
        """Say what is wrong with a snapshot."""
        stamped_us, ledger = snapshot.timestamp_us, self._ledger
        versions_seen = [versions for at_us, versions in looks if at_us == stamped_us]
        if not versions_seen:
            books.check_instant(ledger, txn_id, looks[0][0], stamped_us)
            self._fail()
        pairs = enumerate(zip(versions_seen[-1], snapshot.versions, strict=True))
        unit, version, seen = next((unit, *pair) for unit, pair in pairs if pair[0] != pair[1])
        books.blame(ledger, books.READ_ANOTHER_STATE, txn_id, unit, version, seen, stamped_us)
        self._fail()

    # --- commits ------------------------------------------------------------------------------------

    def _account_log(self, txn_id: int, has_applied: bool) -> None:
        """Book what a request has just done to the log."""
        if self._entry_bytes is None:
            return
        log, now_us = self.state.log, self._clock.now_us
        assert log is not None
        if not books.check_log(self._ledger, txn_id, log.offset, log.epoch, self._entry_bytes, has_applied, now_us):
            self._fail()

    def _account(self, txn_id: int, intention: IntentionRecord, looks: Looks) -> None:
        """The request has just changed the server's state: book it."""
        now_us = self._clock.now_us
        self._account_log(txn_id, True)
        if not books.check_once(self._ledger, txn_id, int(txn_id in self._applied), now_us):
            self._fail()
        self._check_base(txn_id, intention, looks, now_us)
        self._left_behind[txn_id] = self._book(txn_id, intention, now_us)
        self._applied[txn_id] = now_us

    def _check_base(self, txn_id: int, intention: IntentionRecord, looks: Looks, now_us: int) -> None:
        """Its base was shown to it and is not old; if it is, its server must have rebased it."""
        ledger, base_commit = self._ledger, intention.base.seq
        if not any(intention.base is shown for shown in self._shown.get(txn_id, ())):
            self._blame(books.BUILT_ON_UNREAD, txn_id, 0, base_commit)
        units = [self._units[number] for number in touched_units(self.state, intention)]
        can_undo = self._can_undo and len(intention.tables) == 1
        if all(books.check_base(ledger, unit, txn_id, base_commit, now_us, can_undo) for unit in units):
            return
        if not intention.commutes:
            self._fail()
        violation, ledger.violation = ledger.violation, Violation()
        fresh = (
            at_us
            for at_us, versions in looks
            if not any(books.has_changed(unit, versions[books.THE_CATALOG]) for unit in units)
        )
        self._rebased[txn_id] = Rebase(frozenset(fresh), violation)

    def _book(self, txn_id: int, intention: IntentionRecord, now_us: int) -> CatalogSnapshot:
        """Book the commit, and compare what it installed, which is returned."""
        state, ledger, units = self.state, self._ledger, self._units
        is_compaction = intention.operation is not None and replaces(intention.operation)
        books.begin_commit(ledger, units[books.THE_CATALOG], is_compaction)
        for number in written_units(state, intention):
            books.change_unit(ledger, units[number], is_compaction)
        installed = state.snapshot(now_us)
        self._versions = installed.versions
        if books.versions_of(units) != installed.versions:
            for unit, version in zip(units, installed.versions, strict=True):
                books.check_installed(ledger, unit, txn_id, version, now_us)
            self._fail()
        for table in intention.tables[: intention.n_written]:
            unit = units[books.unit_of_table(table, state.num_groups)]
            if not books.check_installed(ledger, unit, txn_id, installed.tables[table].version, now_us):
                self._fail()
        return installed

    # --- clients that keep their table --------------------------------------------------------------

    def keep(self, txn_id: int, snapshot: CatalogSnapshot | None) -> None:
        """A client takes along what its txn, about to end, was shown or left behind; anything else it cannot know."""
        if snapshot is None:
            return
        installed = self._left_behind.get(txn_id)
        is_shown = any(snapshot is shown for shown in self._shown.get(txn_id, ()))
        if not is_shown and (installed is None or snapshot != installed):
            self._blame(books.BUILT_ON_UNREAD, txn_id, 0, snapshot.seq)
        self._kept[id(snapshot)] = snapshot

    def recall(self, txn_id: int, snapshot: CatalogSnapshot | None) -> None:
        """The client's next txn begins with it."""
        if snapshot is None:
            return
        if self._kept.pop(id(snapshot), None) is None:
            self._blame(books.BUILT_ON_UNREAD, txn_id, 0, snapshot.seq)
        self._shown.setdefault(txn_id, []).append(snapshot)

    # --- the end of a txn, the end of a run ---------------------------------------------------------

    def end(self, txn_id: int, is_committed: bool, *, is_unknown: bool = False, carries: int = 0) -> None:
        """A txn has ended, and this is what it was told; nothing, if it is unknown to it."""
        is_applied = self._applied.pop(txn_id, None) is not None
        if carries:
            self._carrying[txn_id] = carries, is_applied
        self._shown.pop(txn_id, None)
        self._left_behind.pop(txn_id, None)
        if is_unknown:
            books.leave_untold(self._ledger, int(is_applied))
        elif not books.check_told(self._ledger, txn_id, is_committed, int(is_applied), self._clock.now_us):
            self._fail()

    def end_carried(self, txn_id: int, carrier: int, is_committed: bool) -> None:
        """A txn has ended whose files another's commit carried: it was told what became of that one."""
        carries, is_applied = self._carrying.pop(carrier, (0, False))
        if carries > 1:
            self._carrying[carrier] = carries - 1, is_applied
        self._shown.pop(txn_id, None)
        is_real = is_applied and carries > 0 and txn_id not in self._applied
        if not books.check_told(self._ledger, txn_id, is_committed, int(is_real), self._clock.now_us):
            self._fail()

    def close(self, reported: int) -> HistoryCheck:
        """The clock has stopped, and so many txns were reported as committed."""
        if not books.check_counts(self._ledger, reported, len(self._applied), self._clock.now_us):
            self._fail()
        return HistoryCheck(
            commits_applied=self._ledger.commits,
            commits_reported=reported,
            commits_unanswered=len(self._applied),
            commits_untold=self._ledger.untold,
        )

    def _blame(self, wrong: int, txn_id: int, due: int, found: int) -> NoReturn:
        books.blame(self._ledger, wrong, txn_id, books.THE_CATALOG, due, found, self._clock.now_us)
        self._fail()

    def _fail(self) -> NoReturn:
        state = self.state
        raise history_error(self._ledger.violation, state.num_groups, state.num_tables, state.num_partitions)


# --- what a commit says about itself, by its message and never by the catalog ----------------------------


def touched_units(state: CatalogState, intention: IntentionRecord) -> list[int]:
    """The units on which it meets other txns."""
    if state.scope == books.BY_PARTITION:
        return [
            books.unit_of_partition(table, partition, state.num_groups, state.num_tables, state.num_partitions)
            for table, (partitions, _) in zip(intention.tables, intention.partitions, strict=False)
            for partition in partitions
        ]
    return [books.deciding_unit(state.scope, table, state.num_groups) for table in intention.tables]


def written_units(state: CatalogState, intention: IntentionRecord) -> list[int]:
    """The units it changes: groups and tables it writes, and the partitions it writes of them."""
    groups, units = state.num_groups, []
    for position, table in enumerate(intention.tables[: intention.n_written]):
        units.append(books.unit_of_table(table, groups))
        if groups:
            units.append(books.unit_of_group(table, groups))
        if intention.partitions and state.num_partitions:
            partitions, n_written = intention.partitions[position]
            units.extend(
                books.unit_of_partition(table, partition, groups, state.num_tables, state.num_partitions)
                for partition in partitions[:n_written]
            )
    return units


# --- what is raised ------------------------------------------------------------------------------------

_TEXTS = {
    books.READ_ANOTHER_INSTANT: "{txn} was shown the catalog of {found_ms} ms, but its request was at the server at "
    "{due_ms} ms",
    books.READ_ANOTHER_STATE: "{txn} was shown version {found} of {unit} at {at_ms} ms, where version {due} stood",
    books.BUILT_ON_OLD: "{txn} was applied at {at_ms} ms on the state after commit {found}, but commit {due} had "
    "changed {unit} since: an update is lost",
    books.INSTALLED_ANOTHER_VERSION: "the commit of {txn} at {at_ms} ms left {unit} at version {found}; the versions "
    "before it plus one make {due}",
    books.APPLIED_TWICE: "{txn} was applied for the second time, at {at_ms} ms",
    books.COMMITTED_UNAPPLIED: "{txn} was told at {at_ms} ms that it committed, and was never applied",
    books.APPLIED_UNCOMMITTED: "{txn} was told at {at_ms} ms that it did not commit, and had been applied",
    books.LOG_TORN: "{txn} left the log at {found} bytes at {at_ms} ms; one whole record more makes {due}",
    books.APPLIED_UNLANDED: "{txn} was applied at {at_ms} ms, and its record is not in the log, which ends at {found} "
    "bytes",
    books.COUNTS_DIFFER: "{due} commits were applied, and {found} reported or under way when the simulation ended",
    books.CHANGED_BY_NOBODY: "the catalog went from commit {due} to {found} before {at_ms} ms, and nobody committed",
    books.BUILT_ON_UNREAD: "{txn} was applied at {at_ms} ms on the state after commit {found}, which it was never "
    "shown",
    books.COMMITTED_BEFORE_ARRIVAL: "{txn} was applied at {found_ms} ms, and its request reached the server at "
    "{due_ms} ms",
}


def history_error(violation: Violation, num_groups: int, num_tables: int, num_partitions: int) -> HistoryError:
    """A violation in words."""
    due, found = violation.due, violation.found
    told = _TEXTS[violation.wrong].format(
        txn=f"txn {violation.txn}",
        unit=unit_name(violation.unit, num_groups, num_tables, num_partitions),
        due=f"{due:,}",
        found=f"{found:,}",
        due_ms=f"{due / 1000:,.3f}",
        found_ms=f"{found / 1000:,.3f}",
        at_ms=f"{violation.at_us / 1000:,.3f}",
    )
    return HistoryError(
        f"the history is not serial: {told}. The result would be wrong, so there is none. This is a bug of the "
        "simulator, or of a catalog, store or transaction type of your own if the simulation has one; a server that "
        "rebases commits must say when (CommitResult.rebased_us)."
    )


def unit_name(unit: int, num_groups: int, num_tables: int, num_partitions: int) -> str:
    """A unit of conflict by its name."""
    if unit == books.THE_CATALOG:
        return "the catalog"
    if unit <= num_groups:
        return f"group {unit - 1}"
    if unit <= num_groups + num_tables:
        return f"table {unit - 1 - num_groups}"
    table, partition = divmod(unit - 1 - num_groups - num_tables, num_partitions)
    return f"partition {partition} of table {table}"
