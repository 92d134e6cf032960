"""The order in which an attempt is paid: which request, how many, under which draw's name, billed to which phase.

Written once, for both engines. The counts come from ``endive.formats.iceberg.plan``; what a *payer* does with a request
is the engine's business (``endive.formats.payer``).

Every rule here takes the payer, the world (its ``format.iceberg``), the txn, and a table as the txn knows it.
"""

from typing import Any

from endive.formats.iceberg import draws
from endive.formats.iceberg.attempt import AttemptCost
from endive.formats.iceberg.conflicts import replaces_whole_partitions
from endive.formats.iceberg.effects import (
    filtered_manifests,
    is_in_transaction,
    own_manifests,
    snapshots_after,
    snapshots_kept,
    takes_files,
)
from endive.formats.iceberg.maintenance import manifests_to_scan
from endive.formats.iceberg.protocol import (
    LOAD_ANSWER_REFS,
    RELEASE_1_9,
    RELEASE_1_11,
    CommitProtocol,
    cleans_up,
    loads_metadata,
    protocol_of,
    reloads_after_success,
    reloads_metadata,
    rereads_catalog,
    writes_beside_list,
)
from endive.formats.iceberg.table import list_bytes, metadata_bytes
from endive.formats.nesting import TableState
from endive.formats.operation import Operation
from endive.formats.payer import Payer
from endive.kernel import rule
from endive.rng import METADATA_WRITE, slot
from endive.vocabulary import (
    DELETE,
    EXPIRE_SNAPSHOTS,
    FAST_APPEND,
    HEAD,
    MANIFEST,
    MANIFEST_LIST,
    METADATA,
    PHASE_HISTORY,
    PHASE_MANIFEST_LIST,
    PHASE_MANIFESTS,
    PHASE_METADATA,
    PHASE_RUNTIME,
    READ,
    WRITE,
)

KIB = 1024
# Draws of one MANIFEST_WRITE slot: own manifests first, then filtered ones, then merged ones.
FILTER_DRAWS = 1 << 20
MERGE_DRAWS = 1 << 21
# Draws of one LIST_APPEND slot: three per physical attempt; of the rewrite of a sealed list: HEAD, read, write.
APPEND_DRAWS = 3
REWRITE_DRAWS = 1 << 20
# Draws of what a Transaction builds before its first attempt looks at the table, behind those of that attempt.
BEGIN_DRAWS = 1 << 20


@rule
def pay_answer(payer: Payer, world: Any, txn: Any, phase: int, snapshots: int) -> None:
    """What a REST server sends with every refresh and commit: the metadata, naming all ``snapshots``.

    ``RESTTableOperations.refresh`` asks for no less. A 304 answers loads only, of a table that has not moved since the
    client's last one: no writer gets it, since its own commit has moved the table.
    """
    us_per_mib = world.format.iceberg.protocol.answer_us_per_mib
    if us_per_mib > 0:
        kib = (metadata_bytes(world.format.iceberg.sizes, snapshots) + KIB - 1) // KIB
        txn.row.answers_kib += kib
        payer.wait(txn, phase, kib * us_per_mib // KIB)


@rule
def pay_load(payer: Payer, world: Any, txn: Any, position: int, snapshots: int) -> None:
    """A table loaded at the start of a txn, its metadata naming ``snapshots``."""
    is_refs_only = world.format.iceberg.protocol.load_answer == LOAD_ANSWER_REFS
    pay_answer(payer, world, txn, PHASE_RUNTIME, min(snapshots, 1) if is_refs_only else snapshots)
    if loads_metadata(protocol_of(world.format.iceberg, txn.operation)):
        counter = slot(txn.row.attempts, draws.LOAD_METADATA, position)
        size_bytes = metadata_bytes(world.format.iceberg.sizes, snapshots)
        payer.many(world, txn, PHASE_RUNTIME, counter, METADATA, READ, size_bytes, 1, 1)


@rule
def pay_look(payer: Payer, world: Any, txn: Any, phase: int, position: int, snapshots: int, is_moved: bool) -> None:
    """A table is refreshed before any attempt; a server answers in full whether or not it has moved."""
    pay_answer(payer, world, txn, phase, snapshots)
    if is_moved and loads_metadata(protocol_of(world.format.iceberg, txn.operation)):
        counter = slot(txn.row.attempts, draws.LOOK_METADATA, position)
        size_bytes = metadata_bytes(world.format.iceberg.sizes, snapshots)
        payer.many(world, txn, phase, counter, METADATA, READ, size_bytes, 1, 1)


@rule
def pay_validation(payer: Payer, world: Any, txn: Any, position: int, table: TableState, cost: AttemptCost) -> None:
    """Metadata, history and the manifests of that history: all a validation looks at."""
    attempt = txn.row.attempts
    if cost.answers > 0:
        pay_answer(payer, world, txn, PHASE_METADATA, snapshots_kept(table))
    counter = slot(attempt, draws.METADATA_READ, position)
    size_bytes = metadata_bytes(world.format.iceberg.sizes, snapshots_kept(table))
    payer.many(world, txn, PHASE_METADATA, counter, METADATA, READ, size_bytes, cost.metadata_reads, 1)
    lists = cost.history_lists
    if lists > 0:
        parallel = protocol_of(world.format.iceberg, txn.operation).history_parallel
        if protocol_of(world.format.iceberg, txn.operation).is_list_headed == 1:
            counter = slot(attempt, draws.HISTORY_HEAD, position)
            payer.many(world, txn, PHASE_HISTORY, counter, MANIFEST_LIST, HEAD, 0, lists, parallel)
        counter = slot(attempt, draws.HISTORY_READ, position)
        size_bytes = list_bytes(world.format.iceberg.sizes, table.iceberg.manifests)
        payer.many(world, txn, PHASE_HISTORY, counter, MANIFEST_LIST, READ, size_bytes, lists, parallel)
        txn.row.history_lists += lists
    counter = slot(attempt, draws.VALIDATE_READ, position)
    size_bytes = world.format.iceberg.sizes.manifest_bytes
    payer.many(world, txn, PHASE_MANIFESTS, counter, MANIFEST, READ, size_bytes, cost.validate_reads, 1)


@rule
def pay_build(payer: Payer, world: Any, txn: Any, position: int, table: TableState, cost: AttemptCost) -> None:
    """The current list, the manifests, the new list."""
    attempt = txn.row.attempts
    head, read = slot(attempt, draws.LIST_HEAD, position), slot(attempt, draws.LIST_READ, position)
    if writes_beside_list(protocol_of(world.format.iceberg, txn.operation), txn.operation):
        payer.fork(txn)
        pay_list_read(payer, world, txn, PHASE_MANIFESTS, table.iceberg.manifests, cost.list_reads, head, read)
        payer.switch(txn)
        pay_manifests(payer, world, txn, position, cost.own_writes, 1, 0)
        payer.join(txn, PHASE_MANIFESTS)
    else:
        pay_list_read(payer, world, txn, PHASE_MANIFEST_LIST, table.iceberg.manifests, cost.list_reads, head, read)
        counter = slot(attempt, draws.MANIFEST_READ, position)
        parallel, size_bytes = world.format.iceberg.protocol.parallel_max, world.format.iceberg.sizes.manifest_bytes
        payer.many(world, txn, PHASE_MANIFESTS, counter, MANIFEST, READ, size_bytes, cost.filter_reads, parallel)
        pay_manifests(payer, world, txn, position, cost.filter_writes, parallel, FILTER_DRAWS)
        pay_manifests(payer, world, txn, position, cost.own_writes, 1, 0)
    if cost.merge_reads + cost.merge_writes > 0:
        counter = slot(attempt, draws.MERGE_READ, position)
        parallel, size_bytes = cost.merge_parallel, world.format.iceberg.sizes.manifest_bytes
        payer.many(world, txn, PHASE_MANIFESTS, counter, MANIFEST, READ, size_bytes, cost.merge_reads, parallel)
        pay_manifests(payer, world, txn, position, cost.merge_writes, parallel, MERGE_DRAWS)
    counter = slot(attempt, draws.LIST_WRITE, position)
    size_bytes = list_bytes(world.format.iceberg.sizes, table.iceberg.manifests + 1)
    payer.many(world, txn, PHASE_MANIFEST_LIST, counter, MANIFEST_LIST, WRITE, size_bytes, cost.list_writes, 1)
    manifests = table.iceberg.manifests + 1
    pay_list_read(payer, world, txn, PHASE_MANIFEST_LIST, manifests, cost.list_rereads, head + 1, read + 1)
    txn.leftovers.kept_manifests += cost.own_writes + cost.filter_writes
    if deletes_at_once(protocol_of(world.format.iceberg, txn.operation), txn.operation):
        counter = slot(attempt, draws.CLEANUP, position)
        payer.many(world, txn, PHASE_MANIFEST_LIST, counter, MANIFEST_LIST, DELETE, 0, cost.list_writes, 1)
    elif is_in_transaction(txn.operation):
        txn.leftovers.lost_lists += cost.list_writes  # it takes the place of one written before


@rule
def pay_beginning(payer: Payer, world: Any, txn: Any, position: int, table: TableState) -> None:
    """What a Transaction builds on the table as it was loaded, before it asks for the newest state.

    ``BaseTransaction``: the update is committed to the Transaction first, and once more, on a fresh base, if the table
    has moved when the Transaction is committed.
    """
    attempt, operation = txn.row.attempts, txn.operation
    head = slot(attempt, draws.LIST_HEAD, position) + BEGIN_DRAWS
    read = slot(attempt, draws.LIST_READ, position) + BEGIN_DRAWS
    manifests, protocol = table.iceberg.manifests, protocol_of(world.format.iceberg, operation)
    pay_list_read(payer, world, txn, PHASE_MANIFEST_LIST, manifests, 1, head, read)
    filtered = filtered_manifests(operation)
    reads = filtered * 2 if replaces_whole_partitions(operation) else filtered
    if protocol.release != RELEASE_1_9 and takes_files(operation):
        reads += table.iceberg.live_deletes
    counter = slot(attempt, draws.MANIFEST_READ, position) + BEGIN_DRAWS
    parallel, size_bytes = protocol.parallel_max, world.format.iceberg.sizes.manifest_bytes
    payer.many(world, txn, PHASE_MANIFESTS, counter, MANIFEST, READ, size_bytes, reads, parallel)
    pay_manifests(payer, world, txn, position, filtered, parallel, FILTER_DRAWS)
    pay_manifests(payer, world, txn, position, own_manifests(operation), 1, 0)
    counter = slot(attempt, draws.LIST_WRITE, position) + BEGIN_DRAWS
    size_bytes = list_bytes(world.format.iceberg.sizes, manifests + 1)
    payer.many(world, txn, PHASE_MANIFEST_LIST, counter, MANIFEST_LIST, WRITE, size_bytes, 1, 1)
    rereads = 0 if operation.kind == FAST_APPEND else 1
    pay_list_read(payer, world, txn, PHASE_MANIFEST_LIST, manifests + 1, rereads, head + 1, read + 1)


@rule
def deletes_at_once(protocol: CommitProtocol, operation: Operation) -> bool:
    """Whether a list is deleted as soon as another takes its place: ``FastAppend`` in a Transaction, up to 1.9."""
    is_old = protocol.release == RELEASE_1_9
    return is_old and operation.kind == FAST_APPEND and is_in_transaction(operation) and cleans_up(protocol)


@rule
def pay_list_read(
    payer: Payer, world: Any, txn: Any, phase: int, manifests: int, count: int, head: int, read: int
) -> None:
    """Reads of a current manifest list, none or one, behind a HEAD where the store's client asks for one."""
    if count > 0:
        if protocol_of(world.format.iceberg, txn.operation).is_list_headed == 1:
            payer.many(world, txn, phase, head, MANIFEST_LIST, HEAD, 0, 1, 1)
        size_bytes = list_bytes(world.format.iceberg.sizes, manifests)
        payer.many(world, txn, phase, read, MANIFEST_LIST, READ, size_bytes, 1, 1)


@rule
def pay_manifests(
    payer: Payer, world: Any, txn: Any, position: int, count: int, parallel: int, first_draw: int
) -> None:
    """New manifests, and a HEAD for the length of each where the client asks for it."""
    if count > 0:
        counter = slot(txn.row.attempts, draws.MANIFEST_WRITE, position) + first_draw
        size_bytes = world.format.iceberg.sizes.manifest_bytes
        payer.many(world, txn, PHASE_MANIFESTS, counter, MANIFEST, WRITE, size_bytes, count, parallel)
        if protocol_of(world.format.iceberg, txn.operation).is_written_headed == 1:
            counter = slot(txn.row.attempts, draws.MANIFEST_HEAD, position) + first_draw
            payer.many(world, txn, PHASE_MANIFESTS, counter, MANIFEST, HEAD, 0, count, parallel)


@rule
def pay_check(payer: Payer, world: Any, txn: Any, position: int, snapshots: int, cost: AttemptCost) -> None:
    """The metadata object behind the pointer just read, where the client checks its base against it."""
    counter = slot(txn.row.attempts, draws.METADATA_CHECK, position)
    size_bytes = metadata_bytes(world.format.iceberg.sizes, snapshots)
    payer.many(world, txn, PHASE_METADATA, counter, METADATA, READ, size_bytes, cost.check_reads, 1)


@rule
def pay_metadata(payer: Payer, world: Any, txn: Any, position: int, table: TableState, cost: AttemptCost) -> None:
    """The new metadata object, behind a HEAD where the client makes sure it is new."""
    if cost.metadata_writes > 0:
        if protocol_of(world.format.iceberg, txn.operation).is_written_headed == 1:
            counter = slot(txn.row.attempts, draws.METADATA_HEAD, position)
            payer.many(world, txn, PHASE_METADATA, counter, METADATA, HEAD, 0, 1, 1)
        counter = slot(txn.row.attempts, METADATA_WRITE, position)
        size_bytes = metadata_bytes(world.format.iceberg.sizes, snapshots_after(txn.operation, table, cost))
        payer.many(world, txn, PHASE_METADATA, counter, METADATA, WRITE, size_bytes, 1, 1)


@rule
def pay_list_rewrite(payer: Payer, world: Any, txn: Any, position: int, table: TableState) -> None:
    """A sealed list takes no appends: read it, write a fresh one that holds the own entry too (ML+)."""
    counter = slot(txn.row.attempts, draws.LIST_APPEND, position) + REWRITE_DRAWS
    pay_list_read(payer, world, txn, PHASE_MANIFEST_LIST, table.iceberg.manifests, 1, counter, counter + 1)
    size_bytes = list_bytes(world.format.iceberg.sizes, table.iceberg.manifests + 1)
    payer.many(world, txn, PHASE_MANIFEST_LIST, counter + 2, MANIFEST_LIST, WRITE, size_bytes, 1, 1)


@rule
def pay_reload(payer: Payer, world: Any, txn: Any, position: int, table: TableState, cost: AttemptCost) -> None:
    """What a committed operation reads back of a table: the metadata, the list (``SnapshotProducer.commit``)."""
    snapshots = snapshots_after(txn.operation, table, cost)
    pay_answer(payer, world, txn, PHASE_METADATA, snapshots)  # to the commit itself
    if rereads_catalog(protocol_of(world.format.iceberg, txn.operation), txn.operation):
        pay_answer(payer, world, txn, PHASE_METADATA, snapshots)
    if reloads_after_success(protocol_of(world.format.iceberg, txn.operation)):
        counter = slot(txn.row.attempts, draws.AFTER_READ, position)
        if reloads_metadata(protocol_of(world.format.iceberg, txn.operation), txn.operation):
            size_bytes = metadata_bytes(world.format.iceberg.sizes, snapshots)
            payer.many(world, txn, PHASE_METADATA, counter, METADATA, READ, size_bytes, 1, 1)
        if txn.operation.kind == EXPIRE_SNAPSHOTS:
            pay_expiry(payer, world, txn, position, table, cost)
        elif txn.operation.kind != FAST_APPEND or is_in_transaction(txn.operation):
            manifests = table.iceberg.manifests + 1
            pay_list_read(payer, world, txn, PHASE_MANIFEST_LIST, manifests, 1, counter + 1, counter + 2)
        if cost.after_lists > 0:
            size_bytes = list_bytes(world.format.iceberg.sizes, table.iceberg.manifests)
            lists, phase = cost.after_lists, PHASE_MANIFEST_LIST
            if protocol_of(world.format.iceberg, txn.operation).is_list_headed == 1:
                payer.many(world, txn, phase, counter + FILTER_DRAWS, MANIFEST_LIST, HEAD, 0, lists, 1)
            payer.many(world, txn, phase, counter + MERGE_DRAWS, MANIFEST_LIST, READ, size_bytes, lists, 1)


@rule
def pay_status(payer: Payer, world: Any, txn: Any, position: int, snapshots: int) -> None:
    """The metadata object in whose history a txn looks for its own commit."""
    pay_answer(payer, world, txn, PHASE_METADATA, snapshots)
    if world.format.iceberg.protocol.is_inlined == 0 and world.format.iceberg.protocol.is_metadata_servers == 0:
        counter = slot(txn.row.attempts, draws.STATUS_METADATA, position)
        size_bytes = metadata_bytes(world.format.iceberg.sizes, snapshots)
        payer.many(world, txn, PHASE_METADATA, counter, METADATA, READ, size_bytes, 1, 1)


@rule
def pay_expiry(payer: Payer, world: Any, txn: Any, position: int, table: TableState, cost: AttemptCost) -> None:
    """Files that nothing names any more are looked for and deleted (``IncrementalFileCleanup.cleanFiles``).

    Every list is read, of snapshots kept and expired, then what the expired ones added. A store deletes in bulk: the
    lists, and manifests if any were ever taken out of a list.
    """
    attempt = txn.row.attempts
    if cost.expired > 0:
        lists = snapshots_kept(table)
        if protocol_of(world.format.iceberg, txn.operation).is_list_headed == 1:
            counter = slot(attempt, draws.EXPIRE_HEAD, position)
            payer.many(world, txn, PHASE_MANIFEST_LIST, counter, MANIFEST_LIST, HEAD, 0, lists, 1)
        counter = slot(attempt, draws.EXPIRE_READ, position)
        size_bytes = list_bytes(world.format.iceberg.sizes, table.iceberg.manifests)
        payer.many(world, txn, PHASE_MANIFEST_LIST, counter, MANIFEST_LIST, READ, size_bytes, lists, 1)
        counter = slot(attempt, draws.EXPIRE_SCAN, position)
        parallel, size_bytes = world.format.iceberg.protocol.parallel_max, world.format.iceberg.sizes.manifest_bytes
        is_scanned = protocol_of(world.format.iceberg, txn.operation).release < RELEASE_1_11
        scanned = manifests_to_scan(table, cost.expired) if is_scanned else 0
        payer.many(world, txn, PHASE_MANIFESTS, counter, MANIFEST, READ, size_bytes, scanned, parallel)
        counter = slot(attempt, draws.EXPIRE_DELETE, position)
        payer.many(world, txn, PHASE_MANIFEST_LIST, counter, MANIFEST_LIST, DELETE, 0, 1, 1)
        if table.iceberg.thinnings > 0:
            payer.many(world, txn, PHASE_MANIFESTS, counter + 1, MANIFEST, DELETE, 0, 1, 1)


@rule
def pay_clean_up(payer: Payer, world: Any, txn: Any, is_committed: bool) -> None:
    """Delete what lost attempts wrote; after an abort, the own manifests too."""
    if cleans_up(protocol_of(world.format.iceberg, txn.operation)):
        counter = slot(txn.row.attempts, draws.CLEANUP, 0)
        lists, manifests = txn.leftovers.lost_lists, txn.leftovers.lost_manifests
        if not is_committed:
            manifests += txn.leftovers.kept_manifests
        if is_in_transaction(txn.operation):
            if protocol_of(world.format.iceberg, txn.operation).release == RELEASE_1_9:
                lists += 0 if is_committed else 1  # the one that stood
            else:  # all of it in one request
                lists = 1 if lists > 0 or not is_committed else 0
                manifests = 0
        payer.many(world, txn, PHASE_MANIFEST_LIST, counter, MANIFEST_LIST, DELETE, 0, lists, 1)
        counter = slot(txn.row.attempts, draws.CLEANUP, 1)
        payer.many(world, txn, PHASE_MANIFESTS, counter, MANIFEST, DELETE, 0, manifests, 1)
    txn.leftovers.lost_lists = 0
    txn.leftovers.lost_manifests = 0
    txn.leftovers.kept_manifests = 0
