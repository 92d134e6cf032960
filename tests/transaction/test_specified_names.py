"""Names the refactoring specification fixes: classes of its kinds, and what they say of costs, verdicts and ends."""

from typing import Any

import pytest

from endive import Simulation
from endive.config import parse_config
from endive.simulation.build import OwnParts, build_parts
from endive.simulation.reference import ReferenceEngine
from endive.storage.client import Client
from endive.transaction import (
    ConflictCost,
    FastAppendTransaction,
    MergeAppendTransaction,
    TransactionDraft,
    TransactionResult,
    TransactionStatus,
    ValidatedOverwriteTransaction,
)

SPEC: dict[str, Any] = {
    "commit": {"protocol": "spec"},
    "catalog": {"type": "instant", "table_metadata_inlined": False},
    "storage": {"provider": "constant", "latency_ms": 10.0},
}


SPECIFIED = (FastAppendTransaction, MergeAppendTransaction, ValidatedOverwriteTransaction)


def make(config: dict[str, Any], kind: int) -> Any:
    parts = build_parts(parse_config(config), 1, OwnParts())
    engine = ReferenceEngine(parts, sink=None)  # type: ignore[arg-type]
    draft = TransactionDraft(kind=kind, runtime_us=0, tables_read=(0,), n_tables_written=1, partitions=())
    terms = parts.workload.sources[0].terms
    return SPECIFIED[kind](0, 0, Client(1, 0, engine), draft, terms)


@pytest.mark.parametrize("n", [1, 5, 9])
@pytest.mark.parametrize("is_appended", [False, True])
@pytest.mark.parametrize(
    ("kind", "cost"),
    [
        (0, lambda n: {}),
        (1, lambda n: {"manifest_file_reads": int(1.5 * n), "manifest_file_writes": int(1.5 * n)}),
        (2, lambda n: {"historical_ml_reads": n}),
    ],
)
def test_the_cost_of_a_conflict_under_spec_is_that_of_seed_002(kind, cost, is_appended, n):
    txn = make(SPEC, kind)

    expected = ConflictCost(
        metadata_reads=1,
        manifest_list_reads=1,
        manifest_list_writes=0 if is_appended else 1,
        **cost(n),
    )
    assert expected == txn.get_conflict_cost(n, is_appended)


@pytest.mark.parametrize(("kind", "can_conflict"), [(0, False), (1, False), (2, True)])
def test_only_operations_that_validate_can_be_in_real_conflict(kind, can_conflict):
    assert can_conflict == make(SPEC, kind).can_have_real_conflict()


def test_replacing_partitions_validates_nothing():
    replacing = {"operation_types": {"validated_overwrite": 1.0}, "overwrite": "replace_partitions"}

    assert not make({**SPEC, "transaction": replacing}, 2).can_have_real_conflict()


@pytest.mark.parametrize(("kind", "is_ended"), [(0, False), (1, False), (2, True)])
def test_a_real_conflict_ends_an_operation_that_can_have_one(kind, is_ended):
    assert is_ended == make(SPEC, kind).should_abort_on_real_conflict()


# ---- how it ended ------------------------------------------------------------------------------------

L_MS = 10.0


def ended_txns(**transaction):
    """The results of two appends submitted together, a request taking exactly L."""
    results = []

    class Telling(FastAppendTransaction):
        def execute(self, world):
            yield from super().execute(world)
            results.append(self.result)

    once, instant = {"kind": "periodic", "period_ms": 60_000.0}, {"distribution": "fixed", "ms": 0.0}
    config = {
        "simulation": {"duration_ms": 10_000.0},
        "storage": {"provider": "constant", "latency_ms": L_MS},
        "catalog": {"type": "instant", "latency_ms": L_MS},
        "transaction": {"retry_backoff": {"enabled": False}, **transaction},
        "source": [{"name": name, "arrivals": once, "runtime": instant} for name in ("first", "second")],
    }
    Simulation(config, transaction_types={"fast_append": Telling}).run()
    return results


def test_a_winner_and_a_loser_that_tried_again_tell_their_times_and_requests():
    winner, loser = ended_txns(retry=1)

    # load L; refresh, manifest, list read, list written, swap, the new state read: 6 L
    expected = TransactionResult(
        status=TransactionStatus.COMMITTED,
        commit_time_ms=7 * L_MS,
        abort_time_ms=-1.0,
        abort_reason=None,
        total_retries=0,
        commit_latency_ms=6 * L_MS,
        total_latency_ms=7 * L_MS,
        manifest_list_reads=1,
        manifest_list_writes=1,
        manifest_file_reads=0,
        manifest_file_writes=1,
    )
    assert expected == winner
    # the retry: refresh, list read, list written, swap; then the state is read and the lost list deleted
    assert (TransactionStatus.COMMITTED, 12 * L_MS, 1) == (loser.status, loser.commit_time_ms, loser.total_retries)
    assert (2, 2, 1) == (loser.manifest_list_reads, loser.manifest_list_writes, loser.manifest_file_writes)


def test_an_aborted_txn_names_its_reason():
    _, loser = ended_txns(retry=0)

    # its swap fails as the winner's lands; then it deletes its list and its manifest
    assert (TransactionStatus.ABORTED, "retries_exhausted", 0) == (
        loser.status,
        loser.abort_reason,
        loser.total_retries,
    )
    assert (-1.0, 8 * L_MS) == (loser.commit_time_ms, loser.abort_time_ms)


def test_a_txn_stands_where_the_specification_says():
    assert ["PENDING", "EXECUTING", "COMMITTING", "COMMITTED", "ABORTED"] == [each.name for each in TransactionStatus]
