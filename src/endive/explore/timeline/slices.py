"""The time of one txn, slice by slice: its work, the phases of each attempt, the pauses between attempts.

The requests come from ``endive.answers.stories``, names and colours of the phases from the report. Times are
microseconds of the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from endive.answers.stories.story import Attempt, Step, Story
from endive.objectives import duration_text
from endive.report.charts.chart import make_legend
from endive.report.words import PHASE_NAMES

WORK: Final = "work"  # before the commit: no phase of it
_LEGEND: Final = make_legend("phase", "phase", tuple(PHASE_NAMES.values()), with_shapes=False)
COLOURS: Final = {mark.label: mark.colour for mark in _LEGEND.marks}
_OF_OBJECT: Final = {"metadata": "metadata", "manifest list": "manifest_list", "manifest": "manifests"}
_SWAPS: Final = ("write", "cas", "append")  # of the catalog or its log


@dataclass(frozen=True, slots=True)
class Slice:
    """A stretch of a txn's time."""

    begin_us: int
    end_us: int
    phase: str
    words: str


def slices_of(story: Story) -> list[Slice]:
    """All slices of a txn, in the order of time."""
    record, found = story.record, []
    if record["commit_start_ms"] is not None:
        begin_us, end_us = _us(record["submit_ms"]), _us(record["commit_start_ms"])
        found.append(Slice(begin_us, end_us, WORK, f"at work for {_took(begin_us, end_us)}"))
    history = _history(story)
    last_us = None
    for attempt in story.attempts:
        if last_us is not None and attempt.begin_us > last_us:
            words = f"waits {_took(last_us, attempt.begin_us)} before attempt {attempt.number}"
            found.append(Slice(last_us, attempt.begin_us, PHASE_NAMES["backoff"], words))
        found += _of_attempt(attempt, history)
        last_us = found[-1].end_us
    return found


def _of_attempt(attempt: Attempt, history: set[tuple[int, Step]]) -> Iterator[Slice]:
    """The steps of an attempt."""
    for step in attempt.steps:
        phase = "history" if (attempt.number, step) in history else _phase_of(attempt, step)
        words = f"attempt {attempt.number}: {step.count:,} x {step.what}, {_took(step.begin_us, step.end_us)}"
        yield Slice(step.begin_us, step.end_us, PHASE_NAMES[phase], words)


def _phase_of(attempt: Attempt, step: Step) -> str:
    """The phase of requests that are no part of a history; a catalog is read again just before it is swapped."""
    name, _, operation = step.what.removesuffix(" throttled").rpartition(" ")
    if name in _OF_OBJECT:
        return _OF_OBJECT[name]
    is_check = step is not attempt.steps[0] and step.begin_us < attempt.decided_us
    return "commit" if is_check or operation in _SWAPS else "catalog_read"


def _history(story: Story) -> set[tuple[int, Step]]:
    """The reads of manifest lists that validate what rivals did, with the number of their attempt.

    An attempt reads that history first and the current list after it, unless that is one of them. The record says how
    many lists were history in all; what is left over were current ones, of the first attempts.
    """
    reads = {attempt.number: _list_steps(attempt) for attempt in story.attempts}
    lists = sum(step.count for steps in reads.values() for step in steps if step.what.endswith("read"))
    current = max(0, lists - story.record["history_lists"])
    names = set()
    for number, steps in reads.items():
        is_current_read = current > 0 and bool(steps)
        current -= is_current_read
        for step in _without_last_read(steps) if is_current_read else steps:
            names.add((number, step))
    return names


def _list_steps(attempt: Attempt) -> list[Step]:
    """HEADs and reads of manifest lists before the server decided."""
    names = ("manifest list head", "manifest list read")
    return [step for step in attempt.steps if step.what in names and step.begin_us <= attempt.decided_us]


def _without_last_read(steps: Sequence[Step]) -> Sequence[Step]:
    """Steps without the last read of one list, and the HEAD before it; a longer read is mostly history."""
    if steps[-1].count > 1:
        return steps
    has_head = len(steps) > 1 and steps[-2].what.endswith("head") and steps[-2].count == 1
    return steps[: -2 if has_head else -1]


def _us(ms: float) -> int:
    return round(ms * 1000.0)


def _took(begin_us: int, end_us: int) -> str:
    return duration_text((end_us - begin_us) / 1000.0)
