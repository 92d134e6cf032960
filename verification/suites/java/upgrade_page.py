"""The page ``docs/validation/upgrade.md``: what a newer release of Iceberg changes for a table, from two recordings.

Verdicts first, then requests: which operation asks for what more or less, and beside whom. ``python -m
verification.upgrade`` writes the page.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from verification.suites.java.pair_recording import PairRecording, RecordedPair
from verification.suites.java.pair_sheets import all_pairs
from verification.suites.java.pairs import Pair
from verification.suites.java.request_trace import bill

FILE: Final = "upgrade.csv"
PAIRS_SHOWN: Final = 30  # that change in the same way: fewer are in the file alone
INTRO: Final = """# What does the upgrade change for my table?

Iceberg {old} against {new}: {both:,} pairs of victim and rival, played on both and recorded on {old_date} and
{new_date} (`python -m rigs.record java-pairs --release {new}`). Written by `python -m verification.upgrade`.

**Verdicts.** {verdicts}

**Requests.** {same:,} pairs ask for exactly the same, {ordered:,} for the same in another order, {other:,} for more or
less. Who fails for good is not counted here. Below is what {shown} or more pairs have in common; the rest is in
[{file}]({file}).

| operation | beside | what {new} asks for more (+) or less (-) | pairs |
|---|---|---|--:|
"""
MEANS: Final = """
**What it means.** Whatever takes data files out of a table (copy-on-write MERGE, UPDATE and DELETE, INSERT OVERWRITE,
compaction) opens every delete manifest of the table once in its first attempt, and in later attempts those that came
since. A merge-on-read table that is seldom compacted has many: count them with
`SELECT count(*) FROM t.manifests WHERE content = 1`. They cost a round trip per {parallel} of them, within the hazard
window. `expire_snapshots` opens no manifests any more.

A merge-on-read MERGE or UPDATE of Spark replaces the delete files that its data files have. From 1.10 on it fails for
good if a `rewrite_position_delete_files` has taken one of them since its scan (`RowDelta.validateDeletedFiles`). Run
that when no MERGE or UPDATE works on its partitions, or be ready to run those again.

The newest recorded release is the default of `commit.release`; `endive compare` with `--set commit.release=1.9` tells
what the upgrade does to a workload of yours.
"""


BETWEEN: Final = """
**Iceberg {release}** was asked for {both:,} of these pairs. {verdicts} Of the {differing:,} that ask for more or less
at {new} than at {old}, {as_old:,} ask for what {old} does, {as_new:,} for what {new} does, and {neither:,} for
something between.
"""


def upgrade_page(old: PairRecording, new: PairRecording, between: PairRecording) -> str:
    """The whole page; ``between`` is a release of which some pairs were recorded."""
    pairs = [pair for pair in all_pairs() if pair.key in old.pairs and pair.key in new.pairs]
    found = [(pair, old.pairs[pair.key], new.pairs[pair.key]) for pair in pairs]
    changed = [pair.key for pair, before, after in found if before.recorded.outcome != after.recorded.outcome]
    verdicts = "Not one differs." if not changed else "These differ: " + "; ".join(f"`{key}`" for key in changed) + "."
    judged = [each for each in found if each[1].is_committed and each[2].is_committed]
    differing = [each for each in judged if _difference(each[1], each[2])]
    ordered = sum(before.recorded != after.recorded for _, before, after in judged) - len(differing)
    head = INTRO.format(
        old=old.iceberg,
        new=new.iceberg,
        both=len(pairs),
        old_date=old.date,
        new_date=new.date,
        verdicts=verdicts,
        same=len(judged) - ordered - len(differing),
        ordered=ordered,
        other=len(differing),
        shown=PAIRS_SHOWN,
        file=FILE,
    )
    shown = [f"| {' | '.join(row)} |" for row in _rows(differing) if int(row[-1]) >= PAIRS_SHOWN]
    rows = head + "\n".join(shown) + "\n" + _between(old, new, between)
    return rows + MEANS.format(parallel="`iceberg.worker.num-threads`")


def upgrade_rows(old: PairRecording, new: PairRecording) -> list[tuple[str, ...]]:
    """Every difference as a row, its headings first."""
    found = [(pair, old.pairs[pair.key], new.pairs[pair.key]) for pair in all_pairs() if pair.key in old.pairs]
    differing = [each for each in found if each[1].is_committed and each[2].is_committed and _difference(*each[1:])]
    return [("operation", "beside", f"what {new.iceberg} asks for more or less", "pairs"), *_rows(differing)]


def _between(old: PairRecording, new: PairRecording, between: PairRecording) -> str:
    """Whose requests a release between the two makes."""
    found = [(old.pairs[key], each, new.pairs[key]) for key, each in between.pairs.items()]
    changed = sum(before.recorded.outcome != each.recorded.outcome for before, each, _ in found)
    committed = [each for each in found if all(one.is_committed for one in each)]
    judged = [each for each in committed if _difference(each[0], each[2])]
    as_old = sum(not _difference(before, each) for before, each, _ in judged)
    as_new = sum(not _difference(each, after) for _, each, after in judged)
    return BETWEEN.format(
        release=between.iceberg,
        both=len(found),
        verdicts="No verdict differs." if not changed else f"{changed} verdicts differ.",
        differing=len(judged),
        old=old.iceberg,
        new=new.iceberg,
        as_old=as_old,
        as_new=as_new,
        neither=len(judged) - as_old - as_new,
    )


def _rows(differing: list[tuple[Pair, RecordedPair, RecordedPair]]) -> list[tuple[str, ...]]:
    """Pairs that change in the same way are one row."""
    rows: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair, before, after in differing:
        rows[pair.victim.java.replace("_", " "), _difference(before, after)].append(pair)
    lines: list[tuple[str, ...]] = []
    for (operation, difference), pairs in sorted(rows.items(), key=lambda row: (row[0][0], -len(row[1]))):
        rivals = sorted({f"{pair.count} {pair.rival.name}" if pair.rival else "nobody" for pair in pairs})
        told = ", ".join(rivals[:4]) + (", ..." if len(rivals) > 4 else "")
        lines.append((operation, told, difference, str(len(pairs))))
    return lines


def _difference(before: RecordedPair, after: RecordedPair) -> str:
    """What the newer one asks for more or less, attempt by attempt; empty if only the order differs."""
    told = []
    last = len(before.recorded.attempts) - 1
    for index, (old, new) in enumerate(zip(before.recorded.attempts, after.recorded.attempts, strict=True)):
        counts, others = bill(old), bill(new)
        where = "afterwards" if index == last else f"attempt {index + 1}"
        for name in sorted(counts.keys() | others.keys()):
            change = others.get(name, 0) - counts.get(name, 0)
            if change:
                told.append(f"{where}: {name.replace('.', ' ').replace('_', ' ')} {change:+d}")
    return "; ".join(told)
