"""A log of numbered objects: a commit creates the next one if nobody has, and a listing tells how many there are.

Every table has a log of its own. Losing tells the loser that the number is taken, and nothing else; what it lists and
reads then is the business of the table's format.
"""

from collections.abc import Generator

from endive.catalog.catalog import Catalog
from endive.catalog.snapshot import CatalogSnapshot, CommitResult, IntentionRecord
from endive.catalog.state import CatalogState
from endive.rng import COMMIT, START_READ, slot
from endive.storage.client import Client
from endive.storage.provider import Request, StorageProvider
from endive.vocabulary import COMMIT_FILE, CREATE, LIST


class CreateCatalog(Catalog):
    """Put if absent: the object of version N + 1 is created by one writer and refused to all others.

    One process alone can do so on any store, under a lock of its own.
    """

    def __init__(self, storage: StorageProvider, state: CatalogState) -> None:
        super().__init__(state, refusal_returns_snapshot=False)
        self._storage = storage

    def read(
        self, *, client: Client | None = None, step: int = START_READ, expected_size_bytes: int | None = None
    ) -> Generator[int, None, CatalogSnapshot]:
        """One listing of the log."""
        client = self._client(client)
        request = Request(COMMIT_FILE, LIST, slot(client.attempt, step, 0), 0, evaluate=self._snapshot)
        result = yield from self._storage.ask(request, client)
        snapshot: CatalogSnapshot = result.observed
        return snapshot

    def commit(self, intention: IntentionRecord, *, client: Client | None = None) -> Generator[int, None, CommitResult]:
        """One conditional creation."""
        client = self._client(client)
        evaluated_us, installed = 0, None

        def evaluate() -> bool:
            nonlocal evaluated_us, installed
            evaluated_us = self._clock.now_us
            success = self._decide(intention)
            installed = self._installed(intention, success)
            return success

        counter, key = slot(client.attempt, COMMIT, 0), f"log/{intention.tables[0]}"
        create = Request(COMMIT_FILE, CREATE, counter, intention.size_bytes, key=key, evaluate=evaluate)
        result = yield from self._storage.ask(create, client)
        return CommitResult(result.success, None, result.latency_ms, evaluated_us, installed=installed)
