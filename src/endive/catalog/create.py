"""A log of numbered objects: a commit creates the next one if nobody has, and a listing tells how many there are.

Every table has a log of its own. Losing tells the loser that the number is taken, and nothing else; what it lists and
reads then is the business of the table's format.
"""

from collections.abc import Generator

from endive.catalog.catalog import StoredCatalog
from endive.catalog.snapshot import CatalogSnapshot, CommitResult, IntentionRecord
from endive.rng import START_READ, slot
from endive.storage.client import Client
from endive.vocabulary import COMMIT_FILE, CREATE, LIST


class CreateCatalog(StoredCatalog):
    """Put if absent: the object of version N + 1 is created by one writer and refused to all others.

    One process alone can do so on any store, under a lock of its own.
    """

    def read(
        self, *, client: Client | None = None, step: int = START_READ, expected_size_bytes: int | None = None
    ) -> Generator[int, None, CatalogSnapshot]:
        """One listing of the log."""
        client = self._client(client)
        return (yield from self._look(client, COMMIT_FILE, LIST, slot(client.attempt, step, 0), 0))

    def commit(self, intention: IntentionRecord, *, client: Client | None = None) -> Generator[int, None, CommitResult]:
        """One conditional creation."""
        size_bytes, key = intention.size_bytes, f"log/{intention.tables[0]}"
        return (yield from self._swap(intention, self._client(client), COMMIT_FILE, CREATE, size_bytes, key))
