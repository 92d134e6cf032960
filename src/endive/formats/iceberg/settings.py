"""All that Iceberg's rules are told about a simulation, as one record."""

from endive.distributions.counts import Counting
from endive.formats.iceberg.protocol import CommitProtocol
from endive.formats.iceberg.table import ObjectSizes
from endive.record import Int64, Record, record


@record
class IcebergSettings(Record):
    """The protocol, the sizes of objects, and what conflicts and appended lists cost."""

    protocol: CommitProtocol
    sizes: ObjectSizes
    conflicting: Counting  # manifests a real conflict has to merge
    list_entry_bytes: Int64  # of manifest lists that are appended to (ML+)
    list_seal_bytes: Int64
