"""The page ``docs/model/conflicts.md``, and beside it every pair as a row: who makes whom fail, and what is read.

What was recorded lives in ``pair_recording``; ``python -m verification.conflicts`` writes both files.
"""

from __future__ import annotations

from typing import Final

from verification.suites.java.pair_recording import PairRecording, RecordedPair
from verification.suites.java.pair_sheets import RIVALS, SHEETS, VICTIMS, Sheet
from verification.suites.java.pairs import BEFORE, DURING, FILES_PER_CLASS, Pair, Rival, Victim
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
READ: Final = (
    "list of the table",
    "list of a rival",
    "data manifest of the table",
    "data manifest of a rival",
    "deletes manifest of a rival",
)
INTRO: Final = """# Who conflicts with whom

What Java Iceberg {iceberg} did, recorded on {date}; written by `python -m verification.conflicts` from the recording
in `verification/suites/java/data/`, which `python -m verification.record java-pairs` makes. Nothing on this page is
typed in by hand but the text.

A table is partitioned and has eight data files, each in a manifest and a snapshot of its own. The *victim* loads it,
*rivals* commit, then the victim commits. The victim works on one partition: unless its name says otherwise it has read
ids below 10 there; it touches (replaces, deletes or refers to) the files A and B, and adds a file. C1 to C3 are other
files of the same partition, E1 to E3 of another one. JDBC catalog; which catalog it is changes neither a verdict nor a
list or manifest read.

A rival touches *{same_file}* (A), *{other_file}* (C1) or *another partition* (E1); new rows of a rival are those of the
file it touches, so that a rival that rewrites A adds rows the victim has read. Position deletes name the file they
refer to, except those of *row_delta, its partition*. As in real files, they have no bounds of ids: a filter on rows
does not tell them apart. *upsert* are equality deletes, which have such bounds.

## Verdicts

`.` the victim commits. A letter: it fails for good, at the first attempt that sees the rival; Iceberg does not retry
any of these.

| letter | message | exception |
|---|---|---|
{letters}

"""
FOLLOWS: Final = """
## What follows

**Which lists.** An attempt reads the newest list, and the list of every snapshot since its start whose operation one of
its checks looks at; each list once, however many checks want it.

| check | looks at snapshots that | asked for by |
|---|---|---|
| data files added | append, overwrite | serializable row delta, overwrite of files, replace partitions |
| delete files added | overwrite, delete | all that check anything but Spark's DELETE |
| data files removed | overwrite, replace; delete too if deletes are validated | row deltas that refer to files |
| data files removed | overwrite, replace, delete | checked replace partitions |

**Which manifests.** For each check, the manifests those snapshots added: data manifests for data files, delete
manifests for delete files. A row delta and an overwrite of files skip what lies in other partitions; rewrite files and
replace partitions do not. Two checks that want the same manifest read it twice: beside a row delta, a row delta that
refers to files reads the rival's data manifest once for removed and once for added files. An overwrite, rewrite or
delete of files leaves a rewritten manifest per file it took besides the new one, which the check for removed files
reads too.

**Which verdict.** New rows that match what the victim read: `D`. Delete files: a row delta fails beside any delete file
in the partition it read, whichever data file it belongs to (`d`); an overwrite or rewrite of files only if the deletes
apply to a file it takes (`r`), which deletes without a named file do. A data file that is gone: a row delta that refers
to it fails (`X`; Spark's DELETE does not mind a rival that deleted it), an overwrite of files that checks for deletes
and a rewrite of files fail (`M`), an unchecked one does not notice. Checked replace partitions fail beside anything in
the partition. Appends, unchecked overwrites and `clusterBy` rewrites of manifests never fail. A planned rewrite of
manifests fails if one of its manifests is gone (`m`): beside everything that takes a data file, in any partition, not
beside appends and row deltas.

**Expired snapshots.** A row delta fails as soon as its starting snapshot is gone (`A`). Other checked operations fail
only if a snapshot after it is gone too (`H`): the chain of parents has a hole. Unchecked ones do not look. Two
`expire_snapshots` at once can end in an error of Iceberg's own (`N`).

**Afterwards.** After a `ValidationException` the manifests and lists that earlier attempts wrote are deleted. After `A`
and `N`, which are an `IllegalArgumentException`, they stay behind.
"""
DETAIL: Final = """
## What is read

[conflicts.csv](conflicts.csv) has a row per victim, rival, number of rivals and moment: *before* its commit, or
*late*, between refresh and swap of its first attempt. The verdict is a letter as above; then what the attempt that met
the rival reads (the first, or the second where the rival came late): manifest lists, and manifests of the table itself
(there before the victim loaded), data manifests of rivals, delete manifests of rivals. A manifest that an attempt reads
twice counts twice. Where the victim fails, the counts are those up to the failure; they are empty where an attempt had
nothing left to do. A row without a rival is the victim alone.
"""
HEADINGS: Final = (
    "victim",
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
    parts = [
        INTRO.format(
            iceberg=recording.iceberg,
            date=recording.date,
            letters=_letters(recording),
            same_file="a file the victim touches",
            other_file="another file of its partition",
        ),
        *(line for sheet in SHEETS for line in _verdicts(sheet, recording)),
        FOLLOWS,
        DETAIL,
    ]
    return "\n".join(parts).rstrip() + "\n"


def letter(found: RecordedPair) -> str:
    """The verdict in one letter."""
    if found.is_committed:
        return "."
    return next((short for start, short in REASONS.items() if found.message.startswith(start)), "?")


def _letters(recording: PairRecording) -> str:
    rows = []
    for start, short in REASONS.items():
        met = sorted({each.exception for each in recording.pairs.values() if each.message.startswith(start)})
        if met:
            rows.append(f"| `{short}` | {start} ... | {', '.join(met)} |")
    return "\n".join(rows)


def _verdicts(sheet: Sheet, recording: PairRecording) -> list[str]:
    """Rivals down, victims across; a victim's column is numbered."""
    numbers = [str(number + 1) for number in range(len(sheet.victims))]
    lines = [f"### {sheet.title}", ""]
    lines += ["| rival | touches | " + " | ".join(numbers) + " |", "|---|---|" + ":-:|" * len(sheet.victims)]
    for rival in sheet.rivals:
        for count in (1, FILES_PER_CLASS) if rival.java == "append_and_expire" else (1,):
            cells = []
            for victim in sheet.victims:
                found = _found(recording, victim, rival, count, BEFORE)
                cells.append("" if found is None else f"`{letter(found)}`")
            name = rival.name if count == 1 else rival.name.replace("append", f"{count} appends")
            operation = f" ({rival.operation})" if rival.operation else ""
            lines.append(f"| {name}{operation} | {rival.touches} | " + " | ".join(cells) + " |")
    lines += ["", "In brackets: the operation that the rival's snapshot names. The victims:", ""]
    lines += [f"{number}. `{victim.name}`: {victim.who}" for number, victim in zip(numbers, sheet.victims, strict=True)]
    return [*lines, ""]


def _found(recording: PairRecording, victim: Victim, rival: Rival | None, count: int, when: str) -> RecordedPair | None:
    return recording.pairs.get(Pair(victim=victim, rival=rival, count=count, when=when).key)


def conflict_rows(recording: PairRecording) -> list[tuple[str, ...]]:
    """The rows of ``conflicts.csv``, its headings first."""
    rows: list[tuple[str, ...]] = [HEADINGS]
    for victim in VICTIMS:
        rows.append(_row(victim, None, 0, BEFORE, recording))
        for rival in RIVALS:
            late = FILES_PER_CLASS if rival.java == "append_and_expire" else 1
            asked = ((1, BEFORE), (FILES_PER_CLASS, BEFORE), (late, DURING))
            rows += [_row(victim, rival, count, when, recording) for count, when in asked]
    return [row for row in rows if row]


def _row(victim: Victim, rival: Rival | None, count: int, when: str, recording: PairRecording) -> tuple[str, ...]:
    """One pair; nothing if it was not recorded."""
    found = _found(recording, victim, rival, count, when)
    if found is None:
        return ()
    attempt = 1 if when == DURING else 0
    has_read = attempt < found.attempts and attempt < len(found.reads)
    reads = found.reads[attempt] if has_read else {}
    lists = sum(number for name, number in reads.items() if name.startswith("list"))
    counts = (lists, *(reads.get(name, 0) for name in READ[2:])) if has_read else ("",) * 4
    written = sum(bill(requests).get("manifest.write", 0) for requests in found.recorded.attempts)
    met = (rival.name, rival.touches) if rival else ("", "")
    moment = "late" if when == DURING else "before"
    return (victim.name, *met, str(count), moment, letter(found), *map(str, counts), str(written))
