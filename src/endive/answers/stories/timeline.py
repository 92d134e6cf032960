"""Stories as a timeline for Perfetto: one track per txn, a slice per request, arrows from the commits that won."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from endive.answers.stories.explain import Explanation
from endive.answers.stories.story import Attempt, Stories, Story
from endive.errors import ObjectiveError

EVENTS_MAX: Final = 500_000
RIVALS_DRAWN_MAX: Final = 200


def trace_text(found: Explanation) -> str:
    """The trace of the chosen txns and of the rivals that overtook them."""
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
