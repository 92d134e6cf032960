"""Compare-and-swap catalog: one object, one version, one winner per version.

Losing costs nothing here; what the loser does next is ``endive.transaction``'s business.
"""

from collections.abc import Generator

from endive.catalog.catalog import Catalog
from endive.catalog.snapshot import CatalogSnapshot, CommitResult, IntentionRecord
from endive.catalog.state import CatalogState
from endive.errors import UnsupportedOperationError
from endive.rng import COMMIT, START_READ, slot
from endive.storage.client import Client
from endive.storage.provider import Request, StorageProvider
from endive.vocabulary import CAS, CATALOG, READ

OBJECT_KEY = "catalog"


class CASCatalog(Catalog):
    """The whole catalog in one object on a storage provider, swapped by compare-and-swap.

    An object store that refuses a swap says no more than that: the txn pays a read to learn the state. The first
    documents let the answer carry it; ``refusal_returns_snapshot`` does as they say.
    """

    def __init__(
        self, storage: StorageProvider, state: CatalogState, *, refusal_returns_snapshot: bool = False
    ) -> None:
        if not storage.supports_cas:
            raise UnsupportedOperationError(
                f"catalog.type = 'cas' needs a storage provider with compare-and-swap; '{storage.name}' has none."
            )
        super().__init__(state, refusal_returns_snapshot=refusal_returns_snapshot)
        self._storage = storage

    def read(
        self, *, client: Client | None = None, step: int = START_READ, expected_size_bytes: int | None = None
    ) -> Generator[int, None, CatalogSnapshot]:
        """One read of the object."""
        client = self._client(client)
        size_bytes = self.state.size_bytes if expected_size_bytes is None else expected_size_bytes
        request = Request(CATALOG, READ, slot(client.attempt, step, 0), size_bytes, evaluate=self._snapshot)
        result = yield from self._storage.ask(request, client)
        snapshot: CatalogSnapshot = result.observed
        return snapshot

    def commit(self, intention: IntentionRecord, *, client: Client | None = None) -> Generator[int, None, CommitResult]:
        """One conditional write of the object."""
        client = self._client(client)
        evaluated_us, installed, seen = 0, None, None

        def evaluate() -> bool:
            nonlocal evaluated_us, installed, seen
            evaluated_us = self._clock.now_us
            success = self._decide(intention)
            installed = self._installed(intention, success)
            seen = self._snapshot() if self.refusal_returns_snapshot and not success else None
            return success

        counter, size_bytes = slot(client.attempt, COMMIT, 0), intention.base.size_bytes
        swap = Request(CATALOG, CAS, counter, size_bytes, key=OBJECT_KEY, evaluate=evaluate)
        result = yield from self._storage.ask(swap, client)
        return CommitResult(result.success, seen, result.latency_ms, evaluated_us, installed=installed)
