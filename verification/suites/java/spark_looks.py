"""Suite ``requests``, when Spark looks at its table between load and commit: an epoch, and a copy-on-write filter.

What Spark and Iceberg did was recorded by ``rigs/spark/second_looks.py``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from endive.config import parse_config
from endive.rng import LOOK_READ, POINTER_READ, REFRESH, START_READ
from endive.verification.suite import Check, Options, Outcome, provenance
from verification.suites.beset import TWO_PARTITIONS, Script, beset_document
from verification.suites.java.java_requests import difference
from verification.suites.java.modelled_pair import DATA_FILES
from verification.suites.java.modelled_victim import play_requests
from verification.suites.java.request_recording import DATA, line_of
from verification.suites.java.request_trace import VALIDATION_EXCEPTION

RECORDING: Final = DATA / "spark_looks_1.10.0.json"
ENDS: Final = {"ValidationException": VALIDATION_EXCEPTION}
READS: Final = {"merge": "table", "update": "columns", "delete": "columns"}  # ON t.id = s.id; WHERE id = 30
STEPS: Final = {"look": (0, LOOK_READ), "refresh": (1, REFRESH), "swap": (1, POINTER_READ)}
INTRO: Final = """
A stream's epochs, and copy-on-write statements, through Spark itself behind a REST catalog that every look at the table
asks; a rival appends just before one of those reads, or while the rows to change are looked for. An epoch is right if
every count of requests from its data to its end is equal; a statement if it ends the same way. Statements that Spark
fails before any attempt ("Runtime file filtering is not possible") are recorded and not simulated.

With the catalog's cache off a statement reads its table twice before it commits, when it is planned and when the scan
is planned that finds its rows; who comes between the two fails it. With the cache on only a commit of its own session,
while rows are looked for, moves the table under it; an UPDATE is not moved.

Recorded by `python -m rigs.spark.second_looks`, with a PySpark of its own.
"""


def run(options: Options) -> Outcome:
    """Hold the model against the recording."""
    document = json.loads(RECORDING.read_text(encoding="utf-8"))
    release = line_of(document["iceberg"])
    checks = [compare(key, entry, release) for key, entry in document["entries"].items() if is_modelled(key)]
    return Outcome(
        intro=INTRO,
        checks=tuple(checks),
        provenance=provenance(
            iceberg=document["iceberg"], spark=document["spark"], recorded=document["date"], cells=len(checks)
        ),
    )


def is_modelled(key: str) -> bool:
    """Return whether a cell is simulated: not a statement that filters its files while it is planned."""
    return key.startswith("stream / ") or not moment_of(*key.split(" / "))[1]


def compare(key: str, entry: Mapping[str, Any], release: str) -> Check:
    """One cell."""
    if key.startswith("stream / "):
        return compare_epoch(key.partition(" / ")[2], entry, release)
    catalog, statement, rivals = key.split(" / ")
    return compare_statement(catalog, statement, rivals, entry, release)


def compare_epoch(rivals: str, entry: Mapping[str, Any], release: str) -> Check:
    """Right if the epoch asks for the same, from its look at the table on."""
    keys = {"operation_types": {"fast_append": 1.0}, "commit_path": "epoch"}
    config = parse_config(_document(keys, release, _rivals_in(rivals)))
    row, sent = play_requests(config, _rivals_in(rivals))
    simulated = Counter(f"{each.object}.{each.operation}" for _, each in sent[1:])  # the first loads the table
    del simulated["metadata.write"]  # the server's, which the recording leaves out
    real = Counter(entry["commit"])
    return Check(
        name="epoch of a stream",
        what={"catalog": "rest", "rivals": rivals, "read": "nothing: it appends"},
        expected=f"committed, {real.total()} requests",
        actual=f"{row['reason'] or row['status']}, {simulated.total()} requests",
        holds=row["status"] == "committed" and real == simulated,
        note=difference(real, simulated),
    )


def compare_statement(catalog: str, statement: str, rivals: str, entry: Mapping[str, Any], release: str) -> Check:
    """Right if the statement ends the same way."""
    real = "committed" if entry["outcome"] == "committed" else ENDS[entry["exception"]]
    script, _ = moment_of(catalog, statement, rivals)
    keys = {"operation_types": {"validated_overwrite": 1.0}, "overwrite": "overwrite_files", "touched_files": 1}
    keys |= {"read": READS[statement]}
    row, _ = play_requests(parse_config(_document(keys, release, script)), script, ("rival",))
    return Check(
        name=f"copy-on-write {statement}",
        what={"catalog": f"{catalog} in the session", "rivals": rivals, "read": READS[statement]},
        expected=real,
        actual=str(row["reason"] or row["status"]),
        holds=real == (row["reason"] or row["status"]),
    )


def moment_of(catalog: str, statement: str, rivals: str) -> tuple[Script, bool]:
    """Before which request of the model the rival comes, and whether the statement looks at its table as it filters."""
    is_shared = catalog == "cached" and rivals.endswith("the same session") and statement != "update"
    reads = [(0, START_READ), *([(0, LOOK_READ)] if catalog == "uncached" else []), (1, REFRESH)]
    if is_shared:
        return {(0, LOOK_READ): 1}, True
    if rivals.startswith("while"):
        return {(1, REFRESH): 1}, catalog == "uncached"
    place = int(rivals.rpartition(" ")[2]) if rivals != "nobody" else len(reads) + 1
    return ({reads[place - 1]: 1} if place <= len(reads) else {}), catalog == "uncached"  # the last follows the commit


def _rivals_in(text: str) -> Script:
    """``2 before the look, 1 before the refresh`` as a script."""
    script: dict[tuple[int, int], int] = {}
    for count, _, step in re.findall(r"(\d+) before (the|each of two) (\w+?)s?(?=,|$)", text):
        attempt, code = STEPS[step]
        script[attempt, code] = int(count)
        if "each of two" in text:
            script[attempt + 1, code] = int(count)
    return script


def _document(victim: Mapping[str, Any], release: str, script: Script) -> dict[str, Any]:
    touched = {"touched_files": 1} if "touched_files" in victim else {}
    return beset_document(
        {"total_timeout_ms": 0.0, **victim},
        {"operation_types": {"fast_append": 1.0}, **touched},
        turns=sum(script.values()) + 3,
        storage={"provider": "s3"},
        catalog={"type": "service", "service": {"flavour": "rest"}, "partitions": TWO_PARTITIONS},
        table={"data_files": DATA_FILES} if touched else {},
        commit={"release": release},
    )
