"""How far a number can go before the objective is no longer met.

This file defines the search: a bracket, then bisection under common random numbers, with as many seeds as each decision
needs. What a value makes of a configuration lives in ``endive.answers.variation``.

Every value is judged met, not met, or (with all seeds used) not to be told apart. The answer is the last value that
holds by its estimate; its interval runs from the last value that is surely met to the first that surely is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from endive.answers.estimates import judge_samples
from endive.answers.replicate import Replicator
from endive.answers.variation import Base, refused
from endive.config.slo import objective_of
from endive.errors import ConfigError, ObjectiveError
from endive.objectives import CANNOT_TELL, MET, NOT_MET, Verdict, duration_text

CONFIDENCE: Final = 0.99  # of one decision; a search makes about ten
SEEDS_FIRST: Final = 3
SEEDS_MAX: Final = 96  # of one value
SIMULATIONS_MAX: Final = 2_000
TOLERANCE: Final = 0.02
DOUBLINGS_MAX: Final = 12
TXNS_MAX: Final = 200_000  # of one simulation's window; beyond it the bracket is not widened any more
LARGEST: Final = "largest"
SMALLEST: Final = "smallest"


@dataclass(frozen=True, slots=True)
class Point:
    """One value that was tried."""

    value: float
    verdict: Verdict
    seeds: int

    @property
    def holds(self) -> bool:
        """Whether its estimate meets the objective, doubt aside."""
        return self.verdict.holds is True


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The answer: the last value that holds, the interval it lies in, and everything that was tried."""

    key: str
    objective: str
    which: str  # LARGEST or SMALLEST
    value: float
    low: float
    high: float
    now: float | None
    points: tuple[Point, ...]
    simulations: int
    is_whole: bool
    notes: tuple[str, ...]


@dataclass
class Search:
    """One question under way: what has been tried, and what may still be."""

    base: Base
    key: str
    slo: str | None
    replicator: Replicator
    is_whole: bool
    seeds_max: int = SEEDS_MAX
    simulations_max: int = SIMULATIONS_MAX
    points: dict[float, Point] = field(default_factory=dict)
    is_heavy: bool = False  # a value has been tried whose simulations are as large as any may be

    def try_value(self, value: float) -> Point | None:
        """Judge one value; None if the configuration cannot have it."""
        value = float(round(value)) if self.is_whole else value
        if value in self.points:
            return self.points[value]
        try:
            config = self.base.with_values({self.key: int(value) if self.is_whole else value})
        except ConfigError:
            return None
        objective = objective_of(config, self.slo)
        first, count = config.simulation.seed, min(SEEDS_FIRST, self.seeds_max)
        while True:
            samples = self.replicator.samples(config, range(first, first + count))
            self.is_heavy |= samples[0].n_txns > TXNS_MAX
            verdict = judge_samples(objective, samples, CONFIDENCE)
            if verdict.outcome != CANNOT_TELL or count >= self.seeds_max or self.is_spent:
                break
            count = min(2 * count, self.seeds_max)
        point = Point(value, verdict, count)
        self.points[value] = point
        return point

    def text_of(self, value: float) -> str:
        """A value as people write it."""
        return duration_text(value) if self.key.endswith("_ms") else f"{value:g}"

    @property
    def is_stuck(self) -> bool:
        """Whether a wider bracket is out of question."""
        return self.is_spent or self.is_heavy

    @property
    def heavy_text(self) -> str:
        """Why the bracket was not widened further, if that was for its size."""
        return f", and larger simulations than {TXNS_MAX:,} txns are not tried" if self.is_heavy else ""

    @property
    def is_spent(self) -> bool:
        """Whether no more simulations may be run."""
        return self.replicator.simulations >= self.simulations_max


def find_limit(
    base: Base,
    key: str,
    *,
    slo: str | None = None,
    low: float | None = None,
    high: float | None = None,
    tolerance: float = TOLERANCE,
    seeds_max: int = SEEDS_MAX,
    simulations_max: int = SIMULATIONS_MAX,
    replicator: Replicator | None = None,
) -> Limit:
    """The largest (or smallest) value of ``key`` that meets the objective."""
    now = None if low is not None and high is not None and not _has_value(base, key) else base.value_of(key)
    is_whole = all(isinstance(value, int) for value in (now, low, high) if value is not None)
    with replicator or Replicator() as running:
        search = Search(base, key, slo, running, is_whole, seeds_max, simulations_max)
        met, unmet = _bracket(search, now, low, high)
        met, unmet = _narrow(search, met, unmet, tolerance)
        notes = _notes(search, met, unmet, (low, high))
        which = LARGEST if met < unmet else SMALLEST
        return Limit(
            key=key,
            objective=objective_of(base.config, slo).text,
            which=which,
            value=_last_holding(search, met, unmet),
            low=min(met, _inside(unmet, met, is_whole)),
            high=max(met, _inside(unmet, met, is_whole)),
            now=now,
            points=tuple(search.points[value] for value in sorted(search.points)),
            simulations=running.simulations,
            is_whole=is_whole,
            notes=notes,
        )


def _has_value(base: Base, key: str) -> bool:
    try:
        base.value_of(key)
    except ObjectiveError:
        return False
    return True


# --- the bracket --------------------------------------------------------------------------------------


def _bracket(search: Search, now: float | None, low: float | None, high: float | None) -> tuple[float, float]:
    """A value that surely meets the objective and one that surely does not."""
    if low is not None and high is not None:
        ends = [search.try_value(low), search.try_value(high)]
        if None in ends:
            raise ObjectiveError(_impossible(search, low if ends[0] is None else high))
    else:
        assert now is not None
        start = float(now if low is None and high is None else low if low is not None else high or now)
        if search.try_value(start) is None:
            raise ObjectiveError(_impossible(search, start))
        _expand(search, start, is_up=high is None, is_down=low is None)
    met = [value for value, point in search.points.items() if point.verdict.outcome == MET]
    unmet = [value for value, point in search.points.items() if point.verdict.outcome == NOT_MET]
    if not met or not unmet:
        raise ObjectiveError(_no_bracket(search, bool(met), bool(unmet)))
    return min(((a, b) for a in met for b in unmet), key=lambda pair: abs(math.log((pair[0] + 1) / (pair[1] + 1))))


def _expand(search: Search, start: float, *, is_up: bool, is_down: bool) -> None:
    """Double and halve, by turns, until both outcomes have been seen."""
    ways: list[Callable[[int], float]] = []
    if is_up:
        ways.append(lambda step: max(start, 1.0 if search.is_whole else start) * 2.0**step)
    if is_down:
        ways.append(lambda step: start / 2.0**step)
    is_met = search.points[float(start)].verdict.outcome == MET
    if is_met:  # more of it is the likelier question; less of it only if more never fails
        for way in ways:
            for step in range(1, DOUBLINGS_MAX + 1):
                if _is_bracketed(search) or search.is_stuck or search.try_value(way(step)) is None:
                    break
        return
    for step in range(1, DOUBLINGS_MAX + 1):
        for way in list(ways):
            if _is_bracketed(search) or search.is_stuck:
                return
            if search.try_value(way(step)) is None:
                ways.remove(way)


def _is_bracketed(search: Search) -> bool:
    outcomes = {point.verdict.outcome for point in search.points.values()}
    return {MET, NOT_MET} <= outcomes


# --- bisection ----------------------------------------------------------------------------------------


def _narrow(search: Search, met: float, unmet: float, tolerance: float) -> tuple[float, float]:
    """Move both ends together until nothing, or only values that cannot be told, lie between them."""
    while not search.is_spent:
        unsure = sorted(_unsure(search, met, unmet), reverse=met > unmet)
        doubt = abs(unsure[-1] - unsure[0]) / 2.0 if unsure else 0.0
        gaps = [(met, unsure[0]), (unsure[-1], unmet)] if unsure else [(met, unmet)]
        gap = next((gap for gap in gaps if not _is_narrow(search, *gap, tolerance, doubt)), None)
        if gap is None:
            break
        point = search.try_value(_middle(search, *gap))
        if point is None:
            break
        if point.verdict.outcome == MET:
            met = point.value
        elif point.verdict.outcome == NOT_MET:
            unmet = point.value
    return met, unmet


def _unsure(search: Search, met: float, unmet: float) -> list[float]:
    low, high = min(met, unmet), max(met, unmet)
    return [v for v, point in search.points.items() if low < v < high and point.verdict.outcome == CANNOT_TELL]


def _is_narrow(search: Search, a: float, b: float, tolerance: float, doubt: float) -> bool:
    gap = abs(a - b)
    if search.is_whole:
        return gap <= max(1.0, doubt, tolerance * min(a, b))
    return gap <= max(doubt, tolerance * max(abs(a), abs(b)))


def _middle(search: Search, a: float, b: float) -> float:
    """The geometric middle of two positive ends, the arithmetic one near zero."""
    low, high = min(a, b), max(a, b)
    middle = math.sqrt(low * high) if low > 0 and high / low > 1.5 else (low + high) / 2.0
    return min(high - 1, max(low + 1, round(middle))) if search.is_whole else middle


def _last_holding(search: Search, met: float, unmet: float) -> float:
    """The value farthest from ``met`` such that it and all between hold by their estimates."""
    last = met
    for value in sorted(_unsure(search, met, unmet), reverse=met > unmet):
        if not search.points[value].holds:
            break
        last = value
    return last


def _inside(unmet: float, met: float, is_whole: bool) -> float:
    """The end of the interval at the side that is not met: of whole numbers the one before it."""
    return unmet + math.copysign(1.0, met - unmet) if is_whole and unmet != met else unmet


# --- words --------------------------------------------------------------------------------------------


def _notes(search: Search, met: float, unmet: float, ends: tuple[float | None, float | None]) -> tuple[str, ...]:
    for probe in _probes(search, met, unmet, ends):
        if not search.is_spent:
            search.try_value(probe)
    beyond = [
        point
        for value, point in search.points.items()
        if (value < unmet < met or value > unmet > met) and point.verdict.outcome == MET
    ] + [
        point
        for value, point in search.points.items()
        if (value > met > unmet or value < met < unmet) and point.verdict.outcome == NOT_MET
    ]
    notes = []
    if beyond:
        told = ", ".join(f"{search.text_of(point.value)} ({point.verdict.outcome})" for point in beyond)
        notes.append(f"The response is not monotone: {told} contradicts the limit. Look at the values that were tried.")
    if search.is_spent:
        notes.append(
            f"Stopped after {search.replicator.simulations} simulations; the interval is as narrow as they allow."
        )
    return tuple(notes)


def _probes(search: Search, met: float, unmet: float, ends: tuple[float | None, float | None]) -> list[float]:
    """Values away from the limit, within ``ends``, at which a response that is not monotone would show."""
    tried = (min(search.points), max(search.points))
    far_met = tried[0] if met < unmet else tried[1]
    probes = [_middle(search, far_met, met)] if abs(far_met - met) > 2 else []
    probes += [unmet * 1.5, far_met / 1.7] if met < unmet else [unmet / 1.5, far_met * 1.7]
    low, high = ends
    return [probe for probe in probes if (low is None or probe >= low) and (high is None or probe <= high)]


def _no_bracket(search: Search, is_met: bool, is_unmet: bool) -> str:
    tried = sorted(search.points)
    span = f"{search.key} from {search.text_of(tried[0])} to {search.text_of(tried[-1])}"
    if is_met:
        return f"No value of {span} fails the objective for sure{search.heavy_text}. Widen it with --from and --to."
    if is_unmet:
        return f"No value of {span} meets the objective{search.heavy_text}. Widen it, or ask less."
    return (
        f"{span}: with {search.seeds_max} seeds each, no value can be told to meet the objective or not. "
        "Lengthen simulation.duration_ms or raise --seeds."
    )


def _impossible(search: Search, value: float) -> str:
    shown = int(value) if search.is_whole else value
    try:
        search.base.with_values({search.key: shown})
    except ConfigError as error:
        return f"--vary {search.key}: {refused(error)}"
    raise AssertionError("the value is possible")
