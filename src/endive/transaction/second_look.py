"""A look at the table between load and commit: Spark's streaming before an epoch, its copy-on-write while it works.

The latter filters the files it will rewrite once it knows which rows match. If the table object it planned on has moved
by then, Spark fails the statement before any attempt to commit (``SparkCopyOnWriteScan.filter``).
"""

from collections.abc import Generator
from typing import TYPE_CHECKING

from endive.catalog.snapshot import CatalogSnapshot
from endive.formats import paying, rules
from endive.rng import LOOK_READ
from endive.transaction.settling import WRITING_DOWN, billed, settle
from endive.vocabulary import PHASE_RUNTIME

if TYPE_CHECKING:
    from endive.transaction.transaction import Transaction
    from endive.transaction.transaction_values import World


class TableMovedError(Exception):
    """The table moved while the statement was planned; whoever runs the txn makes its end of it."""


def filter_files(txn: "Transaction", world: "World", start: CatalogSnapshot) -> Generator[int, None, int]:
    """Work until the files are filtered; how long that was, unless the table has moved."""
    worked_us = min(txn.operation.filter_us, txn.runtime_us)
    yield worked_us
    txn.row.phases_us[PHASE_RUNTIME] += worked_us
    seen = yield from look(txn, world, start, PHASE_RUNTIME)
    for table in txn.tables[: txn.n_written]:
        if rules.snapshot_of(seen.tables[table].state) != rules.snapshot_of(start.tables[table].state):
            raise TableMovedError
    return worked_us


def look(
    txn: "Transaction", world: "World", start: CatalogSnapshot, phase: int
) -> Generator[int, None, CatalogSnapshot]:
    """The table as it is now; its metadata is read if that is not what the txn knows."""
    read = world.catalog.read(client=txn.client, step=LOOK_READ, expected_size_bytes=start.size_bytes)
    seen = yield from billed(txn.row, world.clock, phase, read)
    txn.known = seen
    for position, table in enumerate(txn.tables[: txn.n_written]):
        paying.pay_look(WRITING_DOWN, world, txn, position, seen.tables[table].state, start.tables[table].state)
    yield from settle(txn, world)
    return seen
