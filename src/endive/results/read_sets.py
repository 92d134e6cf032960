"""What a txn read and wrote, table by table: versions and partitions, for whoever asks.

Off by default: rows of a run say how many tables a txn touched and which; this says what it saw of them when it began.
Only the reference engine writes it down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import pyarrow as pa

READ_SET_SCHEMA: Final = pa.schema(
    [
        pa.field("txn_id", pa.int64()),
        pa.field("catalog_seq", pa.int64()),
        pa.field("table", pa.int32()),
        pa.field("is_written", pa.bool_()),
        pa.field("version_read", pa.int64()),
        pa.field("partitions_read", pa.list_(pa.int32())),
        pa.field("partitions_written", pa.list_(pa.int32())),
        pa.field("partition_versions_read", pa.list_(pa.int64())),
    ],
    metadata={"endive.table": "read_sets"},  # by which a later run knows that it may replace the file
)


class ReadSet(NamedTuple):
    """One table of one txn. Partitions are empty where tables have none; versions go with the partitions read."""

    txn_id: int
    catalog_seq: int  # of the snapshot it started from
    table: int
    is_written: bool
    version_read: int
    partitions_read: tuple[int, ...]
    partitions_written: tuple[int, ...]
    partition_versions_read: tuple[int, ...]


def read_set_table(read_sets: Sequence[ReadSet]) -> pa.Table:
    """As an Arrow table, one row for each table of each txn."""
    columns = zip(*read_sets, strict=True) if read_sets else [()] * len(READ_SET_SCHEMA)
    arrays = [pa.array(list(column), field.type) for column, field in zip(columns, READ_SET_SCHEMA, strict=True)]
    return pa.Table.from_arrays(arrays, schema=READ_SET_SCHEMA)
