"""How long a study will take and how much it will write, before it is run.

This file defines the estimate that ``--dry-run`` prints: one small run is simulated here and now, and scaled. It is
rough where contention differs much between the points of a study.
"""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from endive.pipeline.sweep.part import PartWriter, simulate_run
from endive.pipeline.sweep.plan import Run, plan_parts
from endive.pipeline.sweep.work import RunSpec

PROBE_TXNS_MAX: Final = 50_000.0  # larger runs are not tried
PROBE_S_MAX: Final = 2.0  # by the first probe's pace
START_S: Final = 10.0  # Spark's own: session, first task, end
TXN_S: Final = 4e-6  # of one core, if nothing is small enough to try
TXN_BYTES: Final = 130.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of a whole study."""

    wall_s: float
    transactions_bytes: float
    is_measured: bool  # by a run of the study itself


@dataclass(frozen=True, slots=True)
class _Pace:
    """What one run took."""

    cost_s: float  # per unit of cost
    txn_bytes: float


def estimate(runs: Sequence[Run], *, cores: int, engine: str) -> Estimate:
    """Try a small run twice, or a typical one after it if that is not too large, and scale what it took."""
    by_cost = sorted(runs, key=lambda run: run.cost)
    smallest, typical = by_cost[0], by_cost[len(by_cost) // 2]
    pace = _probe(smallest, engine) if smallest.txns <= PROBE_TXNS_MAX else None
    if pace is not None:  # the first also paid for loading the engine
        is_affordable = typical.cost * pace.cost_s <= PROBE_S_MAX
        pace = _probe(typical if is_affordable else smallest, engine)
    cost_s, txn_bytes = (TXN_S, TXN_BYTES) if pace is None else (pace.cost_s, pace.txn_bytes)
    parts = plan_parts(runs, cores=cores)
    return Estimate(
        wall_s=START_S + sum(run.cost for run in runs) * cost_s / cores,
        transactions_bytes=sum(run.txns for run in runs) * txn_bytes + len(parts) * _file_bytes([]),
        is_measured=pace is not None,
    )


def _probe(run: Run, engine: str) -> _Pace | None:
    """Simulate one run and write it to memory; None if it fails or submits nothing."""
    start_s = time.perf_counter()
    spec = RunSpec(run.run_id, run.seed, run.local_config(), run.config_hash, keeps_transactions=True)
    txns = simulate_run(spec, engine).txns
    if txns is None or not txns.num_rows:
        return None
    added_bytes = _file_bytes([txns]) - _file_bytes([])
    return _Pace((time.perf_counter() - start_s) / run.cost, added_bytes / txns.num_rows)


def _file_bytes(tables: Sequence[pa.Table]) -> int:
    stream = io.BytesIO()
    writer = PartWriter(stream)
    for table in tables:
        writer.add("0" * 16, 0, table)
    writer.close()
    return stream.tell()
