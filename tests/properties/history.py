"""The history of a table as its commits tell it: which snapshots it had, and which of them an operation looks into.

This file counts, from what was observed, what the laws compare with the rows. It knows Iceberg's validations by their
table in docs/model/transactions.md, not by the simulator's rules.
"""

from __future__ import annotations

from typing import Any

from tests.properties.recording import Row, Run, Situation

from endive.formats.operation import CLASS_APPEND, CLASS_DELETE, CLASS_NONE, CLASS_OVERWRITE, CLASS_REPLACE
from endive.vocabulary import EXPIRE_SNAPSHOTS, REWRITE_FILES, VALIDATED_OVERWRITE


def classes_between(run: Run, table: int, first_seq: int, last_seq: int) -> list[int]:
    """What the snapshots of a table between two sequence numbers did; an expiry makes none."""
    effects = (effect for decision, effect in run.effects[table] if first_seq < decision.seq <= last_seq)
    return [effect.effect_class for effect in effects if effect.effect_class != CLASS_NONE]


def snapshots_installed(run: Run, table: int, seq: int) -> int:
    """How many snapshots the table has ever had; the newest has this number, the first 1."""
    return run.config.table.initial_snapshots + len(classes_between(run, table, 0, seq))


def snapshots_expired(run: Run, table: int, seq: int) -> int:
    """How many of them, the oldest, are gone."""
    return sum(effect.expired for decision, effect in run.effects[table] if decision.seq <= seq)


def snapshots_undone(run: Run, table: int, seq: int) -> int:
    """How many of them, compactions, were taken back for other commits."""
    return sum(decision.undone for decision, _ in run.effects[table] if decision.seq <= seq)


def is_row_delta(row: Row, source: Any) -> bool:
    return row["kind"] == VALIDATED_OVERWRITE and source.overwrite == "row_delta"


def adds_vectors(run: Run, row: Row) -> bool:
    source = run.source(row)
    kind = source.deletes or ("vector" if run.config.table.format_version == 3 else "position")
    return is_row_delta(row, source) and "vector" in kind


def says_no_start(run: Run, row: Row) -> bool:
    """Whether it walks through all the history that is kept: a sink that checks nothing and writes vectors."""
    return adds_vectors(run, row) and run.source(row).checks == "none"


def builds_as_loaded(run: Run, row: Row) -> bool:
    """Whether its first attempt builds on the table as it was loaded, and then walks to the newest."""
    return run.source(row).commit_path == "transaction" and row["kind"] <= REWRITE_FILES


def is_validating(row: Row, source: Any) -> bool:
    """Whether the operation looks at what others did since it started."""
    return n_matching(row, source, [CLASS_APPEND, CLASS_OVERWRITE, CLASS_REPLACE]) > 0


def n_matching(row: Row, source: Any, classes: list[int]) -> int:
    """How many of these snapshots the operation has to look into, by the table of Iceberg's own validations."""
    looked_into: set[int] = set()
    is_replacing = source.overwrite == "replace_partitions"
    is_asked = source.checks == "partitions" if is_replacing else source.checks != "none"
    is_checked = row["kind"] == VALIDATED_OVERWRITE and is_asked
    if is_checked and source.isolation == "serializable":
        looked_into |= {CLASS_APPEND, CLASS_OVERWRITE}
    if row["kind"] == REWRITE_FILES or (is_checked and (not is_row_delta(row, source) or source.checks == "all")):
        looked_into |= {CLASS_OVERWRITE, CLASS_DELETE}
    if is_checked and (is_replacing or (is_row_delta(row, source) and source.referenced_files)):
        looked_into |= {CLASS_OVERWRITE, CLASS_REPLACE}
    return sum(each in looked_into for each in classes)


def misses_history(run: Run, row: Row, situation: Situation, table: int) -> bool:
    """Whether a snapshot that the attempt walks through, back to its start, is expired."""
    history, source = run.config.commit.history, run.source(row)
    if situation.nth == 1 and builds_as_loaded(run, row):
        loaded = snapshots_installed(run, table, situation.start.seq)
        if 0 < loaded <= snapshots_expired(run, table, situation.base.seq):
            return True
    if says_no_start(run, row):
        return history == "fixed_start" and snapshots_expired(run, table, situation.base.seq) > 0
    if not is_validating(row, source) or history in ("every_kind", "none"):
        return False
    if history != "fixed_start" and situation.nth == 1:
        return False
    since = situation.previous if history == "since_last_attempt" else situation.start
    wants_start = history == "fixed_start_on_retry" or (history == "fixed_start" and is_row_delta(row, source))
    known = snapshots_installed(run, table, since.seq)
    newest = snapshots_installed(run, table, situation.base.seq)
    oldest_walked = max(1, known) if wants_start else known + 1
    return newest > known and oldest_walked <= snapshots_expired(run, table, situation.base.seq)


def lists_of_history(run: Run, row: Row, situation: Situation, position: int, table: int) -> int:
    """Lists of a table's history that one attempt has to read."""
    commit, source = run.config.commit, run.source(row)
    _, nth, _, start, previous, base = situation
    if row["kind"] == EXPIRE_SNAPSHOTS:
        return 0
    if nth == 1 and (commit.io == "after_failure" or commit.history != "fixed_start"):
        return 0
    since_start = classes_between(run, table, start.seq, base.seq)
    since_last = classes_between(run, table, previous.seq, base.seq)
    if commit.history == "every_kind" and run.config.catalog.scope == "partition":
        touched = run.record.partitions[row["txn_id"]][position][0]
        now, before = base.tables[table].partition_versions, previous.tables[table].partition_versions
        return sum(now[p] - before[p] for p in touched)
    if commit.history in ("every_kind", "none"):
        return len(since_last) if commit.history == "every_kind" else 0
    is_missed = misses_history(run, row, situation, table)
    if commit.history == "fixed_start":
        lists = 0 if is_missed and is_row_delta(row, source) else n_matching(row, source, since_start)
    elif commit.history == "fixed_start_on_retry":  # deletes and overwrites are looked at four times
        lists = n_matching(row, source, appends_of(since_start) + overwrites_of(since_start))
        lists += 0 if is_missed else 3 * n_matching(row, source, overwrites_of(since_start))
    elif row["kind"] == VALIDATED_OVERWRITE and is_validating(row, source) and source.isolation == "serializable":
        lists = len(since_last)
    else:
        lists = n_matching(row, source, overwrites_of(since_last))
    if is_missed:  # as far back as there is one
        gone = snapshots_expired(run, table, base.seq) + snapshots_undone(run, table, base.seq)
        return min(lists, snapshots_installed(run, table, base.seq) - gone)
    return lists


def overwrites_of(classes: list[int]) -> list[int]:
    """Those that took something away; only a walk from a fixed start tells deletes apart."""
    return [CLASS_OVERWRITE for each in classes if each in (CLASS_OVERWRITE, CLASS_DELETE)]


def appends_of(classes: list[int]) -> list[int]:
    return [each for each in classes if each == CLASS_APPEND]


def misses_manifests(run: Run, table: int, situation: Situation) -> bool:
    """Whether anybody took manifests out of the table's list since the txn started."""
    start, base = situation.start, situation.base
    return any(effect.is_thinning for decision, effect in run.effects[table] if start.seq < decision.seq <= base.seq)
