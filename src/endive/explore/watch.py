"""A stretch of one run as it happened: a lane per txn, a slice per request, who overtook whom.

This file chooses the stretch and turns stories into lanes; the stories are ``endive.answers.story``'s.
"""

from __future__ import annotations

from typing import Any, Final

from endive.answers.journal import journal_of
from endive.answers.story import Attempt, Stories, Story
from endive.answers.variation import Base
from endive.config import SimulationConfig
from endive.explore.runs import Events, IsCancelled, shortened

TXNS: Final = 600.0  # of the run that is replayed
LANES_MAX: Final = 24
MARGIN: Final = 0.35  # of the time that the chosen txn commits, before and after it
MARGIN_US_MIN: Final = 200_000
SETTLING: Final = 0.25  # of the run, in which writers that all begin at once are still in step


def watch(base: Base, is_cancelled: IsCancelled) -> Events:
    """The lanes of a stretch of a short run."""
    config, _ = shortened(base.config, TXNS)
    section = config.simulation.model_copy(update={"warmup_ms": 0.0, "cooldown_ms": 0.0})
    yield watched(config.model_copy(update={"simulation": section}))


def watched(config: SimulationConfig) -> dict[str, Any]:
    """The stretch around the txn that lost most attempts."""
    journal, result = journal_of(config, config.simulation.seed)
    records = result.transactions.to_pylist()
    stories = Stories(journal, records)
    told = [stories.of(record["txn_id"]) for record in records if record["commit_start_ms"] is not None]
    told = [story for story in told if story.attempts]
    settled_us = config.simulation.duration_ms * 1000.0 * SETTLING
    later = [story for story in told if story.attempts[0].begin_us > settled_us]
    begin_us, end_us, chosen = _stretch(later or told)
    return {
        "type": "watch",
        "stage": "done",
        "seed": config.simulation.seed,
        "begin_ms": begin_us / 1000.0,
        "end_ms": end_us / 1000.0,
        "txns": len(records),
        "lanes": [_lane(story, begin_us) for story in chosen],
    }


def _stretch(told: list[Story]) -> tuple[int, int, list[Story]]:
    """From when to when, and the txns that commit in it; those nearest to the one that lost most if they are many."""
    if not told:
        return 0, 0, []
    worst = max(told, key=lambda story: (_lost(story), story.attempts[-1].end_us - story.attempts[0].begin_us))
    first_us, last_us = worst.attempts[0].begin_us, worst.attempts[-1].end_us
    margin_us = max(int((last_us - first_us) * MARGIN), MARGIN_US_MIN)
    begin_us, end_us = max(0, first_us - margin_us), last_us + margin_us
    within = [story for story in told if story.attempts[0].begin_us < end_us and story.attempts[-1].end_us > begin_us]
    near = sorted(within, key=lambda story: abs(story.attempts[0].begin_us - first_us))[:LANES_MAX]
    return begin_us, end_us, sorted(near, key=lambda story: story.attempts[0].begin_us)


def _lost(story: Story) -> int:
    return sum(not attempt.is_installed for attempt in story.attempts)


def _lane(story: Story, begin_us: int) -> dict[str, Any]:
    record = story.record
    return {
        "txn": record["txn_id"],
        "source": record["source"],
        "kind": record["kind"].replace("_", " "),
        "status": record["status"],
        "reason": (record["reason"] or "").replace("_", " "),
        "attempts": [_attempt(attempt, begin_us) for attempt in story.attempts],
        "story": story.lines,
    }


def _attempt(attempt: Attempt, begin_us: int) -> dict[str, Any]:
    def ms(instant_us: int) -> float:
        return (instant_us - begin_us) / 1000.0

    return {
        "number": attempt.number,
        "begin": ms(attempt.begin_us),
        "end": ms(attempt.end_us),
        "base": ms(attempt.base_us),
        "decided": ms(attempt.decided_us),
        "installed": attempt.is_installed,
        "conflict": attempt.failed_of is not None,
        "steps": [
            {"begin": ms(step.begin_us), "end": ms(step.end_us), "what": step.what, "count": step.count}
            for step in attempt.steps
        ],
        "rival": attempt.rivals[0].txn_id if attempt.rivals and not attempt.is_installed else None,
    }
