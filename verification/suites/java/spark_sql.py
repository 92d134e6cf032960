"""Suite ``requests``, statements of Spark SQL beside each other: which commit, held against the model.

What Spark and Iceberg did was recorded by ``verification/spark_rig/statements.py``, which says what the table looks
like and which files each statement touches. The filter that Spark hands over is not given to the model: it follows
from the statement, as ``READ`` has it.
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from endive.verification.suite import Check, Options, Outcome, Value, provenance
from verification.suites.java import modelled_victim
from verification.suites.java.modelled_pair import ALL_FILES, DATA_FILES
from verification.suites.java.modelled_victim import RIVAL_GAP_MS, VICTIM, Moments
from verification.suites.java.request_recording import DATA

SUITE: Final = "requests"
PART: Final = "spark sql"
COMMAND: Final = "endive verify requests"
RECORDING: Final = DATA / "spark_sql_1.10.0.json"
INTRO: Final = """
MERGE, UPDATE, DELETE and `rewrite_data_files`, each beside each, through Spark SQL itself: a statement has read its
snapshot and waits, another one commits, the first goes on. Both modes, both isolation levels, format v2 and v3. A row
is right if the statement ends the same way in the model, which is told what the statement reads: the table if nothing
in it speaks of the target's columns, its partitions, or files by their statistics.

24 of the cells were thrown by a die, with statements nobody had asked (MERGE that inserts too, IN, `id < 31`): the
model was asked before Spark was, and all 24 were right.

The recording lies in `verification/suites/java/data/`; `verification/spark_rig/statements.py` makes it, with a PySpark
of its own.
"""
READ: Final = {
    "merge": "table",
    "merge, t.p = 3": "partitions",
    "update, id = 30": "columns",
    "update, p = 3": "partitions",
    "update, p = 3 and id = 30": "files",
    "delete, p = 3 and id = 30": "files",
    "merge, t.p = s.p": "table",  # a column of the source is no predicate on the target
    "merge, t.id < 50": "columns",
    "merge, t.p < 5": "partitions",
    "delete, id = 30": "columns",
    "merge, upsert": "table",
    "merge, upsert, t.p = 3": "partitions",
    "merge, delete, t.p in (3, 5)": "partitions",
    "update, id < 31": "columns",
    "update, p in (3, 5)": "partitions",
    "delete, p = 3 and v = 0": "partitions",
}
ALL_OF_IT: Final = ("update, p = 3", "rewrite_data_files, p = 3", "update, p in (3, 5)", "delete, p = 3 and v = 0")
OVERWRITES: Final = {"validated_overwrite": 1.0}


class Cell(NamedTuple):
    """One statement beside another."""

    version: int
    mode: str
    isolation: str
    victim: str
    rival: str

    @classmethod
    def of(cls, key: str) -> Cell:
        """From the recording's key."""
        version, mode, isolation, victim, rival = key.split(" / ")
        return cls(int(version[1:]), mode, isolation, victim, rival)

    @property
    def is_elsewhere(self) -> bool:
        """Whether the rival works on the other partition."""
        return "p = 9" in self.rival

    @property
    def meets(self) -> bool:
        """Whether both touch the same file."""
        if self.is_elsewhere or self.rival.startswith(("insert", "merge, inserts")):
            return (self.victim, self.rival) == ("merge, t.id < 50", "insert, p = 3")  # the new row, 39, is one it read
        return self.victim in ALL_OF_IT or "the same file" in self.rival or self.rival.startswith("rewrite")


def run(options: Options) -> Outcome:
    """Hold the model against the recording."""
    document = json.loads(RECORDING.read_text(encoding="utf-8"))
    checks = tuple(compare(Cell.of(key), told) for key, told in document["entries"].items())
    return Outcome(
        suite=SUITE,
        part=PART,
        intro=INTRO,
        checks=checks,
        command=COMMAND,
        provenance=provenance(
            iceberg=document["iceberg"], spark=document["spark"], recorded=document["date"], cells=len(checks)
        ),
    )


def compare(cell: Cell, told: dict[str, str]) -> Check:
    """Right if the statement ends the same way."""
    is_committed = play(cell) == "committed"
    what: dict[str, Value] = {**cell._asdict(), "message": told.get("message", "")[:60]}
    return Check(
        name=cell.victim,
        what=what,
        expected=told["outcome"],
        actual="committed" if is_committed else "failed",
        holds=is_committed == (told["outcome"] == "committed"),
    )


def play(cell: Cell) -> str:
    """How the statement ends in the model."""
    touched: Any = ALL_FILES if cell.meets else 1
    arrivals = {"kind": "periodic", "period_ms": 1e10}
    late = {"kind": "periodic", "period_ms": 1e10, "offset_ms": RIVAL_GAP_MS}
    document = {
        "simulation": {"duration_ms": 5 * RIVAL_GAP_MS, "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "storage": {"provider": "s3"},
        "catalog": {"type": "service", "partitions": {"enabled": True, "num_partitions": 2}},
        "table": {"data_files": DATA_FILES, "format_version": cell.version},
        "transaction": {"runtime": {"distribution": "fixed", "ms": 1000.0}},
        "source": [
            {"name": VICTIM, "arrivals": arrivals, "total_timeout_ms": 0.0, "touched_files": touched, **victim(cell)},
            {"name": "rival", "arrivals": late, "touched_files": touched, **rival(cell)},
        ],
    }
    return modelled_victim.play_out(document, Moments(1, ()), ("rival",) if cell.is_elsewhere else ()).outcome


def victim(cell: Cell) -> dict[str, Any]:
    """The statement that waits, as keys of a source."""
    if cell.victim.startswith("rewrite"):
        return {"operation_types": {"rewrite_files": 1.0}}
    if cell.victim == "merge, not matched alone":  # Spark makes an append of it (``RewriteMergeIntoTable``)
        return {"operation_types": {"merge_append": 1.0}}
    if cell.victim.startswith("insert overwrite"):
        return {"operation_types": OVERWRITES, "overwrite": "replace_partitions"}
    keys: dict[str, Any] = {"operation_types": OVERWRITES, "isolation": cell.isolation, "read": READ[cell.victim]}
    if cell.mode == "copy-on-write":
        return {**keys, "overwrite": "overwrite_files"}
    if cell.victim.startswith("delete"):
        keys |= {"checks": "added_rows", "adds_rows": False}
    return {**keys, "overwrite": "row_delta"}


def rival(cell: Cell) -> dict[str, Any]:
    """The statement that overtakes it: checked by nobody, since it is alone."""
    statement = cell.rival.partition(",")[0]
    if cell.rival.startswith("insert overwrite"):
        return {"operation_types": OVERWRITES, "checks": "none", "overwrite": "overwrite_files"}
    if statement == "insert" or cell.rival.startswith("merge, inserts"):
        return {"operation_types": {"fast_append": 1.0}}
    if statement == "rewrite_data_files":
        return {"operation_types": {"rewrite_files": 1.0}}
    keys: dict[str, Any] = {"operation_types": OVERWRITES, "checks": "none"}
    if cell.rival == "delete, all of p = 9":  # metadata only
        return {**keys, "overwrite": "overwrite_files", "adds_rows": False}
    if cell.mode == "copy-on-write":
        return {**keys, "overwrite": "overwrite_files"}
    if statement == "delete":
        return {**keys, "overwrite": "row_delta", "adds_rows": False}
    is_apart = cell.victim.endswith(("id = 30", "id < 31"))  # the new file has the rival's row, and no other
    rows = {"added_rows": "apart"} if is_apart else {}
    return {**keys, "overwrite": "row_delta", **rows}
