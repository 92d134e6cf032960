"""The simulator's requests in a scenario: one txn of the reference engine, beset by rivals at exact moments.

Owns the configuration that stands for a scenario and the script of its rivals. Rivals are not simulated: at their
moment the catalog's state moves as the rules say their commit moves it, so that only the victim asks for anything.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, Final

from endive.catalog import Catalog, CatalogSnapshot, CatalogState, CommitEffect, CommitResult, IntentionRecord
from endive.config import parse_config
from endive.results.schema import KINDS, OBJECTS, OPERATIONS
from endive.rng import POINTER_READ, REFRESH
from endive.simulation import Simulation
from endive.simulation.build import build_catalog, build_protocol, build_storage
from endive.storage import StorageProvider
from endive.storage.client import Client, Clock, TracedRequest
from endive.transaction import ConflictDetector, Transaction, rules
from endive.verification.iceberg.scenario import Scenario
from endive.verification.iceberg.trace import Recorded, Request, split_attempts

RIVAL_OPERATIONS: Final = {
    "append": (rules.FAST_APPEND, 0, 0, 0),
    "row_delta": (rules.VALIDATED_OVERWRITE, rules.ROW_DELTA, rules.SERIALIZABLE, 0),
}
FLAVOURS: Final = {"jdbc": "pointer", "rest": "rest"}
VICTIM_PARTITION: Final = 0
OTHER_PARTITION: Final = 1
RUN_MS: Final = 1e9


def configuration(scenario: Scenario) -> dict[str, Any]:
    """The scenario's table, catalog and victim as a configuration; its rivals are not in it."""
    operation = scenario.operation
    transaction: dict[str, Any] = {
        "runtime": {"distribution": "fixed", "ms": 1000.0},
        "operation_types": {name: float(name == operation.kind) for name in KINDS},
        "isolation": operation.isolation,
        "overwrite": operation.overwrite,
        "partitions": {"selection": "zipf", "alpha": 100.0},  # the first partition, always
    }
    if operation.removed_from:
        transaction["rewritten_manifests"] = operation.removed_from
    return {
        "simulation": {"duration_ms": RUN_MS, "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "storage": {"provider": "s3"},
        "catalog": {
            "type": "service",
            "service": {"flavour": FLAVOURS[scenario.catalog]},
            "partitions": {"enabled": True, "num_partitions": 2},
        },
        "table": {"initial_manifests": operation.manifests, "initial_snapshots": operation.manifests},
        "commit": {} if operation.is_merging else {"merging": "off"},
        "transaction": transaction,
        "source": [{"name": "victim", "arrivals": {"kind": "periodic", "period_ms": RUN_MS}}],
    }


def play(scenario: Scenario) -> Recorded:
    """What the model says of a scenario, in the form real Iceberg's answer has."""
    config = parse_config(_only_what_is_read(configuration(scenario)))
    script = _Script(scenario, build_protocol(config, build_storage(config)).vector())

    def make(storage: StorageProvider, state: CatalogState) -> Catalog:
        return _BesetCatalog(build_catalog(config, storage, state), script)

    trace: list[TracedRequest] = []
    simulation = Simulation(config, catalog=make, conflict_detector=_ScriptedConflict(script.conflicting_attempt))
    row = simulation.run(trace=trace).transactions.to_pylist()[0]
    requests = [
        Request(OBJECTS[obj], OPERATIONS[op])
        for _, _, attempt, obj, op, count in trace
        if attempt > 0  # before: loading the table
        for _ in range(count)
    ]
    outcome = str(row["reason"] or row["status"])
    return Recorded(outcome=outcome, attempts=split_attempts(requests, outcome))


def _only_what_is_read(config: dict[str, Any]) -> dict[str, Any]:
    """Keys that a scenario's victim does not read would be refused."""
    transaction = config["transaction"]
    if not transaction["operation_types"]["validated_overwrite"]:
        del transaction["isolation"], transaction["overwrite"]
    elif transaction["overwrite"] == "replace_partitions":
        del transaction["isolation"]
    return config


class _Script:
    """Who commits when."""

    def __init__(self, scenario: Scenario, protocol: tuple[int, ...]) -> None:
        self._scenario = scenario
        self._protocol = protocol
        self._turn = 0
        is_elsewhere = scenario.is_pruned or scenario.operation.java in ("replace_partitions", "rewrite_files")
        self._partition = OTHER_PARTITION if is_elsewhere else VICTIM_PARTITION
        self._done: set[tuple[int, int]] = set()
        self.conflicting_attempt = (len(scenario.losses) + 1) if scenario.conflict else 0

    def let_commit(self, state: CatalogState, attempt: int, step: int) -> None:
        """Those whose moment is now: before the first refresh, or before an attempt's last look at the pointer."""
        if (attempt, step) in self._done:
            return
        self._done.add((attempt, step))
        count = 0
        if step == REFRESH and attempt == 1:
            count = self._scenario.n_behind
        elif step == POINTER_READ and attempt <= len(self._scenario.losses):
            count = self._scenario.losses[attempt - 1]
        for _ in range(count):
            self._commit(state)

    def _commit(self, state: CatalogState) -> None:
        operation = RIVAL_OPERATIONS[self._scenario.rivals[self._turn % len(self._scenario.rivals)]]
        self._turn += 1
        base = state.snapshot(0)
        effect = CommitEffect(
            rules.effect_class(operation),
            rules.effect_data_manifests(operation),
            rules.effect_delete_manifests(operation),
            rules.effect_manifests(self._protocol, operation, base.tables[0].manifests),
        )
        partitions = (((self._partition,), 1),)
        state.apply(
            {},
            IntentionRecord(txn_id=-1, base=base, tables=(0,), n_written=1, effects=(effect,), partitions=partitions),
        )


class _BesetCatalog(Catalog):
    """A catalog beside which rivals commit when the script says."""

    def __init__(self, catalog: Catalog, script: _Script) -> None:
        super().__init__(catalog.state, refusal_returns_snapshot=catalog.refusal_returns_snapshot)
        self._catalog = catalog
        self._script = script

    def attach(self, clock: Clock) -> None:
        super().attach(clock)
        self._catalog.attach(clock)

    def read(
        self, *, client: Client | None = None, step: int = REFRESH, **size: Any
    ) -> Generator[int, None, CatalogSnapshot]:
        assert client is not None
        self._script.let_commit(self.state, client.attempt, step)
        return self._catalog.read(client=client, step=step, **size)

    def commit(
        self,
        expected_seq: int,
        writes: Mapping[int, int],
        intention: IntentionRecord | None = None,
        *,
        client: Client | None = None,
    ) -> Generator[int, None, CommitResult]:
        assert client is not None
        self._script.let_commit(self.state, client.attempt, POINTER_READ)
        return self._catalog.commit(expected_seq, writes, intention, client=client)


class _ScriptedConflict(ConflictDetector):
    """A real conflict at one attempt, and at no other."""

    def __init__(self, attempt: int) -> None:
        self._attempt = attempt

    def is_real_conflict(
        self, txn: Transaction, current_snapshot: CatalogSnapshot, start_snapshot: CatalogSnapshot
    ) -> bool:
        return txn.client.attempt == self._attempt
