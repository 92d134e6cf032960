"""What is reported about a run, and by what name.

The sums behind it are ``endive.results.statistics``'.

Every figure is about the txns *submitted in the window*, with one exception that says so. Latencies and
phases are those of committed txns; retries, requests and counters those of txns that ended, committed or
aborted, because the ones that gave up tried most. Percentiles interpolate linearly between order
statistics (NumPy's default). A figure without a txn to measure is null.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from endive.results import schema as s
from endive.results import statistics as st
from endive.results.freshness import Ages
from endive.results.schema import Ints
from endive.results.window import Window

SUCCESS_RATE_MIN: Final = 0.95  # below it a run is saturated (experiment plan, "Statistical Methodology")
P95_OVER_P50_MAX: Final = 2.0  # above it, too
FATES: Final = ("batches", "visible", "lost", "waiting", "twice")
AGES: Final = ("p50", "p95", "p99", "mean", "max")
COMMITTING_SHARE_MAX: Final = 0.01  # of the window's txns still committing at the end


def summarise(statistics: st.Statistics) -> dict[str, Any]:
    """The measured part of the JSON object of one run."""
    everything = statistics.slice()
    summary = _figures(everything, statistics.window)
    n_inside = summary["txns"]["submitted"]
    return {
        "window": {**statistics.window.to_dict(), "txns_outside": statistics.n_txns - n_inside},
        "summary": summary,
        "by_operation": {
            name: block
            for kind, name in enumerate(s.KINDS)
            if (block := _block(statistics.slice(kind=kind), statistics.window))
        },
        "by_source": {
            name: block
            for source, name in enumerate(statistics.source_names)
            if (block := _block(statistics.slice(source=source), statistics.window))
        },
        "requests": _requests(everything),
        "warnings": warnings_of(summary, statistics.window),
    }


def _block(part: st.Slice, window: Window) -> dict[str, Any] | None:
    """Figures and requests of one kind or source; None if it had no txn and no commit in the window."""
    if not part.tallies[:, st.TXNS].any() and not part.committed_in_window:
        return None
    return figures_of(part, window)


def figures_of(part: st.Slice, window: Window) -> dict[str, Any]:
    """Figures and requests of any part of a run, or of several runs taken together."""
    return {**_figures(part, window), "requests": _requests(part)}


def _figures(part: st.Slice, window: Window) -> dict[str, Any]:
    txns = [int(count) for count in part.tallies[:, st.TXNS]]
    submitted = sum(txns)
    committed = txns[st.COMMITTED]
    ended = committed + sum(txns[st.ABORTED])
    sums = part.tallies.sum(axis=0)
    retries = int(part.tallies[: st.ABORTED.stop, st.tally_of("retries")].sum())
    figures: dict[str, Any] = {
        "offered_per_s": window.per_s(submitted),
        "committed_per_s": window.per_s(committed),
        # The exception: commits that ended in the window, whenever submitted. Under overload it is the
        # rate the catalog sustained, while committed_per_s also counts what drained during cool-down.
        "committed_in_window_per_s": window.per_s(part.committed_in_window),
        "success_rate": _ratio(committed, ended),
        "commit_latency_ms": _latency_ms(part.commit_us),
        "total_latency_ms": _latency_ms(part.total_us),
        "retries_mean": _ratio(retries, ended),
        **freshness_figures(part.ages),
        "txns": {
            "submitted": submitted,
            "committed": committed,
            "aborted": dict(zip(st.OUTCOMES[st.ABORTED], txns[st.ABORTED], strict=True)),
            "in_flight": {"executing": txns[st.EXECUTING], "committing": txns[st.COMMITTING]},
        },
        "halves": {"first": _half(part, is_late=False), "second": _half(part, is_late=True)},
        "phases_ms": {
            phase: _ratio(int(part.tallies[st.COMMITTED, st.tally_of(f"phase_{phase}_ms")]), 1000 * committed)
            for phase in s.PHASES
        },
        "counters": {name: int(sums[st.tally_of(name)]) for name in ("restarts", "history_lists", *s.COUNTERS)},
    }
    return {**figures, "saturated": _is_saturated(figures) if ended else None}


def freshness_figures(ages: Ages | None) -> dict[str, Any]:
    """How late the data of streams are, and what became of them; nulls where nothing is a stream."""
    if ages is None or not ages.total_us:
        nothing: dict[str, Any] = {"freshness_ms": dict.fromkeys(AGES), "data": dict.fromkeys(FATES)}
        return {**nothing, "stale_share": None, "lost_share": None}
    p50, p95, p99, most = (float(age) for age in ages.at((0.5, 0.95, 0.99, 1.0)))
    return {
        "freshness_ms": {"p50": p50, "p95": p95, "p99": p99, "mean": ages.mean_ms, "max": most},
        "stale_share": None if ages.bound_us is None else ages.stale_us / ages.total_us,
        "data": {fate: getattr(ages, fate) for fate in FATES},
        "lost_share": _ratio(ages.lost, ages.batches),
    }


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _latency_ms(latencies_us: Ints) -> dict[str, float | None]:
    if not len(latencies_us):
        return {"p50": None, "p95": None, "p99": None, "mean": None}
    p50, p95, p99 = np.percentile(latencies_us, (50, 95, 99)) / 1000.0
    mean = int(latencies_us.sum()) / (1000 * len(latencies_us))
    return {"p50": float(p50), "p95": float(p95), "p99": float(p99), "mean": mean}


def _half(part: st.Slice, *, is_late: bool) -> dict[str, Any]:
    """Commits of the txns submitted in one half of the window: where the halves differ, the run was not steady."""
    commit_us = part.commit_us[part.is_late == is_late]
    mean = int(commit_us.sum()) / (1000 * len(commit_us)) if len(commit_us) else None
    return {"committed": len(commit_us), "commit_latency_mean_ms": mean}


def _requests(part: st.Slice) -> dict[str, Any]:
    """Requests of the window's txns that ended, lost attempts included; zero counts are left out."""
    tally = part.tallies.sum(axis=0)
    counts: dict[str, dict[str, int]] = {}
    for obj, op in s.REQUEST_PAIRS:
        if count := int(tally[st.tally_of(f"requests_{obj}_{op}")]):
            counts.setdefault(obj, {})[op] = count
    total = sum(sum(by_op.values()) for by_op in counts.values())
    return {
        "counts": counts,
        "total": total,
        "per_committed_txn": _ratio(total, int(part.tallies[st.COMMITTED, st.TXNS])),
        "bytes_read": int(tally[st.tally_of("bytes_read")]),
        "bytes_written": int(tally[st.tally_of("bytes_written")]),
    }


def _is_saturated(figures: dict[str, Any]) -> bool:
    """The experiment plan's rule; as an objective it is called ``unsaturated``."""
    latency = figures["commit_latency_ms"]
    is_failing = figures["success_rate"] < SUCCESS_RATE_MIN
    return is_failing or (latency["p50"] is not None and latency["p95"] > P95_OVER_P50_MAX * latency["p50"])


def warnings_of(summary: dict[str, Any], window: Window) -> list[str]:
    """What a reader must know before he trusts the figures."""
    txns = summary["txns"]
    submitted = txns["submitted"]
    if not submitted:
        return [
            f"No txn was submitted in the window from {window.start_us / 1000:,.0f} to "
            f"{window.end_us / 1000:,.0f} ms, so nothing was measured. Raise simulation.duration_ms, "
            "or lower simulation.warmup_ms and simulation.cooldown_ms."
        ]
    warnings = []
    committing = txns["in_flight"]["committing"]
    if committing > COMMITTING_SHARE_MAX * submitted:
        warnings.append(still_committing(committing, submitted))
    if summary["success_rate"] is None:
        warnings.append(none_ended(submitted))
    return warnings


def still_committing(committing: int, submitted: int) -> str:
    """That more txns of the window than can be passed over had not ended."""
    return (
        f"{committing / submitted:.1%} of the window's txns ({committing:,} of {submitted:,}) were still "
        "committing when the simulation ended. They are the slow ones, so latencies are too low and the "
        "success rate is uncertain. Raise simulation.cooldown_ms, or offer less load."
    )


def none_ended(submitted: int) -> str:
    """That no txn of the window had ended."""
    return (
        f"None of the window's {submitted:,} txns ended before the simulation did. "
        "Raise simulation.duration_ms and simulation.cooldown_ms beyond the txns' runtime."
    )
