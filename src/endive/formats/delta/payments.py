"""The order in which Delta's requests are paid: which file, how often, under which draw's name, billed to which phase.

Written once, for both engines. The commit itself, the creation of the next commit file, is the commit point's.
"""

from typing import Any

from endive.formats.delta import draws
from endive.formats.delta.attempt import DeltaPlan
from endive.formats.delta.protocol import CATALOG_MANAGED, DELTA_RS, DYNAMODB, SINGLE_DRIVER, lists_beside
from endive.formats.delta.table import checkpoint_bytes, has_checksum
from endive.formats.nesting import TableState
from endive.formats.payer import Payer
from endive.kernel import rule
from endive.rng import slot
from endive.vocabulary import (
    BLIND_APPEND,
    CATALOG,
    CHECKPOINT,
    CHECKSUM,
    COMMIT_FILE,
    DELETE,
    HEAD,
    LAST_CHECKPOINT,
    LIST,
    PHASE_CHECKPOINT,
    PHASE_COMMIT,
    PHASE_LOG_UPDATE,
    PHASE_RUNTIME,
    PHASE_WINNERS,
    READ,
    WRITE,
)


@rule
def pay_before_load(payer: Payer, world: Any, txn: Any, position: int) -> None:
    """The hint which checkpoint is the last, before the log is listed from there."""
    counter = slot(txn.row.attempts, draws.HINT_READ, position)
    payer.many(world, txn, PHASE_RUNTIME, counter, LAST_CHECKPOINT, READ, world.format.delta.sizes.hint_bytes, 1, 1)


@rule
def pay_load(
    payer: Payer, world: Any, txn: Any, position: int, table: TableState, known: TableState, is_kept: bool
) -> None:
    """The checkpoint and every commit file behind it; of a table that is kept, the commits that are new.

    Delta Spark takes protocol and metadata from the checksum of the newest version. Where nobody has written that yet
    it reads the log for them, and once more if it has to know the files (``Snapshot``, the reconstructions).
    """
    attempt, own = txn.row.attempts, world.format.delta
    if lists_beside(own.protocol):
        payer.many(world, txn, PHASE_RUNTIME, slot(attempt, draws.LOOK_LIST, position) + 1, COMMIT_FILE, LIST, 0, 1, 1)
    protocol, is_new = own.protocol, not is_kept or table.version > known.version
    counter, size_bytes = slot(attempt, draws.LOAD_CHECK, position), own.sizes.checksum_bytes
    if protocol.is_checksummed == 1 and is_new:
        payer.many(world, txn, PHASE_RUNTIME, counter + 1, CHECKSUM, READ, size_bytes, 1, 1)
    checkpoint, files = table.delta.checkpoint, table.version - table.delta.checkpoint
    is_found = is_kept and checkpoint > known.delta.checkpoint  # by a listing, without the hint
    if protocol.is_checksummed == 1 and is_new and not has_checksum(table.delta):
        counter, ranges = slot(attempt, draws.LOAD_BARE, position), protocol.protocol_reads
        if is_found or not is_kept:
            ranges += protocol.schema_reads
        pay_log(payer, world, txn, PHASE_RUNTIME, counter, counter + (1 << 20), checkpoint, ranges, files)
    if protocol.is_lazy == 1:
        if not is_new or txn.operation.kind == BLIND_APPEND:
            return
    elif is_kept and checkpoint <= known.version:
        checkpoint, files = 0, table.version - known.version
    counter, ranges = slot(attempt, draws.LOAD_READ, position), protocol.checkpoint_reads
    if is_found:
        ranges += protocol.schema_reads
    checkpoint_counter = slot(attempt, draws.CHECKPOINT_READ, position)
    pay_log(payer, world, txn, PHASE_RUNTIME, counter, checkpoint_counter, checkpoint, ranges, files)


@rule
def pay_log(
    payer: Payer,
    world: Any,
    txn: Any,
    phase: int,
    file_counter: int,
    counter: int,
    checkpoint: int,
    ranges: int,
    files: int,
) -> None:
    """A checkpoint, if there is one, in ranges one after another; the commit files behind it at once; the replay."""
    own = world.format.delta
    if checkpoint > 0:
        size_bytes = checkpoint_bytes(own.sizes, checkpoint) // ranges
        payer.many(world, txn, phase, counter, CHECKPOINT, READ, size_bytes, ranges, 1)
    size_bytes, parallel = own.sizes.commit_bytes, own.protocol.parallel_max
    for turn in range(own.protocol.file_reads):
        payer.many(world, txn, phase, file_counter + (turn << 16), COMMIT_FILE, READ, size_bytes, files, parallel)
    if checkpoint + files > 0:
        payer.wait(txn, phase, own.protocol.replay_us)


@rule
def pay_validation(payer: Payer, world: Any, txn: Any, position: int, plan: DeltaPlan) -> None:
    """The winners' commit files, one after another."""
    attempt, own = txn.row.attempts, world.format.delta
    counter = slot(attempt, draws.LOOK_LIST, position)
    payer.many(world, txn, PHASE_WINNERS, counter, COMMIT_FILE, LIST, 0, plan.looks, 1)
    counter = slot(attempt, draws.WINNER_READ, position)
    payer.many(world, txn, PHASE_WINNERS, counter, COMMIT_FILE, READ, own.sizes.commit_bytes, plan.winner_reads, 1)


@rule
def pay_build(payer: Payer, world: Any, txn: Any, position: int, plan: DeltaPlan) -> None:
    """The table, brought up to date before the next attempt where the client does so."""
    attempt = txn.row.attempts
    counter = slot(attempt, draws.UPDATE_LIST, position)
    payer.many(world, txn, PHASE_LOG_UPDATE, counter, COMMIT_FILE, LIST, 0, plan.update_lists, 1)
    counter, checkpoint = slot(attempt, draws.UPDATE_READ, position), plan.update_checkpoint
    ranges = world.format.delta.protocol.checkpoint_reads
    pay_log(payer, world, txn, PHASE_LOG_UPDATE, counter, counter + (1 << 20), checkpoint, ranges, plan.update_reads)


@rule
def pay_last_step(payer: Payer, world: Any, txn: Any, position: int, plan: DeltaPlan) -> None:
    """What is written before the commit point is asked.

    ``S3DynamoDBLogStore.write``: is the file there, what does the entry of the version before say, a temporary file.
    ``S3SingleDriverLogStore.write``: is the file there, under a lock of the process.
    """
    attempt, own = txn.row.attempts, world.format.delta
    counter = slot(attempt, draws.STAGE, position)
    if own.protocol.log_store == SINGLE_DRIVER:
        payer.many(world, txn, PHASE_COMMIT, counter, COMMIT_FILE, HEAD, 0, 1, 1)
    if plan.stages > 0:
        if own.protocol.log_store == DYNAMODB:
            payer.many(world, txn, PHASE_COMMIT, counter, COMMIT_FILE, HEAD, 0, 1, 1)
            entry = slot(attempt, draws.ENTRY_READ, position)
            payer.many(world, txn, PHASE_COMMIT, entry, CATALOG, READ, 0, 1, 1)
        payer.many(world, txn, PHASE_COMMIT, counter + 1, COMMIT_FILE, WRITE, own.sizes.commit_bytes, plan.stages, 1)


@rule
def pay_afterwards(payer: Payer, world: Any, txn: Any, position: int, plan: DeltaPlan) -> None:
    """What follows a commit: the file in its place, the table brought up to date, a checksum, a checkpoint."""
    attempt, own = txn.row.attempts, world.format.delta
    size_bytes, protocol = own.sizes.commit_bytes, own.protocol
    if plan.stages > 0:
        counter = slot(attempt, draws.PUBLISH, position)
        payer.many(world, txn, PHASE_COMMIT, counter, COMMIT_FILE, WRITE, size_bytes, 1, 1)
        if protocol.log_store == DYNAMODB:
            entry = slot(attempt, draws.ENTRY_WRITE, position)
            payer.many(world, txn, PHASE_COMMIT, entry, CATALOG, WRITE, 0, 1, 1)
        else:
            assert protocol.log_store == CATALOG_MANAGED
    counter, lists = slot(attempt, draws.AFTER_LIST, position), protocol.after_lists
    if lists > 0:
        payer.many(world, txn, PHASE_LOG_UPDATE, counter, COMMIT_FILE, LIST, 0, 1, 1)
    counter = slot(attempt, draws.AFTER_READ, position)
    payer.many(world, txn, PHASE_LOG_UPDATE, counter, COMMIT_FILE, READ, size_bytes, plan.after_reads, 1)
    if plan.after_reads > 0:
        payer.wait(txn, PHASE_LOG_UPDATE, protocol.replay_us)
    counter = slot(attempt, draws.AFTER_LIST, position) + 1
    payer.many(world, txn, PHASE_LOG_UPDATE, counter, COMMIT_FILE, LIST, 0, max(0, lists - 1), 1)
    if plan.reload_reads + plan.reload_checkpoint > 0:
        pay_reload(payer, world, txn, position, plan)
    if protocol.is_checksummed == 1:
        counter = slot(attempt, draws.CHECKSUM_WRITE, position)
        checksum_bytes = own.sizes.checksum_bytes
        payer.many(world, txn, PHASE_LOG_UPDATE, counter + 1, CHECKSUM, READ, checksum_bytes, plan.checksum_reads, 1)
        if plan.is_bare == 1:
            pay_bare(payer, world, txn, position, plan)
        payer.many(world, txn, PHASE_LOG_UPDATE, counter, CHECKSUM, WRITE, own.sizes.checksum_bytes, 1, 1)
    if plan.is_checkpointed == 1:
        pay_checkpoint(payer, world, txn, position, plan)


@rule
def pay_bare(payer: Payer, world: Any, txn: Any, position: int, plan: DeltaPlan) -> None:
    """The log is read for a checksum, because the one before is not there.

    Who lost no race has loaded its table without one, and reads what it loaded for its files
    (``RecordChecksum.incrementallyDeriveChecksum``); who lost one reads all of its new version, twice: for protocol
    and metadata, then for the files (``ChecksumHook``).
    """
    counter, protocol = slot(txn.row.attempts, draws.CHECKSUM_BARE, position), world.format.delta.protocol
    files, checkpoint = plan.version - plan.checkpoint - 1 + plan.checksum_reads, plan.checkpoint
    if plan.checksum_reads > 0:
        ranges = protocol.protocol_reads + plan.schema_reads
        pay_log(payer, world, txn, PHASE_LOG_UPDATE, counter, counter + (1 << 20), checkpoint, ranges, files)
    counter, ranges = counter + (1 << 22), protocol.checkpoint_reads + plan.schema_reads
    pay_log(payer, world, txn, PHASE_LOG_UPDATE, counter, counter + (1 << 20), checkpoint, ranges, files)


@rule
def pay_reload(payer: Payer, world: Any, txn: Any, position: int, plan: DeltaPlan) -> None:
    """delta-rs brings the table of a compaction up to date again; after a checkpoint of its own without the hint."""
    counter, size_bytes = slot(txn.row.attempts, draws.RELOAD, position), world.format.delta.sizes.hint_bytes
    payer.many(world, txn, PHASE_LOG_UPDATE, counter, COMMIT_FILE, LIST, 0, 1, 1)
    payer.many(world, txn, PHASE_LOG_UPDATE, counter + 1, COMMIT_FILE, LIST, 0, 1, 1)
    hints = 1 - plan.is_checkpointed
    payer.many(world, txn, PHASE_LOG_UPDATE, counter + 2, LAST_CHECKPOINT, READ, size_bytes, hints, 1)
    counter, checkpoint = counter + (1 << 20), plan.reload_checkpoint
    ranges = world.format.delta.protocol.checkpoint_reads
    pay_log(payer, world, txn, PHASE_LOG_UPDATE, counter, counter + (1 << 20), checkpoint, ranges, plan.reload_reads)


@rule
def pay_checkpoint(payer: Payer, world: Any, txn: Any, position: int, plan: DeltaPlan) -> None:
    """The table is loaded anew and written as a checkpoint, with the hint to it; what has expired is deleted."""
    attempt, own = txn.row.attempts, world.format.delta
    counter, size_bytes = slot(attempt, draws.CHECKPOINT_LOAD, position), own.sizes.hint_bytes
    payer.many(world, txn, PHASE_CHECKPOINT, counter, LAST_CHECKPOINT, READ, size_bytes, 1, 1)
    payer.many(world, txn, PHASE_CHECKPOINT, counter + 1, COMMIT_FILE, LIST, 0, own.protocol.checkpoint_lists, 1)
    if plan.is_bare == 0 or plan.checksum_reads == 0:  # else it has just read all of that for its checksum
        counter, files = counter + (1 << 20), plan.version - plan.checkpoint
        ranges = own.protocol.checkpoint_reads + plan.schema_reads
        pay_log(payer, world, txn, PHASE_CHECKPOINT, counter, counter + (1 << 20), plan.checkpoint, ranges, files)
    counter, size_bytes = slot(attempt, draws.CHECKPOINT_WRITE, position), checkpoint_bytes(own.sizes, plan.version)
    payer.many(world, txn, PHASE_CHECKPOINT, counter, CHECKPOINT, WRITE, size_bytes, 1, 1)
    counter, size_bytes = slot(attempt, draws.HINT_WRITE, position), own.sizes.hint_bytes
    payer.many(world, txn, PHASE_CHECKPOINT, counter, LAST_CHECKPOINT, WRITE, size_bytes, 1, 1)
    if plan.deletes > 0:
        pay_clean_log(payer, world, txn, position, plan)


@rule
def pay_clean_log(payer: Payer, world: Any, txn: Any, position: int, plan: DeltaPlan) -> None:
    """Expired files are deleted; delta-rs then loads the table once more, from the checkpoint it has just made."""
    own, counter = world.format.delta, slot(txn.row.attempts, draws.CLEAN_DELETE, position)
    payer.many(world, txn, PHASE_CHECKPOINT, counter, COMMIT_FILE, DELETE, 0, plan.deletes, 1)
    if own.protocol.client == DELTA_RS:
        counter, size_bytes = counter + (1 << 20), own.sizes.hint_bytes
        payer.many(world, txn, PHASE_CHECKPOINT, counter, LAST_CHECKPOINT, READ, size_bytes, 1, 1)
        payer.many(world, txn, PHASE_CHECKPOINT, counter + 1, COMMIT_FILE, LIST, 0, 1, 1)
        counter = counter + (1 << 20)
        ranges = own.protocol.checkpoint_reads
        pay_log(payer, world, txn, PHASE_CHECKPOINT, counter, counter, plan.version, ranges, 0)


@rule
def pay_status(payer: Payer, world: Any, txn: Any, position: int) -> None:
    """The commit file in which a txn looks for its own commit."""
    counter, size_bytes = slot(txn.row.attempts, draws.STATUS_READ, position), world.format.delta.sizes.commit_bytes
    payer.many(world, txn, PHASE_WINNERS, counter, COMMIT_FILE, READ, size_bytes, 1, 1)
