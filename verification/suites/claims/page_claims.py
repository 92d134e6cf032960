"""What the README and the guide of the nightly MERGE say, held to runs like the claims of the documents.

Other statements of the pages are printed by the commands beside them; ``make docs`` runs those.
"""

from __future__ import annotations

from typing import Final

from verification.suites.claims.playing import Play, play
from verification.suites.claims.ruling import FAILS, HOLDS, Claim, Ruling

README: Final = "README"
NIGHTLY: Final = "guide: nightly MERGE"
SNAPSHOT: Final = "source.merge.isolation=snapshot"
FILES: Final = (
    "table.data_files=1000",
    "source.streams.touched_files=0",
    "source.merge.touched_files=0.5%",
    "source.compaction.touched_files=10%",
)
TOGETHER: Final = ("catalog.partitions.num_partitions=1", "source.compaction.arrivals.offset_ms=35min")


def _told(run: Play) -> str:
    statuses = run.of("merge", "status")
    return f"{int((statuses == 'committed').sum())} of {len(statuses)}"


def _ruled(is_right: bool, what: str, *runs: Play) -> Ruling:
    return Ruling(HOLDS if is_right else FAILS, what, runs)


def _whole_table_read() -> Ruling:
    whole, part = play("minute", "source.merge.read=table"), play("minute", "source.merge.read=partitions")
    what = (
        f"Beside one append a minute {_told(whole)} MERGEs commit that read the table, and {_told(part)} whose "
        "predicate names their partition."
    )
    return _ruled(whole.share("merge", "committed") == 0.0 < part.share("merge", "committed"), what, whole, part)


def _nightly_met() -> Ruling:
    now, more = play("nightly"), play("nightly", "source.merge.retry=20")
    what = f"As it is {_told(now)} MERGEs commit, with 20 retries {_told(more)}."
    return _ruled(now.share("merge", "committed") + more.share("merge", "committed") == 0.0, what, now, more)


def _nightly_snapshot() -> Ruling:
    alone, files = play("nightly", SNAPSHOT), play("nightly", SNAPSHOT, *FILES)
    what = f"Under snapshot isolation {_told(alone)} MERGEs commit, with files stated {_told(files)}."
    shares = [run.share("merge", "committed") for run in (alone, files)]
    return _ruled(min(shares) >= 0.99, what, alone, files)


def _nightly_together() -> Ruling:
    apart, together = play("nightly", SNAPSHOT, *FILES), play("nightly", SNAPSHOT, *FILES, *TOGETHER)
    what = (
        f"With one partition, and a compaction that starts while the MERGE works, {_told(together)} MERGEs commit "
        f"instead of {_told(apart)}."
    )
    return _ruled(
        together.share("merge", "committed") <= 0.8 < apart.share("merge", "committed"), what, apart, together
    )


PAGE_CLAIMS: Final = (
    Claim(
        "a MERGE that read the table",
        README,
        "Without a predicate, one append since its scan fails a MERGE: beside one append a minute 0 % commit.",
        HOLDS,
        _whole_table_read,
    ),
    Claim(
        "a nightly MERGE meets an append",
        NIGHTLY,
        "Beside thirty streaming jobs no MERGE of twenty minutes commits, however many retries it has.",
        HOLDS,
        _nightly_met,
    ),
    Claim(
        "snapshot isolation lets it commit",
        NIGHTLY,
        "Snapshot isolation does not look for rows that others add, and nearly every MERGE commits.",
        HOLDS,
        _nightly_snapshot,
    ),
    Claim(
        "unless a compaction takes its files",
        NIGHTLY,
        "With one partition and a compaction at the same time MERGEs fail under snapshot isolation too.",
        HOLDS,
        _nightly_together,
    ),
)
