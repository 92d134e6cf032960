"""The journal of a run: every request, every look at the catalog, every swap, with its instants.

A catalog that passes every call on notes when it was sent, when the server evaluated it and when the answer came. The
run is that of the reference engine, which gives the same txns as the compiled one. What a journal says about one txn
lives in ``endive.answers.stories.story``.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

from endive.catalog.catalog import Catalog
from endive.catalog.snapshot import CatalogSnapshot, CommitResult, IntentionRecord
from endive.config import SimulationConfig
from endive.results import SimulationResult
from endive.rng import START_READ
from endive.simulation import Simulation
from endive.simulation.build import build_catalog
from endive.storage.client import Client, Clock, TracedRequest


@dataclass(frozen=True, slots=True)
class Look:
    """A read of the catalog: the state of ``seen_us``, known to the txn from ``answered_us`` on."""

    txn_id: int
    attempt: int
    step: int
    sent_us: int
    seen_us: int
    answered_us: int
    seq: int


@dataclass(frozen=True, slots=True)
class Swap:
    """A conditional write of the catalog: refused if the tables changed between ``base_us`` and ``evaluated_us``."""

    txn_id: int
    attempt: int
    base_us: int
    evaluated_us: int
    answered_us: int
    is_installed: bool
    tables: tuple[int, ...]


@dataclass
class Journal:
    """Everything that was noted."""

    requests: list[TracedRequest] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    swaps: list[Swap] = field(default_factory=list)


class JournalCatalog(Catalog):
    """Passes both calls on to the catalog it wraps, and writes them down."""

    def __init__(self, catalog: Catalog, journal: Journal, of_txns: frozenset[int] | None = None) -> None:
        super().__init__(catalog.state, refusal_returns_snapshot=catalog.refusal_returns_snapshot)
        self._catalog = catalog
        self._journal = journal
        self._of_txns = of_txns  # whose reads are noted; of swaps all are, for they may have been in the way

    def __getattr__(self, name: str) -> Any:
        """Whatever else the catalog offers."""
        if name == "_catalog":  # not there yet: a copy is being made
            raise AttributeError(name)
        return getattr(self._catalog, name)

    @property
    def is_built_in(self) -> bool:
        """Never: only the reference engine calls it."""
        return False

    def attach(self, clock: Clock) -> None:
        super().attach(clock)
        self._catalog.attach(clock)

    def is_current(self, intention: IntentionRecord) -> bool:
        return self._catalog.is_current(intention)

    def read(
        self, *, client: Client | None = None, step: int = START_READ, expected_size_bytes: int | None = None
    ) -> Generator[int, None, CatalogSnapshot]:
        client = self._client(client)
        sent_us = self._clock.now_us
        seen = yield from self._catalog.read(client=client, step=step, expected_size_bytes=expected_size_bytes)
        if self._of_txns is None or client.txn_id in self._of_txns:
            self._journal.looks.append(
                Look(client.txn_id, client.attempt, step, sent_us, seen.timestamp_us, self._clock.now_us, seen.seq)
            )
        return seen

    def commit(self, intention: IntentionRecord, *, client: Client | None = None) -> Generator[int, None, CommitResult]:
        client = self._client(client)
        result = yield from self._catalog.commit(intention, client=client)
        base_us = intention.base.timestamp_us
        self._journal.swaps.append(
            Swap(
                txn_id=client.txn_id,
                attempt=client.attempt,
                base_us=base_us if result.rebased_us is None else result.rebased_us,
                evaluated_us=result.evaluated_us,
                answered_us=self._clock.now_us,
                is_installed=result.success,
                tables=tuple(intention.tables[: intention.n_written]),
            )
        )
        return result


class _Requests(list[TracedRequest]):
    """The requests of some txns; those of others are forgotten as they come."""

    def __init__(self, of_txns: frozenset[int]) -> None:
        super().__init__()
        self._of_txns = of_txns

    def append(self, entry: TracedRequest) -> None:
        if entry[1] in self._of_txns:
            super().append(entry)


def journal_of(
    config: SimulationConfig, seed: int, until_us: int | None = None, of_txns: frozenset[int] | None = None
) -> tuple[Journal, SimulationResult]:
    """Return the journal of a run, up to an instant if one is given, and the run itself.

    With ``of_txns`` reads and requests of others are left out, so that a run of any length can be told.
    """
    if until_us is not None:
        section = config.simulation.model_copy(
            update={"duration_ms": until_us / 1000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0}
        )
        config = config.model_copy(update={"simulation": section})
    journal = Journal() if of_txns is None else Journal(requests=_Requests(of_txns))
    simulation = Simulation(
        config, catalog=lambda storage, state: JournalCatalog(build_catalog(config, storage, state), journal, of_txns)
    )
    result = simulation.run(seed=seed, trace=journal.requests)
    return journal, result
