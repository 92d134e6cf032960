"""Parts of the user's own: each may be replaced by a subclass, and a simulation runs with it.

Small parts, written as a user would write them: what they override is all they know.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from typing import Any

import pytest

from endive import Simulation
from endive.catalog import Catalog, CatalogSnapshot, CatalogState, CommitResult, IntentionRecord
from endive.distributions import LatencyDistribution
from endive.errors import EndiveError
from endive.formats.nesting import Plan, Situation
from endive.storage import OBJECTS, WRITE, Client, ConstantStorageProvider, Exchange, Request, StorageProvider
from endive.transaction import ConflictDetector, Transaction, TransactionDraft, World
from endive.workload import Source, Workload

CONFIG: dict[str, Any] = {
    "simulation": {"duration_ms": 5_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0},
    "storage": {"provider": "constant", "latency_ms": 10.0},
    "catalog": {"type": "instant", "latency_ms": 2.0},
    "transaction": {"runtime": {"distribution": "fixed", "ms": 100.0}},
    "source": [{"name": "writers", "arrivals": {"kind": "closed", "clients": 4, "think_ms": 25.0}}],
}


def rows_of(simulation: Simulation) -> list[dict[str, Any]]:
    rows = simulation.run().transactions.to_pylist()
    assert any(row["status"] == "committed" for row in rows)
    return rows


def ended(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["status"] != "in_flight"]


class ForgivingCatalog(Catalog):
    """Takes 3 ms for everything and never refuses: the server merges whatever comes."""

    def __init__(self, storage: StorageProvider, state: CatalogState) -> None:
        super().__init__(state, refusal_returns_snapshot=False)

    def read(self, **_: Any) -> Generator[int, None, CatalogSnapshot]:
        yield 1_500
        snapshot = self.state.snapshot(self._clock.now_us)
        yield 1_500
        return snapshot

    def commit(self, intention: IntentionRecord, **_: Any) -> Generator[int, None, CommitResult]:
        yield 1_500
        evaluated_us = self._clock.now_us
        self.state.apply(intention)
        yield 1_500
        return CommitResult(True, None, 3.0, evaluated_us, rebased_us=evaluated_us)


def test_a_catalog_of_ones_own_needs_only_read_and_commit():
    rows = rows_of(Simulation(CONFIG, catalog=ForgivingCatalog))

    assert {1} == {row["attempts"] for row in ended(rows)}
    assert {3.0} == {row["phase_commit_ms"] for row in ended(rows)}
    assert {3.0 + 100.0} == {row["phase_runtime_ms"] for row in ended(rows)}


class CountingStore(ConstantStorageProvider):
    """A constant store that counts what is written to it."""

    def __init__(self) -> None:
        super().__init__(4.0)
        self.written: list[str] = []

    def ask(self, request: Request, client: Client) -> Exchange:
        if request.op == WRITE:
            self.written.extend([OBJECTS[request.object]] * request.count)
        return super().ask(request, client)


def test_a_storage_provider_of_ones_own_is_asked_for_everything():
    store = CountingStore()
    rows = rows_of(Simulation(CONFIG, storage=store))

    billed = sum(row["requests_manifest_list_write"] for row in rows)
    assert billed <= store.written.count("manifest_list") <= billed + 4  # txns in flight show no bill
    assert all(row["phase_manifest_list_ms"] % 4.0 == 0.0 for row in rows)


class Sawtooth(LatencyDistribution):
    """A distribution of one's own needs only its quantiles."""

    min_latency_ms = 0.0

    def quantile(self, p: float) -> float:
        return 8.0 + 4.0 * p


def test_a_distribution_of_ones_own_needs_only_its_quantiles():
    class SawtoothStore(ConstantStorageProvider):
        def __init__(self) -> None:
            super().__init__(1.0)
            self.profile = self.profile.with_overrides({(2, 1, True): Sawtooth()})
            super(ConstantStorageProvider, self).__init__(self.profile)

    rows = rows_of(Simulation(CONFIG, storage=SawtoothStore()))

    writing_ms = [row["phase_manifest_list_ms"] - 1.0 for row in ended(rows) if row["attempts"] == 1]
    assert 8.0 <= min(writing_ms) < max(writing_ms) <= 12.0


class ManyFilesAppend(Transaction):
    """Writes ten manifests of its own on its first attempt."""

    def plan_attempt(self, world: World, situation: Situation) -> Plan:
        plan = super().plan_attempt(world, situation)
        plan.iceberg.own_writes *= 10
        return plan


def test_a_kind_of_ones_own_may_cost_what_it_likes():
    rows = rows_of(Simulation(CONFIG, transaction_types={"fast_append": ManyFilesAppend}))

    assert {10} == {row["requests_manifest_write"] for row in ended(rows)}
    assert {100.0} == {row["phase_manifests_ms"] for row in ended(rows) if row["status"] == "committed"}


class EverySecondTxn(ConflictDetector):
    """Odd txns are in real conflict with whoever committed beside them."""

    def is_real_conflict(
        self, txn: Transaction, current_snapshot: CatalogSnapshot, start_snapshot: CatalogSnapshot
    ) -> bool:
        assert current_snapshot.seq > start_snapshot.seq
        return txn.id % 2 == 1


def test_a_conflict_detector_of_ones_own_decides_who_aborts():
    config = {**CONFIG, "transaction": {**CONFIG["transaction"], "operation_types": {"validated_overwrite": 1.0}}}
    rows = rows_of(Simulation(config, conflict_detector=EverySecondTxn()))

    in_conflict = {row["txn_id"] % 2 for row in rows if row["reason"] == "validation_exception"}
    assert {1} == in_conflict
    assert all(row["status"] == "aborted" for row in ended(rows) if row["txn_id"] % 2 and row["n_behind_first"])


class NightlyCompaction(Workload):
    """Every tenth txn of a source is a compaction that runs four times as long."""

    def create_transaction(self, source: Source, index: int, key: int) -> TransactionDraft:
        draft = super().create_transaction(source, index, key)
        if index % 10:
            return draft
        return dataclasses.replace(draft, kind=3, runtime_us=4 * draft.runtime_us)


def test_a_workload_of_ones_own_decides_what_txns_do():
    rows = rows_of(Simulation(CONFIG, workload=NightlyCompaction))

    for row in ended(rows):
        is_tenth = row["source_index"] % 10 == 0
        assert ("rewrite_files" if is_tenth else "fast_append") == row["kind"]
        assert (400.0 if is_tenth else 100.0) + 2.0 == row["phase_runtime_ms"]


def test_an_unknown_engine_is_refused_by_name():
    with pytest.raises(EndiveError, match="engine = 'warp' is not known"):
        Simulation(CONFIG).run(engine="warp")
