"""Two configurations side by side, under common random numbers.

Both sides run with the same seeds, so the difference is taken seed by seed: what both owe to chance cancels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from endive.answers.cases import End, unset_inputs, with_values
from endive.answers.estimates import estimate_of, subject_of
from endive.answers.length import is_stated, long_enough
from endive.answers.price import bill_of
from endive.answers.replicate import Replicator
from endive.answers.run_count import take_enough
from endive.answers.sample import Sample
from endive.answers.variation import Base
from endive.answers.warnings import Warned, collect, join_sides
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
VARIED_RUNS: Final = 4


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure of both sides, and how far B is from A."""

    subject: Subject
    a: Estimate
    b: Estimate
    difference: Estimate

    @property
    def outcome(self) -> str:
        """Return whether B is surely more or less than A."""
        low, high = self.difference.low, self.difference.high
        if low is None or high is None:
            return UNSURE
        if low == high == 0.0:
            return SAME
        return MORE if low > 0.0 else LESS if high < 0.0 else UNSURE


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """The differences at another end of an input that is not set."""

    words: str
    short: str
    differences: tuple[Difference, ...]
    paste: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What differs between two configurations, in their keys and in their results."""

    a: str
    b: str
    keys: tuple[tuple[str, Any, Any], ...]  # key, value in A, value in B; None where it is not given
    differences: tuple[Difference, ...]
    seeds: int
    notes: tuple[str, ...]
    warnings: tuple[Warned, ...] = ()  # of either side
    variation: Variation | None = None  # another end of an unset input, if it turns the ranking


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
        shared = [name for name in names_of(a).sources if name in names_of(b).sources]
        parts = [(SOURCE, name) for name in shared]
        if len(names_of(a).sources) > 1 or not shared:
            parts.append((ALL, ""))
        streams = [name for name in shared if name in names_of(a).streams and name in names_of(b).streams]
        subjects = [subject_of(scope, name, field) for scope, name in parts for field in COMPARED]
        subjects += [subject_of(SOURCE, name, field) for name in streams for field in OF_STREAMS]
        differences = _differences(ours, theirs, subjects)
        found = [collect(config, samples, unset=False) for config, samples in ((a, ours), (b, theirs))]
        variation = _find_variation(a, b, differences, running, min(seeds, VARIED_RUNS))
    return Comparison(
        a=names[0],
        b=names[1],
        keys=tuple(changed_keys(a, b)),
        differences=differences,
        seeds=seeds,
        notes=(*_notes(a, b), *_bill_notes((a, ours), (b, theirs))),
        warnings=join_sides(*found),
        variation=variation,
    )


def _differences(
    ours: Sequence[Sample], theirs: Sequence[Sample], subjects: Sequence[Subject]
) -> tuple[Difference, ...]:
    confidence = 1.0 - (1.0 - CONFIDENCE) / len(subjects)  # of each, so that all of them hold at once
    return tuple(
        Difference(
            subject,
            estimate_of(ours, subject),
            estimate_of(theirs, subject),
            difference_of(ours, theirs, subject, confidence),
        )
        for subject in subjects
    )


def _find_variation(
    a: SimulationConfig,
    b: SimulationConfig,
    differences: Sequence[Difference],
    replicator: Replicator,
    runs: int,
) -> Variation | None:
    """Return the end of an unset input at which the ranking turns, if there is one."""
    from endive.answers.compare_answer import ranking_turns

    inputs = {each.code: each for side in (a, b) for each in unset_inputs(side)}
    subjects = [row.subject for row in differences]
    for unset in inputs.values():
        for end in unset.ends:
            ours, theirs = (_at_end(side, unset.code, end) for side in (a, b))
            if ours is None or theirs is None:
                continue
            found = _differences(replicator.take(ours, runs), replicator.take(theirs, runs), subjects)
            words = f"{unset.name}: {end.words}" if unset.code != "W204" else "its answers are large"
            short = "answers cost 60 ms per MiB" if unset.code == "W204" else end.words
            variation = Variation(words=words, short=short, differences=found, paste=end.paste)
            if ranking_turns(differences, variation):
                return variation
    return None


def _at_end(config: SimulationConfig, code: str, end: End) -> SimulationConfig | None:
    """Return a side with the input at that end; as it is if it sets the input."""
    return with_values(config, end.values) if code in {each.code for each in unset_inputs(config)} else config


def compare_bases(a: Base, b: Base, *, names: tuple[str, str] = ("A", "B"), seeds: int | None = None) -> Comparison:
    """Return the same with runs long enough for the side that needs more, unless a side says how long its runs are."""
    longest = max((long_enough(side) for side in (a, b)), key=lambda side: side.config.simulation.duration_ms)
    length = {"simulation.duration_ms": longest.config.simulation.duration_ms}
    ours, theirs = (side if not longest.notes or is_stated(side.config) else side.varied(length) for side in (a, b))
    comparison = compare_configs(ours.config, theirs.config, names=names, seeds=seeds)
    return replace(comparison, notes=(*comparison.notes, *longest.notes))


def difference_of(
    ours: Sequence[Sample], theirs: Sequence[Sample], subject: Subject, confidence: float = CONFIDENCE
) -> Estimate:
    """Return how far the second is from the first, seed by seed."""
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
    """Return whether too few txns turned out the rarer way for runs to show how far they differ."""
    rarer = [(found.txns or 0) * min(found.value or 0.0, 1.0 - (found.value or 0.0)) for found in (before, after)]
    return max(rarer) < EVENTS_ENOUGH


def _bound(found: Estimate, bound: float) -> Estimate:
    assert found.value is not None
    if found.low is None or found.high is None:
        return found
    return replace(found, low=max(-bound, found.low), high=min(bound, found.high))


def changed_keys(a: SimulationConfig, b: SimulationConfig) -> list[tuple[str, Any, Any]]:
    """Return the keys that differ, dotted, with both values.

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
    """Return what a month of either load costs, if they differ and both stores state prices."""
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


# --- differences as text ------------------------------------------------------------------------------


def difference_words(row: Difference) -> str:
    """Return a difference and its interval, with signs; shares in percentage points."""
    return signed_estimate(row.subject.field, row.difference)


def signed_estimate(field: Field, found: Estimate) -> str:
    """Return an estimate that may be negative."""
    if found.value is None:
        return NOTHING
    if found.low is None or found.high is None:
        return signed_text(field, found.value)
    all_three = (found.value, found.low, found.high)
    value, low, high = (signed_text(field, each, all_three) for each in all_three)
    return f"{value} [{low}, {high}]"


def signed_text(field: Field, value: float, beside: Sequence[float] = ()) -> str:
    """Return a figure with its sign."""
    sign = "+" if value > 0 else "-" if value < 0 else ""
    if math.isinf(value):
        return f"{sign}unbounded"
    if field.unit == SHARE:
        return f"{sign}{abs(100.0 * value):.2f}"
    return f"{sign}{figure_text(field, abs(value), beside)}"


def difference_cells(row: Difference) -> tuple[str, ...]:
    """Return a metric, both sides, the difference, and what it says of B."""
    field = row.subject.field
    figures = (figure_text(field, row.a.value), figure_text(field, row.b.value))
    return (str(row.subject), *figures, difference_words(row), row.outcome)
