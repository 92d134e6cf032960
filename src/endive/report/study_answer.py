"""The answer to a study: its objective's metric in a table of variants and axis, each cell met, missed or inconclusive.

At most two sentences follow: where the objective is met, and what misses it first and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from endive.answers.answer import RIGHT, Answer, Cell, Column, Fact, Row, Table
from endive.answers.headline import TONES
from endive.answers.run_tables import FAILURES
from endive.objectives import CANNOT_TELL, MET, NOT_MET, Judged, Verdict
from endive.objectives.certainty import more_txns, outcome_word
from endive.objectives.fields import SHARE
from endive.objectives.verdict_text import NOTHING, figure_text, interval_text
from endive.report.axes import Axis
from endive.report.material import Material
from endive.report.reading import Row as Record
from endive.report.words import count_words

ROWS_MAX: Final = 12
VARIANTS_NAMED: Final = 3
LABEL_MAX: Final = 48
COUNTED: Final = ("jobs", "clients")  # keys whose last part says what they count


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Configurations that differ along one axis only, in its order."""

    label: str
    points: tuple[int, ...]  # one per value of the axis; -1 where there is none


def study_answer(material: Material) -> Answer:
    """Return what the renderers show of a study."""
    rows = material.subject_rows()
    facts = material.study.facts
    title = str(facts.get("question") or material.study.title)
    if not any(row["success_rate"] is not None for row in rows):
        return Answer(question="study", headline=f"{title}: no transaction ended in any window", tone=TONES[NOT_MET])
    verdicts = {int(row["point"]): material.question.verdict(int(row["point"])) for row in rows}
    variants = make_variants(material, rows)
    parts = _shown_parts(verdicts, len(variants))
    shown = variants[: max(1, ROWS_MAX // len(parts))]
    table = _table(material, shown, parts, verdicts)
    rest = variants[len(shown) :]
    return Answer(
        question="study",
        headline=title,
        tone=TONES.get(_joint(verdicts), ""),
        tables=(table,),
        notes=tuple(_sentences(material, variants, verdicts)),
        provenance=_provenance(material, rows),
        details=(
            *((_table(material, rest, parts, verdicts),) if rest else ()),
            *_interval_tables(material, variants, parts, verdicts),
            Fact("objective", material.question.objective.text),
        ),
    )


def make_variants(material: Material, rows: Sequence[Record]) -> list[Variant]:
    """Return the configurations grouped by every axis but the one along the page."""
    x = material.layout.x
    named = [axis for axis in material.layout.axes if axis is not x]
    groups: dict[tuple[str, ...], dict[str, int]] = {}
    for row in rows:
        labels = tuple(axis.named(axis.label(row[axis.key])) for axis in named)
        place = "" if x is None else x.label(row[x.key])
        groups.setdefault(labels, {})[place] = int(row["point"])
    order = ("",) if x is None else x.labels
    return [
        Variant(label=", ".join(labels), points=tuple(points.get(label, -1) for label in order))
        for labels, points in groups.items()
    ]


def _shown_parts(verdicts: dict[int, Verdict], variants: int) -> list[int]:
    """Return the indices of the comparisons that get rows: all if there is room, else the one missed most often."""
    parts = next(iter(verdicts.values())).parts
    if len(parts) * variants <= ROWS_MAX:
        return list(range(len(parts)))
    misses = [
        sum(verdict.parts[place].outcome == NOT_MET for verdict in verdicts.values()) for place in range(len(parts))
    ]
    return [misses.index(max(misses))]


def _table(
    material: Material,
    variants: Sequence[Variant],
    parts: Sequence[int],
    verdicts: dict[int, Verdict],
    *,
    with_interval: bool = False,
) -> Table:
    x = material.layout.x
    any_verdict = next(iter(verdicts.values()))
    subjects = [any_verdict.parts[place].subject for place in parts]
    one = subjects[0] if len(subjects) == 1 else None
    name = _metric_name(any_verdict.parts[parts[0]]) if len({s.field.name for s in subjects}) == 1 else "metric"
    whose = f" of {one.name}" if one is not None and one.name else ""
    objective = _objective_text(any_verdict.parts[parts[0]]) if name != "metric" else ""
    columns = [Column(name=f"{name}{whose}{objective}")]
    columns += [Column(name=_head(x, label), align=RIGHT) for label in ("",) if x is None]
    columns += [Column(name=_head(x, label), align=RIGHT) for label in (x.labels if x is not None else ())]
    rows = []
    for variant in variants:
        for place in parts:
            part_name = "" if one is not None else _part_name(any_verdict.parts[place], is_metric=name == "metric")
            label = ": ".join(text for text in (_shorten(variant.label), part_name) if text) or "all transactions"
            cells = [_cell(verdicts.get(point), place, with_interval) for point in variant.points]
            rows.append(Row(cells=(Cell(label), *cells)))
    return Table(columns=tuple(columns), rows=tuple(rows))


def _interval_tables(
    material: Material, variants: Sequence[Variant], parts: Sequence[int], verdicts: dict[int, Verdict]
) -> tuple[Table, ...]:
    table = _table(material, variants[:ROWS_MAX], parts, verdicts, with_interval=True)
    return (Table(columns=table.columns, rows=table.rows, title="With 95 % intervals"),)


def _cell(verdict: Verdict | None, place: int, with_interval: bool) -> Cell:
    if verdict is None:
        return Cell("")
    part = verdict.parts[place]
    found, field = part.found, part.subject.field
    if found.value is None:
        return Cell(NOTHING, None, TONES[CANNOT_TELL])
    text = _percent(found.value) if field.unit == SHARE else figure_text(field, found.value)
    if with_interval:
        text = f"{text} {interval_text(field, found)}".rstrip()
    mark = " ?" if part.outcome == CANNOT_TELL and not with_interval else ""
    return Cell(f"{text}{mark}", found.value, TONES.get(part.outcome, ""))


def _percent(value: float) -> str:
    """Return a share in whole percent, with more digits only where it would be rounded to 0 or 100."""
    text = f"{100.0 * value:.0f}"
    if text in ("100", "99", "0") and value not in (0.0, 1.0):
        text = f"{100.0 * value:.1f}"
        text = {"100.0": "> 99.9", "0.0": "< 0.1"}.get(text, text)
    return f"{text} %"


def _head(x: Axis | None, label: str) -> str:
    if x is None:
        return ""
    leaf = x.key.rpartition(".")[2]
    return f"{label} {leaf}" if leaf in COUNTED and x.is_numeric else x.place(label)


def _shorten(label: str) -> str:
    return label if len(label) <= LABEL_MAX else f"{label[: LABEL_MAX - 1]}…"


def _metric_name(part: Judged) -> str:
    return "success" if part.subject.field.path == ("success_rate",) else part.subject.field.name.replace("_", " ")


def _part_name(part: Judged, *, is_metric: bool) -> str:
    who = part.subject.name
    return f"{who} {_metric_name(part)}".strip() if is_metric else who


def _objective_text(part: Judged) -> str:
    if part.limit is None:
        return ""
    limit = (
        f"{100 * part.limit:g} %" if part.subject.field.unit == SHARE else figure_text(part.subject.field, part.limit)
    )
    return f" (objective {part.comparison.sign} {limit})"


# --- two sentences ------------------------------------------------------------------------------------


def _joint(verdicts: dict[int, Verdict]) -> str:
    outcomes = {verdict.outcome for verdict in verdicts.values()}
    return outcomes.pop() if len(outcomes) == 1 else ""


def _sentences(material: Material, variants: Sequence[Variant], verdicts: dict[int, Verdict]) -> list[str]:
    met = [point for point, verdict in verdicts.items() if verdict.outcome == MET]
    unsure = [point for point, verdict in verdicts.items() if verdict.outcome == CANNOT_TELL]
    where = _where(material, variants, verdicts)
    sentences = []
    if len(verdicts) == 1:
        sentences.append(f"The objective is {outcome_word(next(iter(verdicts.values())).outcome)}.")
    elif not met and not unsure:
        sentences.append("No configuration meets the objective.")
    elif len(met) == len(verdicts):
        sentences.append("Every configuration meets the objective.")
    else:
        sentences.append(f"{len(met)} of {len(verdicts)} configurations surely meet the objective{where}.")
    if unsure:
        more = [more_txns(part) or 0 for point in unsure for part in verdicts[point].decisive]
        needs = f" (needs about {max(more):,} more transactions each)" if any(more) else " (more seeds decide)"
        sentences.append(f"{len(unsure)} marked ? {'is' if len(unsure) == 1 else 'are'} inconclusive{needs}.")
        return sentences
    if (first := _first_miss(material, variants, verdicts)) is not None:
        sentences.append(first)
    return sentences


def _where(material: Material, variants: Sequence[Variant], verdicts: dict[int, Verdict]) -> str:
    """Return how far each of a few variants meets the objective: ``: up to 5 jobs with ..., nowhere with ...``."""
    x = material.layout.x
    is_known = any(verdict.outcome == MET for verdict in verdicts.values())
    if x is None or not x.is_numeric or not is_known or not 1 < len(variants) <= VARIANTS_NAMED + 1:
        return ""
    reached: dict[str, list[str]] = {}
    for variant in variants:
        held = [
            label
            for label, point in zip(x.labels, variant.points, strict=True)
            if point in verdicts and verdicts[point].outcome == MET
        ]
        is_prefix = held == list(x.labels[: len(held)])
        words = "nowhere" if not held else f"up to {x.place(held[-1])}" if is_prefix else f"at {len(held)} values"
        reached.setdefault(words, []).append(_shorten(variant.label))
    ordered = sorted(reached, key=lambda words: words == "nowhere")
    return ": " + "; ".join(f"{words} with {' and '.join(reached[words])}" for words in ordered)


def _first_miss(material: Material, variants: Sequence[Variant], verdicts: dict[int, Verdict]) -> str | None:
    """Return what most failures are at the first configuration that misses the objective."""
    order = [point for points in zip(*(variant.points for variant in variants), strict=True) for point in points]
    missed = [point for point in order if point in verdicts and verdicts[point].outcome == NOT_MET]
    if not missed:
        return None
    reason = _main_reason(material, missed[0])
    return f"What fails first {reason}." if reason else None


def _main_reason(material: Material, point: int) -> str:
    counts: dict[str, float] = {}
    for row in material.subject_rows("conflicts"):
        counter = str(row["counter"])
        if row["point"] == point and counter.startswith("aborted_") and row["per_run"]:
            counts[counter.removeprefix("aborted_")] = float(row["per_run"])
    if not counts:
        return ""
    most = max(counts, key=lambda reason: counts[reason])
    return FAILURES.get(most, f"fails with {most.replace('_', ' ')}")


def _provenance(material: Material, rows: Sequence[Record]) -> str:
    fewest, most = min(row["seeds"] for row in rows), max(row["seeds"] for row in rows)
    seeds = count_words(fewest, "seed") if fewest == most else f"{fewest} to {most} seeds"
    txns = sum(int(row.get("txns_submitted") or 0) for row in material.study.rows("runs", columns=["txns_submitted"]))
    size = f", {txns:,} transactions" if txns else ""
    return f"{count_words(len(rows), 'configuration')} x {seeds}{size}"
