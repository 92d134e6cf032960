"""What a closed loop is judged by: throughput, exhausted retries, latencies and the law of attempts.

The cells live in ``java_load`` and ``java_loops``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from endive.verification.suite import Check, Value
from verification.suites.load.measurement import Figures, TxnRuns, quantile
from verification.suites.sampling import (
    STANDARD_ERRORS,
    doubt,
    errors_of,
    resample,
    share_error_percent,
    standard_error,
)

THROUGHPUT_ALLOWED: Final = 0.05
EXHAUSTED_ALLOWED_POINTS: Final = 5.0
LATENCY_ALLOWED: Final = 0.10
ATTEMPTS_ALLOWED_POINTS: Final = 5.0
ATTEMPTS_MAX: Final = 5
GROUPS: Final = 40  # of simulated runs, each as many as were measured: how far chance alone goes
GROUPS_QUICK: Final = 8
COMMITS_MIN: Final = 20  # measured; of fewer, no percentile is judged
BAND: Final = (0.025, 0.975)
FIGURES: Final = {
    "committed_per_s": "committed per second",
    "exhausted_percent": "retries exhausted",
    "p50_ms": "P50 of the commit latency",
    "p95_ms": "P95 of the commit latency",
}

QUANTILES: Final = {"p50_ms": 0.50, "p95_ms": 0.95}


def closed_checks(
    title: str, what: Mapping[str, Value], real: TxnRuns, simulated: TxnRuns, duration_s: float
) -> list[Check]:
    """Of one cell; there are ``len(real)`` measured runs and several times as many simulated ones."""

    figures = partial(Figures.of_runs, duration_s=duration_s)
    groups = [figures(simulated[at : at + len(real)]) for at in range(0, len(simulated), len(real))]
    again = resample(real, figures)
    measured, model = figures(real), figures(simulated)
    real_errors, model_errors = errors_of(again, tuple(FIGURES)), errors_of(groups, tuple(FIGURES))
    txns, commits = sum(map(len, real)), round(measured.committed_per_s * duration_s * len(real))
    least = {
        "committed_per_s": math.sqrt(max(commits, 1)) / (duration_s * len(real)),
        "exhausted_percent": share_error_percent(txns - commits, txns),
    }
    checks = []
    for name, told in FIGURES.items():
        expected, actual = float(getattr(measured, name)), float(getattr(model, name))
        chance = _chance([float(getattr(each, name)) for each in groups], expected)
        off = doubt(max(real_errors[name], least.get(name, 0.0)), model_errors[name] / math.sqrt(len(groups)))
        if name in QUANTILES:
            is_above, share = expected > actual, QUANTILES[name]
            sides = ((simulated, is_above), (real, not is_above))
            off = max(off, *(_order_doubt(runs, share, commits, is_above=up) for runs, up in sides))
        check = figure_check(f"{title}{told}", name, what, (expected, actual), off, note=chance)
        if commits < COMMITS_MIN and (name.endswith("_ms") or not commits):
            check = shown(check, f"{commits} commits: too few to judge")
        checks.append(check)
    worst = worst_attempts(measured, model)
    law = law_check(title, what, (measured, model), worst, _law_doubt(measured, worst, again, groups))
    return [*checks, law]


def _order_doubt(runs: TxnRuns, share: float, commits: int, *, is_above: bool) -> float:
    """How far from the quantile of these runs that of so few commits may lie, by order statistics.

    Latencies come in clusters, one per number of attempts. Where a quantile stands at the edge of two, a commit or two
    move it from one to the other, and resampling a handful of runs does not show it. Each side may be the one at the
    edge: the model's quantile towards the measured one, and the measured towards the model's.
    """
    ordered = sorted(latency_ms for run in runs for latency_ms, is_committed, _ in run if is_committed)
    error = STANDARD_ERRORS * math.sqrt(share * (1.0 - share) / max(commits, 1))
    at = min(1.0, share + error) if is_above else max(0.0, share - error)
    return abs(quantile(ordered, at) - quantile(ordered, share))


def shown(check: Check, why: str) -> Check:
    """The same without a verdict."""
    return replace(check, allowed=None, holds=True, doubt=0.0, note=why)


def figure_check(
    title: str,
    name: str,
    what: Mapping[str, Value],
    pair: tuple[float, float],
    off: float,
    *,
    note: str = "",
    rate_unit: str = "1/s",
) -> Check:
    """One of ``FIGURES``, measured and simulated; ``off`` is its doubt, in its own unit."""
    expected, actual = pair
    if name == "exhausted_percent":
        return Check.points(
            title, what, expected=expected, actual=actual, allowed=EXHAUSTED_ALLOWED_POINTS, note=note, doubt=off
        )
    is_rate = name == "committed_per_s"
    return Check.relative(
        title,
        what,
        expected=expected,
        actual=actual,
        allowed=THROUGHPUT_ALLOWED if is_rate else LATENCY_ALLOWED,
        unit=rate_unit if is_rate else "ms",
        note=note,
        doubt=off / expected if expected else 0.0,
    )


def worst_attempts(measured: Figures, model: Figures) -> int:
    """The number of attempts after which the shares of txns differ most."""
    return max(range(1, ATTEMPTS_MAX + 1), key=lambda n: abs(model.share_percent(n) - measured.share_percent(n)))


def law_check(title: str, what: Mapping[str, Value], pair: tuple[Figures, Figures], worst: int, off: float) -> Check:
    """The share of txns that took so many attempts."""
    expected, actual = (each.share_percent(worst) for each in pair)
    return Check.points(
        f"{title}law of attempts, the share that differs most",
        {**what, "attempts": worst},
        expected=expected,
        actual=actual,
        allowed=ATTEMPTS_ALLOWED_POINTS,
        doubt=off,
    )


def _law_doubt(measured: Figures, worst: int, again: Sequence[Figures], groups: Sequence[Figures]) -> float:
    hits = measured.attempts[worst - 1] if worst <= len(measured.attempts) else 0
    counted_error = share_error_percent(hits, sum(measured.attempts))  # few runs may agree by chance
    # of as many runs, if the model is right
    group_error = standard_error([each.share_percent(worst) for each in groups])
    real_error = max(standard_error([each.share_percent(worst) for each in again]), counted_error, group_error)
    return doubt(real_error, group_error / math.sqrt(len(groups)))


def _chance(values: Sequence[float], real: float) -> str:
    """How far chance alone goes, and whether the measured value lies within."""
    ordered = sorted(values)
    low, high = (quantile(ordered, share) for share in BAND)
    place = "inside" if low <= real <= high else "outside"
    return f"chance {low:.3g} to {high:.3g}: measured value {place}"
