"""Fit the conditional operations of a profile to its measured curve.

Owns the search: which figures of a profile may move, and moving them until simulated and measured points agree.
Refuses to own the experiment (``endive.verification.closed_loop``) and to write profiles: figures are printed, and
whoever ships them writes them into the file with their source.

The figures of one operation, as a profile names them:

====================  ====================================================================
success_median_ms     and success_sigma: a request that succeeds
refusal_median_ms     and refusal_sigma: one that is refused
leg_share             share of the success latency before the server evaluates
window_ms             a request so soon after a rival's is contended
penalty_weight        share of contended requests that are acknowledged late
penalty_median_ms     and penalty_sigma: by how much
====================  ====================================================================
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from endive.distributions import FixedLatency, LognormalLatency, MixtureLatency
from endive.storage import Profile, load_profile
from endive.storage.profile import Contention, Figure
from endive.verification.closed_loop import OPERATIONS, run_closed_loop
from endive.verification.curves import GOALS, Goal, MeasuredPoint

Figures = dict[str, float]

SHARES: Final = ("leg_share", "penalty_weight")  # between 0 and 1; every other figure is positive
_PLAIN_GOAL: Final = Goal(rate=0.10, failure_points=5.0)
_SHARPNESS: Final = 4  # of the mean of errors: 2 minimises the usual sum of squares, more looks at the worst
_SOURCE: Final = "fit"

# Which figures of a curve move. What a lone client or the pooled refusals showed directly stays as measured.
FREE: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("s3", "cas"): ("success_median_ms", "success_sigma", "leg_share", "refusal_median_ms", "refusal_sigma"),
    ("s3x", "cas"): (
        "success_median_ms",
        "leg_share",
        "refusal_median_ms",
        "window_ms",
        "penalty_median_ms",
        "penalty_sigma",
    ),
    ("s3x", "append"): (
        "success_median_ms",
        "leg_share",
        "refusal_median_ms",
        "window_ms",
        "penalty_median_ms",
        "penalty_sigma",
    ),
    ("azure", "cas"): (
        "leg_share",
        "refusal_median_ms",
        "refusal_sigma",
        "window_ms",
        "penalty_weight",
        "penalty_median_ms",
    ),
    ("azure", "append"): ("leg_share", "success_sigma", "refusal_median_ms"),
    ("azurex", "cas"): (
        "leg_share",
        "refusal_median_ms",
        "refusal_sigma",
        "window_ms",
        "penalty_weight",
        "penalty_median_ms",
    ),
    ("azurex", "append"): ("leg_share", "success_sigma", "refusal_median_ms"),
}


def figures_of(profile: Profile, op: str) -> Figures:
    """The figures of an operation as the profile has them."""
    code = OPERATIONS[op]
    success, refusal = (profile.figures[code, outcome].distribution for outcome in (True, False))
    assert isinstance(success, LognormalLatency)
    assert isinstance(refusal, LognormalLatency)
    figures = {
        "success_median_ms": math.exp(success.mu),
        "success_sigma": success.sigma,
        "refusal_median_ms": math.exp(refusal.mu),
        "refusal_sigma": refusal.sigma,
        "leg_share": profile.leg_share(code),
    }
    late = profile.contention.get(code)
    if late is None:
        return figures
    penalty, weight = late.penalty, 1.0
    if isinstance(penalty, MixtureLatency):
        (_, nothing), (weight, penalty) = penalty.components
        assert isinstance(nothing, FixedLatency)
    assert isinstance(penalty, LognormalLatency)
    return {
        **figures,
        "window_ms": late.window_ms,
        "penalty_weight": weight,
        "penalty_median_ms": math.exp(penalty.mu),
        "penalty_sigma": penalty.sigma,
    }


def with_figures(profile: Profile, op: str, figures: Figures) -> Profile:
    """The same provider with other figures for one operation."""
    code = OPERATIONS[op]
    changed = {
        (code, True): _lognormal(figures["success_median_ms"], figures["success_sigma"]),
        (code, False): _lognormal(figures["refusal_median_ms"], figures["refusal_sigma"]),
    }
    own = {key: Figure(distribution=each, text=repr(each), source=_SOURCE) for key, each in changed.items()}
    contention = dict(profile.contention)
    if "window_ms" in figures:
        contention[code] = _contention(figures)
    return dataclasses.replace(
        profile,
        figures={**profile.figures, **own},
        leg_shares={**profile.leg_shares, code: figures["leg_share"]},
        contention=contention,
    )


def _contention(figures: Figures) -> Contention:
    penalty: Any = _lognormal(figures["penalty_median_ms"], figures["penalty_sigma"])
    weight = figures["penalty_weight"]
    if weight < 1.0:
        penalty = MixtureLatency(((1.0 - weight, FixedLatency(0.0)), (weight, penalty)))
    return Contention(window_ms=figures["window_ms"], penalty=penalty, text=repr(penalty), source=_SOURCE)


def _lognormal(median_ms: float, sigma: float) -> LognormalLatency:
    return LognormalLatency.by_median(median_ms, sigma)


def misfit(profile: Profile, points: Sequence[MeasuredPoint], successes: int) -> float:
    """How far off the points are, in units of their goals; 1 where the worst of them is about at its goal."""
    total = 0.0
    for point in points:
        goal = GOALS.get(point.store, _PLAIN_GOAL)
        found = run_closed_loop(profile, point.op, point.clients, successes=successes)
        total += abs((found.success_per_s / point.success_per_s - 1.0) / goal.rate) ** _SHARPNESS
        total += abs((found.failure_pct - point.failure_pct) / goal.failure_points) ** _SHARPNESS
    return float(total ** (1.0 / _SHARPNESS))


def fit(
    points: Sequence[MeasuredPoint],
    *,
    start: Figures | None = None,
    free: Sequence[str] | None = None,
    successes: int = 8_000,
    evaluations_max: int = 300,
) -> tuple[Figures, float]:
    """Figures that bring the points as near as the search finds, and their misfit.

    Starts from the profile that is shipped, unless told where.
    """
    store, op = points[0].store, points[0].op
    profile = load_profile(store)
    figures = dict(start or figures_of(profile, op))
    names = list(free or FREE[store, op])

    def at(place: list[float]) -> float:
        return misfit(with_figures(profile, op, {**figures, **_from_place(names, place)}), points, successes)

    best, least = nelder_mead(at, _to_place(names, figures), evaluations_max=evaluations_max)
    return {**figures, **_from_place(names, best)}, least


def _to_place(names: Sequence[str], figures: Figures) -> list[float]:
    """On a line without ends: logarithms, and log odds of shares."""
    return [
        math.log(figures[name] / (1.0 - figures[name])) if name in SHARES else math.log(figures[name]) for name in names
    ]


def _from_place(names: Sequence[str], place: Sequence[float]) -> Figures:
    return {
        name: 1.0 / (1.0 + math.exp(-value)) if name in SHARES else math.exp(value)
        for name, value in zip(names, place, strict=True)
    }


def nelder_mead(
    at: Callable[[list[float]], float], start: list[float], *, step: float = 0.15, evaluations_max: int = 300
) -> tuple[list[float], float]:
    """The lowest place a simplex finds by walking downhill; plain, deterministic, without derivatives."""
    corners = [start] + [[x + (step if i == j else 0.0) for j, x in enumerate(start)] for i in range(len(start))]
    simplex = sorted(((at(corner), corner) for corner in corners), key=lambda each: each[0])
    evaluations = len(simplex)
    while evaluations < evaluations_max and simplex[-1][0] - simplex[0][0] > 1e-4:
        worst = simplex[-1]
        centre = [
            sum(column) / (len(simplex) - 1) for column in zip(*(place for _, place in simplex[:-1]), strict=True)
        ]

        def away(
            factor: float, centre: list[float] = centre, worst: list[float] = worst[1]
        ) -> tuple[float, list[float]]:
            place = [c + factor * (c - w) for c, w in zip(centre, worst, strict=True)]
            return at(place), place

        moved = away(1.0)
        evaluations += 1
        if moved[0] < simplex[0][0]:
            further = away(2.0)
            evaluations += 1
            moved = min(moved, further, key=lambda each: each[0])
        elif moved[0] >= simplex[-2][0]:
            moved = away(0.5 if moved[0] < worst[0] else -0.5)
            evaluations += 1
        if moved[0] < worst[0]:
            simplex[-1] = moved
        else:
            lowest = simplex[0][1]
            shrunk = [[(x + low) / 2.0 for x, low in zip(place, lowest, strict=True)] for _, place in simplex[1:]]
            simplex = [simplex[0]] + [(at(place), place) for place in shrunk]
            evaluations += len(shrunk)
        simplex.sort(key=lambda each: each[0])
    return simplex[0][1], simplex[0][0]
