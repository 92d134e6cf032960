"""How long a study will take and how much it will write, before it is run.

Some runs of the study, from its smallest upwards, are simulated here and now. Their processor time says what a run
costs to start and what a txn costs at its load; the time on the clock would say how busy the machine is. It is rough
where contention differs much between points that submit equally many txns.
"""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from endive.pipeline.dataset.part_files import DETAIL_TRANSACTIONS
from endive.pipeline.sweep.part import PartWriter, simulate_run
from endive.pipeline.sweep.plan import Run, kept_runs, plan_parts
from endive.pipeline.sweep.work import RunSpec

PROBES_MAX: Final = 5  # spread over the study by size
PROBES_CPU_S: Final = 4.0  # of all of them together
START_S: Final = 10.0  # Spark's own: session, first task, end
TXN_S: Final = {"reference": 1e-3}  # of one core, if nothing is small enough to try
TXN_COMPILED_S: Final = 4e-6
RUN_S: Final = 0.02  # to start and to end one, whatever is in it
TXN_BYTES: Final = 130.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of a whole study."""

    cpu_s: float  # of the runs
    cores: int
    transactions_bytes: float
    is_measured: bool  # by runs of the study itself

    @property
    def wall_s(self) -> float:
        """On cores that do nothing else."""
        return START_S + self.cpu_s / self.cores


@dataclass(frozen=True, slots=True)
class Probe:
    """What one run took."""

    txns: float  # as the plan expects them
    cpu_s: float
    txn_bytes: float


def estimate(runs: Sequence[Run], *, cores: int, engine: str, detail: str = DETAIL_TRANSACTIONS) -> Estimate:
    """Try some runs, if any is small enough, and scale what they took."""
    kept = kept_runs(runs, detail)
    probes = _probe_all(runs, engine, keeps=bool(kept))
    txn_bytes = probes[-1].txn_bytes if probes else TXN_BYTES
    written = [run for run in runs if run.run_id in kept]
    files = len(plan_parts(written, cores=cores)) if written else 0
    return Estimate(
        cpu_s=_cpu_s(runs, probes, engine),
        cores=cores,
        transactions_bytes=sum(run.txns for run in written) * txn_bytes + files * _file_bytes([]),
        is_measured=bool(probes),
    )


def rule_of_thumb_s(runs: Sequence[Run], *, cores: int, engine: str) -> float:
    """The time on the clock by nothing but the number of runs and txns."""
    return START_S + _cpu_s(runs, [], engine) / cores


def _probe_all(runs: Sequence[Run], engine: str, *, keeps: bool) -> list[Probe]:
    """The smallest run, then larger ones for as long as those before promise that there is time for them."""
    by_size = sorted(runs, key=lambda run: run.txns)
    ranks = dict.fromkeys(round(share * (len(by_size) - 1)) for share in np.linspace(0.0, 1.0, PROBES_MAX))
    probes: list[Probe] = []
    if _cpu_s(by_size[:1], probes, engine) <= PROBES_CPU_S:
        _probe(by_size[0], engine, keeps=keeps)  # loads the engine, and makes the tables that all runs draw from
    left_s = PROBES_CPU_S
    for run in (by_size[rank] for rank in ranks):
        if _cpu_s([run], probes, engine) > left_s:
            break
        if probe := _probe(run, engine, keeps=keeps):
            probes.append(probe)
            left_s -= probe.cpu_s
    return probes


def _cpu_s(runs: Sequence[Run], probes: Sequence[Probe], engine: str) -> float:
    """Processor time of runs: between two probes on the line, beyond the last on the line through the last two."""
    txns = np.array([run.txns for run in runs])
    pace_s = TXN_S.get(engine, TXN_COMPILED_S)
    if not probes:
        return float(np.sum(RUN_S + txns * pace_s))
    sizes = sorted({probe.txns for probe in probes})
    costs_s = [float(np.mean([probe.cpu_s for probe in probes if probe.txns == size])) for size in sizes]
    if len(sizes) > 1:
        pace_s = max(0.0, (costs_s[-1] - costs_s[-2]) / (sizes[-1] - sizes[-2]))
    return float(np.sum(np.interp(txns, sizes, costs_s) + np.maximum(txns - sizes[-1], 0.0) * pace_s))


def _probe(run: Run, engine: str, *, keeps: bool) -> Probe | None:
    """Simulate one run and write it to memory if txns are kept; None if it fails or submits nothing."""
    start_s = time.process_time()
    spec = RunSpec(run.run_id, run.seed, run.local_config(), run.config_hash, keeps_transactions=keeps)
    simulated = simulate_run(spec, engine)
    count = simulated.record.get("txns")
    if not count:
        return None
    added_bytes = _file_bytes([simulated.txns]) - _file_bytes([]) if simulated.txns is not None else 0
    return Probe(run.txns, time.process_time() - start_s, added_bytes / count)


def _file_bytes(tables: Sequence[pa.Table]) -> int:
    stream = io.BytesIO()
    writer = PartWriter(stream)
    for table in tables:
        writer.add("0" * 16, 0, table)
    writer.close()
    return stream.tell()
