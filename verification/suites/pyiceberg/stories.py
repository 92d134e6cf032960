"""What is played, on PyIceberg and on the model alike: one victim, and rivals that commit at given moments.

How PyIceberg plays them lives in ``rigs/pyiceberg``, how the model does in ``pyiceberg_requests``.

A victim loads its table; ``behind`` rivals commit; it begins to commit, and during its n-th attempt another
``during[n - 1]`` rivals do. ``place`` says when in the attempt: right before the client asks whether its base still
stands (``before_check``), or after it was told so and before it swaps (``before_swap``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

FAST_APPEND: Final = "fast_append"
MERGE_APPEND: Final = "merge_append"
DELETE: Final = "delete"  # table.delete of whole files
OVERWRITE: Final = "overwrite"  # update_snapshot().overwrite(): one snapshot that removes and adds files
DELETE_AND_APPEND: Final = "delete_and_append"  # table.overwrite: two snapshots in one commit

BEFORE_CHECK: Final = "before_check"
BEFORE_SWAP: Final = "before_swap"

RIVALS_APPEND: Final = "append"
RIVALS_DELETE: Final = "delete"

COMMITTED: Final = "committed"
EXHAUSTED: Final = "retries_exhausted"
INVALID: Final = "validation_exception"

BEHIND: Final = (0, 1, 5, 20, 60)
PATTERNS: Final = ((), (1,), (2, 3))
EVERY_ATTEMPT: Final = (1, 1, 1, 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One victim's story."""

    operation: str
    behind: int = 0
    during: tuple[int, ...] = ()
    place: str = BEFORE_CHECK
    rivals: str = RIVALS_APPEND
    isolation: str = "serializable"
    manifests: int = 1  # the table has at the start, each written by a snapshot of its own
    merge_count_min: int | None = None  # None: merging off, PyIceberg's default
    is_conflict_real: bool = False  # the first rival adds what the victim's filter selects

    @property
    def key(self) -> str:
        """One line that names it."""
        parts = [self.operation, f"behind={self.behind}", f"during={'+'.join(map(str, self.during)) or 0}"]
        default = Scenario(operation=self.operation)
        for name in ("place", "rivals", "isolation", "manifests", "merge_count_min", "is_conflict_real"):
            if getattr(self, name) != getattr(default, name):
                parts.append(f"{name}={getattr(self, name)}")
        return " ".join(parts)


def scenarios() -> tuple[Scenario, ...]:
    """All the model is held to, in the order they are reported."""
    found = [*_grid(Scenario(operation=FAST_APPEND)), *_grid(Scenario(operation=FAST_APPEND, place=BEFORE_SWAP))]
    found += _grid(Scenario(operation=MERGE_APPEND, manifests=5, merge_count_min=100))
    found += _grid(Scenario(operation=MERGE_APPEND, manifests=110, merge_count_min=100))
    found += _grid(Scenario(operation=MERGE_APPEND, manifests=8, merge_count_min=5, place=BEFORE_SWAP))
    for isolation in ("serializable", "snapshot"):
        for rivals in (RIVALS_APPEND, RIVALS_DELETE):
            found += _grid(Scenario(operation=DELETE, isolation=isolation, rivals=rivals))
    found += _grid(Scenario(operation=DELETE, place=BEFORE_SWAP))
    found += [Scenario(operation=operation, during=EVERY_ATTEMPT) for operation in (FAST_APPEND, DELETE)]
    found += [Scenario(operation=FAST_APPEND, during=EVERY_ATTEMPT, place=BEFORE_SWAP)]
    found += [Scenario(operation=DELETE, behind=behind, is_conflict_real=True) for behind in (1, 5)]
    return tuple(dict.fromkeys(found))


def beyond_the_model() -> tuple[Scenario, ...]:
    """Operations of PyIceberg that no kind of the model stands for: recorded, and shown beside the nearest one."""
    return tuple(
        Scenario(operation=operation, behind=behind, rivals=rivals)
        for operation in (OVERWRITE, DELETE_AND_APPEND)
        for rivals in (RIVALS_APPEND, RIVALS_DELETE)
        for behind in (0, 5)
        if behind or rivals == RIVALS_APPEND
    )


def _grid(pattern: Scenario) -> list[Scenario]:
    grid = [replace(pattern, behind=behind, during=during) for behind in BEHIND for during in PATTERNS]
    return [story for story in grid if story.place == BEFORE_CHECK or (story.during and not story.behind)]
