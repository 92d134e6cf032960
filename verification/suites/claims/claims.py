"""What the documents claim, and what our own runs say.

A claim is judged by results, never by a setting.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from verification.suites.claims.playing import Play, play
from verification.suites.claims.ruling import FAILS, HOLDS, IN_PART, Claim, Ruling

JOB: Final = "source.job.operation_types={{{kind}=1.0}}"
SPEC: Final = "commit.protocol=spec"
MERGE: Final = "commit.protocol=merge"
LOG: Final = ("catalog.type=append", "catalog.append_preset=append_design")

_INTERNALS, _SPECIFICATION = "internals", "refactoring specification"
_REPORT, _DESIGN, _PLAN = "fidelity report", "append design", "experiment plan"
CLAIMS: Final[list[Claim]] = []


def _claim(
    name: str, document: str, text: str, verdict: str, *, is_long: bool = True
) -> Callable[[Callable[[], Ruling]], Callable[[], Ruling]]:
    """What follows decides a claim; the page explains the verdict."""

    def add(decide: Callable[[], Ruling]) -> Callable[[], Ruling]:
        CLAIMS.append(Claim(name, document, text, verdict, decide, is_long))
        return decide

    return add


def _verdict(is_right: bool) -> str:
    return HOLDS if is_right else FAILS


def _median(run: Play, source: str, column: str, status: str | None = "committed") -> float:
    values = run.of(source, column, status=status)
    return float(np.median(values)) if len(values) else float("nan")


# ---- appends -----------------------------------------------------------------------------------------


@_claim("convoy of appends", _INTERNALS, "A txn N commits behind reads N manifest lists, whatever it does.", FAILS)
def _convoy_of_appends() -> Ruling:
    old, real = play("stream", MERGE), play("stream")
    lists, none = _median(old, "job", "history_lists", None), _median(real, "job", "history_lists", None)
    what = (
        f"An append 180 s behind 0.5 commits/s reads {lists:,.0f} lists of history under `merge` (median; "
        f"{_median(old, 'job', 'commit_latency_ms') / 1e3:.1f} s), {none:,.0f} under `iceberg` "
        f"({_median(real, 'job', 'commit_latency_ms') / 1e3:.2f} s)."
    )
    return Ruling(_verdict(none >= lists / 2), what, (old, real))


@_claim("no convoy of appends", _REPORT, "Appends never read historical manifest lists.", HOLDS)
def _no_convoy_of_appends() -> Ruling:
    real = play("stream")
    lists = float(np.max(real.of("stream", "history_lists")))
    what = f"No append of {len(real.of('stream', 'status')):,} read a list of history (most: {lists:.0f})."
    return Ruling(_verdict(lists == 0.0), what, (real,))


@_claim(
    "first attempt fails",
    f"{_INTERNALS}, {_SPECIFICATION}",
    "A txn swaps from the snapshot it started on, so beside a stream its first attempt fails.",
    FAILS,
)
def _first_attempt() -> Ruling:
    old, python, real = play("stream", SPEC), play("stream", "commit.protocol=pyiceberg"), play("stream")
    shares = [100.0 * run.first_attempts("job") for run in (old, python, real)]
    what = (
        f"After 180 s of work {shares[0]:.0f} % commit at their first attempt under `spec`, {shares[1]:.0f} % under "
        f"`pyiceberg`, {shares[2]:.0f} % under `iceberg`, which refreshes before it builds."
    )
    return Ruling(_verdict(shares[2] < 50.0), what, (old, python, real))


@_claim(
    "retry of an append",
    _REPORT,
    "A FastAppend's retry costs about 160 ms: a metadata read, a list read, a list written.",
    IN_PART,
)
def _retry_of_an_append() -> Ruling:
    real = play("stream")
    latency_ms = real.of("stream", "commit_latency_ms", status="committed")
    backoff_ms = real.of("stream", "phase_backoff_ms", status="committed")
    attempts = real.of("stream", "attempts", status="committed")
    retry_ms = float(np.median((latency_ms - backoff_ms)[attempts == 2]) - np.median(latency_ms[attempts == 1]))
    what = (
        f"{retry_ms:.0f} ms (medians, S3, without its pause): Iceberg also writes metadata.json at every attempt, asks "
        "HEAD before it reads a list and deletes the list that the lost attempt wrote."
    )
    return Ruling(HOLDS if abs(retry_ms / 160.0 - 1.0) <= 0.25 else IN_PART, what, (real,))


@_claim(
    "merge append",
    f"{_SPECIFICATION}, {_REPORT}",
    "A retried MergeAppend re-merges in proportion to the commits behind.",
    FAILS,
    is_long=False,
)
def _merge_append() -> Ruling:
    few, many, old = play("manifests"), play("manifests", "table.initial_manifests=150"), play("manifests", SPEC)
    reads = [run.only("txn", "requests_manifest_read") for run in (few, many, old)]
    what = (
        f"Five commits behind `spec` reads {reads[2]:.0f} manifests, `iceberg` {reads[0]:.0f} while the table has "
        f"fewer than 100 and {reads[1]:.0f} when it has 150. What counts is the number of manifests in the bin."
    )
    return Ruling(_verdict(0.0 < reads[0] <= reads[2]), what, (few, many, old))


# ---- maintenance beside appends ------------------------------------------------------------------------


@_claim("compaction beside appends", _REPORT, "Compaction beside a stream of appends becomes un-committable.", FAILS)
def _compaction_beside_appends() -> Ruling:
    compaction = play("stream", JOB.format(kind="rewrite_files"))
    overwrite = play("stream", JOB.format(kind="validated_overwrite"))
    share = 100.0 * compaction.share("job", "committed")
    what = (
        f"Beside 0.5 appends/s, {share:.0f} % of compactions (3 min of work) commit and read "
        f"{_median(compaction, 'job', 'history_lists', None):.0f} lists of history: they do not validate against "
        f"appends (`BaseRewriteFiles`). Of serializable row-level overwrites "
        f"{100.0 * overwrite.share('job', 'committed'):.0f} % do, reading "
        f"{_median(overwrite, 'job', 'history_lists', None):,.0f}."
    )
    return Ruling(_verdict(share < 50.0), what, (compaction, overwrite))


@_claim(
    "overwrites beside appends",
    _REPORT,
    "There is an append rate above which validated overwrites can no longer commit.",
    HOLDS,
)
def _overwrite_beside_appends() -> Ruling:
    rates = (0.05, 0.2, 0.5, 1.0)
    kind = JOB.format(kind="validated_overwrite")
    runs = tuple(play("stream", kind, f"source.stream.arrivals.per_s={rate}") for rate in rates)
    shares = [100.0 * run.share("job", "committed") for run in runs]
    pairs = ", ".join(f"{share:.0f} % at {rate}/s" for rate, share in zip(rates, shares, strict=True))
    what = f"Serializable overwrites of 3 minutes that commit: {pairs}. There is a rate from which none does."
    return Ruling(_verdict(shares[0] > 90.0 and shares[-1] < 10.0), what, runs)


@_claim("budget", _REPORT, "What stops them is the 30-minute budget of retries.", FAILS)
def _budget() -> Ruling:
    run = play("stream", JOB.format(kind="validated_overwrite"), "source.stream.arrivals.per_s=1.0")
    reasons = run.of("job", "reason", status="aborted")
    exhausted, timeouts = int(np.sum(reasons == "retries_exhausted")), int(np.sum(reasons == "timeout"))
    what = (
        f"Beside 1 append/s {exhausted} gave up after 4 retries and {timeouts} after 30 minutes; the median one after "
        f"{_median(run, 'job', 'commit_latency_ms', 'aborted') / 60e3:.1f} minutes."
    )
    return Ruling(_verdict(timeouts > exhausted), what, (run,))


@_claim("isolation level", _REPORT, "A validated overwrite reads a list per intermediate snapshot.", IN_PART)
def _snapshot_isolation() -> Ruling:
    kind = JOB.format(kind="validated_overwrite")
    strict, loose = play("stream", kind), play("stream", kind, "source.job.isolation=snapshot")
    what = (
        f"Beside 0.5 appends/s, {100.0 * strict.share('job', 'committed'):.0f} % of serializable overwrites commit and "
        f"{100.0 * loose.share('job', 'committed'):.0f} % under snapshot isolation, which reads "
        f"{_median(loose, 'job', 'history_lists', None):.0f} lists of history."
    )
    return Ruling(HOLDS if loose.share("job", "committed") < 0.5 else IN_PART, what, (strict, loose))


@_claim("batched history", f"{_INTERNALS}, {_REPORT}", "Lists of history are read in parallel batches.", FAILS)
def _serial_history() -> Ruling:
    kind = JOB.format(kind="validated_overwrite")
    serial, batched = play("stream", kind), play("stream", kind, "commit.history_io=batched")
    per_list = [
        float(np.sum(run.of("job", "phase_history_ms")) / np.sum(run.of("job", "history_lists")))
        for run in (serial, batched)
    ]
    what = (
        f"Iceberg reads them one after another, {per_list[0]:.0f} ms each ({per_list[1]:.0f} in batches of four); "
        f"{100.0 * serial.share('job', 'committed'):.0f} % of overwrites commit beside 0.5 appends/s (in batches "
        f"{100.0 * batched.share('job', 'committed'):.0f} %)."
    )
    return Ruling(_verdict(per_list[0] < 1.5 * per_list[1]), what, (serial, batched))


@_claim("shrinking history", _INTERNALS, "A later retry reads only the commits since the one before it.", FAILS)
def _shrinking_history() -> Ruling:
    kind = JOB.format(kind="validated_overwrite")
    real = play("stream", kind)
    as_written = ("commit.protocol=spec", "commit.history_io=serial", "source.job.retry=4")
    since = play("stream", kind, *as_written)
    fixed = play("stream", kind, *as_written, "commit.history=fixed_start_on_retry")
    per_attempt = [
        float(np.sum(run.of("job", "history_lists")) / np.sum(run.of("job", "attempts")))
        for run in (real, since, fixed)
    ]
    shares = [100.0 * run.share("job", "committed") for run in (real, since, fixed)]
    what = (
        f"`iceberg` starts over every time: {per_attempt[0]:.0f} lists per attempt, {shares[0]:.0f} % commit. Under "
        f"`spec`, reading serially, {per_attempt[1]:.0f} and {shares[1]:.0f} %; if it started over too, "
        f"{per_attempt[2]:.0f} and {shares[2]:.0f} %."
    )
    return Ruling(_verdict(per_attempt[0] < 0.75 * per_attempt[2]), what, (real, since, fixed))


# ---- the older model's own figures -------------------------------------------------------------------


@_claim(
    "33.6 seconds",
    _INTERNALS,
    "150 s behind at 25 commits/s, a txn commits after 33.6 s, on its second retry.",
    IN_PART,
    is_long=False,
)
def _commits_in_the_end() -> Ruling:
    stops, goes_on = play("behind"), play("behind", "source.rivals.stop_ms=200000")
    what = (
        f"{stops.only('behind', 'commit_latency_ms') / 1e3:.1f} s if the rivals stop after the first retry has read "
        "its lists. If they go on, it never commits "
        f"({goes_on.only('behind', 'reason').replace('_', ' ')} after {goes_on.only('behind', 'attempts'):.0f} "
        "attempts): every retry takes longer than the 40 ms between two rivals."
    )
    return Ruling(IN_PART if goes_on.only("behind", "status") == "aborted" else HOLDS, what, (stops, goes_on))


@_claim(
    "repair first",
    f"{_INTERNALS}, {_REPORT}",
    "At 50 commits/s every txn commits, with retries of 28 s and a P50 of about 34 s.",
    HOLDS,
)
def _repair_first() -> Ruling:
    text, example = play("convoy"), play("convoy", "commit.repair=after_refresh")
    mean = play("convoy", "source.txns.runtime.ms=180000")  # the mean of the experiment plan
    of_150, of_180, other = (run.result.summary() for run in (text, mean, example))
    p50_s = [each["commit_latency_ms"]["p50"] / 1e3 for each in (of_150, of_180, other)]
    computed_s = [math.ceil(25.0 * runtime_s / 4.0) * 0.030 for runtime_s in (150.0, 180.0)]
    what = (
        f"50 txns/s that work for 150 s, on two partitions, lists of 30 ms: {100 * of_150['success_rate']:.1f} % "
        f"commit with {of_150['retries_mean']:.2f} retries each and a P50 of {p50_s[0]:.1f} s (computed: "
        f"{computed_s[0]:.1f} s of lists), because the repair comes before the fresh read and only that read and the "
        "swap are in the hazard window. The 34 s are those of txns that work for the plan's mean, 180 s: "
        f"{p50_s[1]:.1f} s (computed: {computed_s[1]:.1f} s). In the order of the document's own worked example (read, "
        f"repair, swap) {100 * other['success_rate']:.1f} % commit, P50 {p50_s[2]:.1f} s."
    )
    is_computed = all(abs(p50 / wanted - 1.0) <= 0.02 for p50, wanted in zip(p50_s, computed_s, strict=False))
    return Ruling(_verdict(of_150["success_rate"] >= 0.99 and is_computed), what, (text, mean, example))


@_claim(
    "9,000 appends behind",
    _REPORT,
    "Beside 50 appends/s an overwrite of 3 minutes reads 9,000 lists, then more, and does not commit.",
    HOLDS,
)
def _nine_thousand() -> Ruling:
    run = play("nine_thousand")
    lists, attempts = run.only("overwrite", "history_lists"), run.only("overwrite", "attempts")
    status, reason = run.only("overwrite", "status"), run.only("overwrite", "reason")
    what = (
        f"A serializable overwrite of 3 minutes beside 50 appends/s reads {lists:,.0f} lists in {attempts:.0f} "
        f"attempts and ends {status} ({str(reason).replace('_', ' ')}) after "
        f"{run.only('overwrite', 'commit_latency_ms') / 60e3:.0f} minutes of committing."
    )
    return Ruling(_verdict(status != "committed" and lists > 9_000), what, (run,))


@_claim(
    "the design's own configuration",
    _DESIGN,
    "Txns commit under the configuration the document prints.",
    HOLDS,
    is_long=False,
)
def _design_block() -> Ruling:
    run = play("design")
    share, p50_ms = 100.0 * run.share("txns", "committed"), _median(run, "txns", "commit_latency_ms")
    what = (
        f"The block as printed, with 2 txns/s on ten tables: {share:.1f} % commit, median {p50_ms:.0f} ms. "
        "`T_LOG_ENTRY_READ` is accepted and not charged, as line 312 says."
    )
    return Ruling(_verdict(share >= 99.0 and p50_ms <= 500.0), what, (run,))


@_claim(
    "window of measurement", _PLAN, "Leaving out txns that span the edge of the window gives the steady state.", FAILS
)
def _dropped_txns() -> Ruling:
    run = play("edges")
    start_ms, stop_ms = 900_000.0, 2_700_000.0
    submits, ends = run.of("default", "submit_ms"), run.of("default", "end_ms")
    inside = (submits >= start_ms) & (submits < stop_ms)
    kept = inside & (ends <= stop_ms)
    p95_s = [float(np.quantile((ends - submits)[which], 0.95)) / 1e3 for which in (inside, kept)]
    dropped = 100.0 * (1.0 - np.sum(kept) / np.sum(inside))
    what = (
        f"With the plan's own runtimes that leaves out {dropped:.0f} %, the slow ones: P95 of the whole txn is "
        f"{p95_s[1]:.0f} s without them and {p95_s[0]:.0f} s with them."
    )
    return Ruling(_verdict(p95_s[1] > 0.98 * p95_s[0]), what, (run,))


@_claim("physical bounds logical", _DESIGN, "Physical failures bound logical ones from above.", HOLDS)
def _physical_bounds_logical() -> Ruling:
    one, many = play("tables", *LOG, "catalog.num_tables=1"), play("tables", *LOG)
    counts = [
        (
            float(np.sum(run.of("clients", "append_physical_failure"))),
            float(np.sum(run.of("clients", "append_logical_conflict"))),
        )
        for run in (one, many)
    ]
    what = (
        f"40 clients on one table: {counts[0][0]:,.0f} moved offsets, {counts[0][1]:,.0f} records not applied; on "
        f"twenty tables {counts[1][0]:,.0f} and {counts[1][1]:,.0f}."
    )
    return Ruling(_verdict(all(physical >= logical for physical, logical in counts)), what, (one, many))


@_claim(
    "log beats swap",
    _DESIGN,
    "Txns on different tables commit side by side in a log, and not by swapping the catalog.",
    HOLDS,
)
def _log_beats_swap() -> Ruling:
    log, swap = play("tables", *LOG), play("tables")
    rates = [run.result.summary()["committed_per_s"] for run in (log, swap)]
    retries = [float(np.mean(run.of("clients", "attempts"))) - 1.0 for run in (log, swap)]
    latencies = [_median(run, "clients", "commit_latency_ms") for run in (log, swap)]
    what = (
        f"40 clients, twenty tables, S3 Express: {retries[0]:.2f} retries per txn and a median commit of "
        f"{latencies[0]:.0f} ms by appending to a log, {retries[1]:.2f} and {latencies[1]:.0f} ms by swapping one "
        f"object, at {rates[0]:.1f} and {rates[1]:.1f} commits/s. What remains in the log are conflicts on the same "
        "table."
    )
    return Ruling(_verdict(retries[0] < 0.5 * retries[1]), what, (log, swap))
