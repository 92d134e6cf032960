"""Two configurations side by side, under common random numbers.

Both sides run with the same seeds, so the difference is taken seed by seed: what both owe to chance cancels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Final

from endive.answers.caveats import caveats_of_both
from endive.answers.estimates import estimate_of, subject_of
from endive.answers.length import is_stated, long_enough
from endive.answers.price import bill_of
from endive.answers.replicate import Replicator
from endive.answers.run_count import take_enough
from endive.answers.sample import Sample
from endive.answers.variation import Base
from endive.config import SimulationConfig
from endive.config.reading.format_switch import DELTA, ICEBERG, drop_foreign
from endive.config.slo import names_of, objective_of
from endive.objectives import Estimate, Subject
from endive.objectives.fields import SHARE, Field
from endive.objectives.intervals import EVENTS_ENOUGH, mean_estimate, newcombe
from endive.objectives.names import ALL, SOURCE
from endive.objectives.student import CONFIDENCE
from endive.objectives.verdict_text import NOTHING, figure_text

COMPARED: Final = (
    *("success_rate", "committed_per_s", "p50_commit", "p95_commit", "p99_commit"),
    *("retries_mean", "requests_per_commit"),
)
OF_STREAMS: Final = ("p50_freshness", "p95_freshness", "p99_freshness", "lost_share")
SAME: Final = "same"
UNSURE: Final = "cannot tell"
MORE: Final = "more"
LESS: Final = "less"
STYLE: Final = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1b1f24}"
    "table{border-collapse:collapse;margin:1rem 0}"
    "th,td{padding:.3rem .8rem;border-bottom:1px solid #d0d7de;text-align:left}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}.more{color:#0a5}.less{color:#b30}"
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure of both sides, and how far B is from A."""

    subject: Subject
    a: Estimate
    b: Estimate
    difference: Estimate

    @property
    def outcome(self) -> str:
        """Whether B is surely more or less than A."""
        low, high = self.difference.low, self.difference.high
        if low is None or high is None:
            return UNSURE
        if low == high == 0.0:
            return SAME
        return MORE if low > 0.0 else LESS if high < 0.0 else UNSURE


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What differs between two configurations, in their keys and in their results."""

    a: str
    b: str
    keys: tuple[tuple[str, Any, Any], ...]  # key, value in A, value in B; None where it is not given
    differences: tuple[Difference, ...]
    seeds: int
    notes: tuple[str, ...]
    caveats: tuple[str, ...] = ()  # of either side: everything to know before the answer is trusted


def compare_configs(
    a: SimulationConfig,
    b: SimulationConfig,
    *,
    names: tuple[str, str] = ("A", "B"),
    seeds: int | None = None,
    replicator: Replicator | None = None,
) -> Comparison:
    """Run both with the same seeds and say what differs; by itself with as many as the side needs that needs more."""
    first = a.simulation.seed
    with replicator or Replicator() as running:
        if seeds is None:
            sides = (a, b.with_seed(first))
            seeds = max(len(take_enough(running, side, objective_of(side))) for side in sides)
        span = range(first, first + seeds)
        running.run_all([(config, seed) for seed in span for config in (a, b)])
        ours, theirs = running.samples(a, span), running.samples(b, span)
        caveats = caveats_of_both((a, ours), (b, theirs), running)
    shared = [name for name in names_of(a).sources if name in names_of(b).sources]
    parts = [(SOURCE, name) for name in shared]
    if len(names_of(a).sources) > 1 or not shared:
        parts.append((ALL, ""))
    streams = [name for name in shared if name in names_of(a).streams and name in names_of(b).streams]
    subjects = [subject_of(scope, name, field) for scope, name in parts for field in COMPARED]
    subjects += [subject_of(SOURCE, name, field) for name in streams for field in OF_STREAMS]
    confidence = 1.0 - (1.0 - CONFIDENCE) / len(subjects)  # of each, so that all of them hold at once
    differences = [
        Difference(
            subject,
            estimate_of(ours, subject),
            estimate_of(theirs, subject),
            difference_of(ours, theirs, subject, confidence),
        )
        for subject in subjects
    ]
    return Comparison(
        a=names[0],
        b=names[1],
        keys=tuple(changed_keys(a, b)),
        differences=tuple(differences),
        seeds=seeds,
        notes=(*_notes(a, b), *_bill_notes((a, ours), (b, theirs))),
        caveats=caveats,
    )


def compare_bases(a: Base, b: Base, *, names: tuple[str, str] = ("A", "B"), seeds: int | None = None) -> Comparison:
    """The same with runs long enough for the side that needs more, unless a side says how long its runs are."""
    longest = max((long_enough(side) for side in (a, b)), key=lambda side: side.config.simulation.duration_ms)
    length = {"simulation.duration_ms": longest.config.simulation.duration_ms}
    ours, theirs = (side if not longest.notes or is_stated(side.config) else side.varied(length) for side in (a, b))
    comparison = compare_configs(ours.config, theirs.config, names=names, seeds=seeds)
    return replace(comparison, notes=(*comparison.notes, *longest.notes))


def difference_of(
    ours: Sequence[Sample], theirs: Sequence[Sample], subject: Subject, confidence: float = CONFIDENCE
) -> Estimate:
    """How far the second is from the first, seed by seed."""
    before, after = (estimate_of(side, subject, confidence) for side in (ours, theirs))
    if before.value is None or after.value is None:
        return Estimate(None)
    middle = after.value - before.value
    steps = [
        b.value - a.value
        for a, b in ((estimate_of([x], subject), estimate_of([y], subject)) for x, y in zip(ours, theirs, strict=True))
        if a.value is not None and b.value is not None
    ]
    if len(steps) < 2:
        return Estimate(middle)
    if before == after and not any(steps):
        return Estimate(0.0, 0.0, 0.0, runs=len(steps))
    if subject.field.unit == SHARE and _is_thin(before, after):
        return _bound(newcombe(before, after), 1.0)
    estimate = mean_estimate(steps, confidence)
    assert estimate.value is not None
    assert estimate.low is not None
    assert estimate.high is not None
    moved = middle - estimate.value  # of all txns together, which the steps are not
    shifted = replace(estimate, value=middle, low=estimate.low + moved, high=estimate.high + moved)
    return _bound(shifted, 1.0 if subject.field.unit == SHARE else math.inf)


def _is_thin(before: Estimate, after: Estimate) -> bool:
    """Whether too few txns turned out the rarer way for runs to show how far they differ."""
    rarer = [(found.txns or 0) * min(found.value or 0.0, 1.0 - (found.value or 0.0)) for found in (before, after)]
    return max(rarer) < EVENTS_ENOUGH


def _bound(found: Estimate, bound: float) -> Estimate:
    assert found.value is not None
    if found.low is None or found.high is None:
        return found
    return replace(found, low=max(-bound, found.low), high=min(bound, found.high))


def changed_keys(a: SimulationConfig, b: SimulationConfig) -> list[tuple[str, Any, Any]]:
    """The keys that differ, dotted, with both values.

    Names for people and seeds are left out, and between two table formats the keys that only one of them reads.
    """
    ours, theirs = _flat(a.to_dict()), _flat(b.to_dict())
    if a.table.format != b.table.format:
        ours, theirs = (drop_foreign(drop_foreign(side, DELTA), ICEBERG) for side in (ours, theirs))
    keys = [key for key in dict.fromkeys((*ours, *theirs)) if ours.get(key) != theirs.get(key)]
    ignored = ("experiment.", "slo.", "simulation.seed", "simulation.output_path")
    return [(key, ours.get(key), theirs.get(key)) for key in keys if not key.startswith(ignored)]


def _flat(document: Any, prefix: str = "") -> dict[str, Any]:
    if isinstance(document, Mapping):
        items = [(str(key), value) for key, value in document.items()]
    elif isinstance(document, list) and document and all(isinstance(item, Mapping) for item in document):
        items = [(str(item.get("name", place)), item) for place, item in enumerate(document)]
    else:
        return {prefix: document}
    flat: dict[str, Any] = {}
    for key, value in items:
        flat |= _flat(value, f"{prefix}.{key}" if prefix else key)
    return flat


def _bill_notes(*sides: tuple[SimulationConfig, Sequence[Sample]]) -> list[str]:
    """What a month of either load costs, if they differ and both stores state prices."""
    if sides[0][0].config_hash() == sides[1][0].config_hash():
        return []
    bills = [bill_of(config, samples) for config, samples in sides]
    if any(bill is None for bill in bills):
        return []
    told = ", ".join(f"{side} {bill.usd:,.2f} USD" for side, bill in zip("AB", bills, strict=True) if bill)
    return [f"A month of this load, by list prices: {told} ('endive run --bill' has the lines)."]


def _notes(a: SimulationConfig, b: SimulationConfig) -> list[str]:
    notes = []
    if a.config_hash() == b.config_hash():
        notes.append("Both are the same simulation: every difference is zero.")
    only = set(names_of(a).sources) ^ set(names_of(b).sources)
    if a.table.format != b.table.format:
        notes.append("Keys that only one of the two table formats reads are not listed.")
    if only:
        notes.append(f"Only one side has the sources {', '.join(sorted(only))}; they are part of the total only.")
    return notes


# --- the words of a difference, and the page ------------------------------------------------------------


def difference_words(row: Difference) -> str:
    """A difference and its interval, with signs; shares in percentage points."""
    return signed_estimate(row.subject.field, row.difference)


def signed_estimate(field: Field, found: Estimate) -> str:
    """An estimate that may be negative."""
    if found.value is None:
        return NOTHING
    if found.low is None or found.high is None:
        return signed_text(field, found.value)
    all_three = (found.value, found.low, found.high)
    value, low, high = (signed_text(field, each, all_three) for each in all_three)
    return f"{value} [{low}, {high}]"


def signed_text(field: Field, value: float, beside: Sequence[float] = ()) -> str:
    """A figure with its sign."""
    sign = "+" if value > 0 else "-" if value < 0 else ""
    if math.isinf(value):
        return f"{sign}unbounded"
    if field.unit == SHARE:
        return f"{sign}{abs(100.0 * value):.2f}"
    return f"{sign}{figure_text(field, abs(value), beside)}"


def comparison_page(found: Comparison) -> str:
    """The whole page."""
    keys = [(key, _shown(ours), _shown(theirs)) for key, ours, theirs in found.keys]
    rows = [difference_cells(row) for row in found.differences]
    title = f"{found.a} and {found.b}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style></head><body><h1>{escape(title)}</h1>"
        f"{html_table(('key', 'A', 'B'), keys, n_text=3) if keys else ''}"
        f"<p>{found.seeds} seeds, the same for both sides. All brackets of the differences, taken seed by seed, "
        "hold 95 times in 100; differences of shares are in percentage points.</p>"
        f"{html_table(('figure', 'A', 'B', 'B less A', 'B is'), rows)}"
        f"{''.join(f'<p>{escape(note)}</p>' for note in (*found.notes, *found.caveats))}</body></html>\n"
    )


def difference_cells(row: Difference) -> tuple[str, ...]:
    """A figure, what it is in A and in B, how far apart they are, and what that says of B."""
    field = row.subject.field
    figures = (figure_text(field, row.a.value), figure_text(field, row.b.value))
    return (str(row.subject), *figures, difference_words(row), row.outcome)


def html_table(heading: Sequence[str], rows: Iterable[Sequence[str]], n_text: int = 1) -> str:
    """A table; cells from the ``n_text``-th on are figures."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heading)
    body = "".join(
        "<tr>"
        + "".join(f"<td{'' if n < n_text else ' class=n'}>{escape(cell)}</td>" for n, cell in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _shown(value: object) -> str:
    return NOTHING if value is None else str(value)
