"""The answer to a study in plain words, made from its numbers.

Where the objective is met, what misses it and why, the most that got through and what it cost. Every number comes from
the analysis, with its interval where it has one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from endive.report.axis_curve import (
    NOWHERE,
    Curve,
    add_doubt,
    along_deciding_axis,
    make_curves,
    telling_words,
)
from endive.report.material import Material, asked_metrics
from endive.report.reading import Row
from endive.report.words import (
    FIGURE_NAMES,
    PHASE_NAMES,
    REASON_NAMES,
    count_words,
    figure_words,
    join_words,
    number,
    percent,
    quote,
    with_interval,
)

_GROUPS_TOLD: Final = 4
_GROUPS_OF_AXES: Final = 3  # where several axes set curves apart
_LABELS_TOLD: Final = 4


HEADINGS: Final = (  # of the table of curves
    "configuration",
    "meets the objective",
    "first misses it at",
    "most commits",
    "success there",
    "P95 there (ms)",
    "requests per commit there",
)
_P95: Final = "commit_latency_p95_ms"
_REQUESTS: Final = "requests_per_committed_txn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One paragraph, its first sentence apart; the same in short lines for a terminal; and a table of curves."""

    headline: str
    lines: tuple[str, ...]
    paragraph: str = ""  # the rest
    scale: str = ""  # how much was simulated
    rows: tuple[tuple[str, ...], ...] = ()


def answer(material: Material) -> Answer:
    """The answer of one study."""
    rows = material.subject_rows()
    if not any(row["success_rate"] is not None for row in rows):
        text = f"No {_one_of(material)} ended in any window, so there is nothing to say about commits."
        return Answer(headline=text, lines=(text,))
    fewest, most = min(row["seeds"] for row in rows), max(row["seeds"] for row in rows)
    seeds = count_words(fewest, "seed") if fewest == most else f"{fewest} to {most} seeds"
    if len(rows) == 1:
        return _of_one(material, rows[0], seeds)
    return _of_curves(material, make_curves(material), f"{count_words(len(rows), 'configuration')}, {seeds} each")


# ---- several configurations --------------------------------------------------------------------------------


def _of_curves(material: Material, curves: list[Curve], scale: str) -> Answer:
    best = max(curves, key=lambda curve: curve.most.commits)
    label = best.label if len(curves) > 1 else ""
    headline = f"{add_doubt(material, curves, _headline(material, curves))}."
    missed, differing, most = _miss_sentence(material, curves), _differing(material), _most(material, best, label)
    cost, cost_line = _cost(best, label)
    lines = (
        f"{material.study.title}: {scale}",
        headline,
        missed or (differing[0] if differing else "The objective is missed nowhere."),
        most,
        cost_line,
    )
    return Answer(
        headline=headline,
        paragraph=" ".join(sentence for sentence in (missed, *differing, most, cost) if sentence),
        scale=f"{scale}. Objective: {material.question.objective.text}.",
        lines=tuple(line.removesuffix(".") for line in lines if line),
        rows=tuple(_table_row(material, curve) for curve in curves),
    )


def _headline(material: Material, curves: Sequence[Curve]) -> str:
    """Where the objective is met: curves that agree together, and how near the next place is."""
    claim = material.question.claim
    groups: dict[str, list[Curve]] = {}
    for curve in curves:
        groups.setdefault(curve.where_met(), []).append(curve)
    if set(groups) == {NOWHERE}:
        groups = {curves[0].where(): list(curves)}
    if len(groups) == 1:
        first = claim(next(iter(groups)), is_denied=not curves[0].met)
        if len(curves) == 1:
            return f"{first}{_around(material, curves[0])}"
        return f"{first}, {_whichever(material, curves)}{_extremes(material, curves)}"
    ordered = sorted(groups, key=lambda where: -groups[where][0].met_share)
    is_long = len(ordered) > _GROUPS_OF_AXES or max(len(alike) for alike in groups.values()) > _LABELS_TOLD
    if is_long and len(curves[0].values) > 1:
        return claim(along_deciding_axis(curves))
    told = [f"{where} with {_labels(groups[where])}" for where in ordered]
    if len(ordered) > _GROUPS_TOLD:
        between = count_words(sum(len(groups[where]) for where in ordered[1:-1]), "other")
        return f"{claim(told[0])}, but {told[-1]}; {between} lie between"
    return claim("; ".join(told))


def _around(material: Material, curve: Curve) -> str:
    """What is true at the last place that meets the objective, and at the first that does not."""
    state = material.question.state
    missed = curve.first_missed
    if missed is None:
        worst = state(min(curve.places, key=lambda place: place.success).point)
        return "" if worst.startswith("100 %") else f" (at worst {worst})"
    if not curve.met:
        best = max(curve.places, key=lambda place: place.success)
        return f"; the best is {state(best.point)}, at {best.words}"
    there = curve.places[missed]
    before = [place for place in curve.places[:missed][-1:] if place.meets]
    return f"{''.join(f' ({state(place.point)})' for place in before)}; at {there.words} it is {state(there.point)}"


def _extremes(material: Material, curves: Sequence[Curve]) -> str:
    """Best and worst at the first miss, where all curves end at the same place; the best of all if none meets."""
    state = material.question.state
    if not any(curve.met for curve in curves):
        every = [(curve, place) for curve in curves for place in curve.places]
        curve, best = max(every, key=lambda pair: pair[1].success)
        return f"; the best is {state(best.point)}, with {quote(curve.label)} at {best.words}"
    missing = [(curve, curve.places[curve.first_missed]) for curve in curves if curve.first_missed is not None]
    if not missing:
        return ""
    ordered = sorted(missing, key=lambda pair: pair[1].success)
    (_, low), (_, high) = ordered[0], ordered[-1]
    figures = [f"{state(place.point)} with {quote(curve.label)}" for curve, place in (ordered[-1], ordered[0])]
    is_apart = low.words == high.words and low.success < high.success
    return f"; at {low.words} it is {', but '.join(figures) if is_apart else figures[1]}"


def _whichever(material: Material, curves: Sequence[Curve]) -> str:
    labels = [quote(curve.label) for curve in curves]
    if len(labels) == 2:
        return f"with {labels[0]} and with {labels[1]} alike"
    if len(labels) <= _LABELS_TOLD:
        return f"with {join_words(labels)} alike"
    names = [axis.name for axis in material.layout.axes if axis.key in material.study.facts["series"]]
    kind = f"values of {names[0]}" if len(names) == 1 else "combinations"
    return f"{'for all' if any(curve.met for curve in curves) else 'with any of the'} {len(labels)} {kind}"


def _labels(alike: Sequence[Curve]) -> str:
    labels = [quote(curve.label) for curve in alike]
    return f"{labels[0]} and {len(labels) - 1} others" if len(labels) > _LABELS_TOLD else join_words(labels)


def _miss_sentence(material: Material, curves: Sequence[Curve]) -> str:
    """The first place that misses the objective, and why its txns abort."""
    missing = [(curve.met_share, curve.first_missed, curve) for curve in curves if curve.first_missed is not None]
    if not missing:
        return ""
    _, number, first = min(missing, key=lambda each: each[:2])
    place = first.places[number]
    reason = _main_reason(material, place.point)
    if len(curves) == 1:  # the headline has said how many commit
        return f"At {place.words}, {reason}." if reason else ""
    why = f"; {reason}" if reason else ""
    state = material.question.state(place.point)
    return f"The first to miss it is {first.label}, at {place.words}, with {state}{why}."


def _differing(material: Material) -> list[str]:
    """Best and worst of the figures the study asks for, where objective and load do not tell configurations apart."""
    if material.study.facts.get("load_axis"):
        return []
    wanted = [figure for figure in asked_metrics(material.study) if figure in FIGURE_NAMES] or [_P95]
    sentences = []
    for figure in [figure for figure in wanted if figure not in ("success_rate", "committed_per_s")][:2]:
        known = [row for row in material.subject_rows() if row.get(figure) is not None]
        if len(known) < 2:
            continue
        low, high = min(known, key=lambda row: float(row[figure])), max(known, key=lambda row: float(row[figure]))
        if low[figure] != high[figure]:
            name = " ".join(figure_words(figure)).removesuffix(" ms").removesuffix(" txns/s")
            sentences.append(
                f"{name[:1].upper()}{name[1:]} goes from {with_interval(low, figure)} ({_where(material, low)}) to "
                f"{with_interval(high, figure)} ({_where(material, high)}{_survivors(high, figure)})."
            )
    return sentences


def _most(material: Material, curve: Curve, label: str) -> str:
    """The most commits, never without the share of txns that made it there."""
    most, last = curve.most, curve.places[-1]
    if not most.commits:
        return f"No {_one_of(material)} committed anywhere."
    text = (
        f"The most commits{material.whose} are {with_interval(most.row, 'committed_per_s')} "
        f"({f'{label}, ' if label else ''}{most.words}), where {percent(most.row['success_rate'])} of txns succeed"
    )
    if curve.is_ordered and _is_clearly_less(last.row, most.row):
        text += f"; at {last.words} they are {with_interval(last.row, 'committed_per_s')}"
    phase = _main_phase(material, most.point)
    return f"{text}{f'; {phase} there' if phase else ''}."


def _cost(curve: Curve, label: str) -> tuple[str, str]:
    """What commits take at both ends of a curve: as a sentence, and as a line."""
    known = [place for place in curve.places if place.row[_P95] is not None]
    if len(known) < 2 or not curve.is_ordered:
        return "", ""
    low, high = known[0], known[-1]
    survivors = _survivors(high.row, _P95)
    before, after = with_interval(low.row, _REQUESTS), with_interval(high.row, _REQUESTS)
    requests = f"{before} requests at both" if before == after else f"{after} requests instead of {before}"
    sentence = (
        f"From {low.words} to {high.words}{f' ({label})' if label else ''}, P95 of commit latency goes from "
        f"{with_interval(low.row, _P95)} to {with_interval(high.row, _P95)}{survivors}, and a committed txn takes "
        f"{requests}."
    )
    before, after = number(low.row[_REQUESTS]), number(high.row[_REQUESTS])
    requests = f"{before} requests per commit" if before == after else f"requests per commit {before} to {after}"
    line = (
        f"From {low.words} to {high.words}: P95 {number(low.row[_P95])} to {number(high.row[_P95])} ms{survivors}, "
        f"{requests}"
    )
    return sentence, line


def _survivors(row: Row, figure: str) -> str:
    """Latencies are of txns that committed: how many of them there are, if not all."""
    if "latency" not in figure or row["success_rate"] is None or row["success_rate"] > 0.995:
        return ""
    return f", of the {percent(row['success_rate'])} that commit"


def _table_row(material: Material, curve: Curve) -> tuple[str, ...]:
    most = curve.most.row
    missed = None if curve.first_missed is None else curve.places[curve.first_missed]
    return (
        curve.label or "all",
        curve.where_met(),
        "-" if missed is None else f"{missed.words}: {material.question.state(missed.point)}",
        with_interval(most, "committed_per_s"),
        percent(most["success_rate"]),
        with_interval(most, _P95).replace(" ms", ""),
        with_interval(most, _REQUESTS),
    )


# ---- one configuration -----------------------------------------------------------------------------------


def _of_one(material: Material, row: Row, seeds: str) -> Answer:
    question, point = material.question, row["point"]
    phase, reason = _main_phase(material, point), _main_reason(material, point)
    verdict = {True: "is met", False: "is not met", None: "cannot be judged"}[row["meets_objective"]]
    if row["meets_objective"] is not None and not question.is_told(point):
        verdict = f"cannot be told yet ({telling_words(material, [point])})"
    why = f"; {reason}" if reason else ""
    headline = f"The objective ({question.objective.text}) {verdict}: it is {question.state(point)}{why}."
    offered, commits = number(row["offered_per_s"]), with_interval(row, "committed_per_s")
    success, per_commit = with_interval(row, "success_rate"), with_interval(row, _REQUESTS)
    p50, p95 = with_interval(row, "commit_latency_p50_ms"), with_interval(row, _P95)
    survivors, most_time = _survivors(row, _P95), f"; {phase}" if phase else ""
    return Answer(
        headline=headline,
        paragraph=f"Of {offered} txns/s offered, {commits} commit, {success} of those that ended. Commit latency is "
        f"{p50} at P50 and {p95} at P95{survivors}{most_time}. A committed txn takes {per_commit} requests.",
        scale=f"One configuration, {seeds}: nothing is compared here.",
        lines=(
            f"{material.study.title}: one configuration, {seeds}",
            headline.removesuffix("."),
            f"commits{material.whose}: {commits} of {offered} offered; {success} succeed",
            f"commit latency: P50 {p50}, P95 {p95}{survivors}",
            f"requests per commit: {per_commit}{most_time}",
        ),
    )


# ---- leaves ------------------------------------------------------------------------------------------------


def _where(material: Material, row: Row) -> str:
    labels = [(axis, axis.label(row[axis.key])) for axis in material.layout.axes]
    return ", ".join(axis.place(label) if axis.unit else axis.named(label) for axis, label in labels)


def _main_reason(material: Material, point: int) -> str:
    """What most txns that aborted aborted for."""
    reasons = _parts(material, "conflicts", point, "counter", REASON_NAMES, "per_run")
    if not reasons:
        return ""
    most = max(reasons, key=lambda reason: reasons[reason])
    share = reasons[most] / sum(reasons.values())
    return f"every abort is for {most}" if len(reasons) == 1 else f"{100 * share:.0f} % of aborts are for {most}"


def _main_phase(material: Material, point: int) -> str:
    """What commits spend most of their time with."""
    shares = _parts(material, "phases", point, "phase", PHASE_NAMES, "share")
    most = max(shares, key=lambda phase: shares[phase], default="")
    return f"{100 * shares[most]:.0f} % of commit time is {most}" if most else ""


def _parts(
    material: Material, table: str, point: int, column: str, names: Mapping[str, str], value: str
) -> dict[str, float]:
    """The parts of one configuration that are not zero, by name."""
    rows = [row for row in material.subject_rows(table) if row["point"] == point and row[column] in names]
    return {names[row[column]]: float(row[value]) for row in rows if row[value]}


def _is_clearly_less(row: Row, other: Row) -> bool:
    """Whether the intervals of commits leave no doubt that a row has fewer than another."""
    if row["committed_per_s"] is None or row["committed_per_s"] >= other["committed_per_s"]:
        return False
    high, low = row.get("committed_per_s_ci95_high"), other.get("committed_per_s_ci95_low")
    return high is not None and low is not None and high < low


def _one_of(material: Material) -> str:
    return "txn" if material.question.is_of_all else f"txn of {material.question.who}"
