"""ML+: manifest lists that are appended to, last thing before the swap.

This file defines that walk in the reference engine; the compiled engine's is in ``stages`` and ``events``. What a list
does with an entry is ``endive.catalog.rules``'s.
"""

from collections.abc import Generator
from typing import TYPE_CHECKING

from endive.catalog.rules import LANDED, SEALED
from endive.catalog.snapshot import CatalogSnapshot
from endive.formats.iceberg import payments
from endive.formats.iceberg.attempt import AttemptCost
from endive.rng import LIST_APPEND, slot
from endive.storage.provider import Request
from endive.transaction.settling import WRITING_DOWN, billed, settle
from endive.vocabulary import APPEND, MANIFEST_LIST, PHASE_MANIFEST_LIST

if TYPE_CHECKING:
    from endive.transaction.transaction import Transaction
    from endive.transaction.transaction_values import World


def append_lists(
    txn: "Transaction", world: "World", base: CatalogSnapshot, costs: list[AttemptCost]
) -> Generator[int, None, None]:
    """A tentative entry at the end of each written table's list; a list found sealed is rewritten instead."""
    for position, cost in enumerate(costs):
        if not cost.list_appends:
            continue
        append = _append_list(txn, world, base, position)
        is_sealed = yield from billed(txn.row, world.clock, PHASE_MANIFEST_LIST, append)
        if is_sealed:
            table = txn.tables[position]
            payments.pay_list_rewrite(WRITING_DOWN, world, txn, position, base.tables[table].state)
            yield from settle(txn, world)
            world.catalog.rewrite_manifest_list(table)
            txn.row.manifest_append_sealed_rewrite += 1


def _append_list(
    txn: "Transaction", world: "World", base: CatalogSnapshot, position: int
) -> Generator[int, None, bool]:
    """Append at the offset last known; learn the new one from a failure. Whether the list was found sealed."""
    catalog, table = world.catalog, txn.tables[position]
    offset = base.tables[table].manifest_list_offset
    is_sealed = base.tables[table].is_manifest_list_sealed
    tries = 0
    while not is_sealed:
        found, end = SEALED, (0, False)

        def evaluate(expected_offset: int = offset) -> bool:
            nonlocal found, end
            found = catalog.append_to_manifest_list(
                table, expected_offset, world.list_entry_bytes, world.list_seal_threshold_bytes
            )
            end = catalog.manifest_list_state(table)
            return found == LANDED

        counter = slot(txn.row.attempts, LIST_APPEND, position) + payments.APPEND_DRAWS * tries
        key, size_bytes = f"manifest_list/{table}", world.list_entry_bytes
        append = Request(MANIFEST_LIST, APPEND, counter, size_bytes, key=key, evaluate=evaluate)
        yield from world.storage.ask(append, txn.client)
        if found == LANDED:
            txn.row.manifest_append_physical_success += 1
            break
        txn.row.manifest_append_physical_failure += 1
        offset, is_sealed = end
        tries += 1
    return is_sealed
