"""A stretch of one run as it happened: a lane per writer, a slice per phase, who overtook whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Final

from endive.answers.stories.journal import journal_of
from endive.answers.stories.story import Attempt, Step, Stories, Story
from endive.answers.variation import Base
from endive.config import SimulationConfig
from endive.explore.runs import Events, IsCancelled, shorten
from endive.objectives import duration_text
from endive.report.charts.chart import make_legend
from endive.report.words import PHASE_NAMES
from endive.simulation import simulate

TXNS: Final = 10_000.0  # of the run in which a stretch is looked for
CHOICE: Final = 500  # txns of a source, of which the worst is chosen
SETTLING: Final = 100  # txns at the start, while writers that all begin at once are still in step
LANES_MAX: Final = 32
SHOWN_MAX: Final = 320  # txns; a stretch with more is cut short
MARGIN: Final = 0.35  # of the time that the chosen txn commits, before and after it
MARGIN_MS_MIN: Final = 200.0
WORK: Final = "work"  # before the commit: no phase of it
_LEGEND: Final = make_legend("phase", "phase", tuple(PHASE_NAMES.values()), with_shapes=False)
COLOURS: Final = {mark.label: mark.colour for mark in _LEGEND.marks}
_OF_OBJECT: Final = {"metadata": "metadata", "manifest list": "manifest_list", "manifest": "manifests"}
_SWAPS: Final = ("write", "cas", "append")  # of the catalog or its log

Row = dict[str, Any]  # of a txn, as a result has it


def watch(base: Base, is_cancelled: IsCancelled) -> Events:
    """The lanes of a stretch of a run."""
    config, _ = shorten(base.config, TXNS)
    section = config.simulation.model_copy(update={"warmup_ms": 0.0, "cooldown_ms": 0.0})
    yield watch_worst(config.model_copy(update={"simulation": section}))


def watch_worst(config: SimulationConfig) -> dict[str, Any]:
    """The stretch around a txn that lost many attempts, of the source that fares worst."""
    seed = config.simulation.seed
    txns = [txn for txn in simulate(config, seed=seed).transactions.to_pylist() if txn["commit_start_ms"] is not None]
    message: dict[str, Any] = {"type": "watch", "stage": "done", "seed": seed, "lanes": []}
    worst = worst_of(txns)
    if worst is None:
        return message
    sources = [source.name for source in config.sources]
    begin_ms, until_ms, lanes = stretch_around(worst, txns, sources)
    last_ms = max(end_ms(txn) for lane in lanes for txn in lane.txns)
    until_us = None if last_ms >= config.simulation.duration_ms else int(last_ms * 1000.0) + 2
    journal, _ = journal_of(config, seed, until_us)
    stories = Stories(journal, {txn["txn_id"]: txn for txn in txns})
    return {
        **message,
        "begin_ms": begin_ms,
        "end_ms": until_ms,
        "chosen": worst["txn_id"],
        "phases": [[WORK, ""], *COLOURS.items()],
        "lanes": [_lane(lane, stories, begin_ms, sources) for lane in lanes],
    }


def worst_of(txns: Sequence[Row]) -> Row | None:
    """The first txn with the most attempts, of the source that loses the largest share of its txns."""
    ended = [txn for txn in txns if txn["end_ms"] is not None]
    by_source: dict[str, list[Row]] = {}
    for txn in ended:
        by_source.setdefault(txn["source"], []).append(txn)
    if not by_source:
        return None
    troubled = max(by_source.values(), key=_trouble)
    later = [txn for txn in troubled if txn["txn_id"] >= min(SETTLING, len(txns) // 4)]
    return max((later or troubled)[:CHOICE], key=lambda txn: (txn["attempts"], -txn["txn_id"]))


def _trouble(txns: Sequence[Row]) -> tuple[float, float]:
    """How badly a source fares: the share that aborted, then the attempts it took."""
    return fmean(txn["status"] == "aborted" for txn in txns), fmean(txn["attempts"] for txn in txns)


def stretch_around(worst: Row, txns: Sequence[Row], sources: Sequence[str]) -> tuple[float, float, list[Lane]]:
    """From when to when, and its lanes: those that come nearest to the chosen txn if there are many."""
    first_ms, last_ms = worst["commit_start_ms"], end_ms(worst)
    margin_ms = max((last_ms - first_ms) * MARGIN, MARGIN_MS_MIN)
    begin_ms, until_ms = max(0.0, first_ms - margin_ms), last_ms + margin_ms
    within = [txn for txn in txns if _seen_from_ms(txn) < until_ms and end_ms(txn) > begin_ms]
    lanes = _nearest(lanes_of(within, sources), worst)
    starts_ms = sorted(txn["commit_start_ms"] for lane in lanes for txn in lane.txns)
    if len(starts_ms) > SHOWN_MAX:
        until_ms = max(starts_ms[SHOWN_MAX], first_ms + MARGIN_MS_MIN)
        for lane in lanes:
            lane.txns = [txn for txn in lane.txns if txn["commit_start_ms"] < until_ms]
    return begin_ms, until_ms, [lane for lane in lanes if lane.txns]


def _seen_from_ms(txn: Row) -> float:
    """From when on a txn is part of a stretch: a writer's from its submission, another's from its first attempt."""
    from_ms: float = txn["commit_start_ms" if txn["client"] is None else "submit_ms"]
    return from_ms


def _nearest(lanes: list[Lane], worst: Row) -> list[Lane]:
    """As many as there is room for; lanes of a source without writers are numbered anew."""

    def distance(lane: Lane) -> float:
        if worst in lane.txns:
            return -1.0
        distance_ms: float = min(abs(txn["commit_start_ms"] - worst["commit_start_ms"]) for txn in lane.txns)
        return distance_ms

    kept = sorted(lanes, key=distance)[:LANES_MAX]
    nearest = [lane for lane in lanes if lane in kept]
    for source in {lane.source for lane in nearest}:
        for number, lane in enumerate((lane for lane in nearest if lane.source == source), 1):
            lane.number = lane.number if lane.is_writer else number
    return nearest


# --- lanes: one per writer, or as many as a source needs for txns that overlap ------------------------
#
# A client of a closed loop and a job are writers and keep their lane. Txns of any other source take its first lane that
# is free when they commit.


@dataclass(slots=True)
class Lane:
    """One row of the timeline: txns one after another."""

    source: str
    number: int  # of the writer, or of the lane among those of its source; from 1
    is_writer: bool
    txns: list[Row] = field(default_factory=list)

    @property
    def label(self) -> str:
        """Whose lane it is."""
        return f"{self.source} {self.number}" if self.is_writer or self.number > 1 else self.source


def lanes_of(txns: Sequence[Row], sources: Sequence[str]) -> list[Lane]:
    """The lanes of txns that have begun to commit, in the order of the sources and their numbers."""
    lanes: dict[tuple[str, int], Lane] = {}
    for txn in sorted(txns, key=lambda txn: (txn["commit_start_ms"], txn["txn_id"])):
        source, client = txn["source"], txn["client"]
        number = _first_free(lanes, txn) if client is None else client + 1
        lanes.setdefault((source, number), Lane(source, number, client is not None)).txns.append(txn)
    return sorted(lanes.values(), key=lambda lane: (sources.index(lane.source), lane.number))


def end_ms(txn: Row) -> float:
    """When a txn is over; never, if the run ended before it."""
    end_ms_or_none: float | None = txn["end_ms"]
    return float("inf") if end_ms_or_none is None else end_ms_or_none


def _first_free(lanes: dict[tuple[str, int], Lane], txn: Row) -> int:
    number = 1
    while (lane := lanes.get((txn["source"], number))) and end_ms(lane.txns[-1]) > txn["commit_start_ms"]:
        number += 1
    return number


# --- slices: a txn's work, the phases of each attempt, the pauses between attempts --------------------
#
# Times are microseconds of the run.


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


# --- as the page reads it -----------------------------------------------------------------------------


def _lane(lane: Lane, stories: Stories, begin_ms: float, sources: Sequence[str]) -> dict[str, Any]:
    told = [stories.of(txn["txn_id"]) for txn in lane.txns]
    return {
        "label": lane.label,
        "source": lane.source,
        "place": sources.index(lane.source),
        "txns": [_txn(story, begin_ms) for story in told if story.attempts],
    }


def _txn(story: Story, begin_ms: float) -> dict[str, Any]:
    record = story.record
    return {
        "txn": record["txn_id"],
        "kind": record["kind"].replace("_", " "),
        "status": record["status"].replace("_", " "),
        "reason": (record["reason"] or "").replace("_", " "),
        "slices": [
            [part.begin_us / 1000.0 - begin_ms, part.end_us / 1000.0 - begin_ms, part.phase, part.words]
            for part in slices_of(story)
        ],
        "attempts": [_attempt(attempt, begin_ms) for attempt in story.attempts],
        "story": story.lines,
    }


def _attempt(attempt: Attempt, begin_ms: float) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "base": attempt.base_us / 1000.0 - begin_ms,
        "decided": attempt.decided_us / 1000.0 - begin_ms,
        "installed": attempt.is_installed,
        "rival": attempt.rivals[0].txn_id if attempt.rivals and _is_overtaken(attempt) else None,
    }


def _is_overtaken(attempt: Attempt) -> bool:
    """Whether its swap was refused; what a validation finds may be the work of any rival since the txn began."""
    return not attempt.is_installed and attempt.failed_of is None
