"""Suite ``delta``, statements of Delta Spark beside each other: which commit."""

from __future__ import annotations

from typing import Final

from endive.verification.suite import Options, Outcome
from verification.suites.delta.delta_pairs import outcome_of
from verification.suites.delta.delta_recording import SPARK

INTRO: Final = """
Every statement of Delta Spark beside every other, through SQL: one session has read its snapshot and is about to
commit, another commits, the first goes on. Copy-on-write and with deletion vectors, `Serializable` and
`WriteSerializable`. Open source refuses every level but `Serializable` as a table property, and commits at it unless
a table says otherwise; the other was written into the table's metadata. A row is right if the statement ends the same
way in the model.

Recorded by `python -m verification.delta_rig.delta_spark pairs`.
"""


def run(options: Options) -> Outcome:
    """Hold the model against the recording."""
    return outcome_of(SPARK, INTRO, options)
