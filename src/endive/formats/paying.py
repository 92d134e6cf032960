"""What is paid for, whatever the table's format: the part of the seam (``endive.formats.rules``) that asks for objects.

``payer`` takes note of each request: the compiled engine's adds latencies up, the reference engine's writes them down.
"""

from typing import Any

from endive.formats.delta import payments as delta_payments
from endive.formats.iceberg import payments
from endive.formats.iceberg.effects import snapshots_kept
from endive.formats.nesting import Plan, TableState
from endive.formats.payer import Payer
from endive.kernel import rule
from endive.vocabulary import PHASE_METADATA

pay_beginning = payments.pay_beginning


@rule
def pay_before_load(payer: Payer, world: Any, txn: Any, is_kept: bool) -> None:
    """What is read before the catalog says which state a txn loads."""
    if world.format.is_delta == 1 and not is_kept:
        delta_payments.pay_before_load(payer, world, txn, 0)


@rule
def pay_load(
    payer: Payer, world: Any, txn: Any, position: int, table: TableState, known: TableState, is_kept: bool
) -> None:
    """A table is loaded at the start of a txn, or what is new of one that its client has kept as ``known``."""
    if world.format.is_delta == 1:
        delta_payments.pay_load(payer, world, txn, position, table, known, is_kept)
    else:
        payments.pay_load(payer, world, txn, position, snapshots_kept(table))


@rule
def pay_look(payer: Payer, world: Any, txn: Any, position: int, seen: TableState, known: TableState) -> None:
    """What such a look reads of a table besides the catalog."""
    payments.pay_look(payer, world, txn, PHASE_METADATA, position, snapshots_kept(seen), seen.version != known.version)


@rule
def pay_validation(payer: Payer, world: Any, txn: Any, position: int, table: TableState, made: Plan) -> None:
    """All an attempt looks at before it knows whether it may go on."""
    if world.format.is_delta == 1:
        delta_payments.pay_validation(payer, world, txn, position, made.delta)
    else:
        payments.pay_validation(payer, world, txn, position, table, made.iceberg)


@rule
def pay_build(payer: Payer, world: Any, txn: Any, position: int, table: TableState, made: Plan) -> None:
    """What it reads and writes to build its commit."""
    if world.format.is_delta == 1:
        delta_payments.pay_build(payer, world, txn, position, made.delta)
    else:
        payments.pay_build(payer, world, txn, position, table, made.iceberg)


@rule
def pay_check(payer: Payer, world: Any, txn: Any, position: int, seen: TableState, made: Plan) -> None:
    """What a look at the base costs besides the catalog read that showed ``seen``."""
    payments.pay_check(payer, world, txn, position, snapshots_kept(seen), made.iceberg)


@rule
def pay_last_step(payer: Payer, world: Any, txn: Any, position: int, table: TableState, made: Plan) -> None:
    """The last object it writes before the swap."""
    if world.format.is_delta == 1:
        delta_payments.pay_last_step(payer, world, txn, position, made.delta)
    else:
        payments.pay_metadata(payer, world, txn, position, table, made.iceberg)


@rule
def pay_afterwards(payer: Payer, world: Any, txn: Any, position: int, table: TableState, made: Plan) -> None:
    """What a committed operation reads, writes and removes of a table it wrote."""
    if world.format.is_delta == 1:
        delta_payments.pay_afterwards(payer, world, txn, position, made.delta)
    else:
        payments.pay_reload(payer, world, txn, position, table, made.iceberg)


@rule
def pay_status(payer: Payer, world: Any, txn: Any, position: int, seen: TableState) -> None:
    """What a txn reads of a table to find its own commit in the history."""
    if world.format.is_delta == 1:
        delta_payments.pay_status(payer, world, txn, position)
    else:
        payments.pay_status(payer, world, txn, position, snapshots_kept(seen))


@rule
def pay_clean_up(payer: Payer, world: Any, txn: Any, is_committed: bool) -> None:
    """Delete what is of no use."""
    if world.format.is_delta == 0:
        payments.pay_clean_up(payer, world, txn, is_committed)
