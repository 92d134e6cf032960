"""Suite ``delta``, stories of delta-rs that a die threw: recorded, then asked of the model for the first time."""

from __future__ import annotations

from typing import Final

from endive.verification.suite import Options, Outcome
from verification.suites.delta.delta_recording import RS
from verification.suites.delta.delta_requests import outcome_of

INTRO: Final = """
60 stories that nobody chose, judged as those above: operations, checkpoint intervals, age of the table and rivals were
thrown by a die (`held_out_stories` in `verification/delta_rig/delta_rs.py`). Asked for the first time, 44 were right;
the counts here are those after mending, and after recording anew five that the rig had got wrong.

Recorded by `python -m verification.delta_rig.delta_rs held_out`.
"""


def run(options: Options) -> Outcome:
    """Hold the model against the recording."""
    return outcome_of(RS, INTRO, "", options, "held_out")
