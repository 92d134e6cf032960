"""A victim of the reference engine, beset by rivals at exact moments.

Rivals are txns like any other, one every hundred seconds; the victim is held up at a request of the catalog until as
many of them as its script says have committed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from endive.catalog import Catalog, CatalogSnapshot, CatalogState, CommitResult, IntentionRecord
from endive.config import SimulationConfig
from endive.rng import POINTER_READ, REFRESH, START_READ
from endive.simulation import Simulation
from endive.simulation.build import build_catalog
from endive.storage import StorageProvider
from endive.storage.client import Client, Clock, TracedRequest
from endive.transaction import ConflictDetector, TransactionDraft
from endive.vocabulary import OBJECTS, OPERATIONS
from endive.workload import Source, Workload

VICTIM: Final = "victim"
VICTIM_ID: Final = 0  # the first to be submitted
RIVAL_GAP_MS: Final = 100_000.0  # longer than any attempt
LOOK_US: Final = 5_000_000  # how often a held-up victim looks whether its rivals are through
SWAP: Final = -1  # the step of a commit
TWO_PARTITIONS: Final = {"enabled": True, "num_partitions": 2}

Script = Mapping[tuple[int, int], int]  # (attempt, step) -> rivals that commit before that request
Sent = tuple[int, str, str, int]  # of which attempt, for which object, which operation, how many


def script_of(behind: int, losses: Sequence[int] = ()) -> Script:
    """Rivals before the first refresh, and before each attempt's last look at the pointer, or its swap without one."""
    return {(1, REFRESH): behind} | {(attempt, POINTER_READ): count for attempt, count in enumerate(losses, 1)}


def beset_document(
    victim: Mapping[str, Any], *rivals: Mapping[str, Any], turns: float, **sections: Any
) -> dict[str, Any]:
    """A configuration with time for so many rivals: the victim comes once, rivals again and again."""
    once = {"kind": "periodic", "period_ms": 1e10}
    again = {"kind": "periodic", "period_ms": RIVAL_GAP_MS, "offset_ms": RIVAL_GAP_MS}
    return {
        "simulation": {"duration_ms": turns * RIVAL_GAP_MS, "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "transaction": {"runtime": {"distribution": "fixed", "ms": 1000.0}},
        **sections,
        "source": [
            {"name": VICTIM, "arrivals": once, **victim},
            *({"name": "rival", "arrivals": again, **rival} for rival in rivals),
        ],
    }


class BesetCatalog(Catalog):
    """A catalog whose requests the victim sends when its rivals are through."""

    def __init__(self, catalog: Catalog, script: Script) -> None:
        super().__init__(catalog.state, refusal_returns_snapshot=catalog.refusal_returns_snapshot)
        self._catalog = catalog
        self._script = dict(script)

    def attach(self, clock: Clock) -> None:
        super().attach(clock)
        self._catalog.attach(clock)

    def read(
        self, *, client: Client | None = None, step: int = START_READ, expected_size_bytes: int | None = None
    ) -> Generator[int, None, CatalogSnapshot]:
        yield from self.let_pass(client, step)
        return (yield from self._catalog.read(client=client, step=step, expected_size_bytes=expected_size_bytes))

    def commit(self, intention: IntentionRecord, *, client: Client | None = None) -> Generator[int, None, CommitResult]:
        yield from self.let_pass(client, POINTER_READ)
        yield from self.let_pass(client, SWAP)
        return (yield from self._catalog.commit(intention, client=client))

    def let_pass(self, client: Client | None, step: int) -> Generator[int, None, None]:
        """Whoever asks waits until its rivals have committed; nobody but the victim has any."""
        if client is not None and client.txn_id == VICTIM_ID:
            yield from self.wait_for(self._script.pop((client.attempt, step), 0))

    def wait_for(self, rivals: int) -> Generator[int, None, None]:
        """Until so many have committed, and the last of them has done what follows its commit."""
        commits = self.state.versions[0] + rivals
        while self.state.versions[0] < commits:
            yield LOOK_US
        if rivals:
            yield LOOK_US


class TwoPartitions(Workload):
    """Sources work on partition 0 like the victim, on the other one, or on both."""

    def __init__(self, config: Any, elsewhere: Collection[str], everywhere: Collection[str] = ()) -> None:
        super().__init__(config)
        self._elsewhere = elsewhere
        self._everywhere = everywhere

    def create_transaction(self, source: Source, index: int, key: int) -> TransactionDraft:
        draft = super().create_transaction(source, index, key)
        if source.name in self._everywhere:
            return replace(draft, partitions=(((0, 1), 2),))
        return replace(draft, partitions=(((int(source.name in self._elsewhere),), 1),))


def play_victim(
    config: SimulationConfig,
    beset: Callable[[Catalog], Catalog],
    work: Callable[[Any], Workload] | None = None,
    detector: ConflictDetector | None = None,
) -> tuple[dict[str, Any], list[Sent]]:
    """The victim's row, and what it sent; without a detector the configuration's decides."""

    def make(storage: StorageProvider, state: CatalogState) -> Catalog:
        return beset(build_catalog(config, storage, state))

    trace: list[TracedRequest] = []
    simulation = Simulation(config, catalog=make, workload=work, conflict_detector=detector)
    rows = simulation.run(engine="reference", trace=trace).transactions.to_pylist()
    row = next(row for row in rows if row["txn_id"] == VICTIM_ID)
    return row, sent_by(VICTIM_ID, trace)


def sent_by(txn_id: int, trace: Sequence[TracedRequest]) -> list[Sent]:
    """A txn's own requests."""
    return [
        (attempt, OBJECTS[obj], OPERATIONS[op], count) for _, id, attempt, obj, op, count, _ in trace if id == txn_id
    ]


def count_sent(sent: Sequence[Sent]) -> tuple[Counter[str], Counter[str]]:
    """Requests by object and operation: before the first attempt, and from it on."""
    bills: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for attempt, obj, operation, count in sent:
        bills[attempt > 0][f"{obj}.{operation}"] += count
    return bills
