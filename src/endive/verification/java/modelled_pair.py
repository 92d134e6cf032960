"""What the model says to a pair of victim and rival, where it has the operations and what they touch.

This file defines how a pair becomes a scenario of the model. A pair that the model has no words for is ``None``; the
suite shows it as not modelled yet. The scenario is played by ``modelled_victim``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from endive.verification.java import modelled_victim
from endive.verification.java.pairs import DURING, OTHER_PARTITION, SAME_PARTITION, SAME_ROWS, Pair
from endive.verification.java.request_trace import Recorded
from endive.verification.java.scenario import (
    FAST_APPEND,
    MERGE_APPEND,
    OVERWRITE_SERIALIZABLE,
    OVERWRITE_SNAPSHOT,
    REPLACE,
    REWRITE,
    ROW_DELTA_SERIALIZABLE,
    ROW_DELTA_SNAPSHOT,
    Operation,
    Scenario,
)

TABLE_MANIFESTS: Final = 8
PARTITION_MANIFESTS: Final = 5  # A, B, C1 to C3: what a replaced partition loses
OPERATIONS: Final[dict[str, Operation]] = {
    "fast_append": FAST_APPEND,
    "merge_append": MERGE_APPEND,
    "row_delta serializable": ROW_DELTA_SERIALIZABLE,
    "row_delta snapshot": ROW_DELTA_SNAPSHOT,
    "overwrite_files serializable": OVERWRITE_SERIALIZABLE,
    "overwrite_files snapshot": OVERWRITE_SNAPSHOT,
    "replace_partitions": replace(REPLACE, removed_from=PARTITION_MANIFESTS),
    "rewrite_files": REWRITE,
}
RIVALS: Final = {"append": "append", "upsert": "row_delta"}
_CHECK_ADDED_ROWS: Final = (ROW_DELTA_SERIALIZABLE.name, OVERWRITE_SERIALIZABLE.name)


def play(pair: Pair) -> Recorded | None:
    """How the victim ends in the model and what it asks for; None if the model cannot say it."""
    scenario = scenario_of(pair)
    return None if scenario is None else modelled_victim.play(scenario)


def scenario_of(pair: Pair) -> Scenario | None:
    """The pair in the model's words."""
    operation = OPERATIONS.get(pair.victim.name)
    if operation is None or (pair.rival is not None and not _is_sayable(pair, operation)):
        return None
    is_late = pair.when == DURING
    is_conflict = pair.rival is not None and pair.rival.touches == SAME_ROWS and operation.name in _CHECK_ADDED_ROWS
    return Scenario(
        operation=replace(operation, manifests=TABLE_MANIFESTS),
        catalog=pair.catalog,
        rivals=("append",) if pair.rival is None else (RIVALS[pair.rival.name],),
        n_behind=0 if is_late else pair.count,
        losses=(pair.count,) if is_late else (),
        conflict="newest" if is_conflict else "",
        is_pruned=pair.rival is not None and pair.rival.touches == OTHER_PARTITION,
    )


def _is_sayable(pair: Pair, operation: Operation) -> bool:
    assert pair.rival is not None
    if pair.rival.name not in RIVALS:
        return False
    if operation.java == "replace_partitions":  # what rivals add to its partition is replaced too
        return pair.rival.touches == OTHER_PARTITION
    return pair.rival.name == "append" or pair.rival.touches in (SAME_PARTITION, OTHER_PARTITION)
