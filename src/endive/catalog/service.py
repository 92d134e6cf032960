"""A catalog server with one pointer per table: Hive, JDBC, Glue, REST.

What a client does between two requests is ``endive.transaction``'s.

``pointer`` (JDBC, Hive, Glue): the client writes the metadata object; a commit reads the pointer once more,
and if that still is the expected one, swaps it. ``rest``: one request; the server checks first, writes the
metadata object itself, then swaps; it may rebase and retry changes that commute.
"""

from collections.abc import Generator

from endive.catalog import rules
from endive.catalog.catalog import Catalog
from endive.catalog.instant import REQUEST_SHARE
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
    SERVICE,
    START_READ,
    STATUS_READ,
    slot,
)
from endive.storage.client import Client, Clock
from endive.storage.contention import request_leg_us
from endive.storage.provider import Request, StorageProvider
from endive.vocabulary import CAS, CATALOG, METADATA, READ, WRITE

# Which queueing of one attempt a service time is drawn for: positions of the SERVICE slot.
SERVED_READ = 0
SERVED_CHECK = 1
SERVED_COMMIT = 2
SERVED_START = 3
SERVED_BACK = 4
SERVED_STATUS = 5
SERVED_BASE = 6
SERVED_LOOK = 7
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
        self._storage = storage
        self._free_us = [0] * workers

    @property
    def distributions(self) -> tuple[LatencyDistribution, ...]:
        found = (self.latency, self.commit_latency)
        return found if self.service_time is None else (*found, self.service_time)

    def attach(self, clock: Clock) -> None:
        """Bind to the engine's clock; every worker is free."""
        super().attach(clock)
        self._free_us = [0] * self.workers

    def read(
        self, *, client: Client | None = None, step: int = START_READ, expected_size_bytes: int | None = None
    ) -> Generator[int, None, CatalogSnapshot]:
        """One request, served by a worker."""
        client = self._client(client)
        client.note(CATALOG, READ, 0)
        position = SERVED_POSITIONS[step]
        latency_us = self.latency.sample_us(client.key, slot(client.attempt, step, 0))
        leg_us = request_leg_us(latency_us, REQUEST_SHARE)
        yield leg_us
        yield from self._serve(client, slot(client.attempt, SERVICE, position))
        snapshot = self._snapshot()
        yield latency_us - leg_us
        return snapshot

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
        if self.is_rest:
            success, rebased_us = yield from self._serve_rest(intention, client)
        else:
            yield from self._serve(client, slot(client.attempt, SERVICE, SERVED_COMMIT))
            success, rebased_us = self._decide(intention), None
        evaluated_us = self._clock.now_us
        snapshot = self._snapshot() if self.refusal_returns_snapshot and not success else None
        installed = self._installed(intention, success)
        yield latency_us - leg_us
        latency_ms = (self._clock.now_us - sent_us) / 1000.0
        return CommitResult(success, snapshot, latency_ms, evaluated_us, rebased_us, installed)

    def _serve_rest(self, intention: IntentionRecord, client: Client) -> Generator[int, None, tuple[bool, int | None]]:
        """Check, write the metadata, swap; rebase and try again what commutes. Returns success and rebase time."""
        rebased_us: int | None = None
        for tried in range(self.server_retries + 1):
            yield from self._serve(client, slot(client.attempt, SERVICE, SERVED_COMMIT) + tried)
            if self.is_current(intention):
                yield from self._write_metadata(intention, client, tried)
                if self._decide(intention):
                    return True, rebased_us
            if not intention.commutes:
                break
            rebased_us = self._clock.now_us
            intention = intention._replace(base=self._snapshot())
        return False, None

    def _write_metadata(self, intention: IntentionRecord, client: Client, tried: int) -> Generator[int, None, None]:
        """The server writes the metadata object of every written table."""
        if intention.server_bytes is None or self._storage is None:
            return
        for position in range(intention.n_written):
            counter = slot(client.attempt, METADATA_WRITE, position) + tried
            yield from self._storage.ask(Request(METADATA, WRITE, counter, intention.server_bytes), client)
