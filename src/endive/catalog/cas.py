"""Compare-and-swap catalog: one object, one version, one winner per version.

Losing costs nothing here; what the loser does next is ``endive.transaction``'s business.
"""

from collections.abc import Generator

from endive.catalog.catalog import StoredCatalog
from endive.catalog.snapshot import CatalogSnapshot, CommitResult, IntentionRecord
from endive.catalog.state import CatalogState
from endive.errors import UnsupportedOperationError
from endive.rng import START_READ, slot
from endive.storage.client import Client
from endive.storage.provider import StorageProvider
from endive.vocabulary import CAS, CATALOG, READ

OBJECT_KEY = "catalog"


class CASCatalog(StoredCatalog):
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
        super().__init__(storage, state, refusal_returns_snapshot=refusal_returns_snapshot)

    def read(
        self, *, client: Client | None = None, step: int = START_READ, expected_size_bytes: int | None = None
    ) -> Generator[int, None, CatalogSnapshot]:
        """One read of the object."""
        client = self._client(client)
        size_bytes = self.state.size_bytes if expected_size_bytes is None else expected_size_bytes
        return (yield from self._look(client, CATALOG, READ, slot(client.attempt, step, 0), size_bytes))

    def commit(self, intention: IntentionRecord, *, client: Client | None = None) -> Generator[int, None, CommitResult]:
        """One conditional write of the object."""
        size_bytes = intention.base.size_bytes
        return (yield from self._swap(intention, self._client(client), CATALOG, CAS, size_bytes, OBJECT_KEY))
