"""Configurations whose runs are not alike: those of which ``verification.coverage`` says how often intervals hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from endive.objectives.names import KIND, SOURCE


@dataclass(frozen=True)
class Case:
    """A configuration whose runs are not alike, and the part of it that is looked at."""

    name: str
    why: str
    scope: str
    part: str
    document: dict[str, Any]


def _document(minutes: float, sources: Sequence[dict[str, Any]], **sections: Any) -> dict[str, Any]:
    return {
        "simulation": {"duration_ms": f"{minutes}min", "warmup_ms": "1min", "cooldown_ms": "1min", "seed": 1},
        "storage": {"provider": "s3"},
        "catalog": {"type": "service", "latency_ms": 5},
        "source": list(sources),
        **sections,
    }


def _source(name: str, runtime_ms: float, arrivals: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "arrivals": arrivals, "runtime": {"distribution": "fixed", "ms": runtime_ms}, **more}


def jobs(count: int) -> dict[str, Any]:
    """Streaming jobs whose phases are drawn once per run."""
    arrivals = {"kind": "jobs", "jobs": count, "period_ms": "10s"}
    return _document(20, [_source("jobs", 1_000, arrivals)], catalog={"type": "cas"})


def closed(clients: int) -> dict[str, Any]:
    """Writers in a closed loop on one table."""
    return _document(6, [_source("writers", 2_000, {"kind": "closed", "clients": clients, "think_ms": "1s"})])


def tipping(per_s: float) -> dict[str, Any]:
    """Appends that merge full bins of manifests: some runs tip over, others do not."""
    return {
        "simulation": {"duration_ms": "10min", "warmup_ms": "2min", "cooldown_ms": "1min", "seed": 1},
        "storage": {"provider": "s3x"},
        "catalog": {"type": "cas"},
        "table": {"snapshots_kept_max": 100},
        "transaction": {
            "operation_types": {"fast_append": 0.7, "merge_append": 0.2, "validated_overwrite": 0.1},
            "runtime": {"mean": 200, "sigma": 0.5, "min": 50},
            "inter_arrival": {"scale": 1_000 / per_s},
        },
    }


def rare(hours: float) -> dict[str, Any]:
    """A MERGE now and then beside streams and a compaction."""
    merge = {"operation_types": {"validated_overwrite": 1.0}}
    rewrite = {"operation_types": {"rewrite_files": 1.0}}
    sources = [
        _source("streams", 2_000, {"kind": "closed", "clients": 10, "think_ms": "28s"}),
        _source("merge", 120_000, {"kind": "poisson", "mean_ms": f"{hours}h"}, **merge),
        _source("compaction", 300_000, {"kind": "periodic", "period_ms": "30min", "jitter_ms": "5min"}, **rewrite),
    ]
    return _document(180, sources)


def poisson(per_s: float, tables: int = 1) -> dict[str, Any]:
    """Independent arrivals."""
    arrivals = {"kind": "poisson", "per_s": per_s}
    return _document(
        10, [_source("writers", 1_000, arrivals)], catalog={"type": "service", "latency_ms": 5, "num_tables": tables}
    )


CASES: Final = (
    Case("phases", "ten streaming jobs, phases drawn once per run", SOURCE, "jobs", jobs(10)),
    Case("tipping", "full bins of manifests: some runs tip", KIND, "merge_append", tipping(8)),
    Case("seldom tipping", "the same at a lower rate: one run in fifty tips", KIND, "merge_append", tipping(7)),
    Case("closed loop", "twelve writers that wait for their commits", SOURCE, "writers", closed(12)),
    Case("rare MERGE", "about one in a run, most of them fail", SOURCE, "merge", rare(2)),
    Case("rare compaction", "six in a run", SOURCE, "compaction", rare(2)),
    Case("overload", "three appends a second on one table", SOURCE, "writers", poisson(3)),
    Case("independent", "an append every two seconds", SOURCE, "writers", poisson(0.5)),
)
