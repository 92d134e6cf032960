"""Suite ``delta``, statements of Delta Spark beside each other: which commit."""

from __future__ import annotations

from typing import Final

from endive.verification.suite import Options, Outcome
from verification.suites.delta.delta_pairs import outcome_of
from verification.suites.delta.delta_recording import SPARK

INTRO: Final = """
Every statement of Delta Spark beside every other, through SQL: one session has read its snapshot, another commits, the
first goes on. Copy-on-write and with deletion vectors, `Serializable` and `WriteSerializable`, which open source
refuses as a table property, so it was written into the table's metadata. A row is right if the statement ends the same
way in the model. Shown without a limit: an UPDATE by id beside a DELETE of another partition commits, because
statistics exclude its files; the model's has read the table and fails.

Recorded by `python -m verification.delta_rig.delta_spark pairs`.
"""


def run(options: Options) -> Outcome:
    """Hold the model against the recording."""
    return outcome_of(SPARK, INTRO, options)
