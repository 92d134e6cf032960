"""A table's history and a log of its writers as one: the table knows what was committed, the log what was tried.

A commit of the log is found again among the snapshots by its id, or by its operation, time and, if snapshots name it,
writer; the snapshot then gets the log's beginning, duration, work and writer. What failed is added, and so is what was
committed before the oldest snapshot that expiry left. Snapshots that the log does not know stay as they are: a log is
seldom of all writers.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Final

from endive.observation.history import DELETE, OVERWRITE, Commit, TableHistory, in_order
from endive.observation.tables.snapshots import kind_of
from endive.workload import ICEBERG_OPERATIONS

SLACK_US: Final = 2_000_000  # between a client's clock and the one that stamps snapshots
MODE_KEYS: Final = {OVERWRITE: "write.merge.mode", DELETE: "write.delete.mode"}
UNKNOWN_SHARE_MAX: Final = 0.1  # of the snapshots may be of nobody in the logs; else they do not tell of all writers
REPORTED_MIN: Final = 8  # commits of one writer whose median is worth more than everybody's
REACH_US: Final = 5_000_000  # before its row a commit without a duration may have been stamped


def join_log(history: TableHistory, log: TableHistory) -> TableHistory:
    """The history with what the log adds."""
    made = [commit for commit in log.commits if commit.is_committed]
    same = _matches(history.commits, made)
    engines = _engines(history.commits, same)
    joined = [_join(commit, same.get(place)) for place, commit in enumerate(history.commits)]
    reported = [commit for commit in joined if commit.is_reported and commit.runtime_ms is not None]
    oldest_us = oldest_snapshot_us(history)
    matched = {id(row) for row in same.values()}
    early = {id(row) for row in log.commits if id(row) not in matched and row.end_us < oldest_us - SLACK_US}
    kept = sum(id(row) in early for row in made) if history.expired else 0
    added = [
        replace(
            commit,
            engine=engines.get(commit.writer, commit.engine),
            kind=_kind(commit, engines.get(commit.writer)),
            overwrite=_overwrite(commit, history.shape.settings),
            runtime_ms=_worked_ms(commit, reported),
        )
        for commit in log.commits
        if (id(commit) in early and history.expired) or (id(commit) not in early and not commit.is_committed)
    ]
    notes = [*log.notes]
    if kept:
        notes.append(f"{history.name}: {kept} commits are older than the oldest snapshot; the log alone tells them.")
    if len(same) + kept < len(made):
        notes.append(
            f"{history.name}: {len(made) - len(same) - kept} of {len(made)} commits of the log are no snapshot of the "
            "table (of a branch, of another table, or the clocks differ by more than two seconds); they are left out."
        )
    if early and not history.expired:
        notes.append(
            f"{history.name}: the log has {len(early)} statements from before the table's first snapshot; left out."
        )
    if len(same) < len(history.commits):
        rest = len(history.commits) - len(same)
        notes.append(f"{history.name}: the log does not know {rest} of {len(history.commits)} snapshots; they stay.")
    return history.with_notes(*notes, commits=in_order([*joined, *added]), has_outcomes=log.has_outcomes)


def _kind(commit: Commit, engine: str | None) -> str:
    """What a row of the log is where its engine is known; a table of Delta Lake has kinds of its own."""
    is_iceberg = commit.kind in ICEBERG_OPERATIONS.values()
    return kind_of(commit.operation, engine) if engine is not None and is_iceberg else commit.kind


def oldest_snapshot_us(history: TableHistory) -> int:
    """When the oldest snapshot that the table still has was made, or begun."""
    return min((each.time_us for each in history.commits if each.snapshot_id is not None), default=0)


def without_early_rows(history: TableHistory) -> TableHistory:
    """The history from its oldest snapshot on, if no log tells of all who wrote before; else as it is.

    Writers that are known by their snapshots alone would seem to have begun when the oldest snapshot was made.
    """
    snapshots = [each for each in history.commits if each.snapshot_id is not None]
    unknown = sum(not each.is_submission for each in snapshots)
    oldest_us = oldest_snapshot_us(history)
    late = tuple(each for each in history.commits if each.time_us >= oldest_us)
    if not history.expired or unknown <= UNKNOWN_SHARE_MAX * len(snapshots) or len(late) == len(history.commits):
        return history
    note = (
        f"{history.name}: the logs tell {len(history.commits) - len(late)} statements from before the oldest snapshot, "
        f"but do not know {unknown} of the {len(snapshots)} snapshots; what other writers did then is gone, so the "
        "history begins with the oldest snapshot."
    )
    return history.with_notes(note, commits=late)


def _overwrite(row: Commit, settings: Mapping[str, str]) -> str:
    """Which operation a statement would have been: no snapshot tells, but the table says how it writes."""
    if row.operation not in MODE_KEYS:
        return row.overwrite
    mode = settings.get(MODE_KEYS[row.operation], "copy-on-write")
    return "row_delta" if mode == "merge-on-read" else "overwrite_files"


def _matches(snapshots: Sequence[Commit], rows: Sequence[Commit]) -> dict[int, Commit]:
    """Place of a snapshot -> the row of the log that made it; each row once, those with an id first."""
    by_id = {commit.snapshot_id: place for place, commit in enumerate(snapshots)}
    matches: dict[int, Commit] = {}
    unnamed = []
    for row in rows:
        place = by_id.get(row.snapshot_id) if row.snapshot_id is not None else None
        if place is not None:
            matches[place] = row
        elif row.snapshot_id is None:
            unnamed.append(row)
    times = [commit.time_us for commit in snapshots]
    reaches = [(row, _within(row, times)) for row in sorted(unnamed, key=lambda row: row.end_us)]
    engines = _likely_engines(snapshots, reaches)
    names = {commit.writer for commit in snapshots}
    for row, places in reaches:
        fitting = [
            (*_away_us(row, times[place]), place)
            for place in places
            if place not in matches
            and _is_of(snapshots[place], engines[row.writer], row.operation)
            and (row.writer not in names or row.writer == snapshots[place].writer)
        ]
        if fitting:
            matches[min(fitting)[2]] = row
    return matches


def _away_us(row: Commit, time_us: int) -> tuple[int, int]:
    """How far a snapshot lies outside the row's statement, then how far from its end."""
    return max(0, row.time_us - time_us, time_us - row.end_us), abs(row.end_us - time_us)


def _within(row: Commit, times: Sequence[int]) -> range:
    """Places of the snapshots that were stamped while the row's statement ran, or nearly."""
    low_us = row.time_us - (SLACK_US if row.duration_ms is not None else REACH_US)
    return range(bisect_left(times, low_us), bisect_right(times, row.end_us + SLACK_US))


def _likely_engines(snapshots: Sequence[Commit], reaches: Sequence[tuple[Commit, range]]) -> dict[str, str]:
    """The engine behind each name of the log: its own if snapshots have it, else the one that most rows can be of.

    Of two that as many can be of, the one whose snapshots lie closer to the ends of the rows and are about as many.
    """
    counts = Counter((commit.engine, commit.operation) for commit in snapshots if not commit.is_submission)
    by_writer: dict[str, list[tuple[Commit, range]]] = {}
    for row, places in reaches:
        by_writer.setdefault(row.writer, []).append((row, places))
    engines = {}
    for writer, rows in by_writer.items():
        own = rows[0][0].engine
        operation = rows[0][0].operation
        candidates = [engine for engine, does in counts if does == operation]
        if own in candidates or not candidates:
            engines[writer] = own
            continue
        engines[writer] = min(candidates, key=lambda each: _distance(snapshots, rows, each, counts[each, operation]))
    return engines


def _distance(
    snapshots: Sequence[Commit], rows: Sequence[tuple[Commit, range]], engine: str, count: int
) -> tuple[int, float, str]:
    """How badly an engine's snapshots fit the rows of one name: rows without any, then how far the nearest are."""
    nearest = []
    for row, places in rows:
        own = [place for place in places if _is_of(snapshots[place], engine, row.operation)]
        if own:
            nearest.append(min(abs(row.end_us - snapshots[place].time_us) for place in own))
    surplus = abs(count - len(rows)) / max(count, len(rows))
    return len(rows) - len(nearest), (median(nearest) if nearest else 0.0) * (1.0 + surplus), engine


def _is_of(commit: Commit, engine: str, operation: str) -> bool:
    """Whether a snapshot that no log has claimed yet is of that sort."""
    return (commit.engine, commit.operation, commit.is_submission) == (engine, operation, False)


def _engines(snapshots: Sequence[Commit], matches: dict[int, Commit]) -> dict[str, str]:
    """The engine behind each name of the log, as the snapshots of that name say."""
    counts: dict[str, Counter[str]] = {}
    for place, row in matches.items():
        counts.setdefault(row.writer, Counter())[snapshots[place].engine] += 1
    return {writer: engines.most_common(1)[0][0] for writer, engines in counts.items()}


def _worked_ms(row: Commit, reported: Sequence[Commit]) -> float | None:
    """How long a statement worked that was refused for good: all but what a commit of its kind usually takes."""
    if row.runtime_ms is not None or row.duration_ms is None or row.reason != "validation_exception":
        return row.runtime_ms
    if not reported:
        return None
    own = [each for each in reported if each.writer == row.writer]
    alike = [each for each in reported if each.operation == row.operation]
    enough = next((each for each in (own, alike) if len(each) >= REPORTED_MIN), reported)
    usual_ms = median((each.duration_ms or 0.0) - (each.runtime_ms or 0.0) for each in enough)
    return max(0.0, row.duration_ms - usual_ms)


def _join(commit: Commit, row: Commit | None) -> Commit:
    """A snapshot with its row of the log; what a report does not count as commit was work."""
    if row is None:
        return commit
    runtime_ms = row.runtime_ms
    if commit.is_reported and commit.duration_ms is not None and row.duration_ms is not None:
        runtime_ms = max(0.0, row.duration_ms - commit.duration_ms)
    return replace(
        commit,
        time_us=row.time_us,
        writer=row.writer if row.writer != row.engine or row.engine != "unknown" else commit.writer,
        duration_ms=row.duration_ms,
        runtime_ms=runtime_ms,
        is_reported=commit.is_reported and row.duration_ms is not None,
        attempts=commit.attempts if row.attempts is None else row.attempts,
        read=row.read,
        is_submission=True,
    )
