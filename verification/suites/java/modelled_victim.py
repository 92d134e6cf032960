"""The simulator's requests in a scenario: a victim of the reference engine, beset by rivals at exact moments.

Rivals are txns like any other, one every hundred seconds; the victim is held up at a catalog request until as many of
them as the scenario says have committed.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from endive.catalog import Catalog, CatalogSnapshot, CatalogState, CommitResult, IntentionRecord
from endive.config import SimulationConfig, parse_config
from endive.rng import POINTER_READ, REFRESH, START_READ
from endive.simulation import Simulation
from endive.simulation.build import build_catalog
from endive.storage import StorageProvider
from endive.storage.client import Client, Clock, TracedRequest
from endive.transaction import ConflictDetector, Transaction, TransactionDraft
from endive.vocabulary import KINDS, OBJECTS, OPERATIONS
from endive.workload import Source, Workload
from verification.suites.java.request_recording import NEWEST, RELEASES, line_of
from verification.suites.java.request_trace import (
    LIST_WRITE,
    METADATA_WRITE,
    VALIDATION_EXCEPTION,
    Recorded,
    Request,
    split_attempts,
)
from verification.suites.java.scenario import Scenario, rival_partition

FLAVOURS: Final = {"jdbc": "pointer", "rest": "rest"}
RIVAL_KINDS: Final = {"append": "fast_append", "row_delta": "validated_overwrite"}
VICTIM: Final = "victim"
OLDEST_LINE: Final = line_of(RELEASES[0])
VICTIM_ID: Final = 0  # the first to be submitted
HISTORY_EXPIRED: Final = "history_expired"
BULK_DELETE: Final = Request("data", "bulk_delete")  # as recorded: it names no object
RIVAL_GAP_MS: Final = 100_000.0  # longer than any attempt
LOOK_US: Final = 5_000_000  # how often a held-up victim looks whether its rivals are through


def play(scenario: Scenario, release: str = NEWEST) -> Recorded:
    """What the model says of a scenario, in the form real Iceberg's answer has."""
    detector = _ScriptedConflict(len(scenario.losses) + 1 if scenario.conflict else 0)
    moments = Moments(scenario.n_behind, scenario.losses)
    document = configuration(scenario, release)
    rivals = [source["name"] for source in document["source"][1:]]
    return play_out(document, moments, rivals if rival_partition(scenario) else (), detector)


def play_out(
    document: Mapping[str, Any],
    moments: Moments,
    elsewhere: Collection[str],
    detector: ConflictDetector | None = None,
    everywhere: Collection[str] = (),
) -> Recorded:
    """The victim's requests by attempt, and how it ends."""
    config = parse_config(document)
    row, sent = play_requests(config, moments, elsewhere, detector, everywhere)
    requests = [request for attempt, request in sent if attempt > 0]  # before: loading the table
    is_bulk = config.sources[0].commit_path == "transaction" and config.commit.release != OLDEST_LINE
    if row["kind"] == "expire_snapshots" or is_bulk:
        requests = [BULK_DELETE if request.operation == "delete" else request for request in requests]
    outcome = str(row["reason"] or row["status"])
    outcome = VALIDATION_EXCEPTION if outcome == HISTORY_EXPIRED else outcome  # one of them, to Iceberg
    built_with = METADATA_WRITE if row["kind"] == "expire_snapshots" else LIST_WRITE
    return Recorded(outcome=outcome, attempts=split_attempts(requests, outcome, built_with=built_with))


def play_requests(
    config: SimulationConfig,
    moments: Moments,
    elsewhere: Collection[str] = (),
    detector: ConflictDetector | None = None,
    everywhere: Collection[str] = (),
) -> tuple[dict[str, Any], list[tuple[int, Request]]]:
    """The victim's row, and its requests with their attempts; without a detector the configuration's decides.

    Sources named in ``elsewhere`` work on another partition than the victim, those in ``everywhere`` on both.
    """

    def make(storage: StorageProvider, state: CatalogState) -> Catalog:
        return BesetCatalog(build_catalog(config, storage, state), moments)

    trace: list[TracedRequest] = []
    simulation = Simulation(
        config,
        catalog=make,
        workload=lambda workload: TwoPartitions(workload, elsewhere, everywhere),
        conflict_detector=detector,
    )
    rows = simulation.run(trace=trace).transactions.to_pylist()
    row = next(row for row in rows if row["txn_id"] == VICTIM_ID)
    requests = [
        (attempt, Request(OBJECTS[obj], OPERATIONS[op]))
        for _, txn_id, attempt, obj, op, count, _ in trace
        if txn_id == VICTIM_ID
        for _ in range(count)
    ]
    return row, requests


def configuration(scenario: Scenario, release: str = NEWEST) -> dict[str, Any]:
    """The scenario's table, catalog, victim and rivals, as a release of Iceberg does it."""
    operation = scenario.operation
    rivals = scenario.n_behind + sum(scenario.losses) + 1
    return {
        "simulation": {"duration_ms": (rivals + 2) * RIVAL_GAP_MS, "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "storage": {"provider": "s3"},
        "catalog": {
            "type": "service",
            "service": {"flavour": FLAVOURS[scenario.catalog]},
            "partitions": {"enabled": True, "num_partitions": 2},
        },
        "table": {"initial_manifests": operation.manifests, "initial_snapshots": operation.manifests},
        "commit": {"release": line_of(release), **({} if operation.is_merging else {"merging": "off"})},
        "transaction": {"runtime": {"distribution": "fixed", "ms": 1000.0}},
        "source": [_victim(scenario), *(_rival(scenario, turn) for turn in range(len(scenario.rivals)))],
    }


def _victim(scenario: Scenario) -> dict[str, Any]:
    operation = scenario.operation
    source: dict[str, Any] = {
        "name": VICTIM,
        "arrivals": {"kind": "periodic", "period_ms": 1e10},
        "total_timeout_ms": 0.0,  # it is held up for longer than Iceberg's half hour
        "operation_types": {name: 1.0 for name in KINDS if name == operation.kind},
    }
    if operation.kind == "validated_overwrite":
        source["overwrite"] = operation.overwrite
        if operation.overwrite != "replace_partitions":
            source["isolation"] = operation.isolation
        if operation.overwrite == "row_delta":
            source["referenced_files"] = operation.is_referring
    if operation.kind == "expire_snapshots":
        source["retain_last"] = 1  # as recorded
    if operation.removed_from:
        source["rewritten_manifests"] = operation.removed_from
    return source


def _rival(scenario: Scenario, turn: int) -> dict[str, Any]:
    """Every rival whose turn it is when the others have had theirs."""
    kind = scenario.rivals[turn]
    return {
        "name": f"rival {turn} {kind}",
        "arrivals": {
            "kind": "periodic",
            "period_ms": len(scenario.rivals) * RIVAL_GAP_MS,
            "offset_ms": (turn + 1) * RIVAL_GAP_MS,
        },
        "operation_types": {RIVAL_KINDS[kind]: 1.0},
    }


class Moments:
    """How many rivals the victim lets pass, and before which of its requests."""

    def __init__(self, n_behind: int, losses: Sequence[int]) -> None:
        self._n_behind = n_behind
        self._losses = losses
        self._passed: set[tuple[int, int]] = set()

    def rivals_before(self, attempt: int, step: int) -> int:
        """Before the first refresh, or before an attempt's last look at the pointer; once each."""
        if (attempt, step) in self._passed:
            return 0
        self._passed.add((attempt, step))
        if step == REFRESH and attempt == 1:
            return self._n_behind
        if step == POINTER_READ and attempt <= len(self._losses):
            return self._losses[attempt - 1]
        return 0


class BesetCatalog(Catalog):
    """A catalog whose requests the victim sends when its rivals are through."""

    def __init__(self, catalog: Catalog, moments: Moments) -> None:
        super().__init__(catalog.state, refusal_returns_snapshot=catalog.refusal_returns_snapshot)
        self._catalog = catalog
        self._moments = moments

    def attach(self, clock: Clock) -> None:
        super().attach(clock)
        self._catalog.attach(clock)

    def read(
        self, *, client: Client | None = None, step: int = START_READ, expected_size_bytes: int | None = None
    ) -> Generator[int, None, CatalogSnapshot]:
        yield from self._let_pass(client, step)
        snapshot = yield from self._catalog.read(client=client, step=step, expected_size_bytes=expected_size_bytes)
        return snapshot

    def commit(self, intention: IntentionRecord, *, client: Client | None = None) -> Generator[int, None, CommitResult]:
        yield from self._let_pass(client, POINTER_READ)
        result = yield from self._catalog.commit(intention, client=client)
        return result

    def _let_pass(self, client: Client | None, step: int) -> Generator[int, None, None]:
        if client is None or client.txn_id != VICTIM_ID:
            return
        commits = self.state.versions[0] + self._moments.rivals_before(client.attempt, step)
        is_waiting = self.state.versions[0] < commits
        while self.state.versions[0] < commits:
            yield LOOK_US
        if is_waiting:
            yield LOOK_US  # until the last of them has done what follows its commit


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


class _ScriptedConflict(ConflictDetector):
    """A real conflict of the victim at one attempt, and at no other."""

    def __init__(self, attempt: int) -> None:
        self._attempt = attempt

    def is_real_conflict(
        self, txn: Transaction, current_snapshot: CatalogSnapshot, start_snapshot: CatalogSnapshot
    ) -> bool:
        return txn.id == VICTIM_ID and txn.client.attempt == self._attempt
