"""Suite ``delta``, single operations of delta-rs: requests by object."""

from __future__ import annotations

from typing import Final

from endive.verification.suite import Options, Outcome
from verification.suites.delta.delta_recording import RS
from verification.suites.delta.delta_requests import outcome_of

INTRO: Final = """
A victim of delta-rs loads its table, `behind` rivals commit, then it calls one operation; `lost` rivals commit right
before its PUTs of a commit, one number per PUT. The table lies on the rig's object server, which logs every request
and decides conditional PUTs; the model plays the same story on its reference engine, rivals committing at the same
moments. A row is right if **every** count of requests for the log is equal, by object and operation, and the
operation ends the same way; *in a row* counts the requests that followed each other, those under way together once.
Requests for data files, and one HEAD of every new checkpoint, are not part of the model.

Recorded by `python -m verification.delta_rig.delta_rs requests`, with a Python that has `deltalake`.
"""
REMARKS: Final = """
### What delta-rs does that its documentation does not say

- A checkpoint is written inside the call that makes its version, after a full load of the table: every hundredth
  append takes several times as long.
- A table that has fallen behind is brought up to date before the first PUT, so no PUT is lost for that; the commits
  it missed are read three times, once one after another and twice all together.
- After sixteen lost PUTs the call fails, and the table object is as old as it was: the next call reads all it missed.
"""


def run(options: Options) -> Outcome:
    """Hold the model against the recording."""
    return outcome_of(RS, INTRO, REMARKS, options)
