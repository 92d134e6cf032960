"""Fit the conditional operations of a profile to its measured curve.

Some figures of a profile are moved until simulated and measured points agree. The experiment is
``verification.suites.closed_loop``'s. No profile is written: figures are printed, and whoever ships them writes them
into the file with their source.

The figures of one operation, as a profile names them; extra times are mixed with nothing by their weight:

===================  ==========================================================================================
success_median_ms    and success_sigma: a request that succeeds
slow_weight          share of successes from a slow tail, slow_median_ms and slow_sigma
refusal_median_ms    and refusal_sigma: one that is refused
leg_share            share of the success latency before the server evaluates
contention_ms        a request evaluated so soon after a rival's is acknowledged late
penalty_weight       how many of them, and penalty_median_ms, penalty_sigma: by how much
crowding_ms          rivals that came so shortly before a success count as its crowd
crowd_chance         how often a success among rivals is late, and crowd_scale, by how much: times the profile's
throttling_ms        a request that comes so soon after a rival's is evaluated late
delay_weight         how many of them, and delay_median_ms, delay_sigma: by how much
writes_per_s_max     successes of one object
===================  ==========================================================================================
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from endive.distributions import (
    EmpiricalLatency,
    FixedLatency,
    LatencyDistribution,
    LognormalLatency,
    MixtureLatency,
)
from endive.storage import MEASURED, Crowding, ExtraTime, Figure, Profile, load_profile
from verification.suites.closed_loop import OPERATIONS, run_closed_loop
from verification.suites.measured_curves import GOALS, LATENCY_GOALS, Goal, MeasuredPoint

Figures = dict[str, float]

SHARES: Final = ("leg_share", "slow_weight", "penalty_weight", "delay_weight")  # between 0 and 1; others are positive
_PLAIN_GOAL: Final = Goal(rate=0.10, failure_points=5.0)
_SHARPNESS: Final = 4  # 2 would minimise the sum of squares; more looks at the worst point
_SOURCE: Final = "fit"

# Which figures of a curve move. What a lone client or the pooled refusals showed directly stays near the measured.
_CROWD: Final = ("crowding_ms", "crowd_chance", "crowd_scale")
_EXPRESS: Final = ("success_median_ms", "leg_share", "refusal_median_ms", *_CROWD)
_AZURE: Final = ("leg_share", "refusal_sigma", *_CROWD)
_TAILED: Final = ("success_median_ms", "success_sigma", "slow_weight", "slow_median_ms", "slow_sigma")
FREE: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("s3", "cas"): (*_TAILED, "leg_share", "refusal_median_ms"),
    ("s3x", "cas"): _EXPRESS,
    ("s3x", "append"): _EXPRESS,
    ("azure", "cas"): _AZURE,
    ("azure", "append"): (*_TAILED, "leg_share", "refusal_median_ms", "crowding_ms", "crowd_chance"),
    ("azurex", "cas"): (*_AZURE, "throttling_ms", "delay_median_ms"),
    ("azurex", "append"): ("leg_share", "success_sigma", "refusal_median_ms"),
    ("gcp", "cas"): ("leg_share", "slow_weight", "throttling_ms", "delay_weight", "delay_median_ms"),
}


def figures_of(profile: Profile, op: str) -> Figures:
    """The figures of an operation as the profile has them."""
    code = OPERATIONS[op]
    success, refusal = (profile.figures[code, outcome].distribution for outcome in (True, False))
    found: Figures = {}
    if isinstance(success, MixtureLatency):
        (_, success), (found["slow_weight"], slow) = success.components
        found |= _spread("slow", slow)
    found |= _spread("success", success) | _spread("refusal", refusal)
    found["leg_share"] = profile.leg_share(code)
    if code in profile.contention:
        late = profile.contention[code]
        found |= {"contention_ms": late.window_ms, **_extra("penalty", late.extra)}
    if code in profile.throttling:
        held = profile.throttling[code]
        found |= {"throttling_ms": held.window_ms, **_extra("delay", held.extra)}
    if code in profile.crowding:
        found |= {"crowding_ms": profile.crowding[code].window_ms, "crowd_chance": 1.0, "crowd_scale": 1.0}
    if profile.writes_per_s_max > 0.0:
        found["writes_per_s_max"] = profile.writes_per_s_max
    return found


def _spread(name: str, distribution: LatencyDistribution) -> Figures:
    assert isinstance(distribution, LognormalLatency), "a fit moves lognormals, and mixtures of two"
    return {f"{name}_median_ms": math.exp(distribution.mu), f"{name}_sigma": distribution.sigma}


def _extra(name: str, distribution: LatencyDistribution) -> Figures:
    weight = 1.0
    if isinstance(distribution, MixtureLatency):
        (_, nothing), (weight, distribution) = distribution.components
        assert isinstance(nothing, FixedLatency)
    return {f"{name}_weight": weight, **_spread(name, distribution)}


def with_figures(profile: Profile, op: str, figures: Figures) -> Profile:
    """The same provider with other figures for one operation.

    ``crowd_chance`` and ``crowd_scale`` multiply, in every table of crowding, how often a success is late and how much.
    """
    code = OPERATIONS[op]
    success: LatencyDistribution = _lognormal("success", figures)
    if "slow_weight" in figures:
        weight = figures["slow_weight"]
        success = MixtureLatency(((1.0 - weight, success), (weight, _lognormal("slow", figures))))
    changed = {(code, True): success, (code, False): _lognormal("refusal", figures)}
    own = {
        key: Figure(distribution=each, text=repr(each), known=MEASURED, source=_SOURCE) for key, each in changed.items()
    }
    contention, throttling = dict(profile.contention), dict(profile.throttling)
    if "contention_ms" in figures:
        late = _mixed("penalty", figures)
        contention[code] = ExtraTime(
            window_ms=figures["contention_ms"], extra=late, text=repr(late), known=MEASURED, source=_SOURCE
        )
    if "throttling_ms" in figures:
        held = _mixed("delay", figures)
        throttling[code] = ExtraTime(
            window_ms=figures["throttling_ms"], extra=held, text=repr(held), known=MEASURED, source=_SOURCE
        )
    crowding = dict(profile.crowding)
    if "crowding_ms" in figures:
        crowding[code] = _scaled(crowding[code], figures)
    return dataclasses.replace(
        profile,
        figures={**profile.figures, **own},
        leg_shares={**profile.leg_shares, code: figures["leg_share"]},
        contention=contention,
        throttling=throttling,
        crowding=crowding,
        writes_per_s_max=figures.get("writes_per_s_max", 0.0),
    )


def without_rivals(profile: Profile, op: str, rivals: int) -> Profile:
    """The same provider without its table of crowding for so many rivals, if it has one and others besides."""
    code = OPERATIONS[op]
    crowding = profile.crowding.get(code)
    if crowding is None or len(crowding.tables) == 1:
        return profile
    kept = tuple(table for table in crowding.tables if table.rivals != rivals)
    return dataclasses.replace(profile, crowding={**profile.crowding, code: dataclasses.replace(crowding, tables=kept)})


def _scaled(crowding: Crowding, figures: Figures) -> Crowding:
    chance, scale = figures["crowd_chance"], figures["crowd_scale"]
    tables = tuple(
        dataclasses.replace(table, penalty=_scaled_penalty(table.penalty, chance, scale)) for table in crowding.tables
    )
    return dataclasses.replace(crowding, window_ms=figures["crowding_ms"], tables=tables)


def _scaled_penalty(penalty: LatencyDistribution, chance: float, scale: float) -> LatencyDistribution:
    """So many times as likely to be late, and late by so many times as much."""
    assert isinstance(penalty, MixtureLatency), "a table of crowding is a mixture"
    late = [(weight, part) for weight, part in penalty.components if not isinstance(part, FixedLatency)]
    total = sum(weight for weight, _ in late)
    factor = min(chance, 1.0 / total)
    parts = [(weight * factor, _stretched(part, scale)) for weight, part in late]
    rest = 1.0 - total * factor
    return MixtureLatency((*([(rest, FixedLatency(0.0))] if rest > 1e-12 else []), *parts))


def _stretched(part: LatencyDistribution, scale: float) -> LatencyDistribution:
    if isinstance(part, LognormalLatency):
        return LognormalLatency.by_median(math.exp(part.mu) * scale, part.sigma)
    assert isinstance(part, EmpiricalLatency), "a fit stretches lognormals and measured quantiles"
    return EmpiricalLatency(tuple((p, ms * scale) for p, ms in part.quantiles))


def _lognormal(name: str, figures: Figures) -> LognormalLatency:
    return LognormalLatency.by_median(figures[f"{name}_median_ms"], figures[f"{name}_sigma"])


def _mixed(name: str, figures: Figures) -> LatencyDistribution:
    weight = figures[f"{name}_weight"]
    extra = _lognormal(name, figures)
    return MixtureLatency(((1.0 - weight, FixedLatency(0.0)), (weight, extra))) if weight < 1.0 else extra


def misfit(profile: Profile, points: Sequence[MeasuredPoint], successes: int) -> float:
    """How far off the points are, in units of their goals; about 1 where the worst of them is at its goal."""
    total = 0.0
    for point in points:
        goal = GOALS.get(point.store, _PLAIN_GOAL)
        found = run_closed_loop(profile, point.op, point.clients, successes=successes)
        total += abs((found.success_per_s / point.success_per_s - 1.0) / goal.rate) ** _SHARPNESS
        total += abs((found.failure_pct - point.failure_pct) / goal.failure_points) ** _SHARPNESS
        for name, allowed in LATENCY_GOALS.items():
            expected, actual = (getattr(each, f"success_{name}_ms") for each in (point, found))
            total += abs(math.log(actual / expected) / math.log1p(allowed)) ** _SHARPNESS
    return float(total ** (1.0 / _SHARPNESS))


def fit(
    points: Sequence[MeasuredPoint],
    *,
    start: Figures | None = None,
    successes: int = 8_000,
    evaluations_max: int = 300,
    step: float = 0.15,
    profile: Profile | None = None,
) -> tuple[Figures, float]:
    """Figures that bring the points as near as the search finds, and their misfit.

    Starts from the profile that is shipped, unless told where or given another.
    """
    store, op = points[0].store, points[0].op
    profile = profile or load_profile(store)
    figures = dict(start or figures_of(profile, op))
    names = FREE[store, op]

    def at(place: list[float]) -> float:
        return misfit(with_figures(profile, op, {**figures, **_from_place(names, place)}), points, successes)

    best, least = nelder_mead(at, _to_place(names, figures), step=step, evaluations_max=evaluations_max)
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


Place = tuple[float, list[float]]  # how high, where


def nelder_mead(
    at: Callable[[list[float]], float], start: list[float], *, step: float = 0.15, evaluations_max: int = 300
) -> tuple[list[float], float]:
    """The lowest place a simplex finds by walking downhill; plain, deterministic, without derivatives."""
    corners = [start] + [[x + (step if i == j else 0.0) for j, x in enumerate(start)] for i in range(len(start))]
    simplex: list[Place] = sorted(((at(corner), corner) for corner in corners), key=_height)
    evaluations = len(simplex)
    while evaluations < evaluations_max and simplex[-1][0] - simplex[0][0] > 1e-3:
        moved, tried = _step(at, simplex)
        evaluations += tried
        if moved[0] < simplex[-1][0]:
            simplex[-1] = moved
        else:
            lowest = simplex[0][1]
            shrunk = [[(x + low) / 2.0 for x, low in zip(place, lowest, strict=True)] for _, place in simplex[1:]]
            simplex = [simplex[0], *((at(place), place) for place in shrunk)]
            evaluations += len(shrunk)
        simplex.sort(key=_height)
    return simplex[0][1], simplex[0][0]


def _step(at: Callable[[list[float]], float], simplex: list[Place]) -> tuple[Place, int]:
    """Where the highest corner goes: through the middle of the others, further if that pays, nearer if not."""
    height, worst = simplex[-1]
    centre = [sum(column) / (len(simplex) - 1) for column in zip(*(place for _, place in simplex[:-1]), strict=True)]

    def away(factor: float) -> Place:
        place = [c + factor * (c - w) for c, w in zip(centre, worst, strict=True)]
        return at(place), place

    moved = away(1.0)
    if moved[0] < simplex[0][0]:
        return min(moved, away(2.0), key=_height), 2
    if moved[0] < simplex[-2][0]:
        return moved, 1
    return away(0.5 if moved[0] < height else -0.5), 2


def _height(place: Place) -> float:
    return place[0]
