"""A table's history and a log of its writers as one: the table knows what was committed, the log what was tried.

A commit of the log is found again among the snapshots by its id, or by its operation and time; the snapshot then gets
the log's beginning, duration, work and writer. What failed is added. Snapshots that the log does not know stay as they
are: a log is seldom of all writers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from endive.observation.observed_history import Commit, TableHistory, in_order

SLACK_US: Final = 2_000_000  # between a client's clock and the one that stamps snapshots
REACH_US: Final = 5_000_000  # before its row a commit without a duration may have been stamped


def join_log(history: TableHistory, log: TableHistory) -> TableHistory:
    """The history with what the log adds."""
    made = [commit for commit in log.commits if commit.is_committed]
    found = _matches(history.commits, made)
    engines = _engines(history.commits, found)
    joined = [_joined(commit, found.get(place)) for place, commit in enumerate(history.commits)]
    failed = [
        replace(commit, engine=engines.get(commit.writer, commit.engine))
        for commit in log.commits
        if not commit.is_committed
    ]
    notes = [*history.notes, *log.notes]
    if len(found) < len(made):
        notes.append(
            f"{history.name}: {len(made) - len(found)} of {len(made)} commits of the log are no snapshot of the table "
            "(expired, of a branch, or the clocks differ by more than two seconds); they are left out."
        )
    if len(found) < len(history.commits):
        rest = len(history.commits) - len(found)
        notes.append(f"{history.name}: the log does not know {rest} of {len(history.commits)} snapshots; they stay.")
    return replace(
        history,
        commits=in_order([*joined, *failed]),
        has_outcomes=log.has_outcomes,
        notes=tuple(notes),
    )


def _matches(snapshots: Sequence[Commit], rows: Sequence[Commit]) -> dict[int, Commit]:
    """Place of a snapshot -> the row of the log that made it; each row once, those with an id first."""
    by_id = {commit.snapshot_id: place for place, commit in enumerate(snapshots)}
    found: dict[int, Commit] = {}
    unnamed = []
    for row in rows:
        place = by_id.get(row.snapshot_id) if row.snapshot_id is not None else None
        if place is not None:
            found[place] = row
        elif row.snapshot_id is None:
            unnamed.append(row)
    times = [commit.time_us for commit in snapshots]
    for row in sorted(unnamed, key=_end_us):
        end_us = _end_us(row)
        low_us = row.time_us - (SLACK_US if row.duration_ms is not None else REACH_US)
        best: tuple[int, int] | None = None
        for place in range(bisect_left(times, low_us), len(times)):
            if times[place] > end_us + SLACK_US:
                break
            if place not in found and snapshots[place].operation == row.operation:
                distance = abs(end_us - times[place])
                best = min(best or (distance, place), (distance, place))
        if best is not None:
            found[best[1]] = row
    return found


def _end_us(row: Commit) -> int:
    return row.time_us + round(1000.0 * (row.duration_ms or 0.0))


def _engines(snapshots: Sequence[Commit], found: dict[int, Commit]) -> dict[str, str]:
    """The engine behind each name of the log, as the snapshots of that name say."""
    counts: dict[str, Counter[str]] = {}
    for place, row in found.items():
        counts.setdefault(row.writer, Counter())[snapshots[place].engine] += 1
    return {writer: engines.most_common(1)[0][0] for writer, engines in counts.items()}


def _joined(commit: Commit, row: Commit | None) -> Commit:
    if row is None:
        return commit
    return replace(
        commit,
        time_us=row.time_us,
        writer=row.writer if row.writer != row.engine or row.engine != "unknown" else commit.writer,
        duration_ms=row.duration_ms,
        runtime_ms=row.runtime_ms,
        attempts=commit.attempts if row.attempts is None else row.attempts,
        read=row.read,
        is_submission=True,
    )
