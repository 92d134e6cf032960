"""Curves: configurations that differ in one axis only, where along it the objective is met, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from endive.objectives import CANNOT_TELL
from endive.objectives.duration import MS_PER_UNIT
from endive.report.axes import Axis, make_axis
from endive.report.material import Material
from endive.report.reading import Row
from endive.report.words import join_words, quote

_LISTED: Final = 4
NOWHERE: Final = "nowhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One configuration of a curve."""

    words: str  # where it is on the axis
    row: Row  # of the txns the question is about
    meets: bool  # the objective

    @property
    def point(self) -> int:
        """Its number in the grid."""
        return int(self.row["point"])

    @property
    def commits(self) -> float:
        """Per second; none if they are not known."""
        return float(self.row["committed_per_s"] or 0.0)

    @property
    def success(self) -> float:
        """The share that commits; below zero if it is not known."""
        return -1.0 if self.row["success_rate"] is None else float(self.row["success_rate"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Configurations in the order of one axis: of the load, if the study has one."""

    label: str
    places: tuple[Place, ...]
    is_ordered: bool
    along: str = ""  # the axis, if its places do not say what they are times of
    values: tuple[tuple[str, str], ...] = ()  # of the axes that set it apart from other curves: name, value in words

    @property
    def met(self) -> list[int]:
        """The places that meet the objective."""
        return [number for number, place in enumerate(self.places) if place.meets]

    @property
    def met_share(self) -> float:
        """The share of places that meet the objective; of equal ones, more of the first is more."""
        held = next((number for number, place in enumerate(self.places) if not place.meets), len(self.places))
        return len(self.met) / len(self.places) + 1e-6 * held

    @property
    def most(self) -> Place:
        """The place with the most commits."""
        return max(self.places, key=lambda place: place.commits)

    @property
    def first_missed(self) -> int | None:
        """The first place that misses the objective after one that meets it; the first of all if none does."""
        missed = [number for number, place in enumerate(self.places) if not place.meets]
        after_met = [number for number in missed if number and self.places[number - 1].meets]
        return next(iter(after_met or missed), None)

    def where(self) -> str:
        """Where the objective is met, in words that follow a verb; all places if none is, for a sentence with "not"."""
        return f"{self._where()}{f' ({self.along})' if self.along else ''}"

    def _where(self) -> str:
        met, words = self.met, [place.words for place in self.places]
        if len(words) == 1:
            return f"at {words[0]}"
        if not self.is_ordered:
            if not met or len(met) == len(words):
                return f"with {_both_or_all(words)}"
            if len(met) > _LISTED:
                return f"with {len(met)} of {len(words)}"
            return f"with {join_words([words[number] for number in met])} only"
        if not met or len(met) == len(words):
            return f"everywhere from {_range_words(words)}"
        if met[-1] == len(met) - 1:
            return f"up to {words[met[-1]]}"
        if met == list(range(met[0], len(words))):
            return f"from {words[met[0]]} on"
        if len(met) <= _LISTED:
            return f"only at {join_words([words[number] for number in met])}"
        return f"at {len(met)} of {len(words)} places from {_range_words(words)}"

    def where_met(self) -> str:
        """The same; "nowhere" if no place meets it."""
        return self.where() if self.met else NOWHERE


def _range_words(words: Sequence[str]) -> str:
    """From the first place to the last, with the unit once."""
    number, _, unit = words[0].partition(" ")
    is_same = bool(unit) and words[-1].partition(" ")[2] in (unit, f"{unit}s")
    return f"{number if is_same else words[0]} to {words[-1]}"


def make_curves(material: Material) -> list[Curve]:
    """Configurations that agree in everything but the load, or in what the study is drawn along, in its order."""
    facts = material.study.facts
    rows = material.subject_rows()
    layout = material.layout
    load = facts.get("load_axis")
    if load and len({repr(row[load]) for row in rows}) > 1:
        axis = next((one for one in layout.axes if one.key == load), None)
        axis = axis or make_axis(load, [row[load] for row in rows])
        keys = [key for key in facts["series"] if len({repr(row[key]) for row in rows}) > 1]
    else:
        assert layout.x is not None  # there are several configurations
        axis = layout.x
        keys = [one.key for one in layout.axes if one is not axis]
    named = [one for one in layout.axes if one.key in keys and one.key != axis.key]
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(repr(row[key]) for key in keys), []).append(row)
    return [_curve(group, axis, named) for group in groups.values()]


def _curve(group: list[Row], axis: Axis, named: Sequence[Axis]) -> Curve:
    ordered = sorted(group, key=lambda row: axis.number(row[axis.key]) or 0.0) if axis.is_numeric else group
    values = tuple((one.name, one.named(one.label(group[0][one.key]))) for one in named)
    return Curve(
        label=_join([value for _, value in values]),
        places=tuple(
            Place(words=axis.place(axis.label(row[axis.key])), row=row, meets=row["meets_objective"] is True)
            for row in ordered
        ),
        is_ordered=axis.is_numeric,
        along=axis.name if axis.unit in MS_PER_UNIT else "",
        values=values,
    )


def _join(parts: Sequence[str]) -> str:
    """The values that set a curve apart: the first, and the others in brackets."""
    if len(parts) < 2:
        return "".join(parts)
    others = ("; " if any(", " in part for part in parts) else ", ").join(parts[1:])
    return f"{parts[0]} ({others})"


def _both_or_all(places: Sequence[str]) -> str:
    if len(places) == 2:
        return f"both {join_words(list(places))}"
    return f"all of {join_words(list(places))}" if len(places) <= _LISTED else f"all {len(places)}"


# ---- many curves in one sentence -------------------------------------------------------------------------


def along_deciding_axis(curves: Sequence[Curve]) -> str:
    """Where the objective is met for each value of the axis that decides the most, and what else moves it."""
    groupings = [_group(curves, number) for number in range(len(curves[0].values))]
    whole = _mean_met(curves)
    # The axis whose values account for most of the differences between curves.
    explained = [sum(len(alike) * (_mean_met(alike) - whole) ** 2 for alike in by.values()) for by in groupings]
    deciding = explained.index(max(explained))
    groups = groupings[deciding]
    names = [name for name, _ in curves[0].values]
    others = join_words(names[:deciding] + names[deciding + 1 :])
    ordered = sorted(groups, key=lambda value: -_mean_met(groups[value]))
    values = ordered if len(ordered) <= _LISTED else [ordered[0], ordered[-1]]
    parts = []
    for value in values:  # from the worst of its curves to the best
        low, high = (choose(groups[value], key=lambda curve: curve.met_share).where_met() for choose in (min, max))
        parts.append(f"{low if low == high else f'{low} at worst and {high} at best'} with {quote(value)}")
    is_moved = any(len({curve.where_met() for curve in groups[value]}) > 1 for value in values)
    left = f"; {len(ordered) - 2} other values of {names[deciding]} lie between" if values != ordered else ""
    return f"{'; '.join(parts)}, {'depending on' if is_moved else 'whatever'} {others}{left}"


def _group(curves: Sequence[Curve], number: int) -> dict[str, list[Curve]]:
    """Curves by their value of one axis."""
    groups: dict[str, list[Curve]] = {}
    for curve in curves:
        groups.setdefault(curve.values[number][1], []).append(curve)
    return groups


def _mean_met(curves: Sequence[Curve]) -> float:
    return sum(curve.met_share for curve in curves) / len(curves)


def add_doubt(material: Material, curves: Sequence[Curve], headline: str) -> str:
    """The headline with where the objective is met by the estimates alone, and what would tell."""
    met = [place for curve in curves for place in curve.places if place.meets]
    unsure = [place for place in met if not material.question.is_told(place.point)]
    if not unsure:
        return headline
    telling = telling_words(material, [place.point for place in unsure])
    if len(unsure) == len(met):
        return f"By the estimates alone, {headline[0].lower()}{headline[1:]}; {CANNOT_TELL}: {telling}"
    where = f"at {unsure[0].words}" if len(unsure) == 1 else f"at {len(unsure)} of the {len(met)} that meet it"
    return f"{headline}; {CANNOT_TELL} {where}: {telling}"


def telling_words(material: Material, points: Sequence[int]) -> str:
    """What would tell whether configurations meet the objective."""
    most = max((material.question.more_txns(point) or 0 for point in points), default=0)
    each = " each" if len(points) > 1 else ""
    return f"about {most:,} more txns{each} would" if most else "more seeds would"
