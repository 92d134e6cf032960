"""What the model says to a pair of victim and rival: both as sources of one configuration, with what each touches.

A pair that the model has no words for is ``None``; the suite shows it as not modelled yet. The configuration is played
by ``modelled_victim``.

Two that touch the same file touch all of their partition, and two that do not touch one of hundreds each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from verification.suites.beset import RIVAL_GAP_MS, VICTIM, script_of
from verification.suites.java import modelled_victim
from verification.suites.java.pair_sheets import EXPIRY
from verification.suites.java.pairs import (
    DURING,
    EQUALITY,
    EQUALITY_AND_POSITION,
    NONE,
    OTHER_PARTITION,
    PARTITION,
    ROWS,
    SAME_FILE,
    SAME_PARTITION,
    SAME_ROWS,
    TABLE,
    Pair,
    Rival,
    Victim,
)
from verification.suites.java.request_recording import NEWEST
from verification.suites.java.request_trace import Recorded
from verification.suites.java.scenario import FAST_APPEND, REMOVED_FROM, Scenario

RIVAL, SECOND, EXPIRING_SOURCE = "rival", "second rival", "expiry"
TABLE_MANIFESTS: Final = 8
MANIFESTS_OF: Final = {SAME_PARTITION: 5, OTHER_PARTITION: 3}  # A, B, C1 to C3; E1 to E3
DATA_FILES: Final = 1_000
ALL_FILES: Final = "100%"
READS: Final = {ROWS: "files", PARTITION: "partitions", TABLE: "table"}
REWRITTEN: Final = "rewrite_deletes"
UNCHECKED: Final = {"operation_types": {"validated_overwrite": 1.0}, "checks": "none"}
RIVALS: Final[dict[str, dict[str, Any]]] = {
    "append": {"operation_types": {"fast_append": 1.0}},
    "row_delta": UNCHECKED,
    "delete_rows": {**UNCHECKED, "adds_rows": False},
    "upsert": {**UNCHECKED, "deletes": "equality"},
    "overwrite_files": {**UNCHECKED, "overwrite": "overwrite_files", "rewritten_manifests": 1},
    "delete_files": {**UNCHECKED, "overwrite": "overwrite_files", "rewritten_manifests": 1, "adds_rows": False},
    "rewrite_files": {"operation_types": {"rewrite_files": 1.0}, "rewritten_manifests": 1},
    "rewrite_manifests": {"operation_types": {"rewrite_manifests": 1.0}},
    "append_and_expire": {"operation_types": {"fast_append": 1.0}},  # and one expiry behind them
    "replace_partitions": {"operation_types": {"validated_overwrite": 1.0}, "overwrite": "replace_partitions"},
    "overwrite_filter": {**UNCHECKED, "overwrite": "overwrite_files"},
    "delete_where": {**UNCHECKED, "overwrite": "overwrite_files", "adds_rows": False},
    REWRITTEN: {
        "operation_types": {"rewrite_files": 1.0},
        "rewritten_files": "position_deletes",
        "rewritten_manifests": 1,
    },
}
REPLACING: Final = ("replace_partitions", "overwrite_filter")
ROW_DELTAS: Final = ("row_delta", "delete_rows")
SEEING_NO_DELETES: Final = (
    *ROW_DELTAS,
    "fast_append",
    "merge_append",
    "upsert",
    REWRITTEN,
    "rewrite_manifests_planned",
)
ADDING_APART: Final = ("row_delta", "upsert", *REPLACING)
PARTITION_WIDE: Final = (*REPLACING, "delete_where")  # take every file of a partition
EXPIRING: Final[dict[str, Any]] = {"operation_types": {"expire_snapshots": 1.0}, "retain_last": 1}
KINDS: Final = {
    "fast_append": "fast_append",
    "merge_append": "merge_append",
    "row_delta": "validated_overwrite",
    "delete_rows": "validated_overwrite",
    "upsert": "validated_overwrite",
    "overwrite_files": "validated_overwrite",
    "replace_partitions": "validated_overwrite",
    "delete_files": "validated_overwrite",
    "overwrite_filter": "validated_overwrite",
    "delete_where": "validated_overwrite",
    "rewrite_files": "rewrite_files",
    REWRITTEN: "rewrite_files",
    "rewrite_manifests_planned": "rewrite_manifests",
    "expire_snapshots": "expire_snapshots",
}


def play(pair: Pair, release: str = NEWEST) -> Recorded | None:
    """How the victim ends in the model and what it asks for; None if the model cannot say it."""
    document = configuration(pair, release)
    if document is None:
        return None
    is_late = pair.when == DURING
    count = pair.count + (pair.rival is not None and pair.rival.name == EXPIRY) + (pair.second is not None)
    script = script_of(0 if is_late else count, (count,) if is_late else ())
    names = {RIVAL: pair.rival, SECOND: pair.second, EXPIRING_SOURCE: pair.rival}
    elsewhere = {name for name, each in names.items() if each is not None and each.touches == OTHER_PARTITION}
    return modelled_victim.play_out(document, script, elsewhere)


def configuration(pair: Pair, release: str = NEWEST) -> dict[str, Any] | None:
    """The pair in the model's words, or None if it has none for it."""
    victim = victim_keys(pair.victim)
    if victim is not None and pair.victim.is_in_transaction:
        victim["commit_path"] = "transaction"
    if victim is None or not all(_is_sayable(pair.victim, each) for each in pair.rivals):
        return None
    scenario = Scenario(
        operation=replace(FAST_APPEND, manifests=TABLE_MANIFESTS),
        catalog=pair.catalog,
        rivals=("append",),
        n_behind=pair.count,
        losses=(),
    )
    document = modelled_victim.configuration(scenario, release)
    document["table"] |= {"data_files": DATA_FILES, "format_version": pair.victim.format_version}
    document["conflict"] = {"detector": "files"}
    touched: Any = ALL_FILES if any(touched_by(each) == ALL_FILES for each in pair.rivals) else 1
    is_beside_rewrite = REWRITTEN in [each.java for each in pair.rivals]
    if is_beside_rewrite and pair.victim.is_referring and not pair.victim.is_replacing:
        victim["delete_granularity"] = "partition"
    arrivals = {"kind": "periodic", "period_ms": 1e10}
    sources = [{"name": VICTIM, "arrivals": arrivals, "total_timeout_ms": 0.0, "touched_files": touched, **victim}]
    if pair.rival is not None:
        sources.append(
            _rival(pair.victim, RIVAL, pair.rival, touched, {"period_ms": RIVAL_GAP_MS, "offset_ms": RIVAL_GAP_MS})
        )
        late = {"period_ms": 1e10, "offset_ms": (pair.count + 1) * RIVAL_GAP_MS}
        if pair.rival.name == EXPIRY:
            sources.append({"name": EXPIRING_SOURCE, "arrivals": {"kind": "periodic", **late}, **EXPIRING})
        elif pair.second is not None:
            sources.append(_rival(pair.victim, SECOND, pair.second, touched, late))
        if len(sources) > 2:
            sources[1]["stop_ms"] = (pair.count + 0.5) * RIVAL_GAP_MS
    return {**document, "source": sources}


def _rival(victim: Victim, name: str, rival: Rival, touched: Any, moments: dict[str, float]) -> dict[str, Any]:
    keys = dict(RIVALS[rival.java])
    if rival.java in PARTITION_WIDE:
        keys["rewritten_manifests"] = MANIFESTS_OF[rival.touches]
    if victim.java == REWRITTEN and rival.java in PARTITION_WIDE:
        keys |= {"overwrite": "replace_partitions"}  # which says that delete files go too
        keys.pop("checks", None)
    if rival.java in ADDING_APART and rival.touches == SAME_PARTITION:
        keys["added_rows"] = "apart"  # ids that the victim's filter leaves out
    return {"name": name, "arrivals": {"kind": "periodic", **moments}, "touched_files": touched, **keys}


def victim_keys(victim: Victim) -> dict[str, Any] | None:
    """The victim as keys of a source; None if the model has no words for it."""
    if victim.java not in KINDS:
        return None
    kind = KINDS[victim.java]
    keys: dict[str, Any] = {"operation_types": {kind: 1.0}}
    if kind == "expire_snapshots":
        return {**keys, "retain_last": 1}  # as recorded
    if victim.java == REWRITTEN:
        return dict(RIVALS[victim.java])
    if kind == "rewrite_files":
        return {**keys, "rewritten_manifests": REMOVED_FROM, "starting_sequence_number": victim.is_sequenced}
    if kind != "validated_overwrite":
        return keys
    if victim.java == "upsert":
        by_position = "position" if victim.format_version == 2 else "vector"
        deletes = {EQUALITY: "equality", EQUALITY_AND_POSITION: f"equality_and_{by_position}"}
        return {**keys, "checks": "none", "deletes": deletes[victim.deletes]}
    if victim.java in REPLACING:
        keys |= {"overwrite": "replace_partitions", "rewritten_manifests": MANIFESTS_OF[SAME_PARTITION]}
        if victim.isolation == NONE:
            return keys
        filter = {"read": "partitions"} if victim.java == "overwrite_filter" else {}
        return {**keys, "checks": "partitions", "isolation": victim.isolation, **filter}
    if victim.java == "delete_where":
        keys |= {"overwrite": "replace_partitions", "rewritten_manifests": MANIFESTS_OF[SAME_PARTITION]}
        return {**keys, "adds_rows": False}
    if victim.java in ("overwrite_files", "delete_files"):
        keys |= {"overwrite": "overwrite_files", "rewritten_manifests": REMOVED_FROM}
        if victim.isolation == NONE:
            return {**keys, "checks": "none", "adds_rows": victim.java == "overwrite_files"}
        return {**keys, "isolation": victim.isolation, "read": READS[victim.reads]}
    return _row_delta_keys(victim, keys)


def _row_delta_keys(victim: Victim, keys: dict[str, Any]) -> dict[str, Any] | None:
    if victim.is_delete_files_validated != victim.is_deletes_validated:
        return None  # no engine asks for one without the other
    return {
        **keys,
        "read": READS[victim.reads],
        "isolation": victim.isolation,
        "referenced_files": victim.is_referring,
        "adds_rows": victim.java == "row_delta",
        "checks": "all" if victim.is_delete_files_validated else "added_rows",
    }


def _is_sayable(victim: Victim, rival: Rival) -> bool:
    if victim.java == "expire_snapshots" and rival.name == EXPIRY:
        return False  # nothing is left to expire, and Iceberg then does not commit
    return rival.java in RIVALS


def says_requests(pair: Pair) -> bool:
    """Whether the model knows how many manifests the victim takes files out of; else only its verdict is held.

    It is told that number, and here rivals change it: they have replaced files of the victim's, or moved them to other
    manifests (``ManifestFilterManager.filterManifests`` opens those that can hold one of them). Nor does it know which
    of two kinds of rivals wrote in the victim's partitions: it knows how many commits did. A table whose delete files
    are rewritten has delete manifests from the beginning, the model's has none; nor
    does the model count what replacing a delete file asks for.
    """
    if pair.victim.is_replacing:
        return False
    is_emptied = pair.count > 1 and any(each.java in PARTITION_WIDE for each in pair.rivals)
    if is_emptied and pair.victim.java == "replace_partitions":
        return False  # the first of its rivals leaves less to the next
    if pair.victim.reads != TABLE and len({each.touches == OTHER_PARTITION for each in pair.rivals}) > 1:
        return False
    return all(_says_requests(pair.victim, rival) for rival in pair.rivals)


def _says_requests(victim: Victim, rival: Rival) -> bool:
    if rival.java == REWRITTEN and victim.java not in SEEING_NO_DELETES:
        return False
    is_met = rival.touches == SAME_FILE or (rival.java in PARTITION_WIDE and rival.touches == SAME_PARTITION)
    if victim.java in PARTITION_WIDE:
        return rival.touches == OTHER_PARTITION
    if victim.java == "expire_snapshots":
        return rival.java not in PARTITION_WIDE  # manifests to look through are known as an average
    is_removing = victim.java in ("overwrite_files", "rewrite_files", "delete_files")
    if is_removing and rival.java == "rewrite_manifests":
        return False
    is_unchecked = victim.isolation == NONE and victim.java in ("overwrite_files", "delete_files")
    return not (is_unchecked and is_met) or rival.java in ("row_delta", "delete_rows")


def touched_by(rival: Rival) -> Any:
    """How many files victim and rival touch, so that they meet or do not."""
    is_all = rival.java in PARTITION_WIDE or rival.java in ("row_delta", "delete_rows")  # the latter's of no file
    is_wide = is_all and rival.touches == SAME_PARTITION
    return ALL_FILES if is_wide or rival.touches in (SAME_FILE, SAME_ROWS) else 1
