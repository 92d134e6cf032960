"""Instant catalog: a service with one latency for everything, to see what storage alone costs.

It has no object, no queue and no limit.
"""

from collections.abc import Generator

from endive.catalog.catalog import Catalog
from endive.catalog.snapshot import CatalogSnapshot, CommitResult, IntentionRecord
from endive.catalog.state import CatalogState
from endive.distributions import LatencyDistribution
from endive.rng import COMMIT, START_READ, slot
from endive.storage.client import Client
from endive.storage.contention import request_leg_us
from endive.vocabulary import CAS, CATALOG, READ

REQUEST_SHARE = 0.5  # of the latency passes before the server evaluates


class InstantCatalog(Catalog):
    """A catalog whose every answer takes one draw of ``latency``."""

    def __init__(
        self, state: CatalogState, latency: LatencyDistribution, *, refusal_returns_snapshot: bool = True
    ) -> None:
        super().__init__(state, refusal_returns_snapshot=refusal_returns_snapshot)
        self.latency = latency

    @property
    def distributions(self) -> tuple[LatencyDistribution, ...]:
        return (self.latency,)

    def read(
        self, *, client: Client | None = None, step: int = START_READ, expected_size_bytes: int | None = None
    ) -> Generator[int, None, CatalogSnapshot]:
        """One request."""
        client = self._client(client)
        latency_us = self.latency.sample_us(client.key, slot(client.attempt, step, 0))
        leg_us = request_leg_us(latency_us, REQUEST_SHARE)
        client.note(CATALOG, READ, 0)
        yield leg_us
        snapshot = self._snapshot()
        yield latency_us - leg_us
        return snapshot

    def commit(self, intention: IntentionRecord, *, client: Client | None = None) -> Generator[int, None, CommitResult]:
        """One request."""
        client = self._client(client)
        latency_us = self.latency.sample_us(client.key, slot(client.attempt, COMMIT, 0))
        leg_us = request_leg_us(latency_us, REQUEST_SHARE)
        client.note(CATALOG, CAS, 0)
        yield leg_us
        evaluated_us = self._clock.now_us
        success = self._decide(intention)
        snapshot = self._snapshot() if self.refusal_returns_snapshot and not success else None
        installed = self._installed(intention, success)
        yield latency_us - leg_us
        return CommitResult(success, snapshot, latency_us / 1000.0, evaluated_us, installed=installed)
