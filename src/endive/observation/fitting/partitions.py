"""Which partitions a source writes to, and how often each: those that its commits were seen to add files to.

Where the table goes on to new partitions as time passes (an hour, a day), partitions are counted from the newest back:
what matters is whether two writers meet, not where.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from endive.observation.exact_intervals import chi_square_95
from endive.observation.history import Commit

LOST_SHARE_MAX: Final = 0.25  # of a source's txns may have failed; else those that did not say where it is quiet
NAMES_MAX: Final = 1_000
STAYING_SHARE: Final = 0.5  # of the partitions of the table's first half that are written to in the second


def partition_numbers(commits: Sequence[Commit]) -> Mapping[int, tuple[int, ...]]:
    """The partitions of each commit that tells, by its snapshot, as numbers from 0; nothing if there are too many."""
    told = [commit for commit in commits if commit.places and commit.snapshot_id is not None]
    names = list(dict.fromkeys(name for commit in told for name in commit.places))
    if not names or len(names) > NAMES_MAX:
        return {}
    number = {name: place for place, name in enumerate(names)}
    if not _moves(told):
        return {each.snapshot_id or 0: tuple(number[name] for name in each.places) for each in told}
    places, newest = {}, 0
    for commit in told:
        newest = max(newest, *(number[name] for name in commit.places))
        places[commit.snapshot_id or 0] = tuple(newest - number[name] for name in commit.places)
    return places


def _moves(commits: Sequence[Commit]) -> bool:
    """Whether what is written to in the second half is mostly not what was in the first."""
    half = len(commits) // 2
    first, second = ({name for commit in part for name in commit.places} for part in (commits[:half], commits[half:]))
    return bool(first) and len(first & second) < STAYING_SHARE * min(len(first), len(second))


def partition_weights(
    commits: Sequence[Commit], numbers: Mapping[int, tuple[int, ...]], count: int
) -> tuple[float, ...] | None:
    """How often a source picks each of ``count`` partitions; None if its commits may as well pick all alike.

    Snapshots that expired tell nothing, and are taken to be like the others.
    """
    told = [
        numbers[each.snapshot_id] for each in commits if each.snapshot_id is not None and each.snapshot_id in numbers
    ]
    lost = sum(not each.is_committed for each in commits)
    if count < 1 or lost > LOST_SHARE_MAX * len(commits):
        return None
    picked = Counter(place for places in told for place in places if place < count)
    if not picked or _is_even(picked, count):
        return None
    return tuple(float(picked[place]) for place in range(max(picked) + 1))


def _is_even(picked: Mapping[int, int], count: int) -> bool:
    """Whether picks are as even as chance makes them nineteen times in twenty, or nearly."""
    if len(picked) == count and max(picked.values()) <= 2 * min(picked.values()) + 2:
        return True
    mean, free = sum(picked.values()) / count, count - 1
    if free == 0:
        return True
    return sum((picked.get(place, 0) - mean) ** 2 for place in range(count)) / mean <= chi_square_95(free)
