"""Suite ``delta``, stories of delta-rs that a die threw: recorded, then asked of the model for the first time."""

from __future__ import annotations

from typing import Final

from endive.verification.suite import Options, Outcome
from verification.suites.delta.delta_recording import RS
from verification.suites.delta.delta_requests import outcome_of

INTRO: Final = """
Requests and ends of 60 stories that nobody chose: operations, checkpoint intervals (2, 3, 4 and 7 commits), age of the
table, rivals before the call and before its PUTs were thrown by a die (`held_out_stories` in
`verification/delta_rig/delta_rs.py`). They are judged as the stories above are. The model had not
seen them when they were first asked; what they taught is told below, so the counts here are those after mending.

Recorded by `python -m verification.delta_rig.delta_rs held_out`.
"""
REMARKS: Final = """
### The first time

Of the first 40 stories 28 were right the first time. In four of the others a client that fails stops at the first
winner that conflicts, where the model read all of them; it stops there since model version 7. Four showed a rule that
was missing: a compaction of delta-rs updates its table from the newest checkpoint. Four showed that a story's rivals
had not finished their checkpoint when the victim went on, which is the story's mistake and not the model's. Both were
mended, and 20 more stories thrown: 16 were right the first time and three stopped at a winner again. In the last one a
request of a parallel round came late on a busy machine; recorded again, it was right.
"""


def run(options: Options) -> Outcome:
    """Hold the model against the recording."""
    return outcome_of(RS, INTRO, REMARKS, options, "held_out")
