"""The records an engine holds without looking into them: each format nests its own part in them.

An engine copies them, and hands them to ``endive.formats.rules``, which takes out what belongs to the world's format.
The compiled engine is compiled once for Iceberg alone, without Delta's part (``left_out``), and once for either.
"""

from typing import Final

from endive.formats.delta.attempt import DeltaPlan, DeltaSituation
from endive.formats.delta.protocol import DeltaSettings
from endive.formats.delta.table import DeltaTable
from endive.formats.iceberg.attempt import AttemptCost, IcebergLeftovers, IcebergSituation
from endive.formats.iceberg.protocol import IcebergSettings
from endive.formats.iceberg.table import IcebergTable
from endive.record import Int8, Int64, Record, record

# What the records below are laid out without: all that is Delta's, in a world of Iceberg; nothing in a world of Delta.
ICEBERG_ALONE: Final = frozenset({"delta", "is_delta"})
EVERYTHING: Final[frozenset[str]] = frozenset()


@record
class FormatSettings(Record):
    """What the rules of the world's format are told."""

    iceberg: IcebergSettings
    delta: DeltaSettings
    is_delta: Int8

    @property
    def left_out(self) -> frozenset[str]:
        """What a world with these settings is laid out without."""
        return EVERYTHING if self.is_delta else ICEBERG_ALONE


@record
class TableState(Record):
    """One table: what was committed to it, whatever its format, and what its format keeps of it."""

    version: Int64  # commits
    appends: Int64  # of them appends
    overwrites: Int64  # of them overwrites or deletes
    iceberg: IcebergTable
    delta: DeltaTable
    is_delta: Int8


@record
class Situation(Record):
    """One table at one attempt."""

    iceberg: IcebergSituation
    delta: DeltaSituation


@record
class Plan(Record):
    """What one attempt does on one table."""

    iceberg: AttemptCost
    delta: DeltaPlan


Leftovers = IcebergLeftovers  # what a txn has written that may turn out to be of no use; Delta's has nothing
