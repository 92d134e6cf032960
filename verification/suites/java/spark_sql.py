"""Suite ``requests``, statements of Spark SQL beside each other: which commit, held against the model.

What Spark and Iceberg did was recorded by ``rigs/spark/statements.py``, which says what the table looks
like and which files each statement touches. The filter that Spark hands over is not given to the model: it follows
from the statement, as ``READ`` has it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from endive.verification.suite import Check, Options, Outcome, Value, provenance
from verification.suites.beset import RIVAL_GAP_MS, TWO_PARTITIONS, VICTIM, beset_document, script_of
from verification.suites.java import modelled_victim
from verification.suites.java.modelled_pair import ALL_FILES, DATA_FILES
from verification.suites.java.request_recording import DATA

RECORDING: Final = DATA / "spark_sql_1.10.0.json"
INTRO: Final = """
MERGE, UPDATE, DELETE and `rewrite_data_files`, each beside each, through Spark SQL itself: a statement has read its
snapshot and waits, another one commits, the first goes on. Both modes, both isolation levels, format v2 and v3. A row
is right if the statement ends the same way in the model, which is told what it reads: the table if nothing in it speaks
of the target's columns, its partitions, or files by their statistics. Cells with a rollback are not judged.

136 of the cells were thrown by a die, and the model was asked before Spark was: it was right in all of the first 24, in
56 of the 57 of the next 60 that can be played and that it had words for, and in 40 of the 41 new ones of the last 52.
The two it missed are mended.

The recording lies in `verification/suites/java/data/`; `rigs/spark/statements.py` makes it, with a PySpark
of its own.
"""
REMARKS: Final = """
### Delete files that are replaced

On v2 a statement that deletes from a data file replaces the delete file which that has already
(`SparkPositionDeltaWrite.broadcastRewritableDeletes`, `RowDelta.removeDeletes`).

- DELETE does not call `validateDeletedFiles`: two DELETEs on one data file with deletes both commit, and both new
  delete files hold.
- MERGE and UPDATE call it, and from Iceberg 1.10 on it looks at delete files too. Beside a statement that has added
  deletes to the same data file they fail in any case ("Found new conflicting delete files"); beside
  `rewrite_position_delete_files`, which adds none, they fail if it has rewritten the delete file ("Missing required
  files to delete"). It fails itself if a statement has replaced a delete file which it rewrites.
"""
UNSAYABLE: Final = ("rollback",)
DELETES_REWRITTEN: Final = "rewrite_position_delete_files"
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
    "delete, id in (30, 90)": "columns",
    "delete, p in (3, 9) and id < 32": "columns",
    "delete, in a subquery": "table",
    "update, id between 30 and 33": "columns",
    "update, v = 0": "columns",
    "update, p = 3, in a subquery": "partitions",
    "merge, deletes by source": "table",
    "merge, t.id in (30, 31)": "columns",
    "merge, t.p = 3 or t.id = 90": "columns",
    "merge, t.p + 0 = 3": "partitions",  # Spark simplifies it
}
FILES: Final = {"A": (30, 33), "B": (35, 38), "E": (90, 93)}  # their ids; E is in partition 9
# Files that a statement takes or deletes from: A, unless it says more.
TOUCHED: Final = {
    "update, p = 3": "AB",
    "rewrite_data_files, p = 3": "AB",
    "update, p in (3, 5)": "AB",
    "delete, p = 3 and v = 0": "AB",
    "delete, id in (30, 90)": "AE",
    "update, v = 0": "ABE",
    "merge, deletes by source": "ABE",
    "rewrite_data_files": "ABE",
    DELETES_REWRITTEN: "AE",  # which have deletes then
}
# Whether a new file may hold rows that a statement has read, by its partition and its least and greatest id.
MATCHES: Final[dict[str, Callable[[int, int, int], bool]]] = {
    "update, id = 30": lambda p, low, high: low <= 30 <= high,
    "update, p = 3 and id = 30": lambda p, low, high: p == 3 and low <= 30 <= high,
    "delete, p = 3 and id = 30": lambda p, low, high: p == 3 and low <= 30 <= high,
    "merge, t.id < 50": lambda p, low, high: low < 50,
    "delete, id = 30": lambda p, low, high: low <= 30 <= high,
    "update, id < 31": lambda p, low, high: low < 31,
    "delete, id in (30, 90)": lambda p, low, high: low <= 30 <= high or low <= 90 <= high,
    "delete, p in (3, 9) and id < 32": lambda p, low, high: low < 32,
    "update, id between 30 and 33": lambda p, low, high: low <= 33,
    "update, v = 0": lambda p, low, high: True,
    "merge, t.id in (30, 31)": lambda p, low, high: low <= 31,
    "merge, t.p = 3 or t.id = 90": lambda p, low, high: p == 3 or low <= 90 <= high,
}
OVERWRITES: Final = {"validated_overwrite": 1.0}


class Deed(NamedTuple):
    """What a rival does: from which files it takes rows, and which ids it writes."""

    files: str = ""
    ids: tuple[int, ...] = ()


RIVALS: Final = {
    "insert, p = 9": Deed(ids=(94,)),
    "insert, p = 3": Deed(ids=(39,)),
    "insert, both partitions": Deed(ids=(39, 94)),
    "merge, inserts into p = 3": Deed(ids=(39,)),
    "delete, a row of p = 9": Deed("E"),
    "delete, another file": Deed("B"),
    "delete, the same file": Deed("A"),
    "delete, rows of both": Deed("BE"),
    "delete, all of p = 9": Deed("E"),
    "delete, all of p = 3": Deed("AB"),
    "update, another file": Deed("B", (36,)),
    "update, a row of p = 9": Deed("E", (91,)),
    "update, rows of both": Deed("AE", (31, 91)),
    "merge, the same file": Deed("A", (31,)),
    "merge, a row of p = 9": Deed("E", (91,)),
    "rewrite_data_files, p = 3": Deed("AB"),
    "rewrite_data_files, p = 9": Deed("E"),
    "insert overwrite, p = 9": Deed("E", (94,)),
    "insert overwrite, p = 3": Deed("AB", (39,)),
    "delete, the same file with deletes": Deed("A"),
    "delete, a row of p = 9 with deletes": Deed("E"),
    "delete, another file without": Deed("B"),
    DELETES_REWRITTEN: Deed("AE"),
}


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
    def is_sayable(self) -> bool:
        """Whether the model has words for both statements."""
        return self.victim not in UNSAYABLE and self.rival not in UNSAYABLE

    @property
    def deed(self) -> Deed:
        """What the rival does."""
        return RIVALS[self.rival]

    @property
    def new_files(self) -> list[tuple[int, int, int]]:
        """Files that the rival adds: partition, least and greatest id. Copy-on-write keeps a file's other rows."""
        is_kept = self.mode == "copy-on-write" and self.rival.startswith(("update", "merge, the", "merge, a", "delete"))
        if is_kept and "all of" not in self.rival:
            ranges = [FILES[each] for each in self.deed.files]
        else:
            ranges = [(id, id) for id in self.deed.ids]
        return [(low // 30 * 3, low, high) for low, high in ranges]

    @property
    def read_in(self) -> set[int]:
        """Partitions in which a file that the rival adds may hold rows the victim has read."""
        is_matched = MATCHES.get(self.victim)
        if is_matched is None or self.rival.startswith("rewrite"):
            return set()
        if self.victim == "update, v = 0" and self.mode == "merge-on-read" and not self.is_inserting:
            return set()  # the new rows have another v
        return {each[0] for each in self.new_files if is_matched(*each)}

    @property
    def is_inserting(self) -> bool:
        """Whether the rival adds rows with the v of all others."""
        return self.rival.startswith(("insert", "merge, inserts"))

    @property
    def meets(self) -> bool:
        """Whether both touch the same file, or the rival adds rows that the victim has read."""
        touched = TOUCHED.get(self.victim, "A")
        return bool(set(touched) & set(self.deed.files)) or (self.isolation == "serializable" and bool(self.read_in))

    def names_in(self, partitions: set[int]) -> tuple[str, ...]:
        """Which of the two work on just these partitions: 3, 9."""
        ranges = [FILES[each] for each in self.deed.files] or [(id, id) for id in self.deed.ids]
        works = {
            VICTIM: {3, 9} if "E" in TOUCHED.get(self.victim, "A") or 9 in self.read_in else {3},
            "rival": {low // 30 * 3 for low, _ in ranges} or {3, 9},
        }
        return tuple(name for name, where in works.items() if where == partitions)


def run(options: Options) -> Outcome:
    """Hold the model against the recording."""
    document = json.loads(RECORDING.read_text(encoding="utf-8"))
    cells = [(Cell.of(key), told) for key, told in document["entries"].items()]
    checks = tuple(compare(cell, told) for cell, told in cells if cell.is_sayable)
    return Outcome(
        intro=INTRO,
        checks=checks,
        remarks=REMARKS,
        provenance=provenance(
            iceberg=document["iceberg"], spark=document["spark"], recorded=document["date"], cells=len(cells)
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
    late = {"kind": "periodic", "period_ms": 1e10, "offset_ms": RIVAL_GAP_MS}
    document = beset_document(
        {"total_timeout_ms": 0.0, "touched_files": touched, **victim(cell)},
        {"arrivals": late, "touched_files": touched, **rival(cell)},
        turns=5,
        storage={"provider": "s3"},
        catalog={"type": "service", "partitions": TWO_PARTITIONS},
        table={"data_files": DATA_FILES, "format_version": cell.version},
    )
    elsewhere, everywhere = cell.names_in({9}), cell.names_in({3, 9})
    return modelled_victim.play_out(document, script_of(1), elsewhere, everywhere=everywhere).outcome


def victim(cell: Cell) -> dict[str, Any]:
    """The statement that waits, as keys of a source."""
    if cell.victim == DELETES_REWRITTEN:
        return {"operation_types": {"rewrite_files": 1.0}, "rewritten_files": "position_deletes"}
    if cell.victim.startswith("rewrite"):
        return {"operation_types": {"rewrite_files": 1.0}}
    if cell.victim == "merge, not matched alone":  # Spark makes an append of it (``RewriteMergeIntoTable``)
        return {"operation_types": {"merge_append": 1.0}}
    if cell.victim.startswith("insert overwrite"):
        return {"operation_types": OVERWRITES, "overwrite": "replace_partitions"}
    if cell.victim == "delete, p = 3":  # metadata only
        return {"operation_types": OVERWRITES, "checks": "none", "overwrite": "overwrite_files", "adds_rows": False}
    keys: dict[str, Any] = {"operation_types": OVERWRITES, "isolation": cell.isolation, "read": READ[cell.victim]}
    if cell.mode == "copy-on-write":
        return {**keys, "overwrite": "overwrite_files"}
    if cell.victim.startswith("delete"):
        keys |= {"checks": "added_rows", "adds_rows": False}
    return {**keys, "overwrite": "row_delta"}


def rival(cell: Cell) -> dict[str, Any]:
    """The statement that overtakes it: checked by nobody, since it is alone."""
    statement = cell.rival.partition(",")[0]
    if cell.rival == DELETES_REWRITTEN:
        return {"operation_types": {"rewrite_files": 1.0}, "rewritten_files": "position_deletes"}
    if cell.victim == DELETES_REWRITTEN and cell.rival.startswith(("insert overwrite", "delete, all of")):
        return {"operation_types": OVERWRITES, "overwrite": "replace_partitions"}
    if cell.rival.startswith("insert overwrite"):
        rows = {"added_rows": "apart"} if cell.victim in MATCHES and not cell.read_in else {}
        return {"operation_types": OVERWRITES, "checks": "none", "overwrite": "overwrite_files", **rows}
    if cell.is_inserting:
        return {"operation_types": {"fast_append": 1.0}}
    if statement == "rewrite_data_files":
        return {"operation_types": {"rewrite_files": 1.0}}
    keys: dict[str, Any] = {"operation_types": OVERWRITES, "checks": "none"}
    if cell.rival.startswith("delete, all of"):  # metadata only
        return {**keys, "overwrite": "overwrite_files", "adds_rows": False}
    rows = {"added_rows": "apart"} if cell.victim in MATCHES and not cell.read_in else {}
    if cell.mode == "copy-on-write":
        return {**keys, "overwrite": "overwrite_files", **rows}
    if cell.victim == DELETES_REWRITTEN:  # who asks for no checks is taken for a sink, which replaces no deletes
        keys["checks"] = "added_rows"
    if statement == "delete":
        return {**keys, "overwrite": "row_delta", "adds_rows": False}
    return {**keys, "overwrite": "row_delta", **rows}
