"""A Delta table on the rig's object server, and what one operation of delta-rs asks of it.

What is played on it lives in ``delta_rs`` and ``rs_loops``.

The table has partitions 3 and 9. Partition 3 has the files A (ids 30 to 33) and B (35 to 38), partition 9 has E (90
to 93). An operation named ``..., A`` changes row 30 of file A.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from deltalake.table import TableMerger

from rigs.delta.log_names import newest_version
from rigs.java.object_server import Door, ObjectServer

BUCKET: Final = "lake"
SCHEMA: Final = pa.schema([("id", pa.int64()), ("p", pa.int64()), ("v", pa.int64())])
_CHARS: Final = 80


def options_of(door: Door) -> dict[str, str]:
    """What makes delta-rs talk to a door, with conditional puts as AWS has them."""
    return {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{door.port}",
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
        "aws_conditional_put": "etag",
    }


def rows(*ids: int) -> pa.Table:
    """Rows by their ids; the partition is the tens, 3 or 9."""
    return pa.table({"id": list(ids), "p": [id // 10 for id in ids], "v": [0] * len(ids)}, schema=SCHEMA)


def make_table(uri: str, options: dict[str, str], properties: dict[str, str] | None = None) -> DeltaTable:
    """The table of this file's docstring, three commits old (versions 0 to 2)."""
    DeltaTable.create(uri, schema=SCHEMA, partition_by=["p"], configuration=properties or {}, storage_options=options)
    write_deltalake(uri, rows(30, 31, 32, 33, 90, 91, 92, 93), mode="append", storage_options=options)
    write_deltalake(uri, rows(35, 36, 37, 38), mode="append", storage_options=options)
    return DeltaTable(uri, storage_options=options)


def append(table: DeltaTable, *ids: int) -> None:
    """A blind append."""
    write_deltalake(table, rows(*ids), mode="append")


def merging(table: DeltaTable, condition: str, *ids: int) -> TableMerger:
    """A MERGE of rows by their ids."""
    return table.merge(rows(*ids), f"t.id = s.id{condition}", source_alias="s", target_alias="t")


def merge(table: DeltaTable, id: int, condition: str = "") -> None:
    """One row is updated by a source of one row."""
    merging(table, condition, id).when_matched_update({"v": "s.v + 1"}).execute()


def upsert(table: DeltaTable, condition: str) -> None:
    """One row is updated, another inserted."""
    merged = merging(table, condition, 30, 34).when_matched_update({"v": "s.v + 1"})
    merged.when_not_matched_insert_all().execute()


def insert_by_merge(table: DeltaTable, condition: str) -> None:
    """What is not there is inserted; nothing else is done."""
    merging(table, condition, 34).when_not_matched_insert_all().execute()


def vacuum(table: DeltaTable) -> None:
    """Every file that is not part of the newest version."""
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)


OPERATIONS: Final[dict[str, Callable[[DeltaTable], Any]]] = {
    "append, p = 3": lambda table: append(table, 39),
    "append, p = 9": lambda table: append(table, 99),
    "delete, A": lambda table: table.delete("p = 3 AND id = 30"),
    "delete, the same file": lambda table: table.delete("p = 3 AND id = 31"),
    "delete, B": lambda table: table.delete("p = 3 AND id = 36"),
    "delete, all of p = 9": lambda table: table.delete("p = 9"),
    "delete, by id alone": lambda table: table.delete("id = 30"),
    "update, A": lambda table: table.update(updates={"v": "1"}, predicate="p = 3 AND id = 30"),
    "update, B": lambda table: table.update(updates={"v": "1"}, predicate="p = 3 AND id = 36"),
    "update, a row of p = 9": lambda table: table.update(updates={"v": "1"}, predicate="p = 9 AND id = 91"),
    "update, by id alone": lambda table: table.update(updates={"v": "1"}, predicate="id = 30"),
    "merge, by id alone": lambda table: merge(table, 30),
    "merge, p = 3": lambda table: merge(table, 30, " AND t.p = 3"),
    "merge, p = 9": lambda table: merge(table, 91, " AND t.p = 9"),
    "compact, p = 3": lambda table: table.optimize.compact(partition_filters=[("p", "=", "3")]),
    "overwrite, all": lambda table: write_deltalake(table, rows(30), mode="overwrite"),
    "overwrite, p = 9": lambda table: write_deltalake(table, rows(91), mode="overwrite", predicate="p = 9"),
    "vacuum": vacuum,
}
MORE_OPERATIONS: Final[dict[str, Callable[[DeltaTable], Any]]] = {  # beside those of the pairs
    "append, both": lambda table: append(table, 39, 99),
    "append, over A": lambda table: append(table, 30, 33),
    "delete, all of p = 3": lambda table: table.delete("p = 3"),
    "delete, everything": lambda table: table.delete(),
    "update, everything": lambda table: table.update(updates={"v": "1"}),
    "merge, upsert by id alone": lambda table: upsert(table, ""),
    "merge, upsert p = 3": lambda table: upsert(table, " AND t.p = 3"),
    "merge, insert by id alone": lambda table: insert_by_merge(table, ""),
    "merge, insert p = 3": lambda table: insert_by_merge(table, " AND t.p = 3"),
    "merge, delete p = 9": lambda table: (
        merging(table, " AND t.p = 9", 90, 91, 92, 93, 99).when_matched_delete().execute()
    ),
    "compact, all": lambda table: table.optimize.compact(),
    "z-order, p = 3": lambda table: table.optimize.z_order(["id"], partition_filters=[("p", "=", "3")]),
}


def ending(error: BaseException) -> dict[str, str]:
    """The exception of a txn that did not commit."""
    text = re.sub(r"\s+", " ", str(error))
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27,}\S*", "...", text.removeprefix("Failed to commit transaction: "))
    return {"outcome": "failed", "exception": type(error).__name__, "message": text[:_CHARS]}


class Ground:
    """Two doors to one store: a victim's, which is logged, and its rivals'."""

    def __init__(self, server: ObjectServer) -> None:
        self.server = server
        self.victim = server.open_door("victim")
        self.rival = server.open_door("rival")
        self.rival.is_logged = False
        self._tables = 0

    def new_uri(self, properties: dict[str, str] | None = None, *, has_waste: bool = False) -> str:
        """A new table, made through the rivals' door; with waste there is a file that a vacuum deletes."""
        self._tables += 1
        uri = f"s3://{BUCKET}/t{self._tables}"
        table = make_table(uri, options_of(self.rival), properties)
        if has_waste:
            append(table, 70)
            table.delete("p = 7")
        return uri

    def open(self, uri: str, *, is_rival: bool = False) -> DeltaTable:
        """The table, loaded through one of the doors."""
        return DeltaTable(uri, storage_options=options_of(self.rival if is_rival else self.victim))

    def newest(self, uri: str) -> int:
        """The newest version there is."""
        return newest_version(self.server, uri.removeprefix("s3://"))
