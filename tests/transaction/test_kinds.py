"""The kinds of operation as values: what the refactoring specification fixes about their names, verdicts and costs."""

from __future__ import annotations

from typing import Any

import pytest

from endive.config import parse_config
from endive.simulation.build import OwnParts, build_parts
from endive.simulation.reference import ReferenceEngine
from endive.storage.client import Client
from endive.transaction import (
    TRANSACTION_TYPES,
    ConflictCost,
    FastAppendTransaction,
    MergeAppendTransaction,
    RewriteFilesTransaction,
    TransactionDraft,
    ValidatedOverwriteTransaction,
    World,
)

SPEC: dict[str, Any] = {
    "commit": {"protocol": "spec"},
    "catalog": {"type": "instant", "table_metadata_inlined": False},
    "storage": {"provider": "constant", "latency_ms": 10.0},
}


def make(config: dict[str, Any], kind: int) -> tuple[Any, World]:
    parts = build_parts(parse_config(config), 1, OwnParts())
    engine = ReferenceEngine(parts, sink=None)  # type: ignore[arg-type]
    draft = TransactionDraft(kind=kind, runtime_us=0, tables_read=(0,), n_tables_written=1, partitions=())
    terms = parts.workload.sources[0].terms
    return TRANSACTION_TYPES[kind](0, 0, Client(1, 0, engine), draft, terms), engine._world


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
    mode = {"transaction": {"manifest_list_mode": "append" if is_appended else "rewrite"}}
    txn, world = make(SPEC | mode, kind)

    expected = ConflictCost(
        metadata_reads=1,
        manifest_list_reads=1,
        manifest_list_writes=0 if is_appended else 1,
        **cost(n),
    )
    assert expected == txn.get_conflict_cost(world, n)


@pytest.mark.parametrize(
    ("kind", "can_conflict"),
    [
        (FastAppendTransaction, False),
        (MergeAppendTransaction, False),
        (ValidatedOverwriteTransaction, True),
        (RewriteFilesTransaction, True),
    ],
)
def test_only_operations_that_validate_can_be_in_real_conflict(kind, can_conflict):
    txn, _ = make(SPEC, TRANSACTION_TYPES.index(kind))

    assert isinstance(txn, kind)
    assert can_conflict == txn.can_have_real_conflict()


def test_replacing_partitions_validates_nothing():
    config = {
        **SPEC,
        "transaction": {"operation_types": {"validated_overwrite": 1.0}, "overwrite": "replace_partitions"},
    }
    txn, _ = make(config, 2)

    assert not txn.can_have_real_conflict()
