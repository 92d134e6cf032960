"""The answer to a study in plain words, made from its numbers.

Where the objective is met, what misses it and why, the most that got through and what it cost. Every number comes from
the analysis, with its interval where it has one. How numbers are written is said by ``endive.report.words``, and who is
asked about by ``endive.report.question``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from endive.report.axis_curve import (
    NOWHERE,
    Curve,
    add_doubt,
    along_deciding_axis,
    make_curves,
    named_value,
    place_words,
    telling_words,
)
from endive.report.material import Material
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One paragraph, its first sentence apart; the same in short lines for a terminal; and a table of curves."""

    headline: str
    paragraph: str  # the rest
    scale: str  # how much was simulated
    lines: tuple[str, ...]
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def answer(material: Material) -> Answer:
    """The answer of one study."""
    rows = material.subject_rows()
    if not any(row["success_rate"] is not None for row in rows):
        text = f"No {_one_of(material)} ended in any window, so there is nothing to say about commits."
        return Answer(headline=text, paragraph="", scale="", lines=(text,), headings=(), rows=())
    seeds = _seeds_text(rows)
    if len(rows) == 1:
        return _of_one(material, rows[0], seeds)
    return _of_curves(material, make_curves(material), seeds, len(rows))


# ---- several configurations --------------------------------------------------------------------------------


def _of_curves(material: Material, curves: list[Curve], seeds: str, count: int) -> Answer:
    best = max(curves, key=lambda curve: _commits(curve.rows[curve.most]))
    headline = f"{add_doubt(material, curves, _headline(material, curves).removesuffix('.'))}."
    missed = _miss_sentence(material, curves)
    differing = _differing(material)
    sentences = [missed, *differing, _most(material, best, len(curves)), _cost(best, len(curves))]
    lines = (
        f"{material.study.title}: {count_words(count, 'configuration')}, {seeds}",
        headline.removesuffix("."),
        (missed or (differing[0] if differing else "The objective is missed nowhere.")).removesuffix("."),
        _most(material, best, len(curves)).removesuffix("."),
        _cost_line(best),
    )
    return Answer(
        headline=headline,
        paragraph=" ".join(sentence for sentence in sentences if sentence),
        scale=f"{count_words(count, 'configuration')}, {seeds}. Objective: {material.question.objective.text}.",
        lines=tuple(line for line in lines if line),
        headings=(
            "configuration",
            "meets the objective",
            "first misses it at",
            "most commits",
            "success there",
            "P95 there (ms)",
            "requests per commit there",
        ),
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
        first = claim(next(iter(groups)), is_denied=not any(curves[0].meets))
        if len(curves) == 1:
            return f"{first}{_around(material, curves[0])}."
        return f"{first}, {_whichever(material, curves)}{_extremes(material, curves)}."
    ordered = sorted(groups, key=lambda where: -_met_share(groups[where][0]))
    is_long = len(ordered) > _GROUPS_OF_AXES or max(len(alike) for alike in groups.values()) > _LABELS_TOLD
    if is_long and len(curves[0].values) > 1:
        return f"{claim(along_deciding_axis(curves, _met_share))}."
    if len(ordered) > _GROUPS_TOLD:
        ends = [f"{where} with {_labels(groups[where])}" for where in (ordered[0], ordered[-1])]
        between = sum(len(groups[where]) for where in ordered[1:-1])
        return f"{claim(ends[0])}, but {ends[1]}; {count_words(between, 'other')} lie between."
    return f"{claim('; '.join(f'{where} with {_labels(groups[where])}' for where in ordered))}."


def _around(material: Material, curve: Curve) -> str:
    """What is curves at the last place that meets the objective, and at the first that does not."""
    state = material.question.state
    missed = curve.first_missed
    if missed is None:
        nearest = min(curve.rows, key=lambda row: _success(row))
        worst = state(nearest["point"])
        return "" if worst.startswith("100 %") else f" (at worst {worst})"
    if not any(curve.meets):
        best = max(range(len(curve.rows)), key=lambda place: _success(curve.rows[place]))
        return f"; the best is {state(curve.rows[best]['point'])}, at {curve.places[best]}"
    here = f"; at {curve.places[missed]} it is {state(curve.rows[missed]['point'])}"
    before = missed - 1
    there = f" ({state(curve.rows[before]['point'])})" if before >= 0 and curve.meets[before] else ""
    return f"{there}{here}"


def _extremes(material: Material, curves: Sequence[Curve]) -> str:
    """Best and worst at the first miss, where all curves end at the same place; the best of all if none meets."""
    state = material.question.state
    if not any(any(curve.meets) for curve in curves):
        best, place = max(
            ((curve, place) for curve in curves for place in range(len(curve.rows))),
            key=lambda at: _success(at[0].rows[at[1]]),
        )
        return f"; the best is {state(best.rows[place]['point'])}, with {quote(best.label)} at {best.places[place]}"
    missing = [curve for curve in curves if curve.first_missed is not None]
    if not missing:
        return ""
    ordered = sorted(missing, key=lambda curve: _success(curve.rows[curve.first_missed or 0]))
    worst, best = ordered[0], ordered[-1]
    place = worst.first_missed or 0
    figures = f"{state(worst.rows[place]['point'])} with {quote(worst.label)}"
    if worst.places[place] == best.places[best.first_missed or 0] and _success(worst.rows[place]) < _success(
        best.rows[place]
    ):
        figures = f"{state(best.rows[place]['point'])} with {quote(best.label)}, but {figures}"
    return f"; at {worst.places[place]} it is {figures}"


def _whichever(material: Material, curves: Sequence[Curve]) -> str:
    labels = [quote(curve.label) for curve in curves]
    is_met = any(any(curve.meets) for curve in curves)
    if len(labels) == 2:
        return f"with {labels[0]} and with {labels[1]} alike"
    if len(labels) <= _LABELS_TOLD:
        return f"with {join_words(labels)} alike"
    names = [axis.name for axis in material.layout.axes if axis.key in material.study.facts["series"]]
    kind = f"values of {names[0]}" if len(names) == 1 else "combinations"
    return f"{'for all' if is_met else 'with any of the'} {len(labels)} {kind}"


def _labels(alike: Sequence[Curve]) -> str:
    labels = [quote(curve.label) for curve in alike]
    if len(labels) > _LABELS_TOLD:
        return f"{labels[0]} and {len(labels) - 1} others"
    return join_words(labels)


def _met_share(curve: Curve) -> float:
    return sum(curve.meets) / len(curve.meets) + 1e-6 * curve.held


def _miss_sentence(material: Material, curves: Sequence[Curve]) -> str:
    """The first place that misses the objective, and why its txns abort."""
    missing = [curve for curve in curves if curve.first_missed is not None]
    if not missing:
        return ""
    first = min(missing, key=lambda curve: (_met_share(curve), curve.first_missed or 0))
    place = first.first_missed or 0
    row = first.rows[place]
    reason = _main_reason(material, row["point"])
    if len(curves) == 1:  # the headline has said how many commit
        return f"At {first.places[place]}, {reason}." if reason else ""
    state = material.question.state(row["point"])
    why = f"; {reason}" if reason else ""
    return f"The first to miss it is {first.label}, at {first.places[place]}, with {state}{why}."


def _differing(material: Material) -> list[str]:
    """Best and worst of the figures the study asks for, where objective and load do not tell configurations apart."""
    if material.study.facts.get("load_axis"):
        return []
    rows = material.subject_rows()
    asked = (material.study.facts.get("report") or {}).get("metrics") or ()
    wanted = [figure for figure in asked if figure in FIGURE_NAMES] or ["commit_latency_p95_ms"]
    sentences = []
    for figure in [figure for figure in wanted if figure not in ("success_rate", "committed_per_s")][:2]:
        known = [row for row in rows if row.get(figure) is not None]
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


def _most(material: Material, curve: Curve, count: int) -> str:
    """The most commits, never without the share of txns that made it there."""
    row = curve.rows[curve.most]
    if not _commits(row):
        return f"No {_one_of(material)} committed anywhere."
    who = f"{curve.label}, " if curve.label and count > 1 else ""
    phase = _main_phase(material, row["point"])
    text = (
        f"The most commits{material.whose} are {with_interval(row, 'committed_per_s')} ({who}"
        f"{curve.places[curve.most]}), where {percent(row['success_rate'])} of txns succeed"
    )
    last = curve.rows[-1]
    if curve.is_ordered and _is_clearly_less(last, row):
        text += f"; at {curve.places[-1]} they are {with_interval(last, 'committed_per_s')}"
    return f"{text}{f'; {phase} there' if phase else ''}."


def _cost(curve: Curve, count: int) -> str:
    if not curve.is_ordered:
        return ""
    known = [place for place, row in enumerate(curve.rows) if row["commit_latency_p95_ms"] is not None]
    if len(known) < 2:
        return ""
    low, high = known[0], known[-1]
    first, last = curve.rows[low], curve.rows[high]
    who = f" ({curve.label})" if curve.label and count > 1 else ""
    return (
        f"From {curve.places[low]} to {curve.places[high]}{who}, P95 of commit latency goes from "
        f"{with_interval(first, 'commit_latency_p95_ms')} to {with_interval(last, 'commit_latency_p95_ms')}"
        f"{_survivors(last, 'commit_latency_p95_ms')}, and a committed txn takes {_requests(first, last)}."
    )


def _cost_line(curve: Curve) -> str:
    known = [row for row in curve.rows if row["commit_latency_p95_ms"] is not None]
    if len(known) < 2 or not curve.is_ordered:
        return ""
    first, last = known[0], known[-1]
    return (
        f"From {curve.places[curve.rows.index(first)]} to {curve.places[curve.rows.index(last)]}: P95 "
        f"{number(first['commit_latency_p95_ms'])} to {number(last['commit_latency_p95_ms'])} ms"
        f"{_survivors(last, 'commit_latency_p95_ms')}, {_requests(first, last, is_short=True)}"
    )


def _requests(first: Row, last: Row, *, is_short: bool = False) -> str:
    """Requests of a commit at both ends; once if they are the same."""
    figure = "requests_per_committed_txn"
    before, after = ((number(row[figure]) if is_short else with_interval(row, figure)) for row in (first, last))
    if before == after:
        return f"{before} requests per commit" if is_short else f"{before} requests at both"
    return f"requests per commit {before} to {after}" if is_short else f"{after} requests instead of {before}"


def _survivors(row: Row, figure: str) -> str:
    """Latencies are of txns that committed: how many of them there are, if not all."""
    if "latency" not in figure or row["success_rate"] is None or row["success_rate"] > 0.995:
        return ""
    return f", of the {percent(row['success_rate'])} that commit"


def _table_row(material: Material, curve: Curve) -> tuple[str, ...]:
    most = curve.rows[curve.most]
    missed = curve.first_missed
    state = material.question.state
    return (
        curve.label or "all",
        curve.where_met(),
        "-" if missed is None else f"{curve.places[missed]}: {state(curve.rows[missed]['point'])}",
        with_interval(most, "committed_per_s"),
        percent(most["success_rate"]),
        with_interval(most, "commit_latency_p95_ms").replace(" ms", ""),
        with_interval(most, "requests_per_committed_txn"),
    )


# ---- one configuration -----------------------------------------------------------------------------------


def _of_one(material: Material, row: Row, seeds: str) -> Answer:
    question = material.question
    phase, reason = _main_phase(material, row["point"]), _main_reason(material, row["point"])
    verdict = {True: "is met", False: "is not met", None: "cannot be judged"}[row["meets_objective"]]
    if row["meets_objective"] is not None and not question.is_told(row["point"]):
        verdict = f"cannot be told yet ({telling_words(material, [row['point']])})"
    headline = (
        f"The objective ({question.objective.text}) {verdict}: it is {question.state(row['point'])}"
        f"{f'; {reason}' if reason else ''}."
    )
    lines = (
        f"{material.study.title}: one configuration, {seeds}",
        headline.removesuffix("."),
        f"commits{material.whose}: {with_interval(row, 'committed_per_s')} of {number(row['offered_per_s'])} "
        f"offered; {with_interval(row, 'success_rate')} succeed",
        f"commit latency: P50 {with_interval(row, 'commit_latency_p50_ms')}, P95 "
        f"{with_interval(row, 'commit_latency_p95_ms')}{_survivors(row, 'commit_latency_p95_ms')}",
        f"requests per commit: {with_interval(row, 'requests_per_committed_txn')}{f'; {phase}' if phase else ''}",
    )
    text = (
        f"Of {number(row['offered_per_s'])} txns/s offered, {with_interval(row, 'committed_per_s')} commit, "
        f"{with_interval(row, 'success_rate')} of those that ended. Commit latency is "
        f"{with_interval(row, 'commit_latency_p50_ms')} at P50 and {with_interval(row, 'commit_latency_p95_ms')} at "
        f"P95{_survivors(row, 'commit_latency_p95_ms')}{f'; {phase}' if phase else ''}. A committed txn takes "
        f"{with_interval(row, 'requests_per_committed_txn')} requests."
    )
    scale = f"One configuration, {seeds}: nothing is compared here."
    return Answer(headline=headline, paragraph=text, scale=scale, lines=lines, headings=(), rows=())


# ---- leaves ------------------------------------------------------------------------------------------------


def _where(material: Material, row: Row) -> str:
    axes = material.layout.axes
    parts = [
        place_words(axis, row[axis.key]) if axis.unit or not axis.is_numeric else named_value(axis, row[axis.key])
        for axis in axes
    ]
    return ", ".join(parts) or "this configuration"


def _main_reason(material: Material, point: int) -> str:
    rows = [
        row
        for row in material.subject_rows("conflicts")
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
        for row in material.subject_rows("phases")
        if row["point"] == point and row["phase"] in PHASE_NAMES and row["share"]
    ]
    if not rows:
        return ""
    most = max(rows, key=lambda row: float(row["share"]))
    return f"{100 * most['share']:.0f} % of commit time is {PHASE_NAMES[most['phase']]}"


def _is_clearly_less(row: Row, other: Row) -> bool:
    """Whether the intervals of commits leave no doubt that a row has fewer than another."""
    if row["committed_per_s"] is None or row["committed_per_s"] >= other["committed_per_s"]:
        return False
    high, low = row.get("committed_per_s_ci95_high"), other.get("committed_per_s_ci95_low")
    return high is not None and low is not None and high < low


def _one_of(material: Material) -> str:
    question = material.question
    return "txn" if question.is_of_all else f"txn of {question.who}"


def _commits(row: Row) -> float:
    return float(row["committed_per_s"] or 0.0)


def _success(row: Row) -> float:
    return -1.0 if row["success_rate"] is None else float(row["success_rate"])


def _seeds_text(rows: Sequence[Row]) -> str:
    fewest, most = min(row["seeds"] for row in rows), max(row["seeds"] for row in rows)
    if fewest == most:
        return f"{count_words(fewest, 'seed')} each" if len(rows) > 1 else count_words(fewest, "seed")
    return f"{fewest} to {most} seeds each"
