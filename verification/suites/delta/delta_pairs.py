"""Suite ``delta``, pairs of Delta's operations: which commit beside which, held against the model.

The recordings say what the table looks like (``rigs/delta/ground.py``, ``delta_spark.py``): partition 3 has
the files A and B, partition 9 the file E, for Delta Spark also F.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from endive.verification.suite import EXACT, UNJUDGED, Check, Options, Outcome, Value, provenance
from verification.suites.beset import script_of
from verification.suites.delta.delta_recording import RS, SPARK, read
from verification.suites.delta.modelled_story import CLIENTS, DATA_FILES, configuration, play_out

ALL_FILES: Final = DATA_FILES // 2  # of a partition
ISOLATIONS: Final = {
    "Serializable": "serializable",
    "WriteSerializable": "write_serializable",
    "SnapshotIsolation": "snapshot",
}


class Does(NamedTuple):
    """What an operation does: its kind, the partition it works on, the files it takes out, and what it has read."""

    kind: str
    partition: int
    files: str = ""
    read: str = ""
    adds_rows: bool = True
    read_partition: int | None = None  # if it is another than the one it writes


APPEND_3: Final = Does("blind_append", 0)
APPEND_9: Final = Does("blind_append", 1)
_RS: Final = {
    "append, p = 3": APPEND_3,
    "append, p = 9": APPEND_9,
    "delete, A": Does("merge", 0, "A", "files"),
    "delete, the same file": Does("merge", 0, "A", "files"),
    "delete, B": Does("merge", 0, "B", "files"),
    "delete, all of p = 9": Does("merge", 1, "E", "partitions", adds_rows=False),
    "delete, by id alone": Does("merge", 0, "A", "files"),
    "update, A": Does("merge", 0, "A", "files"),
    "update, B": Does("merge", 0, "B", "files"),
    "update, a row of p = 9": Does("merge", 1, "E", "files"),
    "update, by id alone": Does("merge", 0, "A", "files"),
    "merge, by id alone": Does("merge", 0, "A", "table"),
    "merge, p = 3": Does("merge", 0, "A", "partitions"),
    "merge, p = 9": Does("merge", 1, "E", "partitions"),
    "compact, p = 3": Does("optimize", 0, "AB"),
    "overwrite, p = 9": Does("merge", 1, "E", "partitions"),
}
_SPARK: Final = {
    "insert, p = 3": APPEND_3,
    "insert, p = 9": APPEND_9,
    "insert, p = 3 from p = 9": Does("append_after_read", 0, "", "partitions", read_partition=1),
    "delete, A": Does("merge", 0, "A", "files"),
    "delete, the same file": Does("merge", 0, "A", "files"),
    "delete, B": Does("merge", 0, "B", "files"),
    "delete, a row of p = 9": Does("merge", 1, "E", "files"),
    "delete, all of p = 9": Does("merge", 1, "EF", "partitions", adds_rows=False),
    "update, A": Does("merge", 0, "A", "files"),
    "update, by id alone": Does("merge", 0, "A", "table"),
    "merge, by id alone": Does("merge", 0, "A", "table"),
    "merge, p = 3": Does("merge", 0, "A", "files"),
    "merge, p = 9": Does("merge", 1, "E", "files"),
    "optimize, p = 3": Does("optimize", 0, "AB"),
    "optimize, p = 9": Does("optimize", 1, "EF"),
}
OPERATIONS: Final = {RS: _RS, SPARK: _SPARK}
UNLIKE: Final = {
    (SPARK, "update, by id alone", "delete, all of p = 9"): "files that statistics exclude are not read; the model's "
    "statement without a partition column has read the table",
}
TWICE: Final = "a fault of delta-rs: both took the same files out, and the table has their rows twice"


INTRO_RS: Final = """
Every operation of delta-rs beside every other, at every level of `delta.isolationLevel`, which changes no cell: the
rival commits right before the victim's first PUT. A row is right if the victim ends the same way in the model. Where
both took the same files out, delta-rs has let two commits through that no serial history has, and the table has rows
twice: the model refuses the second. Full overwrites and VACUUM are recorded and not modelled.

Recorded by `python -m rigs.delta.delta_rs pairs`.
"""
INTRO_SPARK: Final = """
Every statement of Delta Spark beside every other, through SQL: one session has read its snapshot, another commits, the
first goes on. Copy-on-write and with deletion vectors, `Serializable` and `WriteSerializable`, which open source
refuses as a table property, so it was written into the table's metadata. A row is right if the statement ends the same
way in the model. Shown without a limit: an UPDATE by id beside a DELETE of another partition commits, because
statistics exclude its files; the model's has read the table and fails.

Recorded by `python -m rigs.delta.delta_spark pairs`.
"""


class Cell(NamedTuple):
    """One operation beside another."""

    mode: str
    isolation: str
    victim: str
    rival: str

    @classmethod
    def of(cls, key: str) -> Cell:
        """From the recording's key; delta-rs has no modes."""
        parts = key.split(" / ")
        return cls(*(["", *parts] if len(parts) == 3 else parts))


def compare(client: str, cell: Cell, told: dict[str, Any]) -> Check:
    """Right if the victim ends the same way; what both removed must not commit twice, whatever the client does."""
    is_committed = play(client, cell) == "committed"
    what: dict[str, Value] = {**cell._asdict(), "message": str(told.get("message", ""))[:60]}
    is_fault = bool(told.get("removed_twice"))
    unlike = UNLIKE.get((client, cell.victim, cell.rival), "")
    expected = "failed" if is_fault else str(told["outcome"])
    return Check(
        name=cell.victim,
        what=what,
        expected=expected,
        actual="committed" if is_committed else "failed",
        measure=UNJUDGED if unlike else EXACT,
        holds=bool(unlike) or is_committed == (expected == "committed"),
        note=TWICE if is_fault else unlike,
    )


def play(client: str, cell: Cell) -> str:
    """How the victim ends in the model."""
    victim, rival = OPERATIONS[client][cell.victim], OPERATIONS[client][cell.rival]
    meets = bool(set(victim.files) & set(rival.files))
    touched = ALL_FILES if meets else 1
    delta = {"client": CLIENTS[client], "initial_version": 3}
    level = {} if client == RS else {"isolation": ISOLATIONS[cell.isolation]}
    document = configuration(delta, source_of(victim, touched, level), source_of(rival, touched, {}), 1)
    # The victim reads partition 0 in the model: a rival that writes the partition it has read writes that.
    read_at = victim.partition if victim.read_partition is None else victim.read_partition
    return play_out(document, script_of(0, (1,)), rival_partition=int(read_at != rival.partition)).outcome


def source_of(does: Does, touched: int, level: Mapping[str, str]) -> dict[str, Any]:
    """As keys of a source."""
    source: dict[str, Any] = {"operation_types": {does.kind: 1.0}}
    if does.kind in ("merge", "optimize"):
        source["touched_files"] = touched
    if does.read:
        source |= {"read": does.read, **level}
    if not does.adds_rows:
        source["adds_rows"] = False
    return source


def run_rs(options: Options) -> Outcome:
    """Operations of delta-rs beside each other."""
    return _outcome(RS, INTRO_RS, options)


def run_spark(options: Options) -> Outcome:
    """Statements of Delta Spark beside each other."""
    return _outcome(SPARK, INTRO_SPARK, options)


def _outcome(client: str, intro: str, options: Options) -> Outcome:
    """Hold the model against a recording; quick: one isolation level."""
    document = read(client, "pairs")
    known = OPERATIONS[client]
    cells = {Cell.of(key): told for key, told in document["entries"].items()}
    judged = {cell: told for cell, told in cells.items() if cell.victim in known and cell.rival in known}
    if options.is_quick:
        judged = {cell: told for cell, told in judged.items() if cell.isolation == "Serializable"}
    checks = tuple(compare(client, cell, told) for cell, told in judged.items())
    versions = {key: document[key] for key in ("deltalake", "delta", "spark") if key in document}
    return Outcome(
        intro=intro,
        checks=checks,
        provenance=provenance(
            **versions, recorded=document["date"], cells=len(checks), not_modelled=len(cells) - len(judged)
        ),
    )
