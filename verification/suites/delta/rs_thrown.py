"""Suite ``delta``, longer stories of delta-rs that a die threw: kept tables, any rivals, cleaned logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from endive.verification.suite import UNJUDGED, Check, Options, Outcome, Value, provenance
from verification.suites.delta.delta_pairs import TWICE
from verification.suites.delta.delta_recording import RS, bill, difference, read
from verification.suites.delta.delta_requests import request_checks
from verification.suites.delta.told_story import tell

QUICK: Final = 25
REMOVED_TWICE: Final = "concurrent_delete_delete"
# What delta-rs says when a call fails, and what the model calls that.
REASONS: Final = {
    "added new data": "concurrent_append",
    "deleted data this operation read": "concurrent_delete_read",
    "deleted the same data": REMOVED_TWICE,
    "Invalid table version": "log_cleaned_up",
}
MISNAMED: Final = ("concurrent_append", "concurrent_delete_read")  # the model's exception, and the real one
GONE: Final = (
    "the row it looked for is gone from the file that a DELETE has rewritten, and no added file matches; a place of "
    "the model does not know which rows it holds"
)
INTRO: Final = """
Wider stories, thrown by a die (`rigs/delta/rs_thrown.py`): thirty operations, any of them as a rival, up to
two earlier calls on the same table object, seven rivals before the call and five lost races, checkpoints every 2, 3, 5
or 10 commits or made by hand, and in some a log that is cleaned up at every checkpoint. A row is right as above, with
the same exception.

Recorded by `python -m rigs.delta.rs_thrown SEED COUNT`, before the model was asked.
"""
REMARKS: Final = """
Asked for the first time, 37 of the first 80 stories were right (seeds 101 and 102), and after mending 137 of 140 more
(59 of 60 of seed 103, 39 of 40 of 7707 and of 2512); the counts above are those after mending.

Shown without a limit: delta-rs lets a commit through that removes files which a compaction has removed before, and the
table has their rows twice; the model refuses it. In four more stories both fail, with another exception.
"""


def run(options: Options) -> Outcome:
    """Hold the model against the recording; quick: the first stories."""
    document = read(RS, "thrown")
    stories = document["entries"][: QUICK if options.is_quick else None]
    return Outcome(
        intro=INTRO,
        checks=tuple(check for story in stories for check in compare(story)),
        remarks=REMARKS,
        provenance=provenance(deltalake=document["deltalake"], recorded=document["date"], stories=len(stories)),
    )


def compare(story: Mapping[str, Any]) -> list[Check]:
    """Every count equal and the same end, and as many requests one after another."""
    played, real = tell(story), bill(story["requests"])
    expected, actual = ending_of(story), played.reason or played.outcome
    unlike = TWICE if actual == REMOVED_TWICE else GONE if (actual, expected) == MISNAMED else ""
    if actual != expected and unlike:
        check = Check(name=story["operation"], what={"seed": story["seed"]}, expected=expected, actual=actual)
        return [replace(check, holds=True, measure=UNJUDGED, note=unlike)]
    wrong = difference(real, played.bill) if expected == actual else f"ends {actual}, not {expected}"
    lost = [each for rivals in story["lost"] for each in rivals]
    what: dict[str, Value] = {
        "seed": story["seed"],
        "commits": story["commits"],
        "calls before": len(story["earlier"]),
        "behind": len(story["behind"]),
        "lost": len(lost),
        "ends": expected,
    }
    return request_checks(story["operation"], what, story["requests"], (real, played.bill), played.rounds, wrong)


def ending_of(story: Mapping[str, Any]) -> str:
    """How the call ended, in the model's words; a message that is not known stands for itself."""
    message = str(story.get("message", ""))
    known = (reason for words, reason in REASONS.items() if words in message)
    return next(known, message or str(story["outcome"]))
