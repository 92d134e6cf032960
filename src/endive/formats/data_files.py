"""Which data files an operation touches: a keyed shuffle that is never stored.

True of any format; which changes at a place an operation minds is the format's (its ``conflicts``). What a table
remembers of its files is ``endive.formats.file_history`` in the reference engine and
``endive.simulation.compiled.planning`` in the compiled one.

A table has as many *places* as data files, spread evenly over its partitions. A file that is rewritten leaves its place
to whatever took its rows. An operation touches some places: a MERGE those whose files it changes, a compaction those it
rewrites, an append those whose rows lie beside its new ones.
"""

from typing import Final

from endive.kernel import jitted, rule
from endive.rng import FILES, slot, substream, uniform

# What can happen at a place, or anywhere in a partition. A file is removed by a commit that puts others in its stead,
# and dropped by one that only deletes; deletes are added by position (or as a vector) or by key; deletes are replaced
# where the delete file that a data file has makes room for another one.
ROWS_ADDED, FILE_REMOVED, DELETES_ADDED, KEYS_DELETED, FILE_DROPPED, DELETES_REPLACED = range(6)
N_CHANGES: Final = 6
UNDOABLE: Final = (FILE_REMOVED, DELETES_REPLACED)  # what a catalog takes back with a compaction

ROUNDS: Final = 4  # of the shuffle
ROUND_BITS: Final = 20  # room for one half of a place, per round, among the draws of one slot
FILES_MAX: Final = 1 << ROUND_BITS


@jitted
def shuffled(key: int, position: int, index: int, count: int) -> int:
    """The ``index``-th of ``count`` places in an order drawn from ``key``: every place once.

    A Feistel network over the next power of four, whose rounds are uniform draws; a result beyond ``count`` is shuffled
    again until it is not (cycle walking), so that the order stays a permutation.
    """
    bits = 1
    while (1 << (2 * bits)) < count:
        bits += 1
    mask = (1 << bits) - 1
    first = slot(0, FILES, position)
    place = index
    while True:
        left = place >> bits
        right = place & mask
        for number in range(ROUNDS):
            drawn = int(uniform(key, first + (number << ROUND_BITS) + right) * (mask + 1))
            left, right = right, left ^ drawn
        place = (left << bits) | right
        if place < count:
            return place


@jitted
def unshuffled(key: int, position: int, place: int, count: int) -> int:
    """The index whose place ``shuffled`` says this is."""
    bits = 1
    while (1 << (2 * bits)) < count:
        bits += 1
    mask = (1 << bits) - 1
    first = slot(0, FILES, position)
    index = place
    while True:
        left = index >> bits
        right = index & mask
        for number in range(ROUNDS - 1, -1, -1):
            drawn = int(uniform(key, first + (number << ROUND_BITS) + left) * (mask + 1))
            left, right = right ^ drawn, left
        index = (left << bits) | right
        if index < count:
            return index


@rule
def touched_place(key: int, position: int, index: int, partition: int, per_partition: int) -> int:
    """The place of the txn's ``index``-th file in one partition of the table at ``position``."""
    return partition * per_partition + shuffled(substream(key, partition), position, index, per_partition)


@rule
def index_of_place(key: int, position: int, place: int, partition: int, per_partition: int) -> int:
    """Which of the files a txn with this key would touch in a partition lies at a place of it."""
    return unshuffled(substream(key, partition), position, place - partition * per_partition, per_partition)


@rule
def files_in_partition(touched: int, n_partitions: int, number: int) -> int:
    """How many of the files a txn touches lie in the ``number``-th of the partitions it writes."""
    return (touched + n_partitions - 1 - number) // n_partitions


@rule
def first_of_group(count: int, groups: int, group: int) -> int:
    """The first of a job's ``count`` files that belongs to one of its groups; the next group's is behind the last."""
    return group * (count // groups) + min(group, count % groups)
