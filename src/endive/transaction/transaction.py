"""The life of a txn: load, run, then build and swap until it commits or gives up.

It decides nothing about cost: it describes its situation, asks the rules of the table's format (``endive.formats``),
and pays what they say.
"""

from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any

from endive.catalog.rules import LOCK_DYNAMODB, LOCK_NONE
from endive.catalog.snapshot import CatalogSnapshot, IntentionRecord
from endive.formats import paying, rivals, rules
from endive.formats.file_history import TouchedFiles
from endive.formats.iceberg.list_append import append_lists
from endive.formats.nesting import Leftovers, Plan, Situation
from endive.record import copied
from endive.rng import BACKOFF, BASE_READ, POINTER_READ, READ_BACK, REFRESH, START_READ, slot, uniform
from endive.storage.client import Client
from endive.storage.throttled import GivenUpError
from endive.transaction import retry
from endive.transaction.aftermath import rerun_key, runs_again
from endive.transaction.conflict_cost import ConflictCost, charge, cost_by_kind, is_ours
from endive.transaction.failures import INSTALLED, REFUSED, UNKNOWN, loses_answer
from endive.transaction.ordering import leave_lock, pass_turn, take_lock, wait_for_turn
from endive.transaction.planning import find_files, plan_tables
from endive.transaction.second_look import list_again, look
from endive.transaction.settling import WRITING_DOWN, Answer, Payment, billed, settle
from endive.transaction.status_check import learn_outcome, wait_in_vain
from endive.transaction.transaction_values import TransactionDraft, TransactionStatus, TransactionTerms, World
from endive.vocabulary import (
    COMMIT_STATE_UNKNOWN,
    NO_REASON,
    NONE,
    PHASE_BACKOFF,
    PHASE_CATALOG_READ,
    PHASE_COMMIT,
    PHASE_RUNTIME,
    STORAGE_FAILED,
    TIMEOUT,
)

Life = Generator[int, None, None]


HOOKS = ("can_have_real_conflict", "should_abort_on_real_conflict", "get_conflict_cost")


class Transaction:
    """One txn. A kind of one's own is a subclass that overrides what the refactoring specification lets it say
    (``can_have_real_conflict``, ``should_abort_on_real_conflict``, ``get_conflict_cost``), or ``plan_attempt``.

    ``execute`` is a generator of microseconds to wait. What the txn is told, it was told by a message it
    paid for: the snapshots it holds, and nothing else.
    """

    own_hooks: frozenset[str] = frozenset()  # which of these methods are a user's own

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        own = {name for base in cls.__mro__ if not is_ours(base) for name in HOOKS if name in vars(base)}
        cls.own_hooks = frozenset(own)

    def __init__(
        self, txn_id: int, submit_us: int, client: Client, draft: TransactionDraft, terms: TransactionTerms
    ) -> None:
        self.id = txn_id
        self.client = client
        self.tables = draft.tables_read
        self.n_written = draft.n_tables_written
        self.partitions = draft.partitions
        self.runtime_us = draft.runtime_us
        self.n_touched_files = draft.touched_files
        self.job_key = client.key if draft.job_key is None else draft.job_key
        self.group, self.groups = draft.group, draft.groups
        self.start_versions: tuple[int, ...] = ()  # of the tables it writes
        self._touched: dict[int, TouchedFiles] = {}
        self.terms = terms
        self.operation = copied(terms.operation)
        self.operation.kind = draft.kind
        self.catalog_bytes = 0  # what it believes the catalog object's size to be
        self.files_per_partition = 0  # of the tables' data files; 0: not modelled
        self.notes_files = False  # whether tables remember what happened to their files and partitions
        self.kept: CatalogSnapshot | None = None  # what its client knows already, if it keeps its table
        self.start: CatalogSnapshot | None = None  # what it began with, the last time it began
        self.known: CatalogSnapshot | None = None  # the newest state it was shown, or left behind
        self.is_locked_out = False  # it did not get the lock of its table
        self.carrier: int | None = None  # the txn that committed its files, if another did
        self.status = TransactionStatus.PENDING
        self.row = client.row
        self.row.kind = draft.kind
        self.row.submit_us = submit_us
        self.row.n_tables_read = len(self.tables)
        self.row.n_tables_written = self.n_written
        self.payer = WRITING_DOWN
        self.owed: list[Payment] = []  # written down, to be waited for
        self.branch = 0  # of those, while two run beside each other
        self.leftovers = Leftovers()

    # --- what a transaction touches, in the refactoring specification's words -----------------------

    @property
    def tables_read(self) -> frozenset[int]:
        """Every table it reads."""
        return frozenset(self.tables)

    @property
    def tables_written(self) -> frozenset[int]:
        """The tables it writes, which it reads too."""
        return frozenset(self.tables[: self.n_written])

    @property
    def partitions_read(self) -> dict[int, frozenset[int]]:
        """Partitions it reads, by table; empty without partitions."""
        return {table: frozenset(chosen) for table, (chosen, _) in zip(self.tables, self.partitions, strict=False)}

    @property
    def partitions_written(self) -> dict[int, frozenset[int]]:
        """Partitions it writes, by table it writes."""
        written = zip(self.tables[: self.n_written], self.partitions, strict=False)
        return {table: frozenset(chosen[:count]) for table, (chosen, count) in written}

    # --- what a kind may change -------------------------------------------------------------------

    def can_have_real_conflict(self) -> bool:
        """Whether others' changes can make this operation wrong, and not only late."""
        return rivals.can_conflict(self.operation)

    def should_abort_on_real_conflict(self) -> bool:
        """Whether a real conflict ends it: where it can have one, under the specification's protocol."""
        return self.can_have_real_conflict()

    def get_conflict_cost(self, n_snapshots_behind: int, ml_append_mode: bool) -> ConflictCost:
        """Return the I/O of resolving one conflict (refactoring specification, 3.2); the engine asks an override only.

        ``ml_append_mode`` says whether manifest lists are appended to.
        """
        return cost_by_kind(self.operation.kind, n_snapshots_behind, ml_append_mode)

    def plan_attempt(self, world: World, situation: Situation) -> Plan:
        """What this attempt does on one table, its situation being as described."""
        made = Plan()
        rules.plan(world, self.operation, situation, made)
        if "get_conflict_cost" in self.own_hooks and situation.iceberg.attempt > 1:
            own = self.get_conflict_cost(situation.iceberg.behind, rules.appends_before_swap(world))
            charge(made.iceberg, own, type(self).__name__)
        return made

    # --- the life -----------------------------------------------------------------------------------

    def execute(self, world: World) -> Life:
        """From submission to the end; before a commit, a request given up is the end."""
        self.row.reason = yield from self._run_once(world)
        while runs_again(self.terms.aftermath, self.row.reason, self.row.restarts):
            yield from self._wait_for_rerun()
            self.row.reason = yield from self._run_once(world)
        is_committed = self.row.reason == NO_REASON
        self.status = TransactionStatus.COMMITTED if is_committed else TransactionStatus.ABORTED
        self.row.end_us = world.clock.now_us
        if self.terms.queue >= 0:
            pass_turn(self, world)

    def _run_once(self, world: World) -> Generator[int, None, int]:
        """As whoever scheduled it sees it: committed, or failed for a reason."""
        try:
            return (yield from self._live(world))
        except GivenUpError:
            self.known = None  # its client, if it keeps the table, begins anew
            return STORAGE_FAILED  # what it wrote stays: Iceberg cleans up after its own failures only

    def _wait_for_rerun(self) -> Life:
        """It failed, and is scheduled once more."""
        pause_us = self.terms.aftermath.pause_us
        self.row.restarts += 1
        self.row.phases_us[PHASE_BACKOFF] += pause_us
        self.client.key = rerun_key(self.client.key, self.row.restarts)
        self.leftovers = Leftovers()
        self.owed = []
        if pause_us > 0:
            yield pause_us

    def _live(self, world: World) -> Generator[int, None, int]:
        """Load, run, commit; an application may start the whole txn again after a real conflict."""
        while True:
            start = yield from self._load_and_run(world)
            self.status = TransactionStatus.COMMITTING
            if self.row.commit_start_us == NONE:
                self.row.commit_start_us = world.clock.now_us
            if self.terms.queue >= 0:
                carried = yield from wait_for_turn(self, world)
                if carried is not None:
                    return carried
            reason = yield from self._commit(world, start)
            if not retry.may_start_over(reason) or self.row.restarts >= self.terms.application_retries:
                return reason
            self.row.restarts += 1  # the same work once more, from a fresh snapshot

    def _load_and_run(self, world: World) -> Generator[int, None, CatalogSnapshot]:
        """Load the tables unless its client has kept them, do the work. All of it counts as runtime."""
        start, self.kept = self.kept, None  # of use once: an application that starts over loads anew
        if start is None or rules.looks_at_kept(world):
            start = yield from self._load(world, start)
        self.known = self.start = start
        self.status = TransactionStatus.EXECUTING
        yield self.runtime_us
        self.row.phases_us[PHASE_RUNTIME] += self.runtime_us
        return start

    def _load(self, world: World, kept: CatalogSnapshot | None) -> Generator[int, None, CatalogSnapshot]:
        """Read the catalog, then the tables, or what is new of those that were kept."""
        paying.pay_before_load(WRITING_DOWN, world, self, kept is not None)
        yield from settle(self, world)
        read = world.catalog.read(client=self.client, step=START_READ, expected_size_bytes=self.catalog_bytes)
        start = yield from billed(self.row, world.clock, PHASE_RUNTIME, read)
        self.status = TransactionStatus.EXECUTING
        for position, table in enumerate(self.tables):
            now = start.tables[table].state
            known = now if kept is None else kept.tables[table].state
            paying.pay_load(WRITING_DOWN, world, self, position, now, known, kept is not None)
        yield from settle(self, world)
        if rules.lists_twice(world):
            start = yield from list_again(self, world, start)
        return start

    def _commit(self, world: World, start: CatalogSnapshot) -> Generator[int, None, int]:
        """Try until it works or must stop; NO_REASON if committed."""
        clock = world.clock
        begin_us = clock.now_us
        if rules.refreshes_first(self.operation):
            start = yield from look(self, world, start, PHASE_CATALOG_READ)
        self.start_versions = tuple(start.tables[table].version for table in self.tables[: self.n_written])
        previous = base = start
        known: CatalogSnapshot | None = None
        attempt, waited_us = 0, 0
        while True:
            attempt += 1
            self.row.attempts += 1
            if attempt > 1:
                waited_us = yield from self._wait(world, attempt - 1, waited_us)
            elif rules.builds_before_looking(self.operation):
                yield from self._begin(world, start)
            if rules.must_read_catalog(world, self.operation, attempt, known is not None):
                base = yield from self._refresh(world, base, REFRESH)
            elif known is not None:
                base = known
            if self.row.n_behind_first == NONE:
                self.row.n_behind_first = self._behind(base, start)
            plans, reason = plan_tables(self, world, attempt, start, previous, base, begin_us)
            yield from self._pay(paying.pay_validation, world, base, plans)
            if reason != NO_REASON:
                yield from self._clean_up(world, is_committed=False)
                return reason
            yield from self._pay(paying.pay_build, world, base, plans)
            if not rules.checks_before_last_step(world, self.operation):
                yield from self._pay(paying.pay_last_step, world, base, plans)
            if rules.appends_before_swap(world):
                yield from append_lists(self, world, base, plans)
            if rules.reads_base_last(world, self.operation, attempt):
                base = yield from self._refresh(world, base, BASE_READ)
            outcome, known = yield from self._swap(world, base, plans)
            previous = base
            if outcome == UNKNOWN:
                return COMMIT_STATE_UNKNOWN  # what it wrote may be in use: nothing is cleaned up
            if outcome == INSTALLED:
                for made in plans:
                    rules.win(world, self, made)
                yield from self._finish(world, base, plans)
                return NO_REASON
            for made in plans:
                rules.lose(world, self, made)
            reason = retry.reason_to_stop(
                attempt, self.terms.retries_max, clock.now_us - begin_us, self.terms.total_timeout_us
            )
            if self.is_locked_out and world.lock.kind == LOCK_DYNAMODB:
                reason = TIMEOUT  # an IllegalStateException, which nobody retries (``GlueTableOperations``)
            if reason != NO_REASON:
                yield from self._clean_up(world, is_committed=False)
                return reason

    def _begin(self, world: World, start: CatalogSnapshot) -> Life:
        """Build on the tables as they were loaded."""
        for position, table in enumerate(self.tables[: self.n_written]):
            paying.pay_beginning(WRITING_DOWN, world, self, position, start.tables[table].state)
        yield from settle(self, world)

    def _wait(self, world: World, number: int, waited_us: int) -> Generator[int, None, int]:
        """Back off before a retry."""
        if self.terms.backoff.policy == "none":
            return 0
        u = uniform(self.client.key, slot(self.client.attempt, BACKOFF, 0))
        wait_us = self.terms.backoff.wait_us(number, waited_us, u)
        if wait_us > 0:
            yield wait_us
        self.row.phases_us[PHASE_BACKOFF] += wait_us
        return wait_us

    def _refresh(self, world: World, base: CatalogSnapshot, step: int) -> Generator[int, None, CatalogSnapshot]:
        read = world.catalog.read(client=self.client, step=step, expected_size_bytes=base.size_bytes)
        snapshot = yield from billed(self.row, world.clock, PHASE_CATALOG_READ, read)
        if rules.learns_by_looking(world):
            self.known = snapshot
        return snapshot

    def _behind(self, base: CatalogSnapshot, start: CatalogSnapshot) -> int:
        """Snapshots of the written tables between the two."""
        written = self.tables[: self.n_written]
        return sum(rules.snapshot_of(base.tables[t].state) - rules.snapshot_of(start.tables[t].state) for t in written)

    # --- planning -----------------------------------------------------------------------------------

    def moved_positions(self, current: CatalogSnapshot, start: CatalogSnapshot) -> tuple[int, ...]:
        """Positions of the written tables that moved between two snapshots."""
        return tuple(
            position
            for position, table in enumerate(self.tables[: self.n_written])
            if current.tables[table].version != start.tables[table].version
        )

    def touched_files(self, position: int) -> TouchedFiles:
        """The places of the data files it touches in one table it writes, and the changes its commit makes there."""
        if position not in self._touched:
            self._touched[position] = find_files(self, position)
        return self._touched[position]

    # --- paying -------------------------------------------------------------------------------------

    def _pay(self, pay: Callable[..., None], world: World, base: CatalogSnapshot, plans: list[Plan]) -> Life:
        """One payment for every table it writes, and the wait for it."""
        for position, made in enumerate(plans):
            pay(WRITING_DOWN, world, self, position, base.tables[self.tables[position]].state, made)
        yield from settle(self, world)

    def _finish(self, world: World, base: CatalogSnapshot, plans: list[Plan]) -> Life:
        """What a committed operation reads back, and what it cleans up.

        It stays committed if a request is given up, and sends no other (``SnapshotProducer.commit`` logs it).
        """
        try:
            if rules.rereads_catalog(world, self.operation):
                yield from self._refresh(world, base, READ_BACK)
            yield from self._pay(paying.pay_afterwards, world, base, plans)
        except GivenUpError:
            return
        for position, made in enumerate(plans):
            if rules.publishes(world, made):
                rules.publish(world, world.tables.states[self.tables[position]], made)
                world.catalog.state.refresh_tables((self.tables[position],))
        yield from self._clean_up(world, is_committed=True)

    def _clean_up(self, world: World, *, is_committed: bool) -> Life:
        """Delete what is of no use; a request given up ends that, and nothing else."""
        paying.pay_clean_up(WRITING_DOWN, world, self, is_committed)
        with suppress(GivenUpError):
            yield from settle(self, world)

    # --- swapping -----------------------------------------------------------------------------------

    def _swap(
        self, world: World, base: CatalogSnapshot, plans: list[Plan]
    ) -> Generator[int, None, tuple[int, CatalogSnapshot | None]]:
        """The conditional write under the table's lock, if it has one: how it ended, and the state if that was told."""
        if world.lock.kind == LOCK_NONE:
            return (yield from self._look_and_swap(world, base, plans))
        self.is_locked_out = not (yield from take_lock(self, world))
        outcome: tuple[int, CatalogSnapshot | None] = (REFUSED, None)
        if not self.is_locked_out:
            outcome = yield from self._look_and_swap(world, base, plans)
        if not self.is_locked_out or world.lock.kind != LOCK_DYNAMODB:
            yield from leave_lock(self, world)
        return outcome

    def _look_and_swap(
        self, world: World, base: CatalogSnapshot, plans: list[Plan]
    ) -> Generator[int, None, tuple[int, CatalogSnapshot | None]]:
        """The conditional write, and what comes right before it."""
        clock = world.clock
        intention = self._intention(world, base, plans)
        is_checked_first = rules.checks_before_last_step(world, self.operation)
        if is_checked_first or world.is_pointer_checked:
            read = world.catalog.read(client=self.client, step=POINTER_READ, expected_size_bytes=base.size_bytes)
            seen = yield from billed(self.row, clock, PHASE_COMMIT, read)
            if is_checked_first:
                yield from self._pay(paying.pay_check, world, seen, plans)
            if not world.catalog.state.is_same(intention, seen):
                self.row.hazard_window_us = seen.timestamp_us - base.timestamp_us
                return REFUSED, None
        if is_checked_first:
            yield from self._pay(paying.pay_last_step, world, base, plans)
        begin_us = clock.now_us
        commit = world.catalog.commit(intention, client=self.client)
        result = yield from billed(self.row, clock, PHASE_COMMIT, commit)
        is_lost = loses_answer(world.failures, self.client.key, self.row.attempts)
        if is_lost:
            yield from billed(self.row, clock, PHASE_COMMIT, wait_in_vain(world, begin_us))
        built_on_us = base.timestamp_us if result.rebased_us is None else result.rebased_us
        self.row.hazard_window_us = result.evaluated_us - built_on_us
        self.row.compactions_undone += result.undone
        if is_lost:
            outcome = yield from learn_outcome(self, world, base, result.success)
            if outcome == UNKNOWN:
                self.row.commits_untold = int(result.success)
            return outcome, None
        if result.success:
            self.known = result.installed
        elif result.snapshot is not None and rules.builds_on_told_state(world, self.operation):
            self.known = result.snapshot
        return INSTALLED if result.success else REFUSED, result.snapshot

    def _intention(self, world: World, base: CatalogSnapshot, plans: list[Plan]) -> IntentionRecord:
        size_bytes = rules.server_bytes(world, self.operation, base.tables[self.tables[0]].state, plans[0])
        return IntentionRecord(
            txn_id=self.id,
            base=base,
            tables=self.tables,
            n_written=self.n_written,
            operation=self.operation,
            plans=tuple(plans),
            partitions=self.partitions,
            commutes=rivals.commutes(self.operation),
            size_bytes=size_bytes,
            server_bytes=size_bytes if rules.writes_at_server(world) else None,
            list_bytes=rules.server_list_bytes(world, base.tables[self.tables[0]].state),
            touched=tuple(self.touched_files(position) for position in range(self.n_written))
            if self.notes_files
            else (),
            keeps_table=self.terms.keeps_table,
        )

    def settle(self, world: World) -> Life:
        """Wait for everything that was written down."""
        return settle(self, world)

    def billed(self, world: World, phase: int, request: Generator[int, None, Answer]) -> Generator[int, None, Answer]:
        """Wait for a request and bill it to a phase."""
        return billed(self.row, world.clock, phase, request)
