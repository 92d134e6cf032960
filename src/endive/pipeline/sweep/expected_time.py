"""How long a study will take and how much it will write, before it is run.

A rule of thumb expects so much of a run by its txns. Some runs of the study are simulated here and now, chosen in
proportion to what the rule expects of them, and what they took beside it corrects the rule. Processor time counts; the
time on the clock would say how busy the machine is. Points that submit equally many txns may differ tenfold: the sample
has several of them. For a run too large to try stands the largest that is not.
"""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from endive.pipeline.dataset.sweep_dataset import DETAIL_TRANSACTIONS
from endive.pipeline.sweep.part import PartWriter, RunSpec, simulate_run
from endive.pipeline.sweep.plan import Run, kept_runs, plan_parts, txn_s

PROBES_MAX: Final = 16  # spread over the study by their expected time
PROBES_CPU_S: Final = 6.0  # of all of them together
START_S: Final = 10.0  # Spark's own: session, first task, end
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

    ratio: float  # of its processor time to what the rule of thumb expects
    txn_bytes: float


def estimate(runs: Sequence[Run], *, cores: int, engine: str, detail: str = DETAIL_TRANSACTIONS) -> Estimate:
    """Try some runs, if any is small enough, and scale what they took."""
    kept = kept_runs(runs, detail)
    probes = _probe_all(runs, engine, keeps=bool(kept))
    txn_bytes = probes[-1].txn_bytes if probes else TXN_BYTES
    written = [run for run in runs if run.run_id in kept]
    files = len(plan_parts(written)) if written else 0
    ratio = float(np.mean([probe.ratio for probe in probes])) if probes else 1.0
    return Estimate(
        cpu_s=ratio * float(np.sum(_expected_s(runs, engine))),
        cores=cores,
        transactions_bytes=sum(run.txns for run in written) * txn_bytes + files * _file_bytes([]),
        is_measured=bool(probes),
    )


def rule_of_thumb_s(runs: Sequence[Run], *, cores: int, engine: str) -> float:
    """The time on the clock by nothing but the number of runs and txns."""
    return START_S + float(np.sum(_expected_s(runs, engine))) / cores


def _expected_s(runs: Sequence[Run], engine: str) -> npt.NDArray[np.float64]:
    """Processor time of each run by the rule of thumb."""
    return RUN_S + np.array([run.txns for run in runs]) * txn_s(engine)


def _probe_all(runs: Sequence[Run], engine: str, *, keeps: bool) -> list[Probe]:
    """One probe for each equal share of the expected time, smaller runs first, for as long as there is time for them.

    A run that would take more than half of the time left is too large; the largest that does not stands for it.
    """
    by_size = sorted(runs, key=lambda run: run.txns)
    expected_s = _expected_s(by_size, engine)
    if expected_s[0] > PROBES_CPU_S:
        return []
    _probe(by_size[0], engine, keeps=keeps)  # loads the engine, and makes the tables that all runs draw from
    shares = (np.arange(PROBES_MAX) + 0.5) / PROBES_MAX * np.sum(expected_s)
    probes: list[Probe] = []
    left_s, ratio = PROBES_CPU_S, 1.0
    tried: dict[int, Probe] = {}
    for place in np.searchsorted(np.cumsum(expected_s), shares).tolist():
        chosen = min(place, int(np.searchsorted(ratio * expected_s, left_s / 2, side="right")) - 1)
        if chosen >= 0 and place not in tried:
            begun_s = time.process_time()
            probe = _probe(by_size[chosen], engine, keeps=keeps)
            if probe is not None and probe.ratio > 2 * ratio:  # perhaps it made tables that later runs share
                probe = _probe(by_size[chosen], engine, keeps=keeps)
            left_s -= time.process_time() - begun_s
            if probe is not None:
                tried[place], ratio = probe, probe.ratio
        if place in tried or probes:
            probes.append(tried.get(place) or probes[-1])
    return probes


def _probe(run: Run, engine: str, *, keeps: bool) -> Probe | None:
    """Simulate one run and write it to memory if txns are kept; None if it fails or submits nothing."""
    start_s = time.process_time()
    spec = RunSpec(run.seed, run.local_config(), keeps, run.run_id, run.config_hash)
    simulated = simulate_run(spec, engine)
    count = simulated.row.get("txns")
    if not count:
        return None
    added_bytes = _file_bytes([simulated.txns]) - _file_bytes([]) if simulated.txns is not None else 0
    cpu_s = time.process_time() - start_s
    return Probe(cpu_s / float(_expected_s([run], engine)[0]), added_bytes / count)


def _file_bytes(tables: Sequence[pa.Table]) -> int:
    stream = io.BytesIO()
    writer = PartWriter(stream)
    for table in tables:
        writer.add("0" * 16, 0, 0, table)
    writer.close()
    return stream.tell()
