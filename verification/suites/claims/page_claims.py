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


def _merge_by_day() -> Ruling:
    few, now = play("merge_by_day", "source.stream.arrivals.per_s=0.2"), play("merge_by_day")
    more, snapshot = play("merge_by_day", "source.merge.retry=20"), play("merge_by_day", SNAPSHOT)
    what = (
        f"Beside an append every five seconds {_told(few)} MERGEs commit, beside one a second {_told(now)}, with 20 "
        f"retries {_told(more)}, under snapshot isolation {_told(snapshot)}."
    )
    shares = [run.share("merge", "committed") for run in (few, now, more, snapshot)]
    return _ruled(min(shares[0], shares[3]) >= 0.95 and max(shares[1:3]) == 0.0, what, few, now, more, snapshot)


def _writers(*overrides: str) -> tuple[Play, float]:
    run = play("twenty", *overrides)
    return run, run.share("writers", "committed")


def _twenty_jobs() -> Ruling:
    (now, fine), (more, less) = _writers(), _writers("source.writers.arrivals.clients=26")
    what = f"{100 * fine:.2f} % of the commits of twenty jobs get through, {100 * less:.2f} % of those of 26."
    return _ruled(less < 0.99 <= fine, what, now, more)


def _ten_retries() -> Ruling:
    two = 'source.writers.arrivals={kind="poisson",per_s=2}'
    (few, four), (many, ten) = _writers(two), _writers(two, "source.writers.retry=10")
    what = f"At 2/s {100 * four:.2f} % commit with four retries, {100 * ten:.2f} % with ten."
    return _ruled(four < 0.99 and ten >= 0.995, what, few, many)


def _kept_snapshots() -> Ruling:
    base = ('source.writers.arrivals={kind="poisson",per_s=0.5}', "table.snapshots_kept_max=0")
    found = [_writers(*base, f"table.initial_snapshots={count}") for count in (1, 1_000, 100_000)]
    one, thousand, many = (share for _, share in found)
    what = (
        f"Beside 1 old snapshot {100 * one:.1f} % commit, beside 1,000 {100 * thousand:.1f} %, beside 100,000 "
        f"{100 * many:.1f} %."
    )
    return _ruled(min(one, thousand) >= 0.999 and many < 0.99, what, *(run for run, _ in found))


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
    Claim(
        "a MERGE by day and the rate of appends",
        README,
        "At one append a second on S3 no MERGE of other partitions commits, whatever its retries; under snapshot "
        "isolation it does.",
        HOLDS,
        _merge_by_day,
    ),
    Claim(
        "twenty jobs",
        README,
        "Twenty jobs are fine, and there is room for a few more, not for many.",
        HOLDS,
        _twenty_jobs,
    ),
    Claim("retries at 2/s", README, "More retries: 99.9 % at 2/s takes ten.", HOLDS, _ten_retries),
    Claim(
        "snapshots that nobody expires",
        README,
        "Snapshots that nobody expires cost nothing up to 1,000; 100,000 break a table with a commit every 2 s.",
        HOLDS,
        _kept_snapshots,
    ),
)
