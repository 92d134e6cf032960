"""Requests that others can see: they leave, and reach a server at a shared moment.

This file defines when a request arrives and when its answer is back. What the server does with it is in ``events``.
"""

from endive.catalog.append import BACK_ENTRIES, COMPACTION_ENTRIES
from endive.catalog.instant import REQUEST_SHARE
from endive.distributions.code import draw_us
from endive.kernel import step
from endive.rng import LOG_ENTRIES, START_READ, slot
from endive.simulation.compiled import records as at
from endive.simulation.compiled.bill import goes_through, one_us
from endive.simulation.compiled.ending import give_up
from endive.simulation.compiled.memory import codes
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.storage.client import note
from endive.storage.contention import request_leg_us
from endive.vocabulary import CATALOG, READ


@step
def send(
    world: WorldRecord, txn: TxnRecord, counter: int, object_kind: int, op: int, size_bytes: int, stage: int
) -> None:
    """A request to storage leaves; the txn's time is when the object evaluates it."""
    if world.store.is_throttling == 1 and not goes_through(world, txn, counter, object_kind, op, size_bytes):
        give_up(world, txn, stage)
        return
    txn.counter = counter
    txn.latency_us = one_us(world, txn, counter, object_kind, op, size_bytes)
    txn.leg_us = request_leg_us(txn.latency_us, world.store.leg_shares[op])
    txn.stage = stage
    txn.time_us += txn.leg_us


@step
def send_to_catalog(world: WorldRecord, txn: TxnRecord, counter: int, op: int, stage: int) -> None:
    """A request to a catalog that is a service leaves."""
    txn.counter = counter
    txn.latency_us = draw_us(codes(world), world.catalog.latency, txn.key, counter, 0)
    txn.leg_us = request_leg_us(txn.latency_us, REQUEST_SHARE)
    note(txn.row, CATALOG, op, 0, 1)
    txn.stage = stage
    txn.time_us += txn.leg_us


@step
def send_read(world: WorldRecord, txn: TxnRecord, purpose: int, counter: int, size_bytes: int) -> None:
    """A catalog read leaves."""
    txn.purpose = purpose
    if world.catalog.kind == at.CATALOG_CAS or world.catalog.kind == at.CATALOG_APPEND:
        send(world, txn, counter, CATALOG, READ, size_bytes, at.STAGE_READ)
    else:
        is_served = world.catalog.kind == at.CATALOG_SERVICE
        send_to_catalog(world, txn, counter, READ, at.STAGE_READ_ARRIVES if is_served else at.STAGE_READ)


@step
def read_answered_us(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """When the answer to the catalog read evaluated now arrives."""
    time_us = now + txn.latency_us - txn.leg_us
    if world.catalog.entry_read >= 0 and world.server.log.entries > 0:
        counter = slot(txn.row.attempts, LOG_ENTRIES, entries_position(txn.purpose))
        if txn.purpose == at.READ_COMPACTION:
            counter += txn.tries
        time_us += draw_us(codes(world), world.catalog.entry_read, txn.key, counter, 0) * world.server.log.entries
    return time_us


@step
def entries_position(purpose: int) -> int:
    """Position of the LOG_ENTRIES slot for each purpose (``endive.catalog.append.ENTRIES_POSITIONS``)."""
    if purpose == at.READ_START:
        return 0
    if purpose == at.READ_REFRESH:
        return 1
    if purpose == at.READ_DISCOVERY:
        return 2
    if purpose == at.READ_CHECK:
        return 3
    if purpose == at.READ_NEW_STATE:
        return BACK_ENTRIES
    return COMPACTION_ENTRIES


@step
def send_start_read(world: WorldRecord, txn: TxnRecord) -> None:
    """The txn begins, or begins again: it reads the catalog."""
    txn.sent_us = txn.time_us
    send_read(world, txn, at.READ_START, slot(txn.row.attempts, START_READ, 0), txn.submit_bytes)
