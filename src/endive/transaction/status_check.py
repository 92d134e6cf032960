"""After a lost answer: the txn reads the table to learn whether its commit is in the history.

The walk of the reference engine, after Iceberg's ``BaseMetastoreOperations.checkCommitStatus``. Its rules are in
``endive.transaction.failures``, the order of its payments in ``endive.formats``.
"""

from collections.abc import Generator
from typing import TYPE_CHECKING

from endive.catalog.snapshot import CatalogSnapshot
from endive.formats import paying
from endive.rng import STATUS_READ, substream
from endive.storage.throttled import GivenUpError
from endive.transaction.failures import UNKNOWN, check_wait_us, given_up_us, loses_check, outcome_of_check
from endive.transaction.settling import WRITING_DOWN, billed, settle
from endive.vocabulary import PHASE_BACKOFF, PHASE_CATALOG_READ

if TYPE_CHECKING:
    from endive.transaction.transaction import Transaction
    from endive.transaction.transaction_values import World


def wait_in_vain(world: "World", sent_us: int) -> Generator[int, None, None]:
    """An answer that is due now does not come."""
    now_us = world.clock.now_us
    rest_us = given_up_us(world.failures, sent_us, now_us) - now_us
    if rest_us > 0:
        yield rest_us


def learn_outcome(
    txn: "Transaction", world: "World", base: CatalogSnapshot, is_installed: bool
) -> Generator[int, None, int]:
    """Check until an answer comes back: INSTALLED, REFUSED, or UNKNOWN if none does.

    ``is_installed`` is what the server did. The txn learns it from a check that is answered, and from nothing else.
    """
    client, failures = txn.client, world.failures
    own_key = client.key
    for check in range(failures.checks_max):
        client.key = substream(own_key, check)  # every check draws under names of its own
        if check > 0:
            wait_us = check_wait_us(failures, client.key, txn.row.attempts, check)
            yield wait_us
            txn.row.phases_us[PHASE_BACKOFF] += wait_us
        snapshot = yield from _look(txn, world, base)
        client.key = own_key
        if snapshot is not None:
            txn.known = snapshot
            return outcome_of_check(failures, is_installed)
    return UNKNOWN


def _look(txn: "Transaction", world: "World", base: CatalogSnapshot) -> Generator[int, None, CatalogSnapshot | None]:
    """One check: the catalog, then the metadata with the history; None if it is not answered.

    The catalog's answer may be lost too, and a throttled request given up.
    """
    try:
        seen = yield from billed(txn.row, world.clock, PHASE_CATALOG_READ, _read(txn, world, base))
        if seen is not None:
            for position in range(txn.n_written):
                table = seen.tables[txn.tables[position]].state
                paying.pay_status(WRITING_DOWN, world, txn, position, table)
            yield from settle(txn, world)
    except GivenUpError:
        return None
    return seen


def _read(txn: "Transaction", world: "World", base: CatalogSnapshot) -> Generator[int, None, CatalogSnapshot | None]:
    client, begin_us = txn.client, world.clock.now_us
    is_lost = loses_check(world.failures, client.key, txn.row.attempts)
    seen = yield from world.catalog.read(client=client, step=STATUS_READ, expected_size_bytes=base.size_bytes)
    if is_lost:
        yield from wait_in_vain(world, begin_us)
        return None
    return seen
