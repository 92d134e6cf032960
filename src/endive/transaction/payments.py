"""Paying an attempt's costs through storage, one request after another or in batches.

Owns the order of the requests, the phase each belongs to, and the names of their draws. The counts come from
the rules; the latencies from the storage provider.
"""

from collections.abc import Generator
from typing import TYPE_CHECKING

from endive.catalog.rules import LANDED, SEALED
from endive.catalog.snapshot import CatalogSnapshot
from endive.results.schema import (
    COUNTER_MANIFEST_APPEND_PHYSICAL_FAILURE,
    COUNTER_MANIFEST_APPEND_PHYSICAL_SUCCESS,
    COUNTER_MANIFEST_APPEND_SEALED_REWRITE,
    PHASE_CATALOG_READ,
    PHASE_HISTORY,
    PHASE_MANIFEST_LIST,
    PHASE_MANIFESTS,
    PHASE_METADATA,
)
from endive.rng import (
    AFTER_READ,
    CLEANUP,
    HISTORY_HEAD,
    HISTORY_READ,
    LIST_APPEND,
    LIST_HEAD,
    LIST_READ,
    LIST_WRITE,
    MANIFEST_HEAD,
    MANIFEST_READ,
    MANIFEST_WRITE,
    MERGE_READ,
    METADATA_CHECK,
    METADATA_HEAD,
    METADATA_READ,
    METADATA_WRITE,
    READ_BACK,
    VALIDATE_READ,
    slot,
)
from endive.storage.client import Clock
from endive.storage.requests import MANIFEST, MANIFEST_LIST, METADATA
from endive.transaction import rules
from endive.transaction.cost import AttemptCost
from endive.transaction.protocol import (
    HISTORY_PARALLEL,
    IS_INLINED,
    IS_WRITTEN_HEADED,
    PARALLEL_MAX,
    SERVER_WRITES_METADATA,
)
from endive.transaction.protocol import LIST_HEAD as IS_LIST_HEAD
from endive.transaction.rules import FAST_APPEND, KIND
from endive.transaction.world import World

if TYPE_CHECKING:
    from endive.transaction.transaction import Transaction

Payment = Generator[int, None, None]

# Draws of one MANIFEST_WRITE slot: own manifests first, then filtered ones, then merged ones.
FILTER_DRAWS = 1 << 20
MERGE_DRAWS = 1 << 21
# Draws of one LIST_APPEND slot: three per physical attempt; of the rewrite of a sealed list: HEAD, read, write.
APPEND_DRAWS = 3
REWRITE_DRAWS = 1 << 20


def pay_validation(txn: "Transaction", world: World, base: CatalogSnapshot, costs: list[AttemptCost]) -> Payment:
    """Metadata, history and the manifests of that history: all a validation looks at."""
    client, storage, clock, sizes = txn.client, world.storage, world.clock, world.sizes
    attempt = client.attempt
    parallel = world.protocol_vector[HISTORY_PARALLEL]
    is_headed = world.protocol_vector[IS_LIST_HEAD]
    for position, cost in enumerate(costs):
        table = base.tables[txn.tables[position]]
        if cost.metadata_reads:
            begin_us = clock.now_us
            yield from storage.read_batch(
                "metadata",
                sizes.metadata_bytes(table.version),
                cost.metadata_reads,
                client=client,
                counter=slot(attempt, METADATA_READ, position),
                object=METADATA,
            )
            txn.phase_us[PHASE_METADATA] += clock.now_us - begin_us
        if cost.history_lists:
            begin_us = clock.now_us
            if is_headed:
                yield from storage.head_batch(
                    "manifest_list",
                    cost.history_lists,
                    parallel,
                    client=client,
                    counter=slot(attempt, HISTORY_HEAD, position),
                    object=MANIFEST_LIST,
                )
            yield from storage.read_batch(
                "manifest_list",
                sizes.manifest_list_bytes(table.manifests),
                cost.history_lists,
                parallel,
                client=client,
                counter=slot(attempt, HISTORY_READ, position),
                object=MANIFEST_LIST,
            )
            txn.phase_us[PHASE_HISTORY] += clock.now_us - begin_us
            txn.history_lists += cost.history_lists
        if cost.validate_reads:
            begin_us = clock.now_us
            yield from storage.read_batch(
                "manifest",
                sizes.manifest_bytes,
                cost.validate_reads,
                client=client,
                counter=slot(attempt, VALIDATE_READ, position),
                object=MANIFEST,
            )
            txn.phase_us[PHASE_MANIFESTS] += clock.now_us - begin_us


def pay_build(txn: "Transaction", world: World, base: CatalogSnapshot, costs: list[AttemptCost]) -> Payment:
    """The current list, the manifests, the new list, the new metadata object."""
    client, storage, clock, sizes = txn.client, world.storage, world.clock, world.sizes
    attempt = client.attempt
    is_metadata_now = not rules.checks_before_metadata(world.protocol_vector)
    for position, cost in enumerate(costs):
        table = base.tables[txn.tables[position]]
        begin_us = clock.now_us
        current = pay_list_read(txn, world, table.manifests, position, cost)
        if rules.writes_beside_list(world.protocol_vector, txn.operation):
            yield from side_by_side(clock, current, pay_own(txn, world, position, cost))
        else:
            yield from current
            txn.phase_us[PHASE_MANIFEST_LIST] += clock.now_us - begin_us
            begin_us = clock.now_us
            yield from pay_filter(txn, world, position, cost)
            yield from pay_own(txn, world, position, cost)
        yield from pay_merge(txn, world, position, cost)
        txn.phase_us[PHASE_MANIFESTS] += clock.now_us - begin_us
        if cost.list_writes:
            begin_us = clock.now_us
            yield from storage.write(
                "manifest_list",
                sizes.manifest_list_bytes(table.manifests + 1),
                client=client,
                counter=slot(attempt, LIST_WRITE, position),
                object=MANIFEST_LIST,
            )
            txn.phase_us[PHASE_MANIFEST_LIST] += clock.now_us - begin_us
        txn.kept_manifests += cost.own_writes + cost.filter_writes
    if is_metadata_now:
        begin_us = clock.now_us
        yield from pay_metadata_writes(txn, world, base, costs)
        txn.phase_us[PHASE_METADATA] += clock.now_us - begin_us


def read_list(txn: "Transaction", world: World, manifests: int, head_counter: int, read_counter: int) -> Payment:
    """One read of a current manifest list, behind a HEAD where the store's client asks for one."""
    client = txn.client
    if world.protocol_vector[IS_LIST_HEAD]:
        yield from world.storage.head("manifest_list", client=client, counter=head_counter, object=MANIFEST_LIST)
    yield from world.storage.read(
        "manifest_list",
        world.sizes.manifest_list_bytes(manifests),
        client=client,
        counter=read_counter,
        object=MANIFEST_LIST,
    )


def pay_list_read(txn: "Transaction", world: World, manifests: int, position: int, cost: AttemptCost) -> Payment:
    """The current list, if the plan asks for it."""
    if cost.list_reads:
        attempt = txn.client.attempt
        yield from read_list(
            txn, world, manifests, slot(attempt, LIST_HEAD, position), slot(attempt, LIST_READ, position)
        )


def side_by_side(clock: Clock, first: Payment, second: Payment) -> Payment:
    """Two payments that begin together; done when both are."""
    due = [(clock.now_us, first), (clock.now_us, second)]
    while due:
        earliest = min(range(len(due)), key=lambda i: due[i][0])
        at_us, payment = due[earliest]
        if at_us > clock.now_us:
            yield at_us - clock.now_us
        try:
            due[earliest] = (at_us + next(payment), payment)
        except StopIteration:
            del due[earliest]


def pay_filter(txn: "Transaction", world: World, position: int, cost: AttemptCost) -> Payment:
    """Existing manifests that files are taken out of, in batches."""
    client, storage, size_bytes = txn.client, world.storage, world.sizes.manifest_bytes
    parallel = world.protocol_vector[PARALLEL_MAX]
    if cost.filter_reads:
        counter = slot(client.attempt, MANIFEST_READ, position)
        yield from storage.read_batch(
            "manifest", size_bytes, cost.filter_reads, parallel, client=client, counter=counter, object=MANIFEST
        )
    yield from write_manifests(txn, world, position, cost.filter_writes, parallel, FILTER_DRAWS)


def pay_own(txn: "Transaction", world: World, position: int, cost: AttemptCost) -> Payment:
    """The manifests of the txn's own files, one by one."""
    yield from write_manifests(txn, world, position, cost.own_writes, 1, 0)


def pay_merge(txn: "Transaction", world: World, position: int, cost: AttemptCost) -> Payment:
    """Merged manifests, as parallel as the plan says."""
    client, storage, size_bytes = txn.client, world.storage, world.sizes.manifest_bytes
    parallel = cost.merge_parallel
    if cost.merge_reads:
        counter = slot(client.attempt, MERGE_READ, position)
        yield from storage.read_batch(
            "manifest", size_bytes, cost.merge_reads, parallel, client=client, counter=counter, object=MANIFEST
        )
    yield from write_manifests(txn, world, position, cost.merge_writes, parallel, MERGE_DRAWS)


def write_manifests(
    txn: "Transaction", world: World, position: int, count: int, parallel: int, first_draw: int
) -> Payment:
    """New manifests, and a HEAD for the length of each where the client asks for it."""
    client, storage = txn.client, world.storage
    if count:
        yield from storage.write_batch(
            "manifest",
            world.sizes.manifest_bytes,
            count,
            parallel,
            client=client,
            counter=slot(client.attempt, MANIFEST_WRITE, position) + first_draw,
            object=MANIFEST,
        )
        if world.protocol_vector[IS_WRITTEN_HEADED]:
            counter = slot(client.attempt, MANIFEST_HEAD, position) + first_draw
            yield from storage.head_batch("manifest", count, parallel, client=client, counter=counter, object=MANIFEST)


def pay_check_reads(txn: "Transaction", world: World, seen: CatalogSnapshot, costs: list[AttemptCost]) -> Payment:
    """The metadata object behind the pointer just read, where the client checks its base against it."""
    for position, cost in enumerate(costs):
        if cost.check_reads:
            yield from world.storage.read(
                "metadata",
                world.sizes.metadata_bytes(seen.tables[txn.tables[position]].version),
                client=txn.client,
                counter=slot(txn.client.attempt, METADATA_CHECK, position),
                object=METADATA,
            )


def pay_metadata_writes(txn: "Transaction", world: World, base: CatalogSnapshot, costs: list[AttemptCost]) -> Payment:
    """The new metadata object of every written table, behind a HEAD where the client makes sure it is new."""
    for position, cost in enumerate(costs):
        if cost.metadata_writes:
            version = base.tables[txn.tables[position]].version + 1
            if world.protocol_vector[IS_WRITTEN_HEADED]:
                counter = slot(txn.client.attempt, METADATA_HEAD, position)
                yield from world.storage.head("metadata", client=txn.client, counter=counter, object=METADATA)
            yield from world.storage.write(
                "metadata",
                world.sizes.metadata_bytes(version),
                client=txn.client,
                counter=slot(txn.client.attempt, METADATA_WRITE, position),
                object=METADATA,
            )


def append_lists(txn: "Transaction", world: World, base: CatalogSnapshot, costs: list[AttemptCost]) -> Payment:
    """ML+: a tentative entry at the end of each written table's list, last thing before the swap."""
    begin_us = world.clock.now_us
    for position, cost in enumerate(costs):
        if cost.list_appends:
            yield from append_list(txn, world, base, position)
    txn.phase_us[PHASE_MANIFEST_LIST] += world.clock.now_us - begin_us


def append_list(txn: "Transaction", world: World, base: CatalogSnapshot, position: int) -> Payment:
    """Append at the offset last known; learn the new one from a failure; rewrite a list found sealed."""
    client, catalog, table = txn.client, world.catalog, txn.tables[position]
    offset = base.tables[table].manifest_list_offset
    is_sealed = base.tables[table].is_manifest_list_sealed
    key = f"manifest_list/{table}"
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

        yield from world.storage.append(
            key,
            offset,
            world.list_entry_bytes,
            client=client,
            counter=slot(client.attempt, LIST_APPEND, position) + APPEND_DRAWS * tries,
            evaluate=evaluate,
            object=MANIFEST_LIST,
        )
        if found == LANDED:
            client.counters[COUNTER_MANIFEST_APPEND_PHYSICAL_SUCCESS] += 1
            return
        client.counters[COUNTER_MANIFEST_APPEND_PHYSICAL_FAILURE] += 1
        offset, is_sealed = end
        tries += 1
    yield from rewrite_sealed_list(txn, world, base, position)


def rewrite_sealed_list(txn: "Transaction", world: World, base: CatalogSnapshot, position: int) -> Payment:
    """A sealed list takes no appends: read it, write a fresh one that holds the own entry too."""
    client, table = txn.client, txn.tables[position]
    manifests = base.tables[table].manifests
    counter = slot(client.attempt, LIST_APPEND, position) + REWRITE_DRAWS
    yield from read_list(txn, world, manifests, counter, counter + 1)
    yield from world.storage.write(
        "manifest_list",
        world.sizes.manifest_list_bytes(manifests + 1),
        client=client,
        counter=counter + 2,
        object=MANIFEST_LIST,
    )
    world.catalog.rewrite_manifest_list(table)
    client.counters[COUNTER_MANIFEST_APPEND_SEALED_REWRITE] += 1


def reload_tables(txn: "Transaction", world: World, base: CatalogSnapshot) -> Payment:
    """What a committed operation reads back: the catalog, the metadata, the list (``SnapshotProducer.commit``)."""
    p, client, clock = world.protocol_vector, txn.client, world.clock
    if not rules.reloads_after_success(p):
        return
    if rules.rereads_catalog(p, txn.operation):
        begin_us = clock.now_us
        yield from world.catalog.read(client=client, step=READ_BACK, expected_size_bytes=base.size_bytes)
        txn.phase_us[PHASE_CATALOG_READ] += clock.now_us - begin_us
    has_metadata = p[IS_INLINED] == 0 and p[SERVER_WRITES_METADATA] == 0
    for position in range(txn.n_written):
        table = base.tables[txn.tables[position]]
        counter = slot(client.attempt, AFTER_READ, position)
        if has_metadata:
            begin_us = clock.now_us
            size_bytes = world.sizes.metadata_bytes(table.version + 1)
            yield from world.storage.read("metadata", size_bytes, client=client, counter=counter, object=METADATA)
            txn.phase_us[PHASE_METADATA] += clock.now_us - begin_us
        if txn.operation[KIND] != FAST_APPEND:
            begin_us = clock.now_us
            if p[IS_LIST_HEAD]:
                yield from world.storage.head("manifest_list", client=client, counter=counter + 1, object=MANIFEST_LIST)
            size_bytes = world.sizes.manifest_list_bytes(table.manifests + 1)
            yield from world.storage.read(
                "manifest_list", size_bytes, client=client, counter=counter + 2, object=MANIFEST_LIST
            )
            txn.phase_us[PHASE_MANIFEST_LIST] += clock.now_us - begin_us


def clean_up(txn: "Transaction", world: World, *, is_committed: bool) -> Payment:
    """Delete what lost attempts wrote; after an abort, the own manifests too."""
    if rules.cleans_up(world.protocol_vector):
        client, clock, storage = txn.client, world.clock, world.storage
        manifests = txn.lost_manifests + (0 if is_committed else txn.kept_manifests)
        for object, count, phase, position in (
            (MANIFEST_LIST, txn.lost_lists, PHASE_MANIFEST_LIST, 0),
            (MANIFEST, manifests, PHASE_MANIFESTS, 1),
        ):
            begin_us = clock.now_us
            counter = slot(client.attempt, CLEANUP, position)
            for i in range(count):
                yield from storage.delete("", client=client, counter=counter + i, object=object)
            txn.phase_us[phase] += clock.now_us - begin_us
    txn.lost_lists = txn.lost_manifests = txn.kept_manifests = 0
