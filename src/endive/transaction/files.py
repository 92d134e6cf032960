"""Which data files an operation touches, and which rivals it must not have met there.

This file defines the files of a txn, as a keyed shuffle that is never stored, and Iceberg's verdict on a pair of
operations (docs/model/conflicts.md has what Iceberg was recorded doing). What a table remembers of its files is
``endive.catalog.file_history`` in the reference engine and ``endive.simulation.compiled.touching`` in the compiled one.

A table has as many *places* as data files, spread evenly over its partitions. A file that is rewritten leaves its place
to whatever took its rows. An operation touches some places: a MERGE those whose files it changes, a compaction those it
rewrites, an append those whose rows lie beside its new ones.
"""

from typing import Final

from endive.kernel import jitted, rule
from endive.rng import FILES, slot, substream, uniform
from endive.transaction.rules import Operation
from endive.vocabulary import (
    OVERWRITE_FILES,
    REPLACE_PARTITIONS,
    REWRITE_FILES,
    ROW_DELTA,
    SERIALIZABLE,
    VALIDATED_OVERWRITE,
)

# What can happen at a place, or to deletes anywhere in a partition.
ROWS_ADDED, FILE_REMOVED, DELETES_ADDED = range(3)
N_CHANGES: Final = 3

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


@rule
def touched_place(key: int, position: int, index: int, partition: int, per_partition: int) -> int:
    """The place of the txn's ``index``-th file in one partition of the table at ``position``."""
    return partition * per_partition + shuffled(substream(key, partition), position, index, per_partition)


@rule
def files_in_partition(touched: int, n_partitions: int, number: int) -> int:
    """How many of the files a txn touches lie in the ``number``-th of the partitions it writes."""
    return (touched + n_partitions - 1 - number) // n_partitions


@rule
def first_of_group(count: int, groups: int, group: int) -> int:
    """The first of a job's ``count`` files that belongs to one of its groups; the next group's is behind the last."""
    return group * (count // groups) + min(group, count % groups)


@rule
def replaces_whole_partitions(operation: Operation) -> bool:
    """Whether the operation takes every file of the partitions it writes."""
    return operation.kind == VALIDATED_OVERWRITE and operation.form == REPLACE_PARTITIONS


@rule
def makes(operation: Operation, change: int) -> bool:
    """Whether a commit of this operation makes such a change where it touches the table."""
    if change == ROWS_ADDED:
        return operation.kind < REWRITE_FILES  # appends and overwrites
    if change == FILE_REMOVED:
        return operation.kind == REWRITE_FILES or (
            operation.kind == VALIDATED_OVERWRITE and operation.form != ROW_DELTA
        )
    return operation.kind == VALIDATED_OVERWRITE and operation.form == ROW_DELTA


@rule
def minds(operation: Operation, change: int) -> bool:
    """Whether such a change at a place it touches makes this operation fail for good.

    Rows added: ``validateAddedDataFiles``. Files removed: ``validateDataFilesExist`` of a row delta that refers to
    them, ``failMissingDeletePaths`` of an overwrite or rewrite of files. Deletes added to a file that is taken:
    ``validateNoNewDeletesForDataFiles``; a row delta minds deletes anywhere in the partitions it read instead
    (``minds_deletes_anywhere``).
    """
    if operation.kind == REWRITE_FILES:
        return change != ROWS_ADDED
    if operation.kind != VALIDATED_OVERWRITE or operation.form == REPLACE_PARTITIONS:
        return False
    if change == ROWS_ADDED:
        return operation.isolation == SERIALIZABLE
    if operation.form == OVERWRITE_FILES:
        return True
    return change == FILE_REMOVED and operation.is_referring == 1


@rule
def minds_deletes_anywhere(operation: Operation) -> bool:
    """Whether new delete files anywhere in its partitions make it fail (``validateNoNewDeleteFiles``).

    Position deletes have no bounds of rows, so no filter tells one file's deletes from another's.
    """
    return operation.kind == VALIDATED_OVERWRITE and operation.form == ROW_DELTA
