"""Iceberg's commit reports, read and joined to a history by snapshot id.

Two forms: JSON, one report per line, as a REST catalog's metrics endpoint receives it (``CommitReportParser``), and the
lines that ``LoggingMetricsReporter`` prints. A report says how long a commit took and in how many attempts; it says
neither when, nor anything of commits that failed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from endive.config.printable import printable
from endive.errors import ObservationError
from endive.intake import parse_json, read_lines, refused_as
from endive.observation.history import Commit, TableHistory

_UNIT_MS: Final = {
    "nanoseconds": 1e-6,
    "microseconds": 1e-3,
    "milliseconds": 1.0,
    "seconds": 1e3,
    "minutes": 6e4,
    "hours": 3.6e6,
    "days": 8.64e7,
}
BYTES_MAX: Final = 256 * 2**20
LINE_BYTES_MAX: Final = 2**20
_POSSIBLE: Final = {
    "snapshot_id": (-(2**63), 2**63 - 1),
    "duration_ms": (0, 30 * 86_400_000),
    "attempts": (1, 1_000_000),
    "manifests": (0, 1_000_000_000),
}
_LOGGED: Final = "CommitReport{"
_ISO_DURATION: Final = re.compile(r"P(?:(\d{1,9})D)?T?(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,12}(?:\.\d{1,9})?)S)?")
_LINE_FIELDS: Final = {
    "snapshot_id": re.compile(r"\bsnapshotId=(-?\d{1,19})"),
    "duration": re.compile(r"\btotalDuration=(P[^,}]+)"),
    "attempts": re.compile(r"\battempts=CounterResult\{[^}]*value=(\d{1,15})"),
    "created": re.compile(r"\bmanifestsCreated=CounterResult\{[^}]*value=(\d{1,15})"),
    "kept": re.compile(r"\bmanifestsKept=CounterResult\{[^}]*value=(\d{1,15})"),
    "table": re.compile(r"\btableName=([^,}]*)"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitReport:
    """What one report adds to what the table itself knows."""

    table: str
    snapshot_id: int
    duration_ms: float | None
    attempts: int | None
    manifests: int | None = None

    def __post_init__(self) -> None:
        """ValueError for a figure that no commit has."""
        for name, (low, high) in _POSSIBLE.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:  # what is no number is not between any two
                raise ValueError(f"{name} = {value:.6g}, but a commit has {low:,} to {high:,}")


def read_reports(path: Path) -> list[CommitReport]:
    """Every commit report in a file; other lines of a log, and scan reports, are passed over."""
    with refused_as(ObservationError):
        lines = read_lines(
            path, bytes_max=BYTES_MAX, line_bytes_max=LINE_BYTES_MAX, noun="a file of reports", name=f"reports '{path}'"
        )
        read = (_read_line(path, number, line) for number, line in enumerate(lines, start=1))
        reports = [report for report in read if report is not None]
    if not reports:
        raise ObservationError(
            f"reports '{path}' holds no commit report. Give JSON lines as a REST catalog receives them, or the log of "
            "LoggingMetricsReporter; a log of commits ends in .csv or .parquet."
        )
    return reports


def join_reports(history: TableHistory, reports: list[CommitReport]) -> TableHistory:
    """The history with durations and attempts; a report for a snapshot that the table does not have is a note."""
    by_id = {report.snapshot_id: report for report in reports}
    known = {commit.snapshot_id for commit in history.commits}
    unknown = [snapshot_id for snapshot_id in by_id if snapshot_id not in known]
    if len(unknown) == len(by_id):
        tables = ", ".join(sorted({report.table for report in reports}))
        raise ObservationError(
            f"none of the {len(by_id)} reports names a snapshot of {history.name}; they are of {tables}. "
            "Give the reports of this table; snapshots that were expired cannot be joined."
        )
    commits = tuple(_join(commit, by_id.get(commit.snapshot_id or 0)) for commit in history.commits)
    if not unknown:
        return history.with_notes(commits=commits)
    told = f"{len(unknown)} of {len(by_id)} reports name snapshots the table does not have (first: {unknown[0]})"
    return history.with_notes(f"{history.name}: {told}; they are left out.", commits=commits)


def _join(commit: Commit, report: CommitReport | None) -> Commit:
    if report is None:
        return commit
    return replace(
        commit,
        duration_ms=report.duration_ms,
        attempts=report.attempts,
        is_reported=report.duration_ms is not None,
        manifests=commit.manifests if report.manifests is None else report.manifests,
    )


def _read_line(path: Path, number: int, line: bytes) -> CommitReport | None:
    where = f"reports '{path}', line {number}"
    try:
        return _parse(where, line.decode("utf-8", "replace"))
    except KeyError as error:
        told = f"lacks {error}"
    except (TypeError, ValueError, OverflowError) as error:
        told = f"cannot be right: {error}"
    raise ObservationError(f"{where}: the commit report {told}.")


def _parse(where: str, line: str) -> CommitReport | None:
    if _LOGGED in line:
        return _parse_logged(where, line[line.index(_LOGGED) :])
    start = line.find("{")
    if start < 0 or '"snapshot-id"' not in line:
        return None
    document = parse_json(line[start:].strip(), name=where, bytes_max=LINE_BYTES_MAX)
    document = document.get("report", document) if isinstance(document, dict) else document
    if not isinstance(document, dict) or not isinstance(document.get("metrics", {}), dict):
        raise ObservationError(f"{where} is not a report: metrics is no object.")
    if document.get("report-type", "commit-report") != "commit-report" or "metrics" not in document:
        return None
    metrics: Mapping[str, Any] = document["metrics"]
    timer = metrics.get("total-duration")
    duration_ms = None
    if timer is not None:
        duration_ms = round(float(timer["total-duration"]) * _UNIT_MS[str(timer["time-unit"]).lower()], 6)
    return CommitReport(
        table=printable(str(document.get("table-name", ""))),
        snapshot_id=int(document["snapshot-id"]),
        duration_ms=duration_ms,
        attempts=_value(metrics, "attempts"),
        manifests=_sum(_value(metrics, "manifests-created"), _value(metrics, "manifests-kept")),
    )


def _value(metrics: Mapping[str, Any], key: str) -> int | None:
    counter = metrics.get(key)
    return None if counter is None else int(counter["value"])


def _sum(created: int | None, kept: int | None) -> int | None:
    return None if created is None or kept is None else created + kept


def _parse_logged(where: str, text: str) -> CommitReport:
    fields = {key: pattern.search(text) for key, pattern in _LINE_FIELDS.items()}
    values = {key: match.group(1) for key, match in fields.items() if match}
    counts = {key: int(values[key]) for key in ("snapshot_id", "attempts", "created", "kept") if key in values}
    if "snapshot_id" not in counts:
        raise ObservationError(f"{where}: the commit report names no snapshotId.")
    return CommitReport(
        table=printable(values.get("table", "")),
        snapshot_id=counts["snapshot_id"],
        duration_ms=_iso_ms(values["duration"]) if "duration" in values else None,
        attempts=counts.get("attempts"),
        manifests=_sum(counts.get("created"), counts.get("kept")),
    )


def _iso_ms(text: str) -> float:
    """``PT1M2.5S``, as java.time.Duration writes it."""
    match = _ISO_DURATION.fullmatch(text)
    days, hours, minutes, seconds = (float(part or 0.0) for part in (match.groups() if match else (0, 0, 0, 0)))
    return round(1000.0 * (86_400.0 * days + 3600.0 * hours + 60.0 * minutes + seconds), 6)
