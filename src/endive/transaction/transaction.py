"""The life of a txn: load, run, then build and swap until it commits or gives up.

Owns the order of events and the txn's bill. Decides nothing about cost: it describes its situation, asks the
rules (``endive.transaction.rules``), and pays what they say through storage and catalog.
"""

from abc import ABC
from collections.abc import Generator

from endive.catalog.snapshot import CatalogSnapshot, CommitEffect, IntentionRecord
from endive.results.schema import (
    COUNTER_FALSE_CONFLICTS,
    COUNTER_REAL_CONFLICTS,
    N_PHASES,
    NONE,
    PHASE_BACKOFF,
    PHASE_CATALOG_READ,
    PHASE_COMMIT,
    PHASE_METADATA,
    PHASE_RUNTIME,
    REASON_NONE,
    REASON_VALIDATION_EXCEPTION,
    REASONS,
)
from endive.rng import (
    BACKOFF,
    CONFLICTING_MANIFESTS,
    LOAD_METADATA,
    POINTER_READ,
    REFRESH,
    START_READ,
    slot,
    uniform,
)
from endive.storage.client import Client
from endive.storage.requests import MANIFEST, MANIFEST_LIST, METADATA, N_OPERATIONS, READ, WRITE
from endive.transaction import rules
from endive.transaction.cost import AttemptCost, ConflictCost
from endive.transaction.payments import (
    append_lists,
    clean_up,
    pay_build,
    pay_check_reads,
    pay_metadata_writes,
    pay_validation,
    reload_tables,
)
from endive.transaction.protocol import REAL_ABORT, REAL_CONFLICT
from endive.transaction.result import TransactionResult, TransactionStatus
from endive.transaction.rules import ISOLATIONS, OVERWRITE_FORMS
from endive.transaction.terms import TransactionDraft, TransactionTerms
from endive.transaction.world import World

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
        self.submit_us = submit_us
        self.client = client
        self.tables = draft.tables_read
        self.n_written = draft.n_tables_written
        self.partitions = draft.partitions
        self.runtime_us = draft.runtime_us
        self.terms = terms
        self.operation = (
            draft.kind,
            OVERWRITE_FORMS.index(terms.overwrite),
            ISOLATIONS.index(terms.isolation),
            terms.rewritten_manifests,
        )
        self.catalog_bytes = 0  # what it believes the catalog object's size to be
        self.status = TransactionStatus.PENDING
        self.reason = REASON_NONE
        self.commit_start_us = NONE
        self.end_us = NONE
        self.restarts = 0
        self.n_behind_first = NONE
        self.hazard_us = NONE
        self.history_lists = 0
        self.phase_us = [0] * N_PHASES
        self.lost_lists = 0
        self.lost_manifests = 0
        self.kept_manifests = 0

    # --- what a kind may change -------------------------------------------------------------------

    def can_have_real_conflict(self) -> bool:
        """Whether others' changes can make this operation wrong, and not only late."""
        return rules.matching_snapshots(self.operation, 1, 1) > 0

    def should_abort_on_real_conflict(self) -> bool:
        """Whether a real conflict ends it, under a protocol that does not merge."""
        return self.can_have_real_conflict()

    def attempt_cost(self, world: World, situation: list[int]) -> AttemptCost:
        """What this attempt costs on one table, its situation being as described."""
        plan = [0] * rules.N_PLAN
        rules.plan_attempt(world.protocol_vector, self.operation, situation, plan)
        return AttemptCost(*plan)

    def get_conflict_cost(self, world: World, n_snapshots_behind: int) -> ConflictCost:
        """The I/O of one retry on one table that ``n_snapshots_behind`` appends have moved."""
        situation = [0] * rules.N_SITUATION
        situation[rules.ATTEMPT] = 2
        for place in (rules.N_ALL, rules.N_APPENDED, rules.DATA_TO_CHECK, rules.N_HISTORY):
            situation[place] = n_snapshots_behind
        situation[rules.IS_MOVED] = situation[rules.IS_HEAD_MATCHED] = min(1, n_snapshots_behind)
        return self.attempt_cost(world, situation).as_conflict_cost()

    # --- the life -----------------------------------------------------------------------------------

    def execute(self, world: World) -> Life:
        """From submission to the end; an application may start the whole txn again after a real conflict."""
        while True:
            start = yield from self._load_and_run(world)
            self.status = TransactionStatus.COMMITTING
            if self.commit_start_us == NONE:
                self.commit_start_us = world.clock.now_us
            self.reason = yield from self._commit(world, start)
            if self.reason != REASON_VALIDATION_EXCEPTION or self.restarts >= self.terms.application_retries:
                break
            self.restarts += 1  # the same work once more, from a fresh snapshot
        is_committed = self.reason == REASON_NONE
        self.status = TransactionStatus.COMMITTED if is_committed else TransactionStatus.ABORTED
        self.end_us = world.clock.now_us

    def _load_and_run(self, world: World) -> Generator[int, None, CatalogSnapshot]:
        """Read the catalog, load the tables, do the work. All of it counts as runtime."""
        clock, client = world.clock, self.client
        begin_us = clock.now_us
        start = yield from world.catalog.read(client=client, step=START_READ, expected_size_bytes=self.catalog_bytes)
        self.status = TransactionStatus.EXECUTING
        if rules.loads_metadata(world.protocol_vector):
            for position, table in enumerate(self.tables):
                yield from world.storage.read(
                    "metadata",
                    world.sizes.metadata_bytes(start.tables[table].version),
                    client=client,
                    counter=slot(client.attempt, LOAD_METADATA, position),
                    object=METADATA,
                )
        yield self.runtime_us
        self.phase_us[PHASE_RUNTIME] += clock.now_us - begin_us
        return start

    def _commit(self, world: World, start: CatalogSnapshot) -> Generator[int, None, int]:
        """Try until it works or must stop; REASON_NONE if committed."""
        clock, p = world.clock, world.protocol_vector
        begin_us = clock.now_us
        previous = base = start
        known: CatalogSnapshot | None = None
        attempt, waited_us = 0, 0
        while True:
            attempt += 1
            self.client.attempt += 1
            if attempt > 1:
                waited_us = yield from self._wait(world, attempt - 1, waited_us)
            if rules.must_read_catalog(p, attempt, known is not None):
                base = yield from self._refresh(world, base)
            elif known is not None:
                base = known
            if self.n_behind_first == NONE:
                self.n_behind_first = self._behind(base, start)
            costs, is_real = self._plan(world, attempt, start, previous, base)
            yield from pay_validation(self, world, base, costs)
            if is_real and p[REAL_CONFLICT] == REAL_ABORT:
                yield from clean_up(self, world, is_committed=False)
                return REASON_VALIDATION_EXCEPTION
            yield from pay_build(self, world, base, costs)
            yield from append_lists(self, world, base, costs)
            success, known = yield from self._swap(world, base, costs)
            previous = base
            if success:
                self.lost_manifests += sum(rules.merged_away(p, self.operation, cost) for cost in costs)
                yield from reload_tables(self, world, base)
                yield from clean_up(self, world, is_committed=True)
                return REASON_NONE
            self._lose(world, costs)
            reason = rules.reason_to_stop(
                attempt, self.terms.retries_max, clock.now_us - begin_us, self.terms.total_timeout_us
            )
            if reason != REASON_NONE:
                yield from clean_up(self, world, is_committed=False)
                return reason

    def _wait(self, world: World, retry: int, waited_us: int) -> Generator[int, None, int]:
        """Back off before a retry."""
        if self.terms.backoff_policy == "none":
            return 0
        u = uniform(self.client.key, slot(self.client.attempt, BACKOFF, 0))
        wait_us = self.terms.backoff.wait_us(retry, waited_us, u)
        if wait_us > 0:
            yield wait_us
        self.phase_us[PHASE_BACKOFF] += wait_us
        return wait_us

    def _refresh(self, world: World, base: CatalogSnapshot) -> Generator[int, None, CatalogSnapshot]:
        begin_us = world.clock.now_us
        snapshot = yield from world.catalog.read(client=self.client, step=REFRESH, expected_size_bytes=base.size_bytes)
        self.phase_us[PHASE_CATALOG_READ] += world.clock.now_us - begin_us
        return snapshot

    def _behind(self, base: CatalogSnapshot, start: CatalogSnapshot) -> int:
        """Snapshots of the written tables between the two."""
        written = self.tables[: self.n_written]
        return sum(base.tables[t].version - start.tables[t].version for t in written)

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
    ) -> tuple[list[AttemptCost], bool]:
        """What the attempt costs, table by table, and whether a real conflict stands in its way."""
        p = world.protocol_vector
        situations = []
        candidates = []
        for position in range(self.n_written):
            situation = self._situation(world, position, attempt, start, previous, base)
            situations.append(situation)
            if rules.rivals_since(p, self.operation, situation) > 0:
                candidates.append(position)
        real: tuple[int, ...] = ()
        if candidates:
            real = world.detector.conflicting_positions(self, base, previous, tuple(candidates))
        for position in real:
            u = uniform(self.client.key, slot(self.client.attempt, CONFLICTING_MANIFESTS, position))
            situations[position][rules.IS_REAL] = 1
            situations[position][rules.CONFLICTING] = world.conflicting.draw(u)
        if real:
            self.client.counters[COUNTER_REAL_CONFLICTS] += 1
        elif attempt > 1:
            self.client.counters[COUNTER_FALSE_CONFLICTS] += 1
        return [self.attempt_cost(world, situation) for situation in situations], bool(real)

    def _situation(
        self,
        world: World,
        position: int,
        attempt: int,
        start: CatalogSnapshot,
        previous: CatalogSnapshot,
        base: CatalogSnapshot,
    ) -> list[int]:
        situation = [0] * rules.N_SITUATION
        table = self.tables[position]
        then, before, now = start.tables[table], previous.tables[table], base.tables[table]
        filtered, behind = -1, -1
        if self.partitions:
            touched = self.partitions[position][0]
            filtered = sum(now.partition_versions[q] - then.partition_versions[q] for q in touched)
            if world.is_partition_scoped:
                behind = sum(now.partition_versions[q] - before.partition_versions[q] for q in touched)
        rules.describe_situation(
            self.operation, attempt, then.counters, before.counters, now.counters, filtered, behind, situation
        )
        return situation

    # --- swapping -----------------------------------------------------------------------------------

    def _swap(
        self, world: World, base: CatalogSnapshot, costs: list[AttemptCost]
    ) -> Generator[int, None, tuple[bool, CatalogSnapshot | None]]:
        """The conditional write, and what comes right before it: success, and the state if the answer told it."""
        p, clock = world.protocol_vector, world.clock
        intention = self._intention(world, base)
        is_checked_first = rules.checks_before_metadata(p)
        if is_checked_first or world.is_pointer_checked:
            begin_us = clock.now_us
            seen = yield from world.catalog.read(
                client=self.client, step=POINTER_READ, expected_size_bytes=base.size_bytes
            )
            self.phase_us[PHASE_COMMIT] += clock.now_us - begin_us
            if is_checked_first:
                begin_us = clock.now_us
                yield from pay_check_reads(self, world, seen, costs)
                self.phase_us[PHASE_METADATA] += clock.now_us - begin_us
            if not world.catalog.state.is_same(intention, seen):
                self.hazard_us = seen.timestamp_us - base.timestamp_us
                return False, None
        if is_checked_first:
            begin_us = clock.now_us
            yield from pay_metadata_writes(self, world, base, costs)
            self.phase_us[PHASE_METADATA] += clock.now_us - begin_us
        begin_us = clock.now_us
        result = yield from world.catalog.commit(base.seq, intention.tables_written, intention, client=self.client)
        self.phase_us[PHASE_COMMIT] += clock.now_us - begin_us
        built_on_us = base.timestamp_us if result.rebased_us is None else result.rebased_us
        self.hazard_us = result.evaluated_us - built_on_us
        return result.success, result.snapshot

    def _intention(self, world: World, base: CatalogSnapshot) -> IntentionRecord:
        p, o = world.protocol_vector, self.operation
        effects = tuple(
            CommitEffect(
                rules.effect_class(o),
                rules.effect_data_manifests(o),
                rules.effect_delete_manifests(o),
                rules.effect_manifests(p, o, base.tables[table].manifests),
            )
            for table in self.tables[: self.n_written]
        )
        return IntentionRecord(
            txn_id=self.id,
            base=base,
            tables=self.tables,
            n_written=self.n_written,
            effects=effects,
            partitions=self.partitions,
            commutes=rules.commutes(o),
            metadata_bytes=world.sizes.metadata_bytes(base.tables[self.tables[0]].version + 1),
        )

    def _lose(self, world: World, costs: list[AttemptCost]) -> None:
        """Remember what a lost attempt wrote for nothing."""
        for cost in costs:
            self.lost_lists += cost.list_writes
            self.lost_manifests += cost.merge_writes
        if rules.rewrites_own_manifests(world.protocol_vector):
            self.lost_manifests += self.kept_manifests
            self.kept_manifests = 0

    @property
    def result(self) -> TransactionResult:
        """How it ended; ask when it has."""
        is_committed = self.status is TransactionStatus.COMMITTED
        end_ms = self.end_us / 1000.0
        requests = self.client.requests
        return TransactionResult(
            status=self.status,
            commit_time_ms=end_ms if is_committed else -1.0,
            abort_time_ms=end_ms if self.status is TransactionStatus.ABORTED else -1.0,
            abort_reason=None if self.reason == REASON_NONE else REASONS[self.reason],
            total_retries=max(0, self.client.attempt - 1),
            commit_latency_ms=(self.end_us - self.commit_start_us) / 1000.0,
            total_latency_ms=(self.end_us - self.submit_us) / 1000.0,
            manifest_list_reads=requests[MANIFEST_LIST * N_OPERATIONS + READ],
            manifest_list_writes=requests[MANIFEST_LIST * N_OPERATIONS + WRITE],
            manifest_file_reads=requests[MANIFEST * N_OPERATIONS + READ],
            manifest_file_writes=requests[MANIFEST * N_OPERATIONS + WRITE],
        )
