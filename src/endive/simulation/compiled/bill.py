"""The compiled engine's payer: requests nobody watches, their latencies summed, their count put on the txn's row.

Which requests there are, and under which names they are drawn, is in ``endive.formats``.
"""

from endive.distributions.code import LONGEST_US, draw_us, draws_us, slowest_us
from endive.distributions.sums import draw_sum_us
from endive.formats.payer import Payer
from endive.kernel import pasted, step
from endive.simulation.compiled.memory import codes
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.storage.client import note
from endive.storage.throttled import is_any_throttled, throttle_batch, throttle_run
from endive.vocabulary import N_OPERATIONS


@step
def one_us(world: WorldRecord, txn: TxnRecord, counter: int, object_kind: int, op: int, size_bytes: int) -> int:
    """One request: noted, and how long it takes."""
    note(txn.row, object_kind, op, size_bytes, 1)
    return draw_us(codes(world), world.store.success[object_kind * N_OPERATIONS + op], txn.key, counter, size_bytes)


@step
def several_us(
    world: WorldRecord, key: int, counter: int, request: int, size_bytes: int, count: int, parallel: int
) -> int:
    """``count`` requests, ``parallel`` at a time, of each batch the slowest: how long they take."""
    drawn = codes(world)
    code = world.store.success[request]
    if parallel == 1:
        if world.store.summed[request] >= 0:
            return draw_sum_us(drawn, world.store.summed[request], key, counter, count, size_bytes)
        return draws_us(drawn, code, key, counter, 1, count, size_bytes)
    assert parallel == world.store.parallel_max
    total_us = 0
    full = count // parallel
    first = full * parallel
    if world.store.summed_batches[request] >= 0:
        total_us = draw_sum_us(drawn, world.store.summed_batches[request], key, counter, full, size_bytes)
    elif world.store.slowest[request] >= 0:
        total_us = draws_us(drawn, world.store.slowest[request], key, counter, parallel, full, size_bytes)
    else:
        first = 0
    while first < count:
        batch = min(parallel, count - first)
        total_us += slowest_us(drawn, code, key, counter + first, batch, size_bytes)
        first += parallel
    return total_us


@step
def success_us(world: WorldRecord, request: int, key: int, counter: int, size_bytes: int) -> int:
    """The latency of one request."""
    return draw_us(codes(world), world.store.success[request], key, counter, size_bytes)


@step
def goes_through(world: WorldRecord, txn: TxnRecord, counter: int, object_kind: int, op: int, size_bytes: int) -> bool:
    """At a store that throttles: the txn's time is when one request leaves for good, or False when it is given up."""
    request = object_kind * N_OPERATIONS + op
    served, tries, spent_us = throttle_run(
        success_us, world, world.store.slow_down, txn.key, counter, request, size_bytes, 1
    )
    note(txn.row, object_kind, op, 0, tries)
    txn.time_us += spent_us
    return served == 1


@step
def throttled_us(
    world: WorldRecord,
    txn: TxnRecord,
    counter: int,
    object_kind: int,
    op: int,
    size_bytes: int,
    count: int,
    parallel: int,
) -> int:
    """As ``several_us``, at a store that throttles: noted, and the txn has failed if one of them was given up.

    Nothing is sent after that.
    """
    if txn.has_failed == 1:
        return 0
    request = object_kind * N_OPERATIONS + op
    if count > 1 and parallel > 1:
        if is_any_throttled(world.store.slow_down, txn.key, counter, count):
            return throttled_batches_us(world, txn, counter, object_kind, op, size_bytes, count, parallel)
        note(txn.row, object_kind, op, size_bytes, count)
        return several_us(world, txn.key, counter, request, size_bytes, count, parallel)
    served, tries, spent_us = throttle_run(
        success_us, world, world.store.slow_down, txn.key, counter, request, size_bytes, count
    )
    note(txn.row, object_kind, op, 0, tries)
    note(txn.row, object_kind, op, size_bytes, served)
    if served < count:
        txn.has_failed = 1
    if served == 1:
        spent_us += success_us(world, request, txn.key, counter, size_bytes)
    elif served > 1:
        spent_us += several_us(world, txn.key, counter, request, size_bytes, served, 1)
    return spent_us


@step
def throttled_batches_us(
    world: WorldRecord,
    txn: TxnRecord,
    counter: int,
    object_kind: int,
    op: int,
    size_bytes: int,
    count: int,
    parallel: int,
) -> int:
    """Batch by batch, up to one with a request that was given up."""
    request = object_kind * N_OPERATIONS + op
    total_us = 0
    first = 0
    while first < count and txn.has_failed == 0:
        sent = min(parallel, count - first)
        at_once, later, tries, spent_us = throttle_batch(
            success_us, world, world.store.slow_down, txn.key, counter + first, request, size_bytes, sent
        )
        note(txn.row, object_kind, op, 0, tries)
        note(txn.row, object_kind, op, size_bytes, at_once + later)
        if at_once > 0:
            slowest = several_us(world, txn.key, counter + first, request, size_bytes, at_once, parallel)
            spent_us = max(spent_us, slowest)
        total_us = min(total_us + spent_us, LONGEST_US)
        if at_once + later < sent:
            txn.has_failed = 1
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
        request = object_kind * N_OPERATIONS + op
        if world.store.is_throttling == 1:
            spent_us = throttled_us(world, txn, counter, object_kind, op, size_bytes, count, parallel)
        else:
            note(txn.row, object_kind, op, size_bytes, count)
            if count == 1:
                spent_us = draw_us(codes(world), world.store.success[request], txn.key, counter, size_bytes)
            else:
                spent_us = several_us(world, txn.key, counter, request, size_bytes, count, parallel)
        txn.row.phases_us[phase] += spent_us
        txn.time_us += spent_us


@step
def _fork(txn: TxnRecord) -> None:
    txn.forked_us = txn.time_us
    txn.has_branch_failed = txn.has_failed


@step
def _switch(txn: TxnRecord) -> None:
    txn.branch_us = txn.time_us - txn.forked_us
    txn.time_us = txn.forked_us
    has_failed = txn.has_failed
    txn.has_failed = txn.has_branch_failed
    txn.has_branch_failed = has_failed


@step
def _join(txn: TxnRecord, phase: int) -> None:
    """The longer of the two counts; the shorter was billed as well."""
    second_us = txn.time_us - txn.forked_us
    txn.row.phases_us[phase] -= min(txn.branch_us, second_us)
    txn.time_us = txn.forked_us + max(txn.branch_us, second_us)
    txn.has_failed = max(txn.has_failed, txn.has_branch_failed)


@step
def _wait(txn: TxnRecord, phase: int, wait_us: int) -> None:
    if txn.has_failed == 0:
        txn.row.phases_us[phase] += wait_us
        txn.time_us += wait_us


@pasted
def adding_up() -> Payer:
    """The payer."""
    return Payer(_many, _fork, _switch, _join, _wait)
