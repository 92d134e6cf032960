"""What a table remembers of its data files: when which place was last changed, and how.

The reference engine's. A history is only ever added to, and asked for the stretch between two
versions, so that a snapshot may carry it along: what came later does not change the answer. Which changes an operation
makes, and which it minds, is in its ``conflicts``.
"""

from bisect import bisect_right
from typing import NamedTuple

from endive.formats.data_files import UNDOABLE


class TouchedFiles(NamedTuple):
    """What a commit does to one table: changes, the places where, and their partitions (0 if there are none)."""

    changes: tuple[int, ...]
    places: tuple[int, ...]
    changes_in: tuple[int, ...]  # of the partitions as a whole
    partitions: tuple[int, ...]


class FileHistory:
    """Versions of one table at which each of its places, and its partitions as a whole, were changed."""

    __slots__ = ("_by_partition", "_by_place", "_undone_at", "commits")

    def __init__(self) -> None:
        self._by_place: dict[tuple[int, int], list[int]] = {}
        self._by_partition: dict[tuple[int, int], list[int]] = {}
        self._undone_at: dict[tuple[int, int], list[int]] = {}  # versions from which on a place counts as unchanged
        self.commits: dict[int, TouchedFiles] = {}

    def note(self, touched: TouchedFiles, version: int) -> None:
        """The commit that made ``version`` changed these."""
        self.commits[version] = touched
        for change in touched.changes:
            for place in touched.places:
                self._by_place.setdefault((change, place), []).append(version)
        for change in touched.changes_in:
            for partition in touched.partitions:
                self._by_partition.setdefault((change, partition), []).append(version)

    def has_changed(self, change: int, place: int, after: int, until: int) -> bool:
        """Whether a version after ``after``, up to ``until``, changed the place so, and was not undone."""
        undone_at = self._undone_at.get((change, place), ())
        since = max((version - 1 for version in undone_at if version <= until), default=after)
        return _has_between(self._by_place.get((change, place)), max(after, since), until)

    def undo(self, after: int, version: int) -> None:
        """The commit that makes ``version`` undoes compactions after ``after``: what they removed is there again."""
        for (change, place), versions in self._by_place.items():
            if change in UNDOABLE and versions[-1] > after:
                self._undone_at.setdefault((change, place), []).append(version)

    def has_partition_changed(self, change: int, partition: int, after: int, until: int) -> bool:
        """Whether one of those changed anything in the partition so."""
        return _has_between(self._by_partition.get((change, partition)), after, until)


def _has_between(versions: list[int] | None, after: int, until: int) -> bool:
    if versions is None:
        return False
    next_one = bisect_right(versions, after)
    return next_one < len(versions) and versions[next_one] <= until
