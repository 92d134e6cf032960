"""The compiled engine's payer: requests nobody watches, their latencies summed, their count put on the txn's row.

This file defines how a run of reads or writes between two shared moments becomes one delay. Which there are, and
under which names they are drawn, is in ``endive.transaction.payments``.
"""

from endive.distributions.code import draw_us, draws_us, slowest_us
from endive.distributions.sums import draw_sum_us
from endive.kernel import pasted, step
from endive.simulation.compiled.memory import codes
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.storage.client import note
from endive.transaction.payments import Payer
from endive.vocabulary import N_OPERATIONS


@step
def one_us(world: WorldRecord, txn: TxnRecord, counter: int, object_kind: int, op: int, size_bytes: int) -> int:
    """One request: noted, and how long it takes."""
    note(txn.row, object_kind, op, size_bytes, 1)
    return draw_us(codes(world), world.success[object_kind * N_OPERATIONS + op], txn.key, counter, size_bytes)


@step
def several_us(
    world: WorldRecord, key: int, counter: int, request: int, size_bytes: int, count: int, parallel: int
) -> int:
    """``count`` requests, ``parallel`` at a time, of each batch the slowest: how long they take."""
    drawn = codes(world)
    code = world.success[request]
    if parallel == 1:
        if world.summed[request] >= 0:
            return draw_sum_us(drawn, world.summed[request], key, counter, count, size_bytes)
        return draws_us(drawn, code, key, counter, 1, count, size_bytes)
    assert parallel == world.protocol.parallel_max
    total_us = 0
    full = count // parallel
    first = full * parallel
    if world.summed_batches[request] >= 0:
        total_us = draw_sum_us(drawn, world.summed_batches[request], key, counter, full, size_bytes)
    elif world.slowest[request] >= 0:
        total_us = draws_us(drawn, world.slowest[request], key, counter, parallel, full, size_bytes)
    else:
        first = 0
    while first < count:
        batch = min(parallel, count - first)
        total_us += slowest_us(drawn, code, key, counter + first, batch, size_bytes)
        first += parallel
    return total_us


@step
def _many(
    world: WorldRecord,
    txn: TxnRecord,
    phase: int,
    counter: int,
    object_kind: int,
    op: int,
    size_bytes: int,
    count: int,
    parallel: int,
) -> None:
    if count > 0:
        note(txn.row, object_kind, op, size_bytes, count)
        request = object_kind * N_OPERATIONS + op
        if count == 1:
            spent_us = draw_us(codes(world), world.success[request], txn.key, counter, size_bytes)
        else:
            spent_us = several_us(world, txn.key, counter, request, size_bytes, count, parallel)
        txn.row.phases_us[phase] += spent_us
        txn.time_us += spent_us


@step
def _fork(txn: TxnRecord) -> None:
    txn.forked_us = txn.time_us


@step
def _switch(txn: TxnRecord) -> None:
    txn.branch_us = txn.time_us - txn.forked_us
    txn.time_us = txn.forked_us


@step
def _join(txn: TxnRecord, phase: int) -> None:
    """The longer of the two counts; the shorter was billed as well."""
    second_us = txn.time_us - txn.forked_us
    txn.row.phases_us[phase] -= min(txn.branch_us, second_us)
    txn.time_us = txn.forked_us + max(txn.branch_us, second_us)


@pasted
def adding_up() -> Payer:
    """The payer."""
    return Payer(_many, _fork, _switch, _join)
