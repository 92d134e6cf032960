"""Suite ``delta``, single operations of delta-rs: requests by object."""

from __future__ import annotations

from typing import Final

from endive.verification.suite import Options, Outcome
from verification.suites.delta.delta_recording import RS
from verification.suites.delta.delta_requests import outcome_of

INTRO: Final = """
A victim of delta-rs loads its table, `behind` rivals commit, then it calls one operation; `lost` rivals commit right
before its PUTs of a commit, one number per PUT. The rig's object server logs every request; the model plays the same
story. A row is right if **every** count of requests for the log is equal, by object and operation, as many follow each
other (*in a row*), and the operation ends the same way. Data files, and one HEAD of every new checkpoint, are left out.

Recorded by `python -m verification.delta_rig.delta_rs requests`, with a Python that has `deltalake`.
"""
REMARKS: Final = """
Not in its documentation: a checkpoint is written inside the call that makes its version, after a full load, so every
hundredth append takes several times as long. A table that has fallen behind is brought up to date before the first PUT,
and reads the commits it missed three times.
"""


def run(options: Options) -> Outcome:
    """Hold the model against the recording."""
    return outcome_of(RS, INTRO, REMARKS, options)
