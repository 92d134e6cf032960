"""The page ``docs/model/conflicts.md``, and beside it every pair as a row: who makes whom fail, and what is read.

What was recorded lives in ``pair_recording``; ``python -m verification.conflicts`` writes both files.
"""

from __future__ import annotations

from typing import Final

from verification.suites.java.pair_recording import PairRecording, RecordedPair
from verification.suites.java.pair_sheets import SHEETS, all_pairs
from verification.suites.java.pairs import BEFORE, DURING, OTHER_PARTITION, SAME_FILE, SAME_ROWS, Pair
from verification.suites.java.request_trace import bill

# How the message of a failure begins, and the letter it gets.
REASONS: Final = {
    "Found conflicting files": "D",
    "Found new conflicting delete files": "d",
    "Cannot commit, found new delete": "r",
    "Cannot commit, found new position delete": "r",
    "Found concurrently added DV": "V",
    "Cannot commit, missing data files": "X",
    "Missing required files to delete": "M",
    "Found conflicting deleted files": "G",
    "Cannot determine history": "H",
    "Snapshot ... is not an ancestor": "A",
    "Deleted manifest": "m",
    "arraySize cannot be negative": "N",
    "(Service: S3": "S",
    "Cannot invoke": "N",
    "Cannot roll back": "B",
}
# What the page shows: statements as engines send them, and rivals as (name, what they touch, heading).
STATEMENTS: Final = {
    "fast_append": "an append",
    "row_delta referring serializable, read the table": "MERGE ON t.id = s.id, merge-on-read",
    "row_delta referring snapshot, read the table": "the same at snapshot isolation",
    "row_delta referring serializable, read its partition": "MERGE ... AND t.p = 3, merge-on-read",
    "row_delta referring snapshot, read its partition": "the same at snapshot isolation",
    "overwrite_files serializable, read the table": "MERGE ON t.id = s.id, copy-on-write",
    "overwrite_files snapshot, read the table": "the same at snapshot isolation",
    "overwrite_files serializable, read its partition": "MERGE ... AND t.p = 3, copy-on-write",
    "row_delta delete serializable, read its partition": "DELETE WHERE p = 3 ..., merge-on-read",
    "row_delta delete snapshot, read its partition": "the same at snapshot isolation",
    "v3 row_delta delete snapshot, read its partition": "the same on format v3",
    "replace_partitions": "INSERT OVERWRITE, dynamic",
    "rewrite_files sequenced": "compaction (Spark, Trino, Flink)",
    "rewrite_manifests planned": "rewrite_manifests",
    "upsert unchecked": "Flink's upsert, Kafka Connect's deltas",
}
RIVALS_SHOWN: Final = (
    ("append", OTHER_PARTITION, "append to another partition"),
    ("append", SAME_ROWS, "append of rows it read"),
    ("row_delta delete", OTHER_PARTITION, "merge-on-read DELETE in another partition"),
    ("row_delta delete", SAME_FILE, "merge-on-read DELETE in its file"),
    ("upsert", SAME_ROWS, "upsert of rows it read"),
    ("overwrite_files", SAME_FILE, "copy-on-write of its file"),
    ("rewrite_files", OTHER_PARTITION, "compaction of another partition"),
    ("rewrite_files", SAME_FILE, "compaction of its file"),
)
READ: Final = (
    "list of the table",
    "list of a rival",
    "data manifest of the table",
    "data manifest of a rival",
    "deletes manifest of a rival",
)
INTRO: Final = """# Who conflicts with whom

What Java Iceberg {iceberg} did, recorded on {date}; written by `python -m verification.conflicts` from the recording
that `python -m rigs.record java-pairs` makes.

A partitioned table has eight data files, each in a manifest and a snapshot of its own. The *victim* loads it, *rivals*
commit, then the victim commits. The victim works on one partition: unless its name says otherwise it has read ids below
10 there; it touches (replaces, deletes or refers to) the files A and B, and adds a file. A rival touches
*{same_file}* (A), *{other_file}* (C1 to C3) or *another partition*
(E1 to E3); its new rows are those of the file it touches, so that one that rewrites A adds rows the victim has read.
Position deletes name the file they refer to, except those of *row_delta, its partition*, and have no bounds of ids, as
in real files: a filter on rows does not tell them apart. *upsert* are equality deletes, which have such bounds. Through
a JDBC catalog; which catalog it is changes neither a verdict nor a list or manifest read.

## What engines send, beside what they meet most

`.` the statement commits. A letter: it fails for good, at the first attempt that sees the rival; Iceberg does not retry
any of these. [conflicts.csv](conflicts.csv) has all {pairs:,} recorded pairs, with what each attempt read.

"""
FOLLOWS: Final = """
## What follows

**Which lists.** An attempt reads the newest list, and the list of every snapshot since its start whose operation one of
its checks looks at; each list once, however many checks want it.

- Data files added: append, overwrite. Asked for by serializable row deltas, overwrites of files, replace partitions.
- Delete files added: overwrite, delete. Asked for by all that check anything but Spark's DELETE.
- Data files removed: overwrite, replace; delete too if deletes are validated. Asked for by row deltas that refer to
  files; by checked replace partitions with delete in any case.

**Which manifests.** For each check, the manifests those snapshots added: data manifests for data files, delete
manifests for delete files. A row delta and an overwrite of files skip what lies in other partitions; rewrite files and
replace partitions do not. Two checks that want the same manifest read it twice. An overwrite, rewrite or delete of
files leaves a rewritten manifest per file it took besides the new one, which the check for removed files reads too.

**Which verdict.** New rows that match what the victim read: `D`. Delete files: a row delta fails beside any delete file
in the partition it read, whichever data file it belongs to (`d`); an overwrite or rewrite of files only if the deletes
apply to a file it takes (`r`), which deletes without a named file do. A data file that is gone: a row delta that refers
to it fails (`X`; Spark's DELETE does not mind a rival that deleted it), an overwrite of files that checks for deletes
and a rewrite of files fail (`M`), an unchecked one does not notice. Checked replace partitions fail beside anything in
the partition. Appends, unchecked overwrites and `clusterBy` rewrites of manifests never fail. A planned rewrite of
manifests fails if one of its manifests is gone (`m`): beside everything that takes a data file, in any partition.

**Expired snapshots.** A row delta fails as soon as its starting snapshot is gone (`A`), other checked operations only
if a snapshot after it is gone too (`H`: the chain of parents has a hole); unchecked ones do not look. Two
`expire_snapshots` at once can end in an error of Iceberg's own (`N`).

**Afterwards.** After a `ValidationException` the manifests and lists that earlier attempts wrote are deleted. After an
`IllegalArgumentException` (`A`, `N`) they stay behind.
"""
DETAIL: Final = """
## What is read

[conflicts.csv](conflicts.csv) has a row per victim, rival, number of rivals and moment: *before* its commit, or
*late*, between refresh and swap of its first attempt; a row without a rival is the victim alone. After the verdict
comes what the attempt that met the rival reads (the first, or the second where the rival came late), up to a failure:
manifest lists, and manifests of the table itself (there before the victim loaded), data manifests of rivals, delete
manifests of rivals, each as often as it is read; empty where an attempt had nothing left to do.
"""
HEADINGS: Final = (
    "victim",
    "sent by",
    "rival",
    "touches",
    "rivals",
    "moment",
    "verdict",
    "lists",
    "manifests of the table",
    "data manifests of rivals",
    "delete manifests of rivals",
    "manifests written",
)


def conflict_page(recording: PairRecording) -> str:
    """The whole page."""
    intro = INTRO.format(
        iceberg=recording.iceberg,
        date=recording.date,
        same_file=SAME_FILE,
        other_file="another file of its partition",
        pairs=len(recording.pairs),
    )
    parts = [intro, *_verdicts(recording), "", *_letters(recording), FOLLOWS, DETAIL]
    return "\n".join(parts).rstrip() + "\n"


def letter(seen: RecordedPair) -> str:
    """The verdict in one letter."""
    if seen.is_committed:
        return "."
    return next((short for start, short in REASONS.items() if seen.message.startswith(start)), "?")


def _letters(recording: PairRecording) -> list[str]:
    met = {
        start: sorted({each.exception for each in recording.pairs.values() if each.message.startswith(start)})
        for start in REASONS
    }
    return [f"- `{REASONS[start]}`: {start} ... ({', '.join(seen)})" for start, seen in met.items() if seen]


def _verdicts(recording: PairRecording) -> list[str]:
    """Statements down, rivals across."""
    victims = {victim.name: victim for sheet in SHEETS for victim in sheet.victims}
    rivals = {(rival.name, rival.touches): rival for sheet in SHEETS for rival in sheet.rivals}
    lines = ["| statement | " + " | ".join(heading for *_, heading in RIVALS_SHOWN) + " |"]
    lines.append("|---|" + ":-:|" * len(RIVALS_SHOWN))
    for name, statement in STATEMENTS.items():
        pairs = [
            Pair(victim=victims[name], rival=rivals[rival, touches], count=1, when=BEFORE)
            for rival, touches, _ in RIVALS_SHOWN
        ]
        lines.append(
            f"| {statement} | " + " | ".join(f"`{letter(recording.pairs[each.key])}`" for each in pairs) + " |"
        )
    return lines


def conflict_rows(recording: PairRecording) -> list[tuple[str, ...]]:
    """The rows of ``conflicts.csv``, its headings first: every pair that was recorded."""
    return [HEADINGS, *(_row(pair, recording.pairs[pair.key]) for pair in all_pairs() if pair.key in recording.pairs)]


def _row(pair: Pair, seen: RecordedPair) -> tuple[str, ...]:
    attempt = 1 if pair.when == DURING else 0
    has_read = attempt < seen.attempts and attempt < len(seen.reads)
    reads = seen.reads[attempt] if has_read else {}
    lists = sum(number for name, number in reads.items() if name.startswith("list"))
    counts = (lists, *(reads.get(name, 0) for name in READ[2:])) if has_read else ("",) * 4
    written = sum(bill(requests).get("manifest.write", 0) for requests in seen.recorded.attempts)
    rival = (pair.rival.name, pair.rival.touches) if pair.rival else ("", "")
    moment = "late" if pair.when == DURING else "before"
    names = (pair.victim.name, pair.victim.who, *rival)
    return (*names, str(pair.count), moment, letter(seen), *map(str, counts), str(written))
