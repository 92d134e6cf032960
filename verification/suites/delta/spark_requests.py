"""Suite ``delta``, single statements of Delta Spark: requests by object."""

from __future__ import annotations

from typing import Final

from endive.verification.suite import Options, Outcome
from verification.suites.delta.delta_recording import SPARK
from verification.suites.delta.delta_requests import outcome_of

INTRO: Final = """
Statements of Delta Spark through SQL, on the rig's object server by S3A and Delta's own `S3SingleDriverLogStore`.
`behind` rivals have committed since the session last looked (a *cold* one never has), `lost` rivals commit right before
it writes its commit. A row is right if every count of requests for the log is equal and the statement ends the same
way: of a cold session all of it, else from its data on. What S3A asks besides (HEADs, probes of folders, drafts) is
left out; a commit file that is found to be there counts as a refused creation, a checksum that is looked for and not
found as read. *Missing* is the checksum of the newest version when the statement begins, or of the last rival's.

Recorded by `python -m verification.delta_rig.delta_spark requests`, with a Python that has `pyspark`.
"""
REMARKS: Final = """
A blind INSERT reads no files of the log, the newest checksum tells it all it needs; a statement that has to know the
files reads everything since the last checkpoint, even if it lacks one commit alone. After a commit nothing is read, but
every tenth reads the log back to its last checkpoint to write the next.

Where nobody has written the newest checksum yet, the log is read for protocol and metadata, and by who has to know them
once more for the files. An INSERT that has begun so reads it again after its commit, to write its own checksum; who has
lost a race and misses that of the winner reads it twice. Written from Delta's source before it was recorded; the
requests of 39 of these stories were right at once but for the ranges of a checkpoint.

Shown without a limit: a session that meets a new checkpoint in a listing reads it in two ranges more, which the model
has when it loads its table, and not after its commit.
"""


def run(options: Options) -> Outcome:
    """Hold the model against the recording."""
    return outcome_of(SPARK, INTRO, REMARKS, options)
