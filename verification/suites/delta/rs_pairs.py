"""Suite ``delta``, operations of delta-rs beside each other: which commit."""

from __future__ import annotations

from typing import Final

from endive.verification.suite import Options, Outcome
from verification.suites.delta.delta_pairs import outcome_of
from verification.suites.delta.delta_recording import RS

INTRO: Final = """
Every operation of delta-rs beside every other, at every level of `delta.isolationLevel`: the rival commits right
before the victim's first PUT. The level changes no cell. A row is right if the victim ends the same way in the model,
which is told what each operation reads and changes. Where the recording has files that both took out of the table,
delta-rs has let two commits through that no serial history has, and the table has rows twice: the model refuses the
second.

Recorded by `python -m verification.delta_rig.delta_rs pairs`. Full overwrites and VACUUM are recorded and not
modelled.
"""


def run(options: Options) -> Outcome:
    """Hold the model against the recording."""
    return outcome_of(RS, INTRO, options)
