"""How far a number can go before the objective is no longer met.

A bracket, then bisection under common random numbers, with as many seeds as each decision needs. What a value makes of
a configuration is said in ``endive.answers.variation``.

Every value is judged met, not met, or (with all seeds used) not to be told apart. The answer is the last value that
holds by its estimate; its interval runs from the last value that is surely met to the first that surely is not. Where
no value can be told, the estimates still say where the limit lies, and the answer says what would tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from endive.answers.cases import Assessment, Cases, assess
from endive.answers.length import ever_longer
from endive.answers.limit_search import SEEDS_MAX, SIMULATIONS_MAX, Point, Search
from endive.answers.replicate import Replicator
from endive.answers.variation import Base
from endive.answers.warnings import Warned
from endive.config.slo import objective_of
from endive.errors import ObjectiveError
from endive.objectives import CANNOT_TELL, MET, NOT_MET, duration_text
from endive.objectives.certainty import certainty_text, outcome_word
from endive.objectives.verdict_text import number_text

TOLERANCE: Final = 0.02
DOUBLINGS_MAX: Final = 12
LARGEST: Final = "largest"
SMALLEST: Final = "smallest"
ANY: Final = "any"  # no value that was tried fails the objective
NONE: Final = "none"  # no value that was tried meets it


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The answer: the last value that holds, the interval it lies in, and everything that was tried."""

    key: str
    objective: str
    which: str  # LARGEST, SMALLEST, ANY or NONE
    value: float
    low: float
    high: float
    now: float | None
    points: tuple[Point, ...]
    simulations: int
    is_whole: bool
    notes: tuple[str, ...]
    doubt: str | None = None  # what keeps the ends of the interval from being told; None if they are
    warnings: tuple[Warned, ...] = ()
    cases: tuple[Cases, ...] = ()

    @property
    def sentence(self) -> str:
        """Return what the answer is, how sure, and where the configuration stands now."""
        now = "" if self.now is None else f" It is {self.text_of(self.now)} now."
        if self.which in (ANY, NONE):
            verb = "meets" if self.which == ANY else "fails"
            span = f"{self.text_of(self.low)} to {self.text_of(self.high)}"
            return f"Every value of {self.key} from {span} {verb} {self.objective}.{now}"
        if self.doubt is None:
            return f"{self.key}: {self.bound} ({self.span}) meets {self.objective}.{now}"
        estimated = f"{self.key}: by the estimates {self.bound} meets {self.objective}, {self.span}"
        return f"{estimated} as far as was tried. {self.doubt}{now}"

    @property
    def bound(self) -> str:
        """Return the answer as a bound: ``at most 12``."""
        return f"{'at most' if self.which == LARGEST else 'at least'} {self.text_of(self.value)}"

    @property
    def span(self) -> str:
        """Between which values the answer lies."""
        if self.low == self.high:
            return "exactly"
        return f"between {self.text_of(self.low)} and {self.text_of(self.high)}"

    def text_of(self, value: float) -> str:
        """Return a value of the key, in its unit."""
        if self.is_whole:
            return f"{value:,.0f}"
        return duration_text(value) if self.key.endswith("_ms") else number_text(value)


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
    """Return the largest (or smallest) value of ``key`` that meets the objective."""
    try:
        now: float | None = base.value_of(key)
    except ObjectiveError:
        if low is None or high is None:
            raise
        now = None
    is_whole = all(isinstance(value, int) for value in (now, low, high) if value is not None)
    with replicator or Replicator() as running:
        searches = [
            Search(longer, key, slo, running, is_whole, seeds_max, simulations_max) for longer in ever_longer(base, slo)
        ]
        try:
            search, longer = _bracketed(searches, (now, low, high))
            met, unmet, doubt = _surely(search, (now, low, high), tolerance)
        except _OneSidedError as error:
            return _one_sided(error.search, key, objective_of(base.config, slo).text, now, running)
        notes = (*longer, *_notes(search, met, unmet, (low, high)))
        value = _last_holding(search, met, unmet)
        return Limit(
            key=key,
            objective=objective_of(base.config, slo).text,
            which=LARGEST if met < unmet else SMALLEST,
            value=value,
            low=min(met, _inside(unmet, met, is_whole)),
            high=max(met, _inside(unmet, met, is_whole)),
            now=now,
            points=tuple(search.points[value] for value in sorted(search.points)),
            simulations=running.simulations,
            is_whole=is_whole,
            notes=notes,
            doubt=doubt,
            warnings=(assessment := _assess(search, value)).warnings,
            cases=assessment.cases,
        )


class _OneSidedError(ObjectiveError):
    """Every value that was tried is surely on one side of the objective."""

    def __init__(self, message: str, search: Search) -> None:
        super().__init__(message)
        self.search = search


def _one_sided(search: Search, key: str, objective: str, now: float | None, running: Replicator) -> Limit:
    """Return the answer where no value violates the objective, or none meets it."""
    tried = sorted(search.points)
    is_any = bool(search.values_of(MET))
    assessment = _assess(search, tried[-1])
    heavy = search.heavy_text.removeprefix(", and ")
    return Limit(
        key=key,
        objective=objective,
        which=ANY if is_any else NONE,
        value=tried[-1] if is_any else tried[0],
        low=tried[0],
        high=tried[-1],
        now=now,
        points=tuple(search.points[value] for value in tried),
        simulations=running.simulations,
        is_whole=search.is_whole,
        notes=(f"{heavy[0].upper()}{heavy[1:]}.",) if heavy else (),
        warnings=assessment.warnings,
        cases=assessment.cases,
    )


def _assess(search: Search, value: float) -> Assessment:
    """Return warnings and cases at one value."""
    config = search.config_of(value)
    samples = search.replicator.take(config, search.points[value].seeds)
    replicator = None if search.is_spent else search.replicator
    return assess(config, objective_of(config, search.slo), samples, replicator)


# --- the bracket --------------------------------------------------------------------------------------


def _bracketed(
    searches: Sequence[Search], asked: tuple[float | None, float | None, float | None]
) -> tuple[Search, tuple[str, ...]]:
    """Return the first search, each with longer runs than the one before, that has seen both outcomes for sure.

    The runs of the last one are as long as they may be: its bracket may rest on estimates. What was lengthened is told.
    """
    last: Search | None = None
    notes: tuple[str, ...] = ()
    for search in searches:
        if last is not None:
            length = duration_text(search.base.config.simulation.duration_ms)
            notes = (f"Runs are {length} long: shorter ones have too few transactions.",)
        last = search
        _bracket(search, *asked)
        if search.is_bracketed or search.is_spent or not search.values_of(CANNOT_TELL):
            break
    assert last is not None
    if not last.is_bracketed and not _is_estimated(last):
        raise _unbracketed(last)
    return last, notes


def _bracket(search: Search, now: float | None, low: float | None, high: float | None) -> None:
    """Try values until one surely meets the objective and one surely does not."""
    if low is not None and high is not None:
        _try_asked(search, low)
        _try_asked(search, high)
        if not search.is_bracketed and _is_estimated(search):
            _tell_between(search, low, high)
        return
    assert now is not None
    start = float(now if low is None and high is None else low if low is not None else high or now)
    _try_asked(search, start)
    _expand(search, start, is_up=high is None, is_down=low is None)


def _try_asked(search: Search, value: float) -> None:
    if search.try_value(value) is None:
        raise ObjectiveError(f"--vary {search.key}: {search.refusal}")


def _expand(search: Search, start: float, *, is_up: bool, is_down: bool) -> None:
    """Double and halve, by turns, until both outcomes have been seen."""
    ways: list[Callable[[int], float]] = []
    if is_up:
        ways.append(lambda step: max(start, 1.0 if search.is_whole else start) * 2.0**step)
    if is_down:
        ways.append(lambda step: start / 2.0**step)
    # More is the likelier question where all is well for sure; otherwise the limit may be on either side.
    turns = [[way] for way in ways] if search.points[float(start)].outcome == MET else [ways]
    for turn in turns:
        for step in range(1, DOUBLINGS_MAX + 1):
            for way in list(turn):
                if search.is_bracketed or search.is_spent:
                    return
                if search.try_value(way(step)) is None or search.is_as_heavy(way(step), start):
                    turn.remove(way)


def _tell_between(search: Search, low: float, high: float) -> None:
    """Values inside of an interval whose ends cannot both be told: few txns at one end need not be few everywhere."""
    for share in (0.5, 0.25, 0.75, 0.125, 0.875):
        if not search.is_bracketed and not search.is_spent:
            is_positive = low > 0 and high > 0
            search.try_value(low ** (1.0 - share) * high**share if is_positive else low + share * (high - low))


def _is_estimated(search: Search) -> bool:
    """Return whether the estimates hold somewhere and do not elsewhere."""
    return len({point.holds for point in search.points.values() if point.verdict.holds is not None}) == 2


def _ends(search: Search) -> tuple[float, float, str | None]:
    """Return a value that meets the objective and one that does not, and what cannot be told about them.

    For sure and the nearest two if there are such; where nothing is sure, as far out as the estimates go.
    """
    holding = [value for value, point in search.points.items() if point.verdict.holds is True]
    failing = [value for value, point in search.points.items() if point.verdict.holds is False]
    met, unmet = search.values_of(MET), search.values_of(NOT_MET)
    if met and unmet:
        return *_nearest(met, unmet), None
    last, first = _nearest(holding, failing)
    is_largest = last < first
    far_met = min(holding) if is_largest else max(holding)
    far_unmet = max(failing) if is_largest else min(failing)
    missing, near = (NOT_MET, first) if met else (MET, last)
    part = search.points[near].verdict.decisive[0]
    judged = f"at {search.text_of(near)}, {part.comparison}: {certainty_text(part)}"
    doubt = f"No value is surely {outcome_word(missing)}: {judged}."
    met_end = min(met, key=lambda value: abs(value - first)) if met else far_met
    unmet_end = min(unmet, key=lambda value: abs(value - last)) if unmet else far_unmet
    return met_end, unmet_end, doubt


def _surely(
    search: Search, asked: tuple[float | None, float | None, float | None], tolerance: float
) -> tuple[float, float, str | None]:
    """Return the ends, moved together until both are still what they were with all seeds that are allowed."""
    while True:
        met, unmet, doubt = _ends(search)
        met, unmet = _narrow(search, met, unmet, tolerance)
        if search.is_spent or all(search.confirm(value) for value in (met, unmet)):
            return met, unmet, doubt
        if not search.is_bracketed:
            _bracket(search, *asked)
        if not _is_estimated(search):
            raise _unbracketed(search)


def _nearest(met: list[float], unmet: list[float]) -> tuple[float, float]:
    return min(((a, b) for a in met for b in unmet), key=lambda pair: abs(math.log((pair[0] + 1) / (pair[1] + 1))))


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
        if point.outcome == MET:
            met = point.value
        elif point.outcome == NOT_MET:
            unmet = point.value
    return met, unmet


def _unsure(search: Search, met: float, unmet: float) -> list[float]:
    low, high = min(met, unmet), max(met, unmet)
    return [value for value in search.values_of(CANNOT_TELL) if low < value < high]


def _is_narrow(search: Search, a: float, b: float, tolerance: float, doubt: float) -> bool:
    gap = abs(a - b)
    if search.is_whole:
        return gap <= max(1.0, doubt, tolerance * min(a, b))
    return gap <= max(doubt, tolerance * max(abs(a), abs(b)))


def _middle(search: Search, a: float, b: float) -> float:
    """Return the geometric middle of two positive ends, the arithmetic one near zero."""
    low, high = min(a, b), max(a, b)
    middle = math.sqrt(low * high) if low > 0 and high / low > 1.5 else (low + high) / 2.0
    return min(high - 1, max(low + 1, round(middle))) if search.is_whole else middle


def _last_holding(search: Search, met: float, unmet: float) -> float:
    """Return the value farthest from ``met`` such that it and all between hold by their estimates."""
    last = met
    for value in sorted(_unsure(search, met, unmet), reverse=met > unmet):
        if not search.points[value].holds:
            break
        last = value
    return last


def _inside(unmet: float, met: float, is_whole: bool) -> float:
    """Return the end of the interval at the side that is not met: of whole numbers the one before it."""
    return unmet + math.copysign(1.0, met - unmet) if is_whole and unmet != met else unmet


# --- words --------------------------------------------------------------------------------------------


def _notes(search: Search, met: float, unmet: float, ends: tuple[float | None, float | None]) -> tuple[str, ...]:
    for probe in _probes(search, met, unmet, ends):
        if not search.is_spent:
            search.try_value(probe)
    beyond = [value for value in search.values_of(MET) if value < unmet < met or value > unmet > met]
    beyond += [value for value in search.values_of(NOT_MET) if value > met > unmet or value < met < unmet]
    notes = []
    if beyond:
        told = ", ".join(f"{search.text_of(value)} ({outcome_word(search.points[value].outcome)})" for value in beyond)
        notes.append(
            f"Non-monotonic response: {told} contradicts the reported limit; see the tested values (--details)."
        )
    if search.is_spent:
        notes.append(
            f"Stopped after {search.replicator.simulations} simulations; the interval is as narrow as they allow."
        )
    return tuple(notes)


def _probes(search: Search, met: float, unmet: float, ends: tuple[float | None, float | None]) -> list[float]:
    """Return values away from the limit, within ``ends``, at which a response that is not monotone would show."""
    tried = (min(search.points), max(search.points))
    far_met = tried[0] if met < unmet else tried[1]
    probes = [_middle(search, far_met, met)] if abs(far_met - met) > 2 else []
    probes += [unmet * 1.5, far_met / 1.7] if met < unmet else [unmet / 1.5, far_met * 1.7]
    low, high = ends
    return [probe for probe in probes if (low is None or probe >= low) and (high is None or probe <= high)]


def _unbracketed(search: Search) -> ObjectiveError:
    """Return why there is no limit: every value is on one side of it, or nothing was measured."""
    tried = sorted(search.points)
    span = f"{search.key} from {search.text_of(tried[0])} to {search.text_of(tried[-1])}"
    unsure = search.values_of(CANNOT_TELL)
    outcomes = {point.outcome for point in search.points.values()}
    if outcomes in ({MET}, {NOT_MET}):
        verb = "meets" if outcomes == {MET} else "fails"
        return _OneSidedError(f"Every tested value of {span} {verb} the objective; widen --from/--to.", search)
    if search.values_of(MET) or any(search.points[value].holds for value in unsure):
        return ObjectiveError(f"No value of {span} surely fails the objective{search.heavy_text}. Widen --from/--to.")
    part = search.points[unsure[0]].verdict.decisive[0]
    return ObjectiveError(
        f"{span}: no value surely meets the objective. At {search.text_of(unsure[0])}, {part.comparison}: "
        f"{certainty_text(part)}. Raise simulation.duration_ms, or --seeds above {search.seeds_max}."
    )
