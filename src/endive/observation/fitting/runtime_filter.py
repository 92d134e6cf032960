"""When Spark's copy-on-write filters its files, from the statements that failed then because the table had moved.

Such a statement fails before any attempt, if a rival committed between its loading of the table and that moment
(``SparkCopyOnWriteScan.filter``: "Runtime file filtering is not possible"). A log tells which statements did, and when
their rivals committed: the moment is chosen so that as many statements met a rival before it as failed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from endive.observation.history import TABLE_MOVED, Commit


def runtime_filter_ms(own: Sequence[Commit], everybody: Sequence[Commit]) -> float:
    """Since the statement began; 0 of a source of which none failed so."""
    moved = [commit for commit in own if commit.reason == TABLE_MOVED]
    if not moved:
        return 0.0
    ends_us = sorted(_end_us(commit) for commit in everybody if commit.is_committed)
    met = sorted(ms for commit in own if (ms := _first_rival_ms(commit, ends_us)) < (commit.duration_ms or 0.0))
    if len(met) < len(moved):  # some of those who moved the table are in no log; it filtered before it failed
        return max(1.0, *(commit.duration_ms or 0.0 for commit in moved))
    around = met[len(moved) - 1 : len(moved) + 1]
    return max(1.0, round(sum(around) / len(around), 3))


def _first_rival_ms(commit: Commit, ends_us: Sequence[int]) -> float:
    """From its beginning to the first commit that ended after it."""
    place = bisect_right(ends_us, commit.time_us)
    return (ends_us[place] - commit.time_us) / 1000.0 if place < len(ends_us) else float("inf")


def _end_us(commit: Commit) -> int:
    return commit.time_us + round(1000.0 * (commit.duration_ms or 0.0)) if commit.is_submission else commit.time_us
