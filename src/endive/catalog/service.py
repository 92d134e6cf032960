"""A catalog server with one pointer per table: Hive, JDBC, Glue, REST.

What a client does between two requests is ``endive.transaction``'s.

``pointer`` (JDBC, Hive, Glue): the client writes the metadata object; a commit reads the pointer once more,
and if that still is the expected one, swaps it. ``rest``: one request; the server checks first, writes the
metadata object itself, then swaps; it may rebase and retry changes that commute.
"""

from collections import deque
from collections.abc import Callable, Generator
from typing import TypeVar

from endive.catalog import rules
from endive.catalog.catalog import Catalog
from endive.catalog.snapshot import CatalogSnapshot, CommitResult, IntentionRecord
from endive.catalog.state import CatalogState
from endive.distributions import LatencyDistribution
from endive.rng import (
    BASE_READ,
    COMMIT,
    LOOK_READ,
    METADATA_WRITE,
    POINTER_READ,
    READ_BACK,
    REFRESH,
    SERVER_LIST,
    SERVICE,
    START_READ,
    STATUS_READ,
    TABLE_LOCK,
    slot,
)
from endive.storage.client import Client, Clock
from endive.storage.contention import request_leg_us
from endive.storage.provider import Request, StorageProvider
from endive.vocabulary import CAS, CATALOG, CREATE, DELETE, MANIFEST_LIST, METADATA, READ, WRITE

T = TypeVar("T")

REQUEST_SHARE = 0.5  # of the latency passes before the server evaluates

# Which queueing of one attempt a service time is drawn for: positions of the SERVICE slot.
SERVED_READ = 0
SERVED_CHECK = 1
SERVED_COMMIT = 2
SERVED_START = 3
SERVED_BACK = 4
SERVED_STATUS = 5
SERVED_BASE = 6
SERVED_LOOK = 7
SERVED_LOCK = 8
SERVED_UNLOCK = 9
SERVED_POSITIONS = {
    START_READ: SERVED_START,
    REFRESH: SERVED_READ,
    POINTER_READ: SERVED_CHECK,
    READ_BACK: SERVED_BACK,
    STATUS_READ: SERVED_STATUS,
    BASE_READ: SERVED_BASE,
    LOOK_READ: SERVED_LOOK,
}


class ServiceCatalog(Catalog):
    """A server that answers after a latency, a queue for a free worker, and a service time."""

    def __init__(
        self,
        state: CatalogState,
        latency: LatencyDistribution,
        *,
        workers: int = 0,
        service_time: LatencyDistribution | None = None,
        commit_latency: LatencyDistribution | None = None,
        flavour: str = "pointer",
        server_retries: int = 0,
        rewrites_list: bool = False,
        undoes_compactions: bool = False,
        batch_us: int = 0,
        lock: rules.LockTerms | None = None,
        lock_latency: LatencyDistribution | None = None,
        storage: StorageProvider | None = None,
        refusal_returns_snapshot: bool = False,
    ) -> None:
        super().__init__(state, refusal_returns_snapshot=refusal_returns_snapshot)
        assert server_retries == 0 or flavour == "rest", "only a REST server knows how to rebase a change"
        self.latency = latency
        self.commit_latency = latency if commit_latency is None else commit_latency
        self.workers = workers
        self.service_time = service_time
        self.is_rest = flavour == "rest"
        self.server_retries = server_retries
        self.rewrites_list = rewrites_list
        self.undoes_compactions = undoes_compactions
        self.batch_us = batch_us
        self.lock = lock
        self.lock_latency = lock_latency
        self._storage = storage
        self._free_us = [0] * workers
        self._undone = 0  # by the commit that was decided last
        self._batches: dict[int, rules.Batch] = {}
        self.locks: dict[int, TableLock] = {}

    @property
    def distributions(self) -> tuple[LatencyDistribution, ...]:
        given = (self.latency, self.commit_latency, self.service_time, self.lock_latency)
        return tuple(each for each in given if each is not None)

    def attach(self, clock: Clock) -> None:
        """Bind to the engine's clock; every worker is free."""
        super().attach(clock)
        self._free_us = [0] * self.workers
        self._batches, self.locks = {}, {}

    def read(
        self, *, client: Client | None = None, step: int = START_READ, expected_size_bytes: int | None = None
    ) -> Generator[int, None, CatalogSnapshot]:
        """One request, served by a worker."""
        client = self._client(client)
        client.note(CATALOG, READ, 0)
        served = slot(client.attempt, SERVICE, SERVED_POSITIONS[step])
        latency_us = self.latency.sample_us(client.key, slot(client.attempt, step, 0))
        return (yield from self._call(latency_us, client, served, self._snapshot))

    def _call(
        self, latency_us: int, client: Client, served: int | None, evaluate: Callable[[], T]
    ) -> Generator[int, None, T]:
        """A request and its answer, of the instant at which a worker has served it; ``served`` is None if none does."""
        leg_us = request_leg_us(latency_us, REQUEST_SHARE)
        yield leg_us
        if served is not None:
            yield from self._serve(client, served)
        answer = evaluate()
        yield latency_us - leg_us
        return answer

    # --- a lock beside the pointer ------------------------------------------------------------------

    def ask_for_lock(
        self, client: Client, table: int, tries: int, *, is_look: bool = False
    ) -> Generator[int, None, bool]:
        """Whether the txn holds the lock now; a look tells whether nobody does, and takes nothing."""
        lock = self.locks.setdefault(table, TableLock())
        client.note(CATALOG, READ if is_look else CREATE, 0)

        def evaluate() -> bool:
            if self._is_hive:
                return lock.queue_for(client.txn_id)
            return lock.is_free if is_look else lock.take(client.txn_id)

        return (yield from self._call_lock(client, tries, SERVED_LOCK, evaluate))

    def release_lock(self, client: Client, table: int) -> Generator[int, None, None]:
        """Give it back, or leave the queue for it."""
        client.note(CATALOG, DELETE, 0)
        yield from self._call_lock(client, 0, SERVED_UNLOCK, lambda: self.locks[table].release(client.txn_id))

    @property
    def _is_hive(self) -> bool:
        assert self.lock is not None
        return self.lock.kind == rules.LOCK_HIVE

    def _call_lock(self, client: Client, tries: int, served: int, evaluate: Callable[[], T]) -> Generator[int, None, T]:
        """A request to the lock: Hive's own workers serve it, those of a table in DynamoDB are not modelled."""
        latency = self.latency if self._is_hive else self.lock_latency
        assert latency is not None
        counter = slot(client.attempt, TABLE_LOCK, int(served == SERVED_UNLOCK)) + tries
        served_counter = slot(client.attempt, SERVICE, served) + tries if self._is_hive else None
        return (yield from self._call(latency.sample_us(client.key, counter), client, served_counter, evaluate))

    def _serve(self, client: Client, counter: int) -> Generator[int, None, None]:
        """Wait for a worker and for its work."""
        service_us = 0 if self.service_time is None else self.service_time.sample_us(client.key, counter)
        now_us = self._clock.now_us
        done_us = rules.take_worker(self._free_us, self.workers, now_us, service_us)
        if done_us > now_us:
            yield done_us - now_us

    def commit(self, intention: IntentionRecord, *, client: Client | None = None) -> Generator[int, None, CommitResult]:
        """One swap request, and whatever the flavour does around it."""
        client = self._client(client)
        sent_us = self._clock.now_us
        client.note(CATALOG, CAS, 0)
        latency_us = self.commit_latency.sample_us(client.key, slot(client.attempt, COMMIT, 0))
        leg_us = request_leg_us(latency_us, REQUEST_SHARE)
        yield leg_us
        if self.batch_us:
            success, rebased_us = yield from self._serve_batch(intention, client)
        elif self.is_rest:
            success, rebased_us = yield from self._serve_rest(intention, client)
        else:
            yield from self._serve(client, slot(client.attempt, SERVICE, SERVED_COMMIT))
            success, rebased_us = self._decide(intention), None
        answer = self._verdict(intention, success)
        undone = self._undone if success else 0
        yield latency_us - leg_us
        return answer._replace(latency_ms=(self._clock.now_us - sent_us) / 1000.0, rebased_us=rebased_us, undone=undone)

    def _serve_rest(self, intention: IntentionRecord, client: Client) -> Generator[int, None, tuple[bool, int | None]]:
        """Check, write the metadata, swap; rebase and try again what commutes. Returns success and rebase time."""
        rebased_us: int | None = None
        for tried in range(self.server_retries + 1):
            yield from self._serve(client, slot(client.attempt, SERVICE, SERVED_COMMIT) + tried)
            if self._stands(intention):
                if tried and self.rewrites_list:
                    yield from self._rewrite_lists(intention, client, tried)
                yield from self._write_metadata(intention, client, tried)
                if self._decide(intention):
                    return True, rebased_us
            if not intention.commutes:
                break
            rebased_us = self._clock.now_us
            intention = intention._replace(base=self._snapshot())
        return False, None

    def _stands(self, intention: IntentionRecord) -> bool:
        """Whether its base is the newest state, or would be without compactions that may be undone."""
        return self.is_current(intention) or self._undoable(intention) > 0

    def _undoable(self, intention: IntentionRecord) -> int:
        if not self.undoes_compactions or len(intention.tables) > 1 or self.state.content is None:
            return 0
        return self.state.content.undoable(intention)

    def _decide(self, intention: IntentionRecord) -> bool:
        """Install the commit, in the place of compactions if need be."""
        self._undone = self._undoable(intention)
        if self._undone:
            assert self.state.content is not None
            self.state.content.undo(intention)
            self.state.apply(intention, self._clock.now_us)
            return True
        return super()._decide(intention)

    def _write_metadata(self, intention: IntentionRecord, client: Client, tried: int) -> Generator[int, None, None]:
        """The server writes the metadata object of every written table."""
        if intention.server_bytes is None or self._storage is None:
            return
        for position in range(intention.n_written):
            counter = slot(client.attempt, METADATA_WRITE, position) + tried
            yield from self._storage.ask(Request(METADATA, WRITE, counter, intention.server_bytes), client)

    def _rewrite_lists(self, intention: IntentionRecord, client: Client, tried: int) -> Generator[int, None, None]:
        """A rebased commit needs a list that holds its own manifest and those of whoever came first."""
        assert self._storage is not None
        for position in range(intention.n_written):
            counter = slot(client.attempt, SERVER_LIST, position) + 2 * tried
            yield from self._storage.ask(Request(MANIFEST_LIST, READ, counter, intention.list_bytes), client)
            yield from self._storage.ask(Request(MANIFEST_LIST, WRITE, counter + 1, intention.list_bytes), client)

    def _serve_batch(self, intention: IntentionRecord, client: Client) -> Generator[int, None, tuple[bool, int | None]]:
        """Wait for the batch to be taken and written; then whatever commutes is installed, whoever came first."""
        yield from self._serve(client, slot(client.attempt, SERVICE, SERVED_COMMIT))
        batch = self._batches.setdefault(intention.tables[0], rules.Batch())
        if rules.join_batch(batch, self._clock.now_us, self.batch_us):
            batch.done_us = batch.taken_us
            batch.done_us += sum(self._rewrite_lists(intention, client, 0))
            batch.done_us += sum(self._write_metadata(intention, client, 0))
        yield batch.done_us - self._clock.now_us
        rebased_us = None
        if intention.commutes and not self.is_current(intention):
            rebased_us = self._clock.now_us
            intention = intention._replace(base=self._snapshot())
        return self._decide(intention), rebased_us


class InstantCatalog(ServiceCatalog):
    """A service with one latency for everything, to see what storage alone costs: it has no queue and no limit."""

    def __init__(
        self, state: CatalogState, latency: LatencyDistribution, *, refusal_returns_snapshot: bool = True
    ) -> None:
        super().__init__(state, latency, refusal_returns_snapshot=refusal_returns_snapshot)

    @property
    def distributions(self) -> tuple[LatencyDistribution, ...]:
        return (self.latency,)


class TableLock:
    """Who holds the lock of a table, and who waits for it, by the ids of txns."""

    __slots__ = ("holder", "waiting")

    def __init__(self) -> None:
        self.holder: int | None = None
        self.waiting: deque[int] = deque()

    @property
    def is_free(self) -> bool:
        """Whether nobody holds it."""
        return self.holder is None

    def take(self, txn_id: int) -> bool:
        """Take it if nobody holds it."""
        if self.holder is None:
            self.holder = txn_id
        return self.holder == txn_id

    def queue_for(self, txn_id: int) -> bool:
        """Take it if nobody holds it or was here before."""
        if txn_id not in self.waiting:
            self.waiting.append(txn_id)
        if self.holder is None and self.waiting[0] == txn_id:
            self.waiting.popleft()
            self.holder = txn_id
        return self.holder == txn_id

    def release(self, txn_id: int) -> None:
        """Give it back, or leave the queue."""
        if self.holder == txn_id:
            self.holder = None
        else:
            self.waiting.remove(txn_id)
