"""What is done to real Iceberg and to the model alike: an operation, its rivals, and when they commit.

How Java is driven lives in ``rigs/java``, how the model is asked in ``modelled_victim``.

A *victim* loads its table, ``n_behind`` rivals commit, then the victim commits. ``losses`` are the rivals that commit
between the refresh and the swap of its attempts: (2, 3) makes the first attempt lose to two rivals and the second to
three. Rivals come in turns: of ``("append", "row_delta")`` every other one deletes rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BEHIND: Final = (0, 1, 5, 20, 60)
PATTERNS: Final[tuple[tuple[int, ...], ...]] = ((), (1,), (2, 3))
CATALOGS: Final = ("jdbc", "rest")
SMALL_TABLE: Final = 5  # manifests of a table that nothing merges
FULL_TABLE: Final = 105  # manifests that fill a bin of 100 with the victim's own
REMOVED_FROM: Final = 2  # F: manifests of which the victim removes a file
VICTIM_PARTITION: Final = 0
OTHER_PARTITION: Final = 1
EXHAUSTED: Final = (1, 1, 1, 1, 1)  # one rival per attempt of a txn with Iceberg's four retries
APPEND: Final = ("append",)
ROW_DELTA: Final = ("row_delta",)
MIXED: Final = ("append", "row_delta")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One Iceberg operation as the victim uses it, in Iceberg's terms and in the model's."""

    name: str
    java: str  # what ``operations.build`` makes
    kind: str  # the model's kind
    overwrite: str = "row_delta"
    isolation: str = "serializable"
    manifests: int = SMALL_TABLE
    is_merging: bool = True
    removed_from: int = 0  # F; 0: the operation removes no file
    is_referring: bool = False  # a row delta that names the data files its deletes refer to

    @property
    def is_scanned(self) -> bool:
        """Whether the victim has picked existing files before it commits."""
        return self.java in ("overwrite_files", "rewrite_files") or self.is_referring


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """An operation beset by rivals."""

    operation: Operation
    catalog: str
    rivals: tuple[str, ...]
    n_behind: int
    losses: tuple[int, ...]
    conflict: str = ""  # where the rival stands whose rows the victim's overlap: "newest", "oldest" or nowhere
    is_pruned: bool = False  # rivals write another partition than the victim

    @property
    def key(self) -> str:
        """One name for it, stable from recording to comparison."""
        parts = [self.operation.name, self.catalog, "+".join(self.rivals), f"n={self.n_behind}"]
        parts.append("losses=" + (",".join(str(count) for count in self.losses) or "none"))
        if self.conflict:
            parts.append(f"conflict={self.conflict}")
        if self.is_pruned:
            parts.append("pruned")
        return " ".join(parts)


def rival_partition(scenario: Scenario) -> int:
    """Where rivals write: beside the victim's rows, or in another partition if sharing one would be a conflict."""
    is_elsewhere = scenario.is_pruned or scenario.operation.java in ("replace_partitions", "rewrite_files")
    return OTHER_PARTITION if is_elsewhere else VICTIM_PARTITION


FAST_APPEND: Final = Operation(name="fast_append", java="fast_append", kind="fast_append")
MERGE_APPEND: Final = Operation(name="merge_append", java="merge_append", kind="merge_append")
MERGE_APPEND_FULL: Final = Operation(
    name="merge_append_full_bin", java="merge_append", kind="merge_append", manifests=FULL_TABLE
)
MERGE_APPEND_OFF: Final = Operation(
    name="merge_append_merging_off", java="merge_append", kind="merge_append", manifests=FULL_TABLE, is_merging=False
)
REWRITE: Final = Operation(name="rewrite_files", java="rewrite_files", kind="rewrite_files", removed_from=REMOVED_FROM)
REPLACE: Final = Operation(
    name="replace_partitions",
    java="replace_partitions",
    kind="validated_overwrite",
    overwrite="replace_partitions",
    removed_from=REMOVED_FROM,
)


def _validated(form: str, isolation: str, manifests: int = SMALL_TABLE) -> Operation:
    suffix = "_full_bin" if manifests == FULL_TABLE else ""
    return Operation(
        name=f"{form}_{isolation}{suffix}",
        java=form,
        kind="validated_overwrite",
        overwrite=form,
        isolation=isolation,
        manifests=manifests,
        removed_from=REMOVED_FROM if form == "overwrite_files" else 0,
    )


ROW_DELTA_SERIALIZABLE: Final = _validated("row_delta", "serializable")
ROW_DELTA_SNAPSHOT: Final = _validated("row_delta", "snapshot")
OVERWRITE_SERIALIZABLE: Final = _validated("overwrite_files", "serializable")
OVERWRITE_SNAPSHOT: Final = _validated("overwrite_files", "snapshot")
OVERWRITE_FULL: Final = _validated("overwrite_files", "serializable", FULL_TABLE)
ROW_DELTA_FULL: Final = _validated("row_delta", "serializable", FULL_TABLE)

# Which rivals each operation meets.
BESET: Final[tuple[tuple[Operation, tuple[tuple[str, ...], ...]], ...]] = (
    (FAST_APPEND, (APPEND,)),
    (MERGE_APPEND, (APPEND,)),
    (MERGE_APPEND_FULL, (APPEND,)),
    (MERGE_APPEND_OFF, (APPEND,)),
    (ROW_DELTA_SERIALIZABLE, (APPEND, ROW_DELTA, MIXED)),
    (ROW_DELTA_SNAPSHOT, (APPEND, ROW_DELTA, MIXED)),
    (OVERWRITE_SERIALIZABLE, (APPEND, ROW_DELTA)),
    (OVERWRITE_SNAPSHOT, (APPEND, ROW_DELTA)),
    (REWRITE, (APPEND, ROW_DELTA, MIXED)),
    (REPLACE, (APPEND,)),
)


def _scenario(operation: Operation, catalog: str, rivals: tuple[str, ...], n: int, *losses: int) -> Scenario:
    return Scenario(operation=operation, catalog=catalog, rivals=rivals, n_behind=n, losses=losses)


def all_scenarios() -> tuple[Scenario, ...]:
    """Every scenario, in the order they are recorded and shown."""
    found: list[Scenario] = []
    for catalog in CATALOGS:
        for operation, choices in BESET:
            for rivals in choices:
                found.extend(_scenario(operation, catalog, rivals, n, *losses) for losses in PATTERNS for n in BEHIND)
                found.append(_scenario(operation, catalog, rivals, 1, *EXHAUSTED))
        for operation in (ROW_DELTA_FULL, OVERWRITE_FULL):
            found.extend(_scenario(operation, catalog, APPEND, n, *losses) for losses in PATTERNS for n in (0, 5))
        found.extend(_special(catalog))
    return tuple(found)


def _special(catalog: str) -> list[Scenario]:
    """Real conflicts, and rivals in another partition."""
    found = []
    for operation in (ROW_DELTA_SERIALIZABLE, OVERWRITE_SERIALIZABLE):
        for n in (1, 5, 20):
            for place in ("newest", "oldest"):
                found.append(
                    Scenario(operation=operation, catalog=catalog, rivals=APPEND, n_behind=n, losses=(), conflict=place)
                )
        found.append(
            Scenario(operation=operation, catalog=catalog, rivals=APPEND, n_behind=5, losses=(1,), conflict="newest")
        )
        for rivals in (APPEND, ROW_DELTA):
            for losses in PATTERNS:
                found.append(
                    Scenario(
                        operation=operation, catalog=catalog, rivals=rivals, n_behind=5, losses=losses, is_pruned=True
                    )
                )
    return found
