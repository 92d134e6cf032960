"""A look at the table between load and commit: Spark's streaming, before it commits an epoch.

Delta Spark lists the log once more when it has loaded its table, and goes on from what is new.
"""

from collections.abc import Generator
from typing import TYPE_CHECKING

from endive.catalog.snapshot import CatalogSnapshot
from endive.formats import paying
from endive.rng import LOOK_READ
from endive.transaction.settling import WRITING_DOWN, billed, settle
from endive.vocabulary import PHASE_RUNTIME

AGAIN = 128  # positions of draws from here on are those of tables that are loaded once more

if TYPE_CHECKING:
    from endive.transaction.transaction import Transaction
    from endive.transaction.transaction_values import World


def list_again(txn: "Transaction", world: "World", start: CatalogSnapshot) -> Generator[int, None, CatalogSnapshot]:
    """What the txn begins with: the tables as they were loaded, unless others have committed to them meanwhile."""
    read = world.catalog.read(client=txn.client, step=LOOK_READ, expected_size_bytes=start.size_bytes)
    seen = yield from billed(txn.row, world.clock, PHASE_RUNTIME, read)
    is_moved = False
    for position, table in enumerate(txn.tables[: txn.n_written]):
        now, known = seen.tables[table].state, start.tables[table].state
        paying.pay_load(WRITING_DOWN, world, txn, AGAIN + position, now, known, True)
        is_moved = is_moved or now.version != known.version
    yield from settle(txn, world)
    return seen if is_moved else start


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
