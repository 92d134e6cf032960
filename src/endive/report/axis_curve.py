"""Curves: configurations that differ in one axis only, where along it the objective is met, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from endive.objectives import CANNOT_TELL
from endive.objectives.duration import MS_PER_UNIT
from endive.report.axes import Axis, make_axis
from endive.report.material import Material
from endive.report.reading import Row
from endive.report.words import join_words, quote

_LISTED: Final = 4
_AT_MOST: Final = ", at most"
NOWHERE: Final = "nowhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Configurations in the order of one axis: of the load, if the study has one."""

    label: str
    rows: tuple[Row, ...]  # of the txns the question is about
    meets: tuple[bool, ...]
    places: tuple[str, ...]  # on the axis, in words
    is_ordered: bool
    along: str = ""  # the axis, if its places do not say what they are times of
    values: tuple[tuple[str, str], ...] = ()  # of the axes that set it apart from other curves: name, value in words

    @property
    def held(self) -> int:
        """How many of the first ones meet the objective."""
        return next((place for place, meets in enumerate(self.meets) if not meets), len(self.meets))

    @property
    def is_met_everywhere(self) -> bool:
        """Whether no place misses the objective."""
        return all(self.meets)

    @property
    def most(self) -> int:
        """The place with the most commits."""
        return max(range(len(self.rows)), key=lambda place: self.rows[place]["committed_per_s"] or 0.0)

    @property
    def first_missed(self) -> int | None:
        """The first place that misses the objective after one that meets it; the first of all if none does."""
        if self.is_met_everywhere:
            return None
        after = [place for place in range(1, len(self.meets)) if self.meets[place - 1] and not self.meets[place]]
        return after[0] if after else self.meets.index(False)

    def where(self) -> str:
        """Where the objective is met, in words that follow a verb; all places if none is, for a sentence with "not"."""
        return f"{self._where()}{f' ({self.along})' if self.along else ''}"

    def _where(self) -> str:
        met = [place for place, meets in enumerate(self.meets) if meets]
        if len(self.places) == 1:
            return f"at {self.places[0]}"
        if not self.is_ordered:
            return self._among(met)
        if not met or len(met) == len(self.places):
            return f"everywhere from {self.span()}"
        if met == list(range(len(met))):
            return f"up to {self.places[met[-1]]}"
        if met == list(range(met[0], len(self.places))):
            return f"from {self.places[met[0]]} on"
        if len(met) <= _LISTED:
            return f"only at {join_words([self.places[place] for place in met])}"
        return f"at {len(met)} of {len(self.places)} places from {self.span()}"

    def where_met(self) -> str:
        """The same; "nowhere" if no place meets it."""
        return self.where() if any(self.meets) else NOWHERE

    def span(self) -> str:
        """From the first place to the last, with the unit once."""
        first, last = self.places[0], self.places[-1]
        number, _, unit = first.partition(" ")
        is_same = bool(unit) and last.partition(" ")[2] in (unit, f"{unit}s")
        return f"{number if is_same else first} to {last}"

    def _among(self, met: Sequence[int]) -> str:
        if not met or len(met) == len(self.places):
            return f"with {_both_or_all(self.places)}"
        if len(met) > _LISTED:
            return f"with {len(met)} of {len(self.places)}"
        return f"with {join_words([self.places[place] for place in met])} only"


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
        if layout.x is None:
            return [_curve(rows, None, ())]
        axis = layout.x
        keys = [one.key for one in layout.axes if one is not axis]
    named = [one for one in layout.axes if one.key in keys and one.key != axis.key]
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(repr(row[key]) for key in keys), []).append(row)
    return [_curve(group, axis, named) for group in groups.values()]


def _curve(group: list[Row], axis: Axis | None, named: Sequence[Axis]) -> Curve:
    ordered = group
    if axis is not None and axis.is_numeric:
        ordered = sorted(group, key=lambda row: axis.number(row[axis.key]) or 0.0)
    return Curve(
        label=_join([named_value(one, group[0][one.key]) for one in named]),
        rows=tuple(ordered),
        meets=tuple(row["meets_objective"] is True for row in ordered),
        places=tuple("this configuration" if axis is None else place_words(axis, row[axis.key]) for row in ordered),
        is_ordered=axis is not None and axis.is_numeric,
        along=axis.name if axis is not None and axis.unit in MS_PER_UNIT else "",
        values=tuple((one.name, named_value(one, group[0][one.key])) for one in named),
    )


def place_words(axis: Axis, value: Any) -> str:
    """One value of an axis with its unit or, if it has none, its name."""
    label = axis.label(value)
    if not axis.is_numeric:
        return label
    if axis.unit:
        source = axis.key.split(".")[1] if axis.key.startswith("source.") and axis.unit == "txns/s" else ""
        return f"{label} {axis.unit}{f' of {source}' if source else ''}"
    return _name_count(label, axis.name)


def named_value(axis: Axis, value: Any) -> str:
    """A value with the name of its axis, if the value does not say what it is."""
    return named_label(axis, axis.label(value))


def named_label(axis: Axis, label: str) -> str:
    """The same, of a value's label."""
    if axis.is_numeric and not axis.unit and (axis.name.split()[0].endswith("s") or axis.name.endswith(_AT_MOST)):
        return _name_count(label, axis.name)
    if not axis.is_numeric and label not in ("yes", "no"):
        return label
    return f"{axis.name} {label}{f' {axis.unit}' if axis.unit else ''}"


def _name_count(label: str, name: str) -> str:
    """A number of things: "1 table", "20 clients of writers", "at most 4 retries"."""
    things = name.removesuffix(_AT_MOST)
    first, _, rest = things.partition(" ")
    words = f"{first.removesuffix('s') if label == '1' else first}{f' {rest}' if rest else ''}"
    return f"at most {label} {words}" if things != name else f"{label} {words}"


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


def along_deciding_axis(curves: Sequence[Curve], met_share: Callable[[Curve], float]) -> str:
    """Where the objective is met for each value of the axis that decides the most, and what else moves it."""
    place = max(range(len(curves[0].values)), key=lambda place: _explain(curves, place, met_share))
    groups = _group(curves, place)
    others = [name for index, (name, _) in enumerate(curves[0].values) if index != place]
    ordered = sorted(groups, key=lambda value: -_mean([met_share(curve) for curve in groups[value]]))
    values = ordered if len(ordered) <= _LISTED else [ordered[0], ordered[-1]]
    parts = [f"{_span(groups[value], met_share)} with {quote(value)}" for value in values]
    is_moved = any(len({curve.where_met() for curve in groups[value]}) > 1 for value in values)
    ending = f", depending on {join_words(others)}" if is_moved else f", whatever {join_words(others)}"
    left = f"; {len(ordered) - 2} other values of {curves[0].values[place][0]} lie between" if values != ordered else ""
    return f"{'; '.join(parts)}{ending}{left}"


def _explain(curves: Sequence[Curve], place: int, met_share: Callable[[Curve], float]) -> float:
    """How much of the differences between curves the values of one axis account for."""
    whole = _mean([met_share(curve) for curve in curves])
    groups = _group(curves, place).values()
    return sum(len(group) * (_mean([met_share(curve) for curve in group]) - whole) ** 2 for group in groups)


def _group(curves: Sequence[Curve], place: int) -> dict[str, list[Curve]]:
    groups: dict[str, list[Curve]] = {}
    for curve in curves:
        groups.setdefault(curve.values[place][1], []).append(curve)
    return groups


def _span(group: Sequence[Curve], met_share: Callable[[Curve], float]) -> str:
    """From the worst of several curves to the best."""
    worst, best = min(group, key=met_share), max(group, key=met_share)
    low, high = worst.where_met(), best.where_met()
    return low if low == high else f"{low} at worst and {high} at best"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def add_doubt(material: Material, curves: Sequence[Curve], headline: str) -> str:
    """The headline with where the objective is met by the estimates alone, and what would tell."""
    met = [
        (row["point"], place)
        for curve in curves
        for row, place, meets in zip(curve.rows, curve.places, curve.meets, strict=True)
        if meets
    ]
    unsure = [(point, place) for point, place in met if not material.question.is_told(point)]
    if not unsure:
        return headline
    telling = telling_words(material, [point for point, _ in unsure])
    if unsure == met:
        return f"By the estimates alone, {headline[0].lower()}{headline[1:]}; {CANNOT_TELL}: {telling}"
    where = f"at {unsure[0][1]}" if len(unsure) == 1 else f"at {len(unsure)} of the {len(met)} that meet it"
    return f"{headline}; {CANNOT_TELL} {where}: {telling}"


def telling_words(material: Material, points: Sequence[int]) -> str:
    """What would tell whether configurations meet the objective."""
    most = max((material.question.more_txns(point) or 0 for point in points), default=0)
    each = " each" if len(points) > 1 else ""
    return f"about {most:,} more txns{each} would" if most else "more seeds would"
