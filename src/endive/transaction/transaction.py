"""The life of a txn: load, run, then build and swap until it commits or gives up.

This file defines the order of events in the reference engine. It decides nothing about cost: it describes its
situation, asks the rules of the table's format (``endive.formats``), and pays what they say.
"""

from abc import ABC
from collections.abc import Callable, Generator
from contextlib import suppress

from endive.catalog.file_history import TouchedFiles
from endive.catalog.rules import metadata_bytes, snapshot_number, snapshots_kept
from endive.catalog.snapshot import CatalogSnapshot, CommitEffect, IntentionRecord
from endive.formats import data_files
from endive.formats.iceberg import conflicts, effects, maintenance, payments, plan
from endive.formats.iceberg.attempt import AttemptCost, ConflictCost, Situation
from endive.formats.iceberg.protocol import (
    BASE_START,
    checks_before_metadata,
    must_read_catalog,
    reads_base_last,
    rereads_catalog,
    rewrites_own_manifests,
)
from endive.formats.operation import Operation
from endive.rng import (
    BACKOFF,
    BASE_READ,
    CONFLICTING_MANIFESTS,
    POINTER_READ,
    READ_BACK,
    REFRESH,
    START_READ,
    slot,
    uniform,
)
from endive.storage.client import Client, count_sent
from endive.storage.throttled import GivenUpError
from endive.transaction import retry
from endive.transaction.failures import INSTALLED, REFUSED, UNKNOWN, loses_answer
from endive.transaction.list_append import append_lists
from endive.transaction.settling import WRITING_DOWN, Payment, billed, settle
from endive.transaction.status_check import learn_outcome, wait_in_vain
from endive.transaction.transaction_values import (
    TransactionDraft,
    TransactionResult,
    TransactionStatus,
    TransactionTerms,
    World,
)
from endive.vocabulary import (
    COMMIT_STATE_UNKNOWN,
    ISOLATIONS,
    MANIFEST,
    MANIFEST_LIST,
    NO_REASON,
    NONE,
    OVERWRITE_FORMS,
    PHASE_BACKOFF,
    PHASE_CATALOG_READ,
    PHASE_COMMIT,
    PHASE_RUNTIME,
    READ,
    REASONS,
    REWRITE_MANIFESTS,
    STORAGE_FAILED,
    WRITE,
)

Life = Generator[int, None, None]


class Transaction(ABC):
    """One txn. Subclasses are the kinds; a kind of one's own overrides ``attempt_cost`` or any other step.

    ``execute`` is a generator of microseconds to wait. What the txn is told, it was told by a message it
    paid for: the snapshots it holds, and nothing else.
    """

    kind: int

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
        self.operation = Operation(
            kind=draft.kind,
            form=OVERWRITE_FORMS.index(terms.overwrite),
            isolation=ISOLATIONS.index(terms.isolation),
            rewritten=terms.rewritten_manifests,
            is_referring=int(terms.is_referring),
            retain_last=terms.retain_last,
            expire_age_us=terms.expire_age_us,
        )
        self.catalog_bytes = 0  # what it believes the catalog object's size to be
        self.files_per_partition = 0  # of the tables' data files; 0: not modelled
        self.kept: CatalogSnapshot | None = None  # what its client knows already, if it keeps its table
        self.known: CatalogSnapshot | None = None  # the newest state it was shown, or left behind
        self.status = TransactionStatus.PENDING
        self.row = client.row
        self.row.kind = draft.kind
        self.row.submit_us = submit_us
        self.row.n_tables_read = len(self.tables)
        self.row.n_tables_written = self.n_written
        self.owed: list[Payment] = []  # written down, to be waited for
        self.branch = 0  # of those, while two run beside each other
        self.lost_lists = 0
        self.lost_manifests = 0
        self.kept_manifests = 0

    # --- what a kind may change -------------------------------------------------------------------

    def can_have_real_conflict(self) -> bool:
        """Whether others' changes can make this operation wrong, and not only late."""
        return conflicts.matching_snapshots(self.operation, 1, 1, 1) > 0 or self.operation.kind == REWRITE_MANIFESTS

    def attempt_cost(self, world: World, situation: Situation) -> AttemptCost:
        """What this attempt costs on one table, its situation being as described."""
        cost = AttemptCost()
        plan.plan_attempt(world.protocol, self.operation, situation, cost)
        return cost

    def get_conflict_cost(self, world: World, n_snapshots_behind: int) -> ConflictCost:
        """The I/O of one retry on one table that ``n_snapshots_behind`` appends have moved."""
        n = n_snapshots_behind
        situation = Situation(attempt=2, behind=n, behind_read=n, appended=n, data_to_check=n)
        situation.is_moved = situation.is_head_matched = min(1, n)
        return self.attempt_cost(world, situation).as_conflict_cost()

    # --- the life -----------------------------------------------------------------------------------

    def execute(self, world: World) -> Life:
        """From submission to the end; before a commit, a request given up is the end."""
        try:
            self.row.reason = yield from self._live(world)
        except GivenUpError:
            self.row.reason = STORAGE_FAILED  # what it wrote stays: Iceberg cleans up after its own failures only
            self.known = None  # its client, if it keeps the table, begins anew
        is_committed = self.row.reason == NO_REASON
        self.status = TransactionStatus.COMMITTED if is_committed else TransactionStatus.ABORTED
        self.row.end_us = world.clock.now_us

    def _live(self, world: World) -> Generator[int, None, int]:
        """Load, run, commit; an application may start the whole txn again after a real conflict."""
        while True:
            start = yield from self._load_and_run(world)
            self.status = TransactionStatus.COMMITTING
            if self.row.commit_start_us == NONE:
                self.row.commit_start_us = world.clock.now_us
            reason = yield from self._commit(world, start)
            if not retry.may_start_over(reason) or self.row.restarts >= self.terms.application_retries:
                return reason
            self.row.restarts += 1  # the same work once more, from a fresh snapshot

    def _load_and_run(self, world: World) -> Generator[int, None, CatalogSnapshot]:
        """Load the tables unless its client has kept them, do the work. All of it counts as runtime."""
        start, self.kept = self.kept, None  # of use once: an application that starts over loads anew
        if start is None:
            start = yield from self._load(world)
        self.known = start
        self.status = TransactionStatus.EXECUTING
        yield self.runtime_us
        self.row.phases_us[PHASE_RUNTIME] += self.runtime_us
        return start

    def _load(self, world: World) -> Generator[int, None, CatalogSnapshot]:
        """Read the catalog, then the tables."""
        read = world.catalog.read(client=self.client, step=START_READ, expected_size_bytes=self.catalog_bytes)
        start = yield from billed(self.row, world.clock, PHASE_RUNTIME, read)
        self.status = TransactionStatus.EXECUTING
        for position, table in enumerate(self.tables):
            payments.pay_load(WRITING_DOWN, world, self, position, snapshots_kept(start.tables[table].state))
        yield from settle(self, world)
        return start

    def _commit(self, world: World, start: CatalogSnapshot) -> Generator[int, None, int]:
        """Try until it works or must stop; NO_REASON if committed."""
        self.start_versions = tuple(start.tables[table].version for table in self.tables[: self.n_written])
        clock, protocol = world.clock, world.protocol
        begin_us = clock.now_us
        previous = base = start
        known: CatalogSnapshot | None = None
        attempt, waited_us = 0, 0
        while True:
            attempt += 1
            self.row.attempts += 1
            if attempt > 1:
                waited_us = yield from self._wait(world, attempt - 1, waited_us)
            if must_read_catalog(protocol, attempt, known is not None):
                base = yield from self._refresh(world, base, REFRESH)
            elif known is not None:
                base = known
            if self.row.n_behind_first == NONE:
                self.row.n_behind_first = self._behind(base, start)
            costs, reason = self._plan(world, attempt, start, previous, base, begin_us)
            yield from self._pay(payments.pay_validation, world, base, costs)
            if reason != NO_REASON:
                yield from self._clean_up(world, is_committed=False)
                return reason
            yield from self._pay(payments.pay_build, world, base, costs)
            if not checks_before_metadata(protocol):
                yield from self._pay(payments.pay_metadata, world, base, costs)
            yield from append_lists(self, world, base, costs)
            if reads_base_last(protocol, attempt):
                base = yield from self._refresh(world, base, BASE_READ)
            outcome, known = yield from self._swap(world, start, base, costs)
            previous = base
            if outcome == UNKNOWN:
                return COMMIT_STATE_UNKNOWN  # what it wrote may be in use: nothing is cleaned up
            if outcome == INSTALLED:
                self.lost_manifests += sum(effects.merged_away(protocol, self.operation, cost) for cost in costs)
                yield from self._finish(world, base, costs)
                return NO_REASON
            self._lose(world, costs)
            reason = retry.reason_to_stop(
                attempt, self.terms.retries_max, clock.now_us - begin_us, self.terms.total_timeout_us
            )
            if reason != NO_REASON:
                yield from self._clean_up(world, is_committed=False)
                return reason

    def _wait(self, world: World, number: int, waited_us: int) -> Generator[int, None, int]:
        """Back off before a retry."""
        if self.terms.backoff_policy == "none":
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
        self.known = snapshot
        return snapshot

    def _behind(self, base: CatalogSnapshot, start: CatalogSnapshot) -> int:
        """Snapshots of the written tables between the two."""
        written = self.tables[: self.n_written]
        return sum(snapshot_number(base.tables[t].state) - snapshot_number(start.tables[t].state) for t in written)

    # --- planning -----------------------------------------------------------------------------------

    def moved_positions(self, current: CatalogSnapshot, start: CatalogSnapshot) -> tuple[int, ...]:
        """Positions of the written tables that moved between two snapshots."""
        return tuple(
            position
            for position, table in enumerate(self.tables[: self.n_written])
            if current.tables[table].version != start.tables[table].version
        )

    def _plan(
        self,
        world: World,
        attempt: int,
        start: CatalogSnapshot,
        previous: CatalogSnapshot,
        base: CatalogSnapshot,
        begin_us: int,
    ) -> tuple[list[AttemptCost], int]:
        """What the attempt costs, table by table, and the reason why it must end there, if there is one."""
        situations = []
        candidates = []
        for position in range(self.n_written):
            situation = self._situation(world, position, attempt, start, previous, base, begin_us)
            situations.append(situation)
            if conflicts.rivals_since(world.protocol, self.operation, situation, self.terms.is_by_files) > 0:
                candidates.append(position)
        real = tuple(position for position, situation in enumerate(situations) if situation.is_real)
        if candidates:
            real += world.detector.conflicting_positions(self, base, previous, tuple(candidates))
        for position in real:
            u = uniform(self.client.key, slot(self.client.attempt, CONFLICTING_MANIFESTS, position))
            situations[position].is_real = 1
            situations[position].conflicting = world.conflicting.draw(u)
        if real:
            self.row.real_conflicts += 1
        elif attempt > 1:
            self.row.false_conflicts += 1
        reason = NO_REASON
        for situation in situations:
            reason = conflicts.verdict_on(situation, world.protocol, reason)
        return [self.attempt_cost(world, situation) for situation in situations], reason

    def touched_files(self, position: int) -> TouchedFiles:
        """The places of the data files it touches in one table it writes, and the changes its commit makes there."""
        if position not in self._touched:
            self._touched[position] = self._find_files(position)
        return self._touched[position]

    def _find_files(self, position: int) -> TouchedFiles:
        partitions: tuple[int, ...] = (0,)
        if self.partitions:
            touched, n_written = self.partitions[position]
            partitions = touched[:n_written]
        per_partition = self.files_per_partition
        places: list[int] = []
        for number, partition in enumerate(partitions):
            count = data_files.files_in_partition(self.n_touched_files, len(partitions), number)
            if conflicts.replaces_whole_partitions(self.operation):
                count = per_partition
            count = min(count, per_partition)
            first = data_files.first_of_group(count, self.groups, self.group)
            places.extend(
                data_files.touched_place(self.job_key, position, index, partition, per_partition)
                for index in range(first, data_files.first_of_group(count, self.groups, self.group + 1))
            )
        changes = tuple(change for change in range(data_files.N_CHANGES) if conflicts.makes(self.operation, change))
        return TouchedFiles(changes, tuple(places), partitions)

    def _situation(
        self,
        world: World,
        position: int,
        attempt: int,
        start: CatalogSnapshot,
        previous: CatalogSnapshot,
        base: CatalogSnapshot,
        begin_us: int,
    ) -> Situation:
        situation = Situation()
        table = self.tables[position]
        then, before, now = start.tables[table], previous.tables[table], base.tables[table]
        filtered, behind = -1, -1
        if self.partitions:
            touched = self.partitions[position][0]
            filtered = sum(now.partition_versions[q] - then.partition_versions[q] for q in touched)
            if world.is_partition_scoped:
                behind = sum(now.partition_versions[q] - before.partition_versions[q] for q in touched)
        plan.describe_situation(
            self.operation, attempt, then.state, before.state, now.state, filtered, behind, situation
        )
        older = maintenance.older_than(self.operation, now, begin_us, world.catalog.state.initial_snapshots)
        maintenance.describe_maintenance(
            world.protocol, self.operation, then.state, before.state, now.state, older, situation
        )
        return situation

    # --- paying -------------------------------------------------------------------------------------

    def _pay(self, pay: Callable[..., None], world: World, base: CatalogSnapshot, costs: list[AttemptCost]) -> Life:
        """One payment for every table it writes, and the wait for it."""
        for position, cost in enumerate(costs):
            pay(WRITING_DOWN, world, self, position, base.tables[self.tables[position]].state, cost)
        yield from settle(self, world)

    def _finish(self, world: World, base: CatalogSnapshot, costs: list[AttemptCost]) -> Life:
        """What a committed operation reads back, and what it cleans up.

        It stays committed if a request is given up, and sends no other (``SnapshotProducer.commit`` logs it).
        """
        try:
            if rereads_catalog(world.protocol, self.operation):
                yield from self._refresh(world, base, READ_BACK)
            yield from self._pay(payments.pay_reload, world, base, costs)
        except GivenUpError:
            return
        yield from self._clean_up(world, is_committed=True)

    def _clean_up(self, world: World, *, is_committed: bool) -> Life:
        """Delete what is of no use; a request given up ends that, and nothing else."""
        payments.pay_clean_up(WRITING_DOWN, world, self, is_committed)
        with suppress(GivenUpError):
            yield from settle(self, world)

    # --- swapping -----------------------------------------------------------------------------------

    def _swap(
        self, world: World, start: CatalogSnapshot, base: CatalogSnapshot, costs: list[AttemptCost]
    ) -> Generator[int, None, tuple[int, CatalogSnapshot | None]]:
        """The conditional write, and what comes right before it: how it ended, and the state if the answer told it."""
        clock = world.clock
        intention = self._intention(world, start, base, costs)
        is_checked_first = checks_before_metadata(world.protocol)
        if is_checked_first or world.is_pointer_checked:
            read = world.catalog.read(client=self.client, step=POINTER_READ, expected_size_bytes=base.size_bytes)
            seen = yield from billed(self.row, clock, PHASE_COMMIT, read)
            if is_checked_first:
                for position, cost in enumerate(costs):
                    snapshots = snapshots_kept(seen.tables[self.tables[position]].state)
                    payments.pay_check(WRITING_DOWN, world, self, position, snapshots, cost)
                yield from settle(self, world)
            if not world.catalog.state.is_same(intention, seen):
                self.row.hazard_window_us = seen.timestamp_us - base.timestamp_us
                return REFUSED, None
        if is_checked_first:
            yield from self._pay(payments.pay_metadata, world, base, costs)
        begin_us = clock.now_us
        commit = world.catalog.commit(intention, client=self.client)
        result = yield from billed(self.row, clock, PHASE_COMMIT, commit)
        is_lost = loses_answer(world.failures, self.client.key, self.row.attempts)
        if is_lost:
            yield from billed(self.row, clock, PHASE_COMMIT, wait_in_vain(world, begin_us))
        built_on_us = base.timestamp_us if result.rebased_us is None else result.rebased_us
        self.row.hazard_window_us = result.evaluated_us - built_on_us
        if is_lost:
            outcome = yield from learn_outcome(self, world, base, result.success)
            return outcome, None
        if result.success:
            self.known = result.installed
        elif result.snapshot is not None and world.protocol.base == BASE_START:
            self.known = result.snapshot
        return INSTALLED if result.success else REFUSED, result.snapshot

    def _intention(
        self, world: World, start: CatalogSnapshot, base: CatalogSnapshot, costs: list[AttemptCost]
    ) -> IntentionRecord:
        protocol, operation = world.protocol, self.operation
        left_behind = tuple(
            CommitEffect(
                effects.effect_class(operation),
                effects.effect_data_manifests(operation),
                effects.effect_delete_manifests(operation),
                effects.effect_manifests(
                    protocol, world.sizes, operation, start.tables[table].manifests, base.tables[table].manifests
                ),
                cost.expired,
                effects.effect_thinning(operation, cost),
            )
            for table, cost in zip(self.tables, costs, strict=False)
        )
        return IntentionRecord(
            txn_id=self.id,
            base=base,
            tables=self.tables,
            n_written=self.n_written,
            effects=left_behind,
            partitions=self.partitions,
            commutes=conflicts.commutes(operation),
            metadata_bytes=metadata_bytes(
                world.sizes, effects.snapshots_after(operation, base.tables[self.tables[0]].state, costs[0])
            ),
            touched=tuple(self.touched_files(position) for position in range(self.n_written))
            if self.files_per_partition
            else (),
            keeps_table=self.terms.keeps_table,
        )

    def _lose(self, world: World, costs: list[AttemptCost]) -> None:
        """Remember what a lost attempt wrote for nothing."""
        for cost in costs:
            self.lost_lists += cost.list_writes
            self.lost_manifests += cost.merge_writes
        if rewrites_own_manifests(world.protocol):
            self.lost_manifests += self.kept_manifests
            self.kept_manifests = 0

    @property
    def result(self) -> TransactionResult:
        """How it ended; ask when it has."""
        row, is_committed = self.row, self.status is TransactionStatus.COMMITTED
        end_ms = row.end_us / 1000.0
        return TransactionResult(
            status=self.status,
            commit_time_ms=end_ms if is_committed else -1.0,
            abort_time_ms=end_ms if self.status is TransactionStatus.ABORTED else -1.0,
            abort_reason=None if row.reason == NO_REASON else REASONS[row.reason],
            total_retries=max(0, row.attempts - 1),
            commit_latency_ms=(row.end_us - row.commit_start_us) / 1000.0,
            total_latency_ms=(row.end_us - row.submit_us) / 1000.0,
            manifest_list_reads=count_sent(row, MANIFEST_LIST, READ),
            manifest_list_writes=count_sent(row, MANIFEST_LIST, WRITE),
            manifest_file_reads=count_sent(row, MANIFEST, READ),
            manifest_file_writes=count_sent(row, MANIFEST, WRITE),
        )
