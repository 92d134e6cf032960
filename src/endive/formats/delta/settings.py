"""All that Delta's rules are told about a simulation, as one record."""

from endive.formats.delta.protocol import DeltaProtocol
from endive.formats.delta.table import LogSizes
from endive.record import Record, record


@record
class DeltaSettings(Record):
    """The client, the commit point, and the sizes of files."""

    protocol: DeltaProtocol
    sizes: LogSizes
