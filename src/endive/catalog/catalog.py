"""The catalog as a txn sees it: two calls, ``read`` and ``commit``, that cost time.

Every kind shares the server's state and the decision that installs a commit. Which requests a call is made of, and how
long they take, belongs to the kinds.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator

from endive.catalog.snapshot import CatalogSnapshot, CommitResult, IntentionRecord
from endive.catalog.state import CatalogState
from endive.distributions import LatencyDistribution
from endive.rng import START_READ
from endive.storage.client import Client, Clock


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

    def _installed(self, intention: IntentionRecord, success: bool) -> CatalogSnapshot | None:
        """The state right after a commit, for a committer that keeps its table: it knows what it wrote."""
        return self._snapshot() if success and intention.keeps_table else None

    def _snapshot(self) -> CatalogSnapshot:
        return self.state.snapshot(self._clock.now_us)

    def _client(self, client: Client | None) -> Client:
        return client if client is not None else Client(0, 0, self._clock)
