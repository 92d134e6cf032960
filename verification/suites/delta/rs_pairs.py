"""Suite ``delta``, operations of delta-rs beside each other: which commit."""

from __future__ import annotations

from typing import Final

from endive.verification.suite import Options, Outcome
from verification.suites.delta.delta_pairs import outcome_of
from verification.suites.delta.delta_recording import RS

INTRO: Final = """
Every operation of delta-rs beside every other, at every level of `delta.isolationLevel`, which changes no cell: the
rival commits right before the victim's first PUT. A row is right if the victim ends the same way in the model. Where
both took the same files out, delta-rs has let two commits through that no serial history has, and the table has rows
twice: the model refuses the second. Full overwrites and VACUUM are recorded and not modelled.

Recorded by `python -m verification.delta_rig.delta_rs pairs`.
"""


def run(options: Options) -> Outcome:
    """Hold the model against the recording."""
    return outcome_of(RS, INTRO, options)
