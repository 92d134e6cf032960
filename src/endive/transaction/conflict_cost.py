"""What resolving a conflict costs, as a transaction of a user's own may say (refactoring specification, 3.1, 3.2)."""

from dataclasses import dataclass, fields
from typing import Any, Final

from endive.errors import EngineError
from endive.vocabulary import FAST_APPEND, MERGE_APPEND, VALIDATED_OVERWRITE

MANIFESTS_PER_CONCURRENT_COMMIT: Final = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictCost:
    """What resolving one refused attempt asks of storage, on one table."""

    metadata_reads: int = 0
    manifest_list_reads: int = 0
    manifest_list_writes: int = 0
    historical_ml_reads: int = 0
    manifest_file_reads: int = 0
    manifest_file_writes: int = 0


# Field of a ConflictCost -> field of an attempt's cost.
_CHARGED: Final = {
    "metadata_reads": "metadata_reads",
    "manifest_list_reads": "list_reads",
    "manifest_list_writes": "list_writes",
    "historical_ml_reads": "history_lists",
    "manifest_file_reads": "merge_reads",
    "manifest_file_writes": "merge_writes",
}
_REPLACED: Final = ("validate_reads", "filter_reads", "filter_writes", "own_writes")


def cost_by_kind(
    kind: int, n_behind: int, ml_append_mode: bool, per_commit: float = MANIFESTS_PER_CONCURRENT_COMMIT
) -> ConflictCost:
    """Return the cost of one conflict of a kind of operation."""
    merged = int(n_behind * per_commit) if kind == MERGE_APPEND else 0
    assert kind in (FAST_APPEND, MERGE_APPEND, VALIDATED_OVERWRITE), "a kind of the specification"
    return ConflictCost(
        metadata_reads=1,
        manifest_list_reads=1,
        manifest_list_writes=0 if ml_append_mode else 1,
        historical_ml_reads=n_behind if kind == VALIDATED_OVERWRITE else 0,
        manifest_file_reads=merged,
        manifest_file_writes=merged,
    )


def charge(attempt: Any, own: Any, owner: str) -> None:
    """Put a user's own cost in the place of what the protocol would charge."""
    if not isinstance(own, ConflictCost):
        raise EngineError(f"{owner}.get_conflict_cost returned {own!r}; it must return a ConflictCost.")
    for each in fields(own):
        count = getattr(own, each.name)
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise EngineError(
                f"{owner}.get_conflict_cost returned {each.name} = {count!r}; it must be a whole number, 0 or more."
            )
        setattr(attempt, _CHARGED[each.name], count)
    for name in _REPLACED:
        setattr(attempt, name, 0)


def is_ours(owner: type) -> bool:
    """Return whether a class is part of the package."""
    return owner.__module__.split(".")[0] in ("endive", "builtins")
