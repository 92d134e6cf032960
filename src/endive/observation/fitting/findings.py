"""What a reader wants to see of a history, counted: commits per hour, kinds, gaps, writers, manifest growth."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np

from endive.observation.fitting.rate_check import RateCheck
from endive.observation.fitting.sources import FittedSource
from endive.observation.history import UNKNOWN, Commit, TableHistory
from endive.observation.tables.delta_log import DELTA

QUANTILES: Final = (0.5, 0.95, 0.99)
LOG: Final = "log"
REPORTS: Final = "reports"
COMMITS: Final = "commit"
STATEMENTS: Final = "statement"
TIMED: Final = "timed statement"
_HOUR_US: Final = 3_600_000_000
_BINS_MAX: Final = 200


def findings(
    history: TableHistory, sources: Sequence[FittedSource], assumed: Sequence[str], rates: Sequence[RateCheck] = ()
) -> dict[str, Any]:
    """Everything seen of one table, as plain values."""
    commits = history.commits
    made = [commit for commit in commits if commit.is_committed]
    hours = max(history.duration_ms / 3.6e6, 1e-9)
    return {
        "table": history.name,
        "first": iso(commits[0].time_us),
        "last": iso(commits[-1].time_us),
        "duration_ms": round(history.duration_ms, 3),
        "commits": len(made),
        "failed": len(commits) - len(made),
        "manifests_first": next((each.manifests for each in commits if each.manifests is not None), None),
        "commits_per_hour": round(len(made) / hours, 3),
        "operations": dict(Counter(commit.word for commit in commits).most_common()),
        "gaps_ms": quantiles(_gaps_ms(made)),
        "durations_ms": quantiles([each.duration_ms for each in made if each.duration_ms is not None]),
        "durations_from": _durations_from(commits),
        "attempts": _attempts(commits),
        "expired": history.expired,
        "format": "delta" if history.catalog_kind == DELTA else "iceberg",
        "format_version": history.shape.format_version,
        "size": {
            "snapshots": history.shape.snapshots,
            "manifests": history.shape.manifests,
            "data_files": history.shape.data_files,
            "metadata_bytes": history.shape.metadata_bytes,
            "partition_fields": history.shape.partition_fields,
        },
        "has_outcomes": history.has_outcomes,
        "reasons": _reasons(commits),
        "sources": [_source(source) for source in sources],
        "rates": {rate.name: _rate(rate) for rate in rates},
        "assumed": list(assumed),
        "notes": list(history.notes),
    }


def _source(source: FittedSource) -> dict[str, Any]:
    commits = source.commits
    return {
        "name": source.name,
        "writers": list(source.writers[:5]),
        "writer_count": len(source.writers),
        "engine": commits[0].engine,
        "commits": len(commits),
        "failed": sum(not commit.is_committed for commit in commits),
        "operations": dict(Counter(commit.word for commit in commits).most_common()),
        "pattern": source.arrivals.pattern,
        "arrivals": source.arrivals.table,
        "gaps_ms": quantiles(_gaps_ms(commits)),
        "files_per_commit": quantiles([float(each.added_files + each.added_delete_files) for each in commits]),
        "bytes_per_commit": quantiles([float(each.added_bytes) for each in commits]),
        "durations_ms": quantiles([each.duration_ms for each in commits if each.duration_ms is not None]),
        "attempts": _attempts(commits),
        "reasons": _reasons(commits),
        "runtime": source.work,
        "durations_of": _durations_of(commits),
    }


def _durations_of(commits: Sequence[Commit]) -> str:
    """What durations are of: commits, whole statements, or statements whose commits Iceberg timed."""
    if not any(commit.is_statement for commit in commits):
        return COMMITS
    return TIMED if any(commit.is_reported for commit in commits) else STATEMENTS


def _rate(rate: RateCheck) -> dict[str, Any]:
    return {
        "seen": rate.seen,
        "tried": rate.tried,
        "seen_reason": rate.seen_reason,
        "down": round(rate.down, 3),
        "simulated": round(rate.simulated, 1),
        "holds": rate.holds,
        "counts": rate.counts,
        "text": rate.text,
    }


def _reasons(commits: Sequence[Commit]) -> dict[str, int]:
    """Why commits failed, most frequent first."""
    return dict(Counter(commit.reason or UNKNOWN for commit in commits if not commit.is_committed).most_common())


def _attempts(commits: Sequence[Commit]) -> dict[str, int] | None:
    counted = Counter(commit.attempts for commit in commits if commit.attempts is not None)
    return {str(attempts): counted[attempts] for attempts in sorted(counted)} if counted else None


def _durations_from(commits: Sequence[Commit]) -> str | None:
    """Who says how long commits took: Iceberg's reports, or the log of whoever called it."""
    known = [commit for commit in commits if commit.duration_ms is not None]
    if not known:
        return None
    return LOG if known[0].is_submission else REPORTS


def _gaps_ms(commits: Sequence[Commit]) -> list[float]:
    times = sorted(commit.time_us for commit in commits)
    return [(after - before) / 1000.0 for before, after in itertools.pairwise(times)]


def quantiles(values: Sequence[float]) -> dict[str, float] | None:
    """Median, P95, P99 and mean; None of nothing."""
    if not values:
        return None
    array = np.asarray(values, dtype=np.float64)
    points = np.quantile(array, QUANTILES)
    named = {f"p{round(100 * share)}": round(float(each), 3) for share, each in zip(QUANTILES, points, strict=True)}
    return {**named, "mean": round(float(array.mean()), 3)}


def per_interval(history: TableHistory) -> list[dict[str, Any]]:
    """Commits per hour and operation over time; of a long or short history per wider or narrower interval."""
    begin = history.commits[0].time_us
    span = max(1, history.commits[-1].time_us - begin)
    width = max(_HOUR_US, -(-span // _BINS_MAX)) if span > 4 * _HOUR_US else max(1, -(-span // 24))
    counted: Counter[tuple[int, str]] = Counter(
        ((commit.time_us - begin) // width, commit.word) for commit in history.commits
    )
    per_hour = _HOUR_US / width
    return [
        {"time": iso(begin + place * width), "operation": operation, "per_hour": count * per_hour}
        for (place, operation), count in sorted(counted.items())
    ]


def manifest_growth(history: TableHistory) -> list[dict[str, Any]]:
    """Manifests after each commit that tells."""
    known = [commit for commit in history.commits if commit.manifests is not None]
    step = max(1, len(known) // _BINS_MAX)
    return [{"time": iso(commit.time_us), "manifests": commit.manifests} for commit in known[::step]]


def iso(time_us: int) -> str:
    """A moment as an ISO time of UTC, to the millisecond."""
    return datetime.fromtimestamp(time_us / 1e6, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
