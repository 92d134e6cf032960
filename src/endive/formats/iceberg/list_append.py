"""ML+: manifest lists that are appended to, last thing before the swap.

The walk of the reference engine; the compiled engine's is in ``stages`` and ``events``. What a list does with an entry
is in ``endive.formats.iceberg.table``.
"""

from collections.abc import Generator
from typing import Any

from endive.catalog.rules import LANDED, SEALED
from endive.catalog.snapshot import CatalogSnapshot
from endive.formats.iceberg import payments
from endive.formats.iceberg.draws import LIST_APPEND
from endive.formats.iceberg.table import IcebergTable, append_to_list, rewrite_list
from endive.formats.nesting import Plan
from endive.rng import slot
from endive.storage.provider import Request
from endive.vocabulary import APPEND, MANIFEST_LIST, PHASE_MANIFEST_LIST


def append_lists(txn: Any, world: Any, base: CatalogSnapshot, plans: list[Plan]) -> Generator[int, None, None]:
    """A tentative entry at the end of each written table's list; a list found sealed is rewritten instead."""
    for position, made in enumerate(plans):
        if not made.iceberg.list_appends:
            continue
        append = _append_list(txn, world, base, position)
        is_sealed = yield from txn.billed(world, PHASE_MANIFEST_LIST, append)
        if is_sealed:
            table = txn.tables[position]
            payments.pay_list_rewrite(txn.payer, world, txn, position, base.tables[table].state)
            yield from txn.settle(world)
            rewrite_list(world.tables.states[table].iceberg)
            world.catalog.state.refresh_tables((table,))
            txn.row.manifest_append_sealed_rewrite += 1


def _append_list(txn: Any, world: Any, base: CatalogSnapshot, position: int) -> Generator[int, None, bool]:
    """Append at the offset last known; learn the new one from a failure. Whether the list was found sealed."""
    table, entry_bytes = txn.tables[position], world.format.iceberg.list_entry_bytes
    known: IcebergTable = base.tables[table].state.iceberg
    offset, is_sealed = known.list_offset, known.is_list_sealed != 0
    tries = 0
    while not is_sealed:
        landing: int = SEALED
        end = (0, False)

        def evaluate(expected_offset: int = offset) -> bool:
            nonlocal landing, end
            own: IcebergTable = world.tables.states[table].iceberg
            landing = append_to_list(own, expected_offset, entry_bytes, world.format.iceberg.list_seal_bytes)
            end = own.list_offset, own.is_list_sealed != 0
            world.catalog.state.refresh_tables((table,))
            return landing == LANDED

        counter = slot(txn.row.attempts, LIST_APPEND, position) + payments.APPEND_DRAWS * tries
        key = f"manifest_list/{table}"
        append = Request(MANIFEST_LIST, APPEND, counter, entry_bytes, key=key, evaluate=evaluate)
        yield from world.storage.ask(append, txn.client)
        if landing == LANDED:
            txn.row.manifest_append_physical_success += 1
            break
        txn.row.manifest_append_physical_failure += 1
        offset, is_sealed = end
        tries += 1
    return is_sealed
