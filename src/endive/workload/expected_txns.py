"""How much work a run will be, before it runs: the txns its sources will submit.

It serves packing, progress, ``--dry-run`` and the choice of a length for runs that have none stated; no result of a
given configuration depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from endive.config import SimulationConfig
from endive.distributions.from_table import from_table

RUN_COST_TXNS: Final = 1_000.0  # what starting a run costs, in txns
PARQUET_FILE_BYTES_PER_ROW: Final = 20.0  # of a trace that is Parquet


def expected_txns(config: SimulationConfig) -> float:
    """Txns the sources of a configuration submit in its duration, if commits take no time."""
    return sum(expected_by_source(config).values())


def expected_by_source(config: SimulationConfig) -> dict[str, float]:
    """The same for every source."""
    commits = {source["name"]: _commits(source) for source in config.to_dict()["source"]}
    return {name: commits[name] * arrivals for name, arrivals in arrivals_by_source(config).items()}


def arrivals_by_source(config: SimulationConfig) -> dict[str, float]:
    """How often every source arrives in that duration; a job with partial progress submits several txns each time."""
    plain = config.to_dict()
    duration_ms = plain["simulation"]["duration_ms"]
    return {source["name"]: _of_source(source, duration_ms) for source in plain["source"]}


def _commits(source: Mapping[str, Any]) -> int:
    """Txns of one arrival."""
    return int(source["partial_progress"]["commits"]) if "partial_progress" in source else 1


def _of_source(source: Mapping[str, Any], duration_ms: float) -> float:
    arrivals = source["arrivals"]
    stop_ms = min(duration_ms, source.get("stop_ms") or duration_ms)
    active_ms = max(0.0, stop_ms - source.get("start_ms", 0.0))
    match arrivals["kind"]:
        case "closed":
            cycle_ms = _mean_ms(arrivals["think_ms"]) + _mean_ms(source["runtime"])
            return float(arrivals["clients"] * max(1.0, active_ms / max(cycle_ms, 1.0)))
        case "jobs":
            return float(arrivals["jobs"] * active_ms / arrivals["period_ms"])
        case "periodic":
            return float(active_ms / arrivals["period_ms"])
        case "trace":
            return _trace_rows(arrivals["path"])
        case "fixed":
            gap_ms = arrivals["ms"]
        case "uniform":
            gap_ms = (arrivals["low_ms"] + arrivals["high_ms"]) / 2.0
        case _:
            gap_ms = arrivals["mean_ms"]
    return float(active_ms / gap_ms)


def _mean_ms(table: float | Mapping[str, Any]) -> float:
    return from_table(table, "mean").mean() if isinstance(table, Mapping) else float(table)


@lru_cache(maxsize=64)
def _trace_rows(path: str) -> float:
    file = Path(path)
    try:
        if file.suffix == ".parquet":
            return file.stat().st_size / PARQUET_FILE_BYTES_PER_ROW
        with file.open("rb") as stream:
            return float(sum(1 for _ in stream))
    except OSError:
        return 0.0  # the run will say what is wrong
