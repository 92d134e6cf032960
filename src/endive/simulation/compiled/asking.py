"""Requests that others can see: they leave, and reach a server at a shared moment.

What the server does with a request is in ``events``.
"""

from endive.catalog.append import BACK_ENTRIES, BASE_ENTRIES, COMPACTION_ENTRIES, LOOK_ENTRIES
from endive.catalog.instant import REQUEST_SHARE
from endive.distributions.code import draw_us
from endive.formats.rules import pay_before_load
from endive.kernel import step
from endive.rng import LOG_ENTRIES, LOOK_READ, START_READ, slot
from endive.simulation.compiled import records as at
from endive.simulation.compiled.bill import adding_up, goes_through, one_us
from endive.simulation.compiled.ending import fail, give_up
from endive.simulation.compiled.memory import codes
from endive.simulation.compiled.moments import (
    MOMENT_BASE_READ,
    MOMENT_COMPACTION_READ,
    MOMENT_DISCOVERY,
    MOMENT_LOOK,
    MOMENT_POINTER_CHECK,
    MOMENT_READ_ARRIVES,
    MOMENT_READ_BACK,
    MOMENT_REFRESH,
    MOMENT_START_READ,
)
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.storage.client import note
from endive.storage.contention import request_leg_us
from endive.vocabulary import CAS, CATALOG, READ


@step
def send(
    world: WorldRecord, txn: TxnRecord, counter: int, object_kind: int, op: int, size_bytes: int, moment: int
) -> int:
    """A request to storage leaves; the txn's time is when the object evaluates it, at ``moment``."""
    if world.store.is_throttling == 1 and not goes_through(world, txn, counter, object_kind, op, size_bytes):
        return give_up(world, txn, moment)
    txn.counter = counter
    txn.latency_us = one_us(world, txn, counter, object_kind, op, size_bytes)
    txn.leg_us = request_leg_us(txn.latency_us, world.store.terms.leg_shares[op])
    txn.time_us += txn.leg_us
    return moment


@step
def send_to_catalog(world: WorldRecord, txn: TxnRecord, counter: int, op: int, moment: int) -> int:
    """A request to a catalog that is a service leaves."""
    txn.counter = counter
    place = world.catalog.commit_latency if op == CAS else world.catalog.latency
    txn.latency_us = draw_us(codes(world), place, txn.key, counter, 0)
    txn.leg_us = request_leg_us(txn.latency_us, REQUEST_SHARE)
    note(txn.row, CATALOG, op, 0, 1)
    txn.time_us += txn.leg_us
    return moment


@step
def send_read(world: WorldRecord, txn: TxnRecord, purpose: int, counter: int, size_bytes: int) -> int:
    """A catalog read leaves; ``purpose`` is the moment at which the server evaluates it."""
    txn.purpose = purpose
    if world.catalog.is_object == 1:
        return send(world, txn, counter, world.catalog.object_kind, world.catalog.look, size_bytes, purpose)
    is_served = world.catalog.kind == at.CATALOG_SERVICE
    return send_to_catalog(world, txn, counter, READ, MOMENT_READ_ARRIVES if is_served else purpose)


@step
def read_answered_us(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """When the answer to the catalog read evaluated now arrives."""
    time_us = now + txn.latency_us - txn.leg_us
    if world.catalog.entry_read >= 0 and world.server.log.entries > 0:
        counter = slot(txn.row.attempts, LOG_ENTRIES, entries_position(txn.purpose))
        if txn.purpose == MOMENT_COMPACTION_READ:
            counter += txn.tries
        time_us += draw_us(codes(world), world.catalog.entry_read, txn.key, counter, 0) * world.server.log.entries
    return time_us


@step
def entries_position(purpose: int) -> int:
    """Position of the LOG_ENTRIES slot for each purpose (``endive.catalog.append.ENTRIES_POSITIONS``)."""
    if purpose == MOMENT_START_READ:
        return 0
    if purpose == MOMENT_REFRESH:
        return 1
    if purpose == MOMENT_DISCOVERY:
        return 2
    if purpose == MOMENT_POINTER_CHECK:
        return 3
    if purpose == MOMENT_READ_BACK:
        return BACK_ENTRIES
    if purpose == MOMENT_BASE_READ:
        return BASE_ENTRIES
    if purpose == MOMENT_LOOK:
        return LOOK_ENTRIES
    return COMPACTION_ENTRIES


@step
def send_start_read(world: WorldRecord, txn: TxnRecord) -> int:
    """The txn begins, or begins again: it reads the catalog."""
    pay_before_load(adding_up(), world, txn, txn.is_recalled == 1)
    if txn.has_failed == 1:
        return fail(world, txn)
    txn.sent_us = txn.time_us
    return send_read(world, txn, MOMENT_START_READ, slot(txn.row.attempts, START_READ, 0), txn.submit_bytes)


@step
def send_look(world: WorldRecord, txn: TxnRecord) -> int:
    """A look at the table between load and commit leaves."""
    txn.sent_us = txn.time_us
    return send_read(world, txn, MOMENT_LOOK, slot(txn.row.attempts, LOOK_READ, 0), txn.base_bytes)
