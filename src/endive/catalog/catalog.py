"""The catalog as a txn sees it: two calls, ``read`` and ``commit``, that cost time.

Every kind shares the server's state and the decision that installs a commit. Which requests a call is made of, and how
long they take, belongs to the kinds.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator

from endive.catalog.snapshot import CatalogSnapshot, CommitResult, IntentionRecord
from endive.catalog.state import CatalogState
from endive.distributions import LatencyDistribution
from endive.rng import COMMIT, START_READ, slot
from endive.storage.client import Client, Clock
from endive.storage.provider import Request, StorageProvider


class _StoppedClock:
    now_us = 0


class Catalog(ABC):
    """A catalog server. ``seq`` moves by exactly one per commit; snapshots describe the server's instant.

    A subclass of one's own implements ``read`` and ``commit`` as generators that yield microseconds to wait.
    """

    def __init__(self, state: CatalogState, *, refusal_returns_snapshot: bool) -> None:
        self.state = state
        self.refusal_returns_snapshot = refusal_returns_snapshot
        self._clock: Clock = _StoppedClock()

    def attach(self, clock: Clock) -> None:
        """Bind to the engine's clock."""
        self._clock = clock

    @abstractmethod
    def read(
        self, *, client: Client | None = None, step: int = START_READ, expected_size_bytes: int | None = None
    ) -> Generator[int, None, CatalogSnapshot]:
        """Read the catalog's state, as of the instant the server evaluates the request."""

    @abstractmethod
    def commit(self, intention: IntentionRecord, *, client: Client | None = None) -> Generator[int, None, CommitResult]:
        """Try to install the intention on top of the snapshot it was built on."""

    def is_current(self, intention: IntentionRecord) -> bool:
        """Whether the server's state still is what the intention was built on."""
        return self.state.is_current(intention)

    @property
    def is_built_in(self) -> bool:
        """Whether class and distributions are Endive's own: only then can the compiled engine stand in for it."""
        is_ours = type(self).__module__.split(".")[0] == "endive"
        return is_ours and all(part.is_built_in for part in self.distributions)

    @property
    def distributions(self) -> tuple[LatencyDistribution, ...]:
        """What its answers are drawn from, besides what storage draws."""
        return ()

    def _decide(self, intention: IntentionRecord) -> bool:
        """At the server's instant: install the commit if nothing it watches has moved."""
        if not self.state.is_current(intention):
            return False
        self.state.apply(intention, self._clock.now_us)
        return True

    def _verdict(self, intention: IntentionRecord, success: bool) -> CommitResult:
        """What the answer to a commit tells of the server's instant; its latency is not known yet.

        Of a success, the state right after it, for a committer that keeps its table: it knows what it wrote.
        """
        installed = self._snapshot() if success and intention.keeps_table else None
        seen = self._snapshot() if self.refusal_returns_snapshot and not success else None
        return CommitResult(success, seen, 0.0, self._clock.now_us, installed=installed)

    def _snapshot(self) -> CatalogSnapshot:
        return self.state.snapshot(self._clock.now_us)

    def _client(self, client: Client | None) -> Client:
        return client if client is not None else Client(0, 0, self._clock)


class StoredCatalog(Catalog):
    """A catalog whose state is kept in objects on a storage provider."""

    def __init__(
        self, storage: StorageProvider, state: CatalogState, *, refusal_returns_snapshot: bool = False
    ) -> None:
        super().__init__(state, refusal_returns_snapshot=refusal_returns_snapshot)
        self._storage = storage

    def _look(
        self, client: Client, object: int, op: int, counter: int, size_bytes: int
    ) -> Generator[int, None, CatalogSnapshot]:
        """A request whose answer shows the state."""
        request = Request(object, op, counter, size_bytes, evaluate=self._snapshot)
        result = yield from self._storage.ask(request, client)
        snapshot: CatalogSnapshot = result.observed
        return snapshot

    def _swap(
        self, intention: IntentionRecord, client: Client, object: int, op: int, size_bytes: int, key: str
    ) -> Generator[int, None, CommitResult]:
        """A conditional request that commits."""
        verdicts: list[CommitResult] = []

        def evaluate() -> bool:
            verdicts.append(self._verdict(intention, self._decide(intention)))
            return verdicts[0].success

        request = Request(object, op, slot(client.attempt, COMMIT, 0), size_bytes, key=key, evaluate=evaluate)
        result = yield from self._storage.ask(request, client)
        return verdicts[0]._replace(latency_ms=result.latency_ms)
