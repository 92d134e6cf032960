"""Clients that keep their table: what they take along from one txn to the next.

That is the newest state the client was shown, or left behind by a commit. What a txn does with it is the business of
``stages``.
"""

from endive.kernel import overwrite, step
from endive.simulation.compiled import memory
from endive.simulation.compiled.memory import kept_at, kept_table, server_table, source_at, touched_at
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.simulation.compiled.server import catalog_bytes


@step
def kept_number(world: WorldRecord, txn: TxnRecord) -> int:
    """Whose kept state it is."""
    return source_at(world, txn.source).first_kept + txn.row.client


@step
def remember(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """The client will go on from the state of this instant."""
    number = kept_number(world, txn)
    kept = kept_at(world, number)
    kept.is_there = 1
    kept.shown_us = now
    kept.catalog_bytes = catalog_bytes(world)
    kept.commit = world.books.ledger.commits
    taken = memory.kept_versions(world, number)
    versions = memory.versions(world)
    for place in range(world.server.n_versions):
        taken[place] = versions[place]
    for table in range(world.catalog.num_tables):
        overwrite(kept_table(world, number, table), server_table(world, table))


@step
def recall(world: WorldRecord, txn: TxnRecord) -> None:
    """The client's next txn begins with what it knew: its base, though it was shown to the txn before."""
    number = kept_number(world, txn)
    versions = memory.kept_versions(world, number)
    watched = memory.watched(world, txn)
    expected = memory.expected(world, txn)
    for i in range(txn.n_watched):
        expected[i] = versions[watched[i]]
    tables = memory.table_ids(world, txn)
    for position in range(txn.row.n_tables_written):
        table = tables[position]
        overwrite(touched_at(world, txn, position).base, kept_table(world, number, table))
        if world.catalog.num_partitions > 0:
            first = memory.first_partition(world, table)
            partitions = memory.partitions(world, txn, position)
            seen = memory.partition_versions(world, txn, position, 2)
            for i in range(touched_at(world, txn, position).n_partitions):
                seen[i] = versions[first + partitions[i]]
    kept = kept_at(world, number)
    txn.base_us = kept.shown_us
    txn.base_bytes = kept.catalog_bytes
    txn.base_commit = kept.commit
