"""What the model says to a pair of victim and rival, where it has the operations and what they touch.

This file defines how a pair becomes a configuration of the model. A pair that the model has no words for is ``None``;
the suite shows it as not modelled yet. The configuration is played by ``modelled_victim``.

Where the model knows data files, two that touch the same file touch all of their partition, and two that do not touch
one of thousands each. Equality deletes, which a filter on rows tells apart, are a scenario without a conflict.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from endive.config import SourceConfig
from endive.verification.java import modelled_victim
from endive.verification.java.modelled_victim import RIVAL_GAP_MS, VICTIM, Moments
from endive.verification.java.pair_sheets import EXPIRY
from endive.verification.java.pairs import (
    DURING,
    OTHER_PARTITION,
    SAME_FILE,
    SAME_PARTITION,
    SAME_ROWS,
    Pair,
)
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
REWRITE_MANIFESTS: Final = replace(FAST_APPEND, name="rewrite_manifests", kind="rewrite_manifests")
EXPIRE: Final = replace(FAST_APPEND, name="expire_snapshots", kind="expire_snapshots")
OPERATIONS: Final[dict[str, Operation]] = {
    "fast_append": FAST_APPEND,
    "merge_append": MERGE_APPEND,
    "row_delta serializable": ROW_DELTA_SERIALIZABLE,
    "row_delta snapshot": ROW_DELTA_SNAPSHOT,
    "row_delta referring serializable": ROW_DELTA_SERIALIZABLE,
    "row_delta referring snapshot": ROW_DELTA_SNAPSHOT,
    "overwrite_files serializable": OVERWRITE_SERIALIZABLE,
    "overwrite_files snapshot": OVERWRITE_SNAPSHOT,
    "replace_partitions": replace(REPLACE, removed_from=PARTITION_MANIFESTS),
    "rewrite_files": REWRITE,
    "rewrite_manifests planned": REWRITE_MANIFESTS,
    "expire_snapshots": EXPIRE,
}
SCENARIO_RIVALS: Final = {"append": "append", "upsert": "row_delta"}
RIVALS: Final[dict[str, dict[str, Any]]] = {
    "append": {"operation_types": {"fast_append": 1.0}},
    "row_delta": {"operation_types": {"validated_overwrite": 1.0}, "referenced_files": False},
    "overwrite_files": {
        "operation_types": {"validated_overwrite": 1.0},
        "overwrite": "overwrite_files",
        "rewritten_manifests": 1,
    },
    "rewrite_files": {"operation_types": {"rewrite_files": 1.0}, "rewritten_manifests": 1},
    "rewrite_manifests": {"operation_types": {"rewrite_manifests": 1.0}},
    EXPIRY: {"operation_types": {"fast_append": 1.0}},  # and one expiry behind them
}
EXPIRING: Final[dict[str, Any]] = {"operation_types": {"expire_snapshots": 1.0}, "retain_last": 1}
DATA_FILES: Final = 10_000
ALL_FILES: Final = "100%"
_CHECK_ADDED_ROWS: Final = (ROW_DELTA_SERIALIZABLE.name, OVERWRITE_SERIALIZABLE.name)


def play(pair: Pair) -> Recorded | None:
    """How the victim ends in the model and what it asks for; None if the model cannot say it."""
    scenario = scenario_of(pair)
    if scenario is not None:
        return modelled_victim.play(scenario)
    document = configuration(pair)
    if document is None or pair.rival is None:
        return None
    is_late = pair.when == DURING
    count = pair.count + (pair.rival.name == EXPIRY)
    moments = Moments(0 if is_late else count, (count,) if is_late else ())
    return modelled_victim.play_out(document, moments, 1 if pair.rival.touches == OTHER_PARTITION else 0)


# ---- by scenario: nothing is said of files --------------------------------------------------------------


def scenario_of(pair: Pair) -> Scenario | None:
    """The pair as a scenario whose conflicts are scripted."""
    operation = OPERATIONS.get(pair.victim.name)
    if operation is None or pair.victim.is_referring or (pair.rival is not None and not _is_sayable(pair, operation)):
        return None
    is_late = pair.when == DURING
    is_conflict = pair.rival is not None and pair.rival.touches == SAME_ROWS and operation.name in _CHECK_ADDED_ROWS
    return Scenario(
        operation=replace(operation, manifests=TABLE_MANIFESTS),
        catalog=pair.catalog,
        rivals=("append",) if pair.rival is None else (SCENARIO_RIVALS[pair.rival.name],),
        n_behind=0 if is_late else pair.count,
        losses=(pair.count,) if is_late else (),
        conflict="newest" if is_conflict else "",
        is_pruned=pair.rival is not None and pair.rival.touches == OTHER_PARTITION,
    )


def _is_sayable(pair: Pair, operation: Operation) -> bool:
    assert pair.rival is not None
    if pair.rival.name not in SCENARIO_RIVALS:
        return False
    if operation.java == "replace_partitions":  # what rivals add to its partition is replaced too
        return pair.rival.touches == OTHER_PARTITION
    return pair.rival.name == "append" or pair.rival.touches in (SAME_PARTITION, OTHER_PARTITION)


# ---- by files: what each touches decides ----------------------------------------------------------------


def configuration(pair: Pair) -> dict[str, Any] | None:
    """The pair in the model's words, or None if it has none for it."""
    operation, rival = OPERATIONS.get(pair.victim.name), pair.rival
    if (
        operation is None
        or rival is None
        or rival.name not in RIVALS
        or "touched_files" not in SourceConfig.model_fields
    ):
        return None
    if operation.java == "replace_partitions" and rival.touches != OTHER_PARTITION:
        return None
    if operation.kind == "expire_snapshots" and rival.name == EXPIRY:
        return None  # nothing is left to expire, and Iceberg then does not commit
    if operation.removed_from and rival.name == "rewrite_manifests":
        return None  # the files to be removed then lie in fewer manifests; the model is told how many
    scenario = Scenario(
        operation=replace(operation, manifests=TABLE_MANIFESTS),
        catalog=pair.catalog,
        rivals=("append",),
        n_behind=pair.count,
        losses=(),
    )
    document = modelled_victim.configuration(scenario)
    document["table"]["data_files"] = DATA_FILES
    document["conflict"] = {"detector": "files"}
    touches_all = (SAME_FILE, SAME_ROWS, *([SAME_PARTITION] if rival.name == "row_delta" else []))
    touched: Any = ALL_FILES if rival.touches in touches_all else 1
    victim = {**document["source"][0], "touched_files": touched}
    if operation.overwrite == "row_delta" and operation.kind == "validated_overwrite":
        victim["referenced_files"] = pair.victim.is_referring
    arrivals = {"kind": "periodic", "period_ms": RIVAL_GAP_MS, "offset_ms": RIVAL_GAP_MS}
    met = {"name": "rival", "arrivals": arrivals, **RIVALS[rival.name], "touched_files": touched}
    assert victim["name"] == VICTIM
    sources = [victim, met]
    if rival.name == EXPIRY:
        met["stop_ms"] = (pair.count + 0.5) * RIVAL_GAP_MS
        late = {"kind": "periodic", "period_ms": 1e10, "offset_ms": (pair.count + 1) * RIVAL_GAP_MS}
        sources.append({"name": "expiry", "arrivals": late, **EXPIRING})
    return {**document, "source": sources}
