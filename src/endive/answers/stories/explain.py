"""What happened in a run: stories of chosen txns, and who cost whom how much time.

A txn's story lives in ``endive.answers.stories.story``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from endive.answers.length import long_enough
from endive.answers.sample import SampleSink
from endive.answers.stories.journal import Journal, journal_of
from endive.answers.stories.story import Attempt, Stories, Story
from endive.answers.variation import Base
from endive.answers.warnings import Warned, collect, notes_as_warnings
from endive.config import SimulationConfig
from endive.config.expression import Expression
from endive.errors import ConfigError, ObjectiveError
from endive.results.schema import TRANSACTION_SCHEMA

CHOSEN_MAX: Final = 100
ANNOUNCED_TXNS: Final = 50_000  # of one run: more take the reference engine a minute or longer
EVENTS_MAX: Final = 500_000
RIVALS_DRAWN_MAX: Final = 200
BLAME_TXNS_MAX: Final = 200_000  # of one run: the reference engine tells, and all of it takes its time


class Records(Mapping[int, Mapping[str, Any]]):
    """The txns of a run by id, as records made when they are asked for: a run has a million, a story needs a few."""

    def __init__(self, transactions: pa.Table) -> None:
        self._table = transactions.combine_chunks()
        self._ids = self._table["txn_id"].to_numpy()

    def __getitem__(self, txn_id: int) -> Mapping[str, Any]:
        place = int(np.searchsorted(self._ids, txn_id))
        if place == len(self._ids) or self._ids[place] != txn_id:
            raise KeyError(txn_id)
        record: Mapping[str, Any] = self._table.slice(place, 1).to_pylist()[0]
        return record

    def __iter__(self) -> Iterator[int]:
        return (int(txn_id) for txn_id in self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def columns(self, *names: str) -> list[dict[str, Any]]:
        """These columns of every txn, in the order of their ids."""
        rows: list[dict[str, Any]] = self._table.select(list(names)).to_pylist()
        return rows


@dataclass(frozen=True, slots=True)
class Blame:
    """What lost attempts of one kind of victim cost it, by the rival that came first."""

    victim: str
    rival: str
    attempts: int
    lost_ms: float


@dataclass(frozen=True)
class Explanation:
    """Stories and blame of one run."""

    seed: int
    stories: tuple[Story, ...]
    blame: tuple[Blame, ...]
    journal: Journal
    records: Records
    warnings: tuple[Warned, ...]


def explain_base(base: Base, **asked: Any) -> Explanation:
    """``explain_run`` on a run as long as ``endive run`` takes it, so that both speak of the same txns."""
    longer = long_enough(base)
    explanation = explain_run(longer.config, **asked)
    return replace(explanation, warnings=(*explanation.warnings, *notes_as_warnings(longer.notes[1:])))


def explain_run(
    config: SimulationConfig,
    *,
    seed: int | None = None,
    txn: int | None = None,
    worst: int | None = None,
    where: str | None = None,
    with_blame: bool = False,
    announce: Callable[[str], None] | None = None,
) -> Explanation:
    """Replay a run on the reference engine and tell what happened to the chosen txns; a long wait is announced."""
    from endive.simulation import Simulation

    seed = config.simulation.seed if seed is None else seed
    sink = SampleSink(config)
    records = Records(Simulation(config).run(seed=seed, sink=sink).transactions)
    if with_blame and len(records) > BLAME_TXNS_MAX:
        raise ObjectiveError(
            f"The run has {len(records):,} txns, and blame is told of at most {BLAME_TXNS_MAX:,}. Shorten "
            "simulation.duration_ms, or leave --blame out: single txns are told of any run."
        )
    chosen = chosen_txns(records, txn=txn, worst=worst, where=where)
    ends = [record["end_ms"] for record in chosen]
    until_us = None if with_blame or None in ends else int(max(ends) * 1000.0) + 2
    is_small = len(records) <= BLAME_TXNS_MAX  # then rivals can be told too
    of_txns = None if is_small else frozenset(record["txn_id"] for record in chosen)
    if announce is not None and len(records) > ANNOUNCED_TXNS:
        announce(f"Up to {len(records):,} txns are replayed on the reference engine, 100,000 in a minute or so.")
    journal, _ = journal_of(config, seed, until_us, of_txns)
    stories = Stories(journal, records)
    return Explanation(
        seed=seed,
        stories=tuple(stories.of(record["txn_id"]) for record in chosen),
        blame=blame_of(stories, records) if with_blame else (),
        journal=journal,
        records=records,
        warnings=collect(config, [sink.sample(seed)], is_one_run_meant=True, unset=False),
    )


def chosen_txns(records: Records, *, txn: int | None, worst: int | None, where: str | None) -> list[Mapping[str, Any]]:
    """The txns that are asked for: one by its id, or the worst (failed, then slow), among those a condition chooses."""
    if txn is not None:
        if txn not in records:
            raise ObjectiveError(f"--txn {txn}: the run has no such txn. Its txns are 0 to {len(records) - 1:,}.")
        return [records[txn]]
    rows = records.columns("txn_id", "commit_latency_ms", "status")
    if where is not None:
        rows = [rows[place] for place in _matching(records, where)]
        if not rows:
            every = records.columns("kind", "status")
            told = (f"{name}: {', '.join(sorted({row[name] for row in every}))}" for name in ("kind", "status"))
            raise ObjectiveError(f'--where "{where}": no txn of the run is like that. There are {"; ".join(told)}.')
    ended = [row for row in rows if row["commit_latency_ms"] is not None]
    ranked = sorted(
        ended or rows,
        key=lambda row: (row["status"] != "aborted", -(row["commit_latency_ms"] or 0.0), row["txn_id"]),
    )
    count = worst if worst is not None else (1 if where is None else len(ranked))
    return [records[row["txn_id"]] for row in ranked[: min(count, CHOSEN_MAX)]]


def _matching(records: Records, where: str) -> list[int]:
    """Return where in the run the txns are that meet a condition over the columns of a result, written as in SQL."""
    text = re.sub(r"(?<![<>=!])=(?!=)", "==", where).replace("<>", "!=")
    text = re.sub(r"\bAND\b", "and", re.sub(r"\bOR\b", "or", re.sub(r"\bNOT\b", "not", text)))
    try:
        condition = Expression.parse(text, "--where")
    except ConfigError as error:
        raise ObjectiveError(f'--where "{where}" cannot be read: {error.problems[0]}') from None
    known = TRANSACTION_SCHEMA.names
    for name in condition.names:
        if name not in known:
            raise ObjectiveError(f"--where: '{name}' is no column of a txn. Columns are: {', '.join(known[:20])}, ...")
    matching = []
    for place, values in enumerate(records.columns(*condition.names)):
        if None not in values.values() and condition.evaluate(values, "--where") is True:
            matching.append(place)
    return matching


def blame_of(stories: Stories, records: Records) -> tuple[Blame, ...]:
    """Time lost in refused attempts, by kind of victim and kind of the rival that landed first."""
    lost: dict[tuple[str, str], list[float]] = {}
    for record in records.values():
        is_first_try = record["attempts"] < 2 and record["status"] == "committed"
        if is_first_try or record["status"] == "in_flight":  # nothing lost, or not yet known what
            continue
        story = stories.of(record["txn_id"])
        for place, attempt in enumerate(story.attempts):
            if attempt.is_installed or not attempt.rivals:
                continue
            after = story.attempts[place + 1].begin_us if place + 1 < len(story.attempts) else attempt.end_us
            rival = attempt.rivals[0]
            key = (f"{record['kind']} of {record['source']}", f"{rival.kind} of {rival.source}")
            lost.setdefault(key, []).append((after - attempt.begin_us) / 1000.0)
    rows = [Blame(victim, rival, len(times), sum(times)) for (victim, rival), times in lost.items()]
    return tuple(sorted(rows, key=lambda row: -row.lost_ms))


# --- a timeline for Perfetto: a track per txn, a slice per request, arrows from the commits that won -----


def trace_text(found: Explanation) -> str:
    """Return the trace of the chosen txns and of the rivals that overtook them."""
    events = list(_events(found))
    if len(events) > EVENTS_MAX:
        raise ObjectiveError(
            f"The trace has {len(events):,} events; at most {EVENTS_MAX:,} are written. Choose fewer txns with --worst."
        )
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}, allow_nan=False)


def _events(found: Explanation) -> Iterator[dict[str, Any]]:
    told = {story.record["txn_id"]: story for story in found.stories}
    rivals = {rival.txn_id for story in found.stories for attempt in story.attempts for rival in attempt.rivals}
    stories = Stories(found.journal, found.records)
    for txn_id in sorted(rivals - told.keys())[:RIVALS_DRAWN_MAX]:
        told[txn_id] = stories.of(txn_id)
    sources = sorted({str(story.record["source"]) for story in told.values()})
    for place, source in enumerate(sources, 1):
        yield {"ph": "M", "name": "process_name", "pid": place, "tid": 0, "args": {"name": source}}
    for story in told.values():
        yield from _track(story, sources.index(str(story.record["source"])) + 1)
    yield from _arrows(told, sources)


def _track(story: Story, pid: int) -> Iterator[dict[str, Any]]:
    record = story.record
    here = {"pid": pid, "tid": record["txn_id"]}
    name = f"txn {record['txn_id']} {record['kind']}"
    yield {"ph": "M", "name": "thread_name", **here, "args": {"name": name}}
    submit_us = record["submit_ms"] * 1000.0
    if record["commit_start_ms"] is not None:
        work_us = record["commit_start_ms"] * 1000.0 - submit_us
        yield {"ph": "X", "cat": "txn", "name": "work", "ts": submit_us, "dur": work_us, **here}
    for attempt in story.attempts:
        yield {**_slice(f"attempt {attempt.number}", attempt.begin_us, attempt.end_us), **here, "args": _args(attempt)}
        for step in attempt.steps:
            yield {**_slice(f"{step.count} x {step.what}", step.begin_us, step.end_us), **here}
    for before, after in zip(story.attempts, story.attempts[1:], strict=False):
        yield {**_slice("backoff", before.end_us, after.begin_us), **here}


def _slice(name: str, begin_us: int, end_us: int) -> dict[str, Any]:
    return {"ph": "X", "cat": "txn", "name": name, "ts": begin_us, "dur": max(0, end_us - begin_us)}


def _args(attempt: Attempt) -> dict[str, Any]:
    return {
        "outcome": "installed" if attempt.is_installed else "given up" if attempt.is_given_up else "refused",
        "hazard_window_ms": (attempt.decided_us - attempt.base_us) / 1000.0,
        "rivals": len(attempt.rivals),
    }


def _arrows(told: Mapping[int, Story], sources: list[str]) -> Iterator[dict[str, Any]]:
    """From the commit that landed first in a hazard window to the refusal it caused."""
    number = 0
    for story in told.values():
        for attempt in story.attempts:
            winner = told.get(attempt.rivals[0].txn_id) if attempt.rivals and not attempt.is_installed else None
            if winner is None:
                continue
            number += 1
            flow = {"cat": "overtaken", "name": "overtaken", "id": number}
            yield {**flow, "ph": "s", "ts": attempt.rivals[0].landed_us, **_place(winner, sources)}
            yield {**flow, "ph": "f", "bp": "e", "ts": attempt.decided_us, **_place(story, sources)}


def _place(story: Story, sources: list[str]) -> dict[str, Any]:
    return {"pid": sources.index(str(story.record["source"])) + 1, "tid": story.record["txn_id"]}
