"""All that Iceberg's rules are told about a simulation, as one record."""

from endive.distributions.counts import Counting
from endive.formats.iceberg.protocol import CommitProtocol
from endive.formats.iceberg.table import ObjectSizes
from endive.formats.operation import Operation
from endive.kernel import rule
from endive.record import Int64, Record, record


@record
class IcebergSettings(Record):
    """The protocols, the sizes of objects, and what conflicts and appended lists cost."""

    protocol: CommitProtocol
    pyiceberg: CommitProtocol  # of the operations that PyIceberg commits beside others
    sizes: ObjectSizes
    conflicting: Counting  # manifests a real conflict has to merge
    list_entry_bytes: Int64  # of manifest lists that are appended to (ML+)
    list_seal_bytes: Int64


@rule
def protocol_of(settings: IcebergSettings, operation: Operation) -> CommitProtocol:
    """The protocol that an operation's client follows."""
    if operation.client == 1:
        return settings.pyiceberg
    return settings.protocol
