"""From a table to its folder: join reports, fit, simulate what was fitted, and hand over what is to be written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from endive.errors import ConfigError, ObservationError
from endive.observation.fitting.configuration import configuration
from endive.observation.fitting.delta_configuration import delta_configuration
from endive.observation.fitting.findings import findings
from endive.observation.fitting.rate_check import settle
from endive.observation.fitting.sources import NO_WORK, fit_sources
from endive.observation.folder import ObservedTable, trace_text
from endive.observation.history import TableHistory
from endive.observation.logs.commit_reports import CommitReport, join_reports, read_reports
from endive.observation.logs.log_join import join_log, without_early_rows
from endive.observation.logs.spark_events import is_event_log, read_event_log
from endive.observation.logs.statement_log import read_log
from endive.observation.tables.delta_log import DELTA, as_delta
from endive.workload.trace_file import SUFFIXES

COMMITS_NEEDED: Final = 3
LEAST_PARTITIONS: Final = 2
MakePage = Callable[[TableHistory, dict[str, object]], str | None]


def read_any_log(path: Path) -> list[TableHistory]:
    """Return the histories in a log: a table of commits, or Spark's event log."""
    return read_log(path) if path.suffix in SUFFIXES else read_event_log(path)


def is_log(path: Path) -> bool:
    """Whether a file is a log of commits and no commit reports."""
    return path.suffix in SUFFIXES or is_event_log(path)


def with_reports(history: TableHistory, paths: Sequence[Path]) -> TableHistory:
    """The history with every report and every log joined."""
    reports: list[CommitReport] = []
    logs: list[Path] = []
    for path in paths:
        if path.suffix in SUFFIXES or is_event_log(path):
            logs.append(path)
            continue
        reports += read_reports(path)
    if reports:
        history = join_reports(history, reports)
    for path in logs:
        history = join_log(history, _log_of(history, path))
    return without_early_rows(history)


def _log_of(history: TableHistory, path: Path) -> TableHistory:
    logs = {log.name: log for log in read_any_log(path)}
    short = history.name.rpartition(".")[2]
    alike = [log for name, log in logs.items() if name.rpartition(".")[2] == short or name.endswith(f".{history.name}")]
    log = logs.get(history.name) or (alike[0] if len(alike) == 1 else None)
    log = log or (next(iter(logs.values())) if len(logs) == 1 else None)
    if log is None:
        raise ObservationError(f"log {path} has no commits of {history.name}; it names {', '.join(logs)}.")
    commits = as_delta(log.commits, history) if history.catalog_kind == DELTA else log.commits
    notes = tuple(note for note in log.notes if "says nothing of the table's size" not in note)
    return replace(log, commits=commits, notes=notes)


def with_least_partitions(history: TableHistory) -> TableHistory:
    """A partitioned table whose partitions were not counted has at least as many as one commit changed."""
    shape = history.shape
    most = max((commit.changed_partitions or 0 for commit in history.commits), default=0)
    if shape.partitions is not None or not shape.partition_fields or most < LEAST_PARTITIONS:
        return history
    note = f"{history.name}: its partitions were not counted; {most} are assumed, the most that one commit changed."
    return history.with_notes(note, shape=replace(shape, partitions=most))


def observe(history: TableHistory, make_page: MakePage | None = None) -> ObservedTable:
    """Everything that is written of one table; its configuration was simulated before, so that it can be run."""
    if len(history.commits) < COMMITS_NEEDED:
        raise ObservationError(_too_short(history))
    history = with_least_partitions(history)
    sources = fit_sources(history)
    configure = delta_configuration if history.catalog_kind == DELTA else configuration
    document, assumed = configure(history, sources)
    try:
        document, rates, chosen = settle(document, sources, history.duration_ms)
    except ConfigError as error:  # nobody wrote these keys: what is odd are the times or sizes of the commits
        raise ObservationError(
            f"{history.name} was written to in a way that cannot be simulated: {error.problems[0]} Are the times and "
            "sizes of its commits right?"
        ) from None
    idle = {each["name"] for each in document["source"] if each["runtime"] == NO_WORK}
    assumed = [line for line in assumed if not any(line.startswith(f"source.{name}.runtime =") for name in idle)]
    assumed += chosen
    seen = findings(history, sources, assumed, rates)
    comments = [
        f"{history.name}, as seen from {seen['first']} to {seen['last']}: {seen['commits']:,} commits.",
        "Written by endive observe. Assumed, not seen:",
        *(f"  {line}" for line in assumed),
    ]
    if any(not rate.holds for rate in rates):
        comments += ["Commits that the model makes too seldom or too often:"]
        comments += [f"  {rate.text}" for rate in rates if not rate.holds]
    return ObservedTable(
        name=history.name,
        config=document,
        comments=comments,
        trace=trace_text(sources),
        findings=seen,
        page=None if make_page is None else make_page(history, seen),
    )


def _too_short(history: TableHistory) -> str:
    few = f"{history.name} has {len(history.commits)} snapshots in its history; at least {COMMITS_NEEDED} are needed"
    if history.expired:
        return (
            f"{few}: {history.expired:,} were expired. Keep more of them (history.expire.min-snapshots-to-keep), or "
            "give a log of commits: endive observe commits.csv."
        )
    return f"{few}. Let it be written to for a while, or give a log of commits: endive observe commits.csv."
