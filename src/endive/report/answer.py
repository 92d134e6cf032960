"""The answer to a study in plain words, made from its numbers.

This file defines which facts make an answer and their sentences: what load holds, what breaks first, what saturates,
what it costs. Every number comes from the analysis, with its interval where it has one. Not here: numbers' looks
(``endive.report.words``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from endive.report.axes import Axis, make_axis
from endive.report.material import Material
from endive.report.reading import Row
from endive.report.words import PHASE_NAMES, REASON_NAMES, counted, number, percent, with_interval
from endive.results.summary import SUCCESS_RATE_MIN

_CURVES_TOLD: Final = 4
_ALIKE: Final = 0.05  # groups whose success differs by less are not told apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One paragraph, its first sentence apart; the same in short lines for a terminal; and a table of curves."""

    headline: str
    paragraph: str  # the rest
    scale: str  # how much was simulated
    lines: tuple[str, ...]
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Configurations that differ in load only, from the lowest to the highest."""

    label: str
    rows: tuple[Row, ...]
    loads: tuple[str, ...]  # in words
    holds: int  # how many of the first ones commit at least 95 %
    first_late: int | None  # the first whose P95 exceeds twice its P50
    most: int  # the one with the most commits

    @property
    def never_breaks(self) -> bool:
        """Whether every load that was tried holds."""
        return self.holds == len(self.rows)


def answer(material: Material) -> Answer:
    """The answer of one study."""
    rows = [row for row in material.study.rows("configurations") if row["success_rate"] is not None]
    facts = material.study.facts
    if not rows:
        text = "No txn of any window ended, so there is nothing to say about commits."
        return Answer(headline=text, paragraph="", scale="", lines=(text,), headings=(), rows=())
    seeds = _seeds_text(rows)
    if len(rows) == 1:
        return _of_one(material, rows[0], seeds)
    if not facts.get("load_axis"):
        return _of_names(material, rows, seeds)
    return _of_curves(material, curves(material, rows), seeds, len(rows))


def curves(material: Material, rows: Sequence[Row]) -> list[Curve]:
    """Points that agree in everything but the load, in the order of the load."""
    facts = material.study.facts
    load = facts["load_axis"]
    axis = next((one for one in material.layout.axes if one.key == load), None)
    axis = axis or make_axis(load, [row[load] for row in rows])
    keys = [key for key in facts["series"] if len({repr(row[key]) for row in rows}) > 1]
    named = [one for one in material.layout.axes if one.key in keys and one.key != load]
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(repr(row[key]) for key in keys), []).append(row)
    return [_curve(group, axis, named) for group in groups.values()]


def _curve(group: list[Row], axis: Axis, named: Sequence[Axis]) -> Curve:
    ordered = sorted(group, key=lambda row: axis.number(row[axis.key]) or 0.0)
    low = [place for place, row in enumerate(ordered) if row["success_rate"] < SUCCESS_RATE_MIN]
    late = [
        place for place, row in enumerate(ordered) if row["saturation_sign"] in ("latency", "success rate and latency")
    ]
    return Curve(
        label=" \u00b7 ".join(_named_value(one, group[0][one.key]) for one in named),
        rows=tuple(ordered),
        loads=tuple(f"{axis.label(row[axis.key])} {axis.unit or axis.name}" for row in ordered),
        holds=low[0] if low else len(ordered),
        first_late=late[0] if late else None,
        most=max(range(len(ordered)), key=lambda place: ordered[place]["committed_per_s"]),
    )


def _named_value(axis: Axis, value: Any) -> str:
    return f"{axis.name} {axis.label(value)}" if axis.is_numeric else axis.label(value)


# ---- along a load --------------------------------------------------------------------------------------


def _of_curves(material: Material, found: list[Curve], seeds: str, count: int) -> Answer:
    best = max(found, key=lambda curve: curve.rows[curve.most]["committed_per_s"])
    worst = _worst_off(material)
    sentences = [
        _broken(material, found),
        worst,
        _late(found),
        _most(material, best, len(found)),
        _cost(best, len(found)),
    ]
    lines = (
        f"{material.study.title}: {counted(count, 'configuration')}, {seeds}",
        f"{_held(found, 'txns', _choice(material), is_short=True)}",
        worst.removesuffix(".") or _breaks_line(material, found),
        _most_line(material, best),
        _cost_line(best),
    )
    return Answer(
        headline=f"{_held(found, 'txns', _choice(material))}.",
        paragraph=" ".join(sentence for sentence in sentences if sentence),
        scale=f"{counted(count, 'configuration')}, {seeds}.",
        lines=lines,
        headings=(
            "configuration",
            "95 % commit up to",
            "breaks at",
            "most commits (txns/s)",
            "P95 there (ms)",
            "requests per commit there",
        ),
        rows=tuple(_table_row(curve) for curve in found),
    )


def _choice(material: Material) -> str:
    """What the curves differ in, if that is one thing."""
    names = [axis.name for axis in material.layout.axes if axis.key in material.study.facts["series"]]
    return f"whatever the {names[0]}" if len(names) == 1 else "in every combination"


def _held(found: list[Curve], who: str, choice: str, *, is_short: bool = False) -> str:
    """Up to which load 95 % commit: curves that agree together, and the extremes if many do not."""
    groups: dict[str, list[Curve]] = {}
    for curve in found:
        groups.setdefault(_held_words(curve), []).append(curve)
    begin = f"At least 95 % of {who} commit"
    if len(groups) == 1:
        text = next(iter(groups))
        alone = found[0]
        if len(found) == 1:
            there = alone.rows[alone.holds - 1] if alone.holds else alone.rows[0]
            return f"{begin} {text} ({with_interval(there, 'success_rate')} there)"
        return f"{begin} {text}, {choice}"
    ordered = sorted(groups, key=lambda text: -_held_load(groups[text][0]))
    if len(ordered) > _CURVES_TOLD or (is_short and len(ordered) > 2):
        ordered = [ordered[0], ordered[-1]]
    told = [f"{text} with {_labels(groups[text])}" for text in ordered]
    return f"{begin} {'; '.join(told)}"


def _labels(curves_alike: list[Curve]) -> str:
    labels = [curve.label for curve in curves_alike]
    if len(labels) > _CURVES_TOLD:
        return f"{labels[0]} and {len(labels) - 1} others"
    return " or ".join(labels)


def _held_words(curve: Curve) -> str:
    if curve.holds == 0:
        return "at no load"
    if curve.never_breaks:
        return f"at every load tried, up to {curve.loads[-1]}"
    return f"up to {curve.loads[curve.holds - 1]}"


def _held_load(curve: Curve) -> float:
    return float(curve.rows[curve.holds - 1]["offered_per_s"]) if curve.holds else 0.0


def _broken(material: Material, found: list[Curve]) -> str:
    breaking = [curve for curve in found if not curve.never_breaks]
    if not breaking:
        return ""
    if len({curve.loads[curve.holds] for curve in breaking}) == 1 and len(breaking) > 1:
        ordered = sorted(breaking, key=lambda curve: float(curve.rows[curve.holds]["success_rate"]))
        worst, best = ordered[0], ordered[-1]
        text = (
            f"At {worst.loads[worst.holds]} it is {with_interval(worst.rows[worst.holds], 'success_rate')} with "
            f"{worst.label} "
            f"and {with_interval(best.rows[best.holds], 'success_rate')} with {best.label}"
        )
    else:
        worst = min(breaking, key=lambda curve: float(curve.rows[curve.holds]["offered_per_s"]))
        who = f"The first to break is {worst.label}," if worst.label and len(found) > 1 else "It breaks"
        text = f"{who} at {worst.loads[worst.holds]}, with {with_interval(worst.rows[worst.holds], 'success_rate')}"
    reason = _main_reason(material, worst.rows[worst.holds]["point"])
    return f"{text}{f'; {reason}' if reason else ''}."


def _late(found: list[Curve]) -> str:
    early = [curve for curve in found if curve.first_late is not None and curve.first_late < curve.holds]
    if not early:
        return ""
    first = min(early, key=lambda curve: float(curve.rows[curve.first_late or 0]["offered_per_s"]))
    row = first.rows[first.first_late or 0]
    which = f" ({first.label})" if first.label and len(found) > 1 else ""
    return (
        f"Latency spreads before txns fail: P95 is more than twice P50 from {first.loads[first.first_late or 0]} "
        f"on{which}, where P50 is "
        f"{with_interval(row, 'commit_latency_p50_ms')} and P95 {with_interval(row, 'commit_latency_p95_ms')}."
    )


def _most(material: Material, curve: Curve, count: int) -> str:
    row = curve.rows[curve.most]
    who = f" with {curve.label}" if curve.label and count > 1 else ""
    bent = _is_clearly_less(curve.rows[-1], row, "committed_per_s")
    text = f"The most that got through is {with_interval(row, 'committed_per_s')}{who}, at {curve.loads[curve.most]}"
    if bent:
        last = curve.rows[-1]
        text += f"; more load brought fewer commits ({with_interval(last, 'committed_per_s')} at {curve.loads[-1]})"
    phase = _main_phase(material, row["point"])
    return f"{text}{f'; {phase} there' if phase else ''}."


def _is_clearly_less(row: Row, other: Row, figure: str) -> bool:
    """Whether a figure is lower by more than the seeds leave open; by a twentieth where there is no interval."""
    high, low = row[f"{figure}_ci95_high"], other[f"{figure}_ci95_low"]
    if high is None or low is None:
        return bool(row[figure] < 0.95 * other[figure])
    return bool(high < low)


def _cost(curve: Curve, count: int) -> str:
    first, last = curve.rows[0], curve.rows[-1]
    if len(curve.rows) < 2 or first["commit_latency_p95_ms"] is None or last["commit_latency_p95_ms"] is None:
        return ""
    who = f" ({curve.label})" if curve.label and count > 1 else ""
    return (
        f"From {curve.loads[0]} to {curve.loads[-1]}{who}, P95 of commit latency goes from "
        f"{with_interval(first, 'commit_latency_p95_ms')} to {with_interval(last, 'commit_latency_p95_ms')}, and a "
        f"committed txn takes "
        f"{with_interval(last, 'requests_per_committed_txn')} requests instead of "
        f"{with_interval(first, 'requests_per_committed_txn')}."
    )


def _worst_off(material: Material) -> str:
    """The source or operation type that fares worse than its run, if one does."""
    whole = {row["point"]: row["success_rate"] for row in material.study.rows("configurations")}
    for scope, noun in (("source", "source"), ("operation", "operation")):
        rows = [row for row in material.study.rows("configurations", scope=scope) if row["success_rate"] is not None]
        if len({row["name"] for row in rows}) < 2:
            continue
        worst = min(rows, key=lambda row: float(row["success_rate"]))
        all_together = whole[worst["point"]]
        if all_together is None or worst["success_rate"] >= all_together - _ALIKE:
            continue
        there = (
            f"at {_where(material, worst)} {with_interval(worst, 'success_rate')} do, where all txns together have "
            f"{percent(all_together)}"
        )
        who = f"the txns of {noun} {worst['name']}"
        if not material.study.facts.get("load_axis"):
            return f"Not all fare alike: of {who} fewer commit; {there}."
        own = curves(material, [row for row in rows if row["name"] == worst["name"]])
        return f"Not all fare alike. {_held(own, who, _choice(material), is_short=True)}; {there}."
    return ""


def _where(material: Material, row: Row) -> str:
    parts = [
        f"{axis.label(row[axis.key])}{f' {axis.unit}' if axis.unit else ''}"
        if not axis.is_numeric or axis.unit
        else f"{axis.name} {axis.label(row[axis.key])}"
        for axis in material.layout.axes
    ]
    return " \u00b7 ".join(parts) or "this configuration"


def _main_reason(material: Material, point: int) -> str:
    rows = [
        row
        for row in material.study.rows("conflicts")
        if row["point"] == point and row["counter"] in REASON_NAMES and row["per_run"]
    ]
    if not rows:
        return ""
    most = max(rows, key=lambda row: float(row["per_run"]))
    share = most["per_run"] / sum(row["per_run"] for row in rows)
    reason = REASON_NAMES[most["counter"]]
    return f"every abort is for {reason}" if len(rows) == 1 else f"{100 * share:.0f} % of aborts are for {reason}"


def _main_phase(material: Material, point: int) -> str:
    rows = [
        row
        for row in material.study.rows("phases")
        if row["point"] == point and row["phase"] in PHASE_NAMES and row["share"]
    ]
    if not rows:
        return ""
    most = max(rows, key=lambda row: float(row["share"]))
    return f"{100 * most['share']:.0f} % of commit time is {PHASE_NAMES[most['phase']]}"


def _table_row(curve: Curve) -> tuple[str, ...]:
    held = curve.rows[curve.holds - 1] if curve.holds else None
    broken = None if curve.never_breaks else curve.rows[curve.holds]
    most = curve.rows[curve.most]
    return (
        curve.label or "all",
        f"{curve.loads[curve.holds - 1]}: {with_interval(held, 'success_rate')}" if held else "no load",
        f"{curve.loads[curve.holds]}: {with_interval(broken, 'success_rate')}" if broken else "no load tried",
        with_interval(most, "committed_per_s").replace(" txns/s", ""),
        with_interval(most, "commit_latency_p95_ms").replace(" ms", ""),
        with_interval(most, "requests_per_committed_txn"),
    )


# ---- lines for a terminal --------------------------------------------------------------------------------


def _breaks_line(material: Material, found: list[Curve]) -> str:
    breaking = [curve for curve in found if not curve.never_breaks]
    if not breaking:
        return "Breaks at no load that was tried"
    worst = min(breaking, key=lambda curve: float(curve.rows[curve.holds]["offered_per_s"]))
    row = worst.rows[worst.holds]
    who = f"{worst.label}, " if worst.label else ""
    reason = _main_reason(material, row["point"])
    return (
        f"Breaks first: {who}{worst.loads[worst.holds]}, success {with_interval(row, 'success_rate')}"
        f"{f'; {reason}' if reason else ''}"
    )


def _most_line(material: Material, curve: Curve) -> str:
    row = curve.rows[curve.most]
    phase = _main_phase(material, row["point"])
    who = f" ({curve.label})" if curve.label else ""
    return f"Most commits: {with_interval(row, 'committed_per_s')}{who}{f'; {phase}' if phase else ''}"


def _cost_line(curve: Curve) -> str:
    first, last = curve.rows[0], curve.rows[-1]
    return (
        f"Its price: P95 {number(first['commit_latency_p95_ms'])} to {number(last['commit_latency_p95_ms'])} ms, "
        f"requests per "
        f"commit {number(first['requests_per_committed_txn'])} to {number(last['requests_per_committed_txn'])}"
    )


# ---- without a load --------------------------------------------------------------------------------------


def _of_one(material: Material, row: Row, seeds: str) -> Answer:
    phase = _main_phase(material, row["point"])
    reason = _main_reason(material, row["point"])
    headline = (
        f"Of {number(row['offered_per_s'])} txns/s offered, {with_interval(row, 'committed_per_s')} commit, "
        f"{with_interval(row, 'success_rate')} of those that ended{f'; {reason}' if reason else ''}."
    )
    sentences = [
        f"Commit latency is {with_interval(row, 'commit_latency_p50_ms')} at P50 and "
        f"{with_interval(row, 'commit_latency_p95_ms')} at P95{f'; {phase}' if phase else ''}.",
        f"A committed txn takes {with_interval(row, 'requests_per_committed_txn')} requests.",
        _worst_off(material),
    ]
    lines = (
        f"{material.study.title}: one configuration, {seeds}",
        f"commits: {with_interval(row, 'committed_per_s')} of {number(row['offered_per_s'])} offered",
        f"success: {with_interval(row, 'success_rate')}{f'; {reason}' if reason else ''}",
        f"commit latency: P50 {with_interval(row, 'commit_latency_p50_ms')}, P95 "
        f"{with_interval(row, 'commit_latency_p95_ms')}",
        f"requests per commit: {with_interval(row, 'requests_per_committed_txn')}{f'; {phase}' if phase else ''}",
    )
    text = " ".join(sentence for sentence in sentences if sentence)
    scale = f"One configuration, {seeds}: nothing is compared here."
    return Answer(headline=headline, paragraph=text, scale=scale, lines=lines, headings=(), rows=())


def _of_names(material: Material, rows: list[Row], seeds: str) -> Answer:
    """Configurations without an order by load: the best and the worst of each figure."""
    told, lines = [], [f"{material.study.title}: {counted(len(rows), 'configuration')}, {seeds}"]
    for figure, name, sign in (
        ("success_rate", "success rate", 1),
        ("committed_per_s", "throughput", 1),
        ("commit_latency_p95_ms", "P95 of commit latency", -1),
        ("requests_per_committed_txn", "number of requests per committed txn", -1),
    ):
        known = [row for row in rows if row[figure] is not None]
        if not known:
            continue
        best = max(known, key=lambda row: sign * float(row[figure]))
        worst = min(known, key=lambda row: sign * float(row[figure]))
        if best[figure] == worst[figure]:
            told.append(f"The {name} is {with_interval(best, figure)} everywhere.")
            lines.append(f"{name}: {with_interval(best, figure)} everywhere")
            continue
        told.append(
            f"The best {name} is {with_interval(best, figure)} ({_where(material, best)}), the worst "
            f"{with_interval(worst, figure)} ({_where(material, worst)})."
        )
        lines.append(
            f"{name}: {with_interval(best, figure)} ({_where(material, best)}) to {with_interval(worst, figure)}"
        )
    return Answer(
        headline=told[0],
        paragraph=" ".join([*told[1:], _worst_off(material)]).strip(),
        scale=f"{counted(len(rows), 'configuration')}, {seeds}; the load is the same for all.",
        lines=tuple(lines[:5]),
        headings=(),
        rows=(),
    )


def _seeds_text(rows: Sequence[Row]) -> str:
    fewest, most = min(row["seeds"] for row in rows), max(row["seeds"] for row in rows)
    if fewest == most:
        return f"{counted(fewest, 'seed')} each" if len(rows) > 1 else counted(fewest, "seed")
    return f"{fewest} to {most} seeds each"
