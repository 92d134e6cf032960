"""A second set of books: what every version must be if the history is serial.

This file defines an account of the commits that is kept apart from the catalog's: for every unit of conflict (the
catalog, a group, a table, a partition) its version and the number of the commit that last changed it. Refuses to
share code with what it checks (``endive.catalog.rules``), to know what a txn does, and to raise: the first violation
is written down, and whoever runs the simulation raises it (``endive.simulation.observer``).

The account is one flat vector, as long as the catalog has units and no longer after a million commits. Both
engines keep one: the reference engine a list, the compiled engine places of its array from ``at`` on.
"""

from typing import Final

from endive.catalog.rules import LogState
from endive.kernel import Ints, MutableInts, rule

# The first violation: what, by whom, on which unit, what was due, what was found, and when.
WRONG: Final = 0
WRONG_TXN: Final = 1
WRONG_UNIT: Final = 2
WRONG_DUE: Final = 3
WRONG_FOUND: Final = 4
WRONG_US: Final = 5
# Commits applied so far, where the log of an append catalog ends, and commits whose txns ended without knowing.
COMMITS: Final = 6
LOG_END: Final = 7
LOG_SWAPS: Final = 8
UNTOLD: Final = 9
# Two places per unit: its version, and the number of the commit that last changed it.
FIRST_UNIT: Final = 10
PER_UNIT: Final = 2

NOTHING: Final = 0
READ_ANOTHER_INSTANT: Final = 1
READ_ANOTHER_STATE: Final = 2
BUILT_ON_OLD: Final = 3
INSTALLED_ANOTHER_VERSION: Final = 4
APPLIED_TWICE: Final = 5
COMMITTED_UNAPPLIED: Final = 6
APPLIED_UNCOMMITTED: Final = 7
LOG_TORN: Final = 8
APPLIED_UNLANDED: Final = 9
COUNTS_DIFFER: Final = 10
CHANGED_BY_NOBODY: Final = 11
BUILT_ON_UNREAD: Final = 12
COMMITTED_BEFORE_ARRIVAL: Final = 13

# Scopes of a conflict, as configured.
BY_CATALOG: Final = 0
BY_GROUP: Final = 1
BY_TABLE: Final = 2
BY_PARTITION: Final = 3

THE_CATALOG: Final = 0  # the unit that every commit changes


@rule
def unit_of_group(table: int, num_groups: int) -> int:
    """The unit of the group a table is hashed into."""
    return 1 + table % num_groups


@rule
def unit_of_table(table: int, num_groups: int) -> int:
    """The unit of a table."""
    return 1 + num_groups + table


@rule
def unit_of_partition(table: int, partition: int, num_groups: int, num_tables: int, num_partitions: int) -> int:
    """The unit of one partition of a table."""
    return 1 + num_groups + num_tables + table * num_partitions + partition


@rule
def deciding_unit(scope: int, table: int, num_groups: int) -> int:
    """The unit on which two txns that touch ``table`` meet; not for partitions."""
    if scope == BY_CATALOG:
        return THE_CATALOG
    if scope == BY_GROUP:
        return unit_of_group(table, num_groups)
    return unit_of_table(table, num_groups)


@rule
def blame(ledger: MutableInts, at: int, wrong: int, txn: int, unit: int, due: int, found: int, now_us: int) -> bool:
    """Write a violation down, unless there was one before; always False."""
    if ledger[at + WRONG] == NOTHING:
        ledger[at + WRONG] = wrong
        ledger[at + WRONG_TXN] = txn
        ledger[at + WRONG_UNIT] = unit
        ledger[at + WRONG_DUE] = due
        ledger[at + WRONG_FOUND] = found
        ledger[at + WRONG_US] = now_us
    return False


# --- reads -------------------------------------------------------------------------------------------------


@rule
def check_instant(ledger: MutableInts, at: int, txn: int, server_us: int, stamped_us: int) -> bool:
    """A read describes the instant at which its request was at the server."""
    if stamped_us == server_us:
        return True
    return blame(ledger, at, READ_ANOTHER_INSTANT, txn, THE_CATALOG, server_us, stamped_us, server_us)


@rule
def check_seen(ledger: MutableInts, at: int, txn: int, unit: int, seen: int, now_us: int) -> bool:
    """What a txn was shown of a unit is the unit's version at the server's instant."""
    version = ledger[at + FIRST_UNIT + PER_UNIT * unit]
    if seen == version:
        return True
    return blame(ledger, at, READ_ANOTHER_STATE, txn, unit, version, seen, now_us)


# --- commits -----------------------------------------------------------------------------------------------


@rule
def has_changed(ledger: Ints, at: int, unit: int, base_commit: int) -> bool:
    """Whether a commit after number ``base_commit`` changed the unit."""
    return ledger[at + FIRST_UNIT + PER_UNIT * unit + 1] > base_commit


@rule
def check_base(ledger: MutableInts, at: int, txn: int, unit: int, base_commit: int, now_us: int) -> bool:
    """Nobody changed the unit after the commit that the txn built on: its hazard window was empty."""
    if not has_changed(ledger, at, unit, base_commit):
        return True
    last = ledger[at + FIRST_UNIT + PER_UNIT * unit + 1]
    return blame(ledger, at, BUILT_ON_OLD, txn, unit, last, base_commit, now_us)


@rule
def check_once(ledger: MutableInts, at: int, txn: int, times_applied: int, now_us: int) -> bool:
    """No txn is applied a second time."""
    if times_applied == 0:
        return True
    return blame(ledger, at, APPLIED_TWICE, txn, THE_CATALOG, 1, times_applied + 1, now_us)


@rule
def begin_commit(ledger: MutableInts, at: int) -> None:
    """One commit more; the units it writes follow."""
    ledger[at + COMMITS] += 1
    change_unit(ledger, at, THE_CATALOG)


@rule
def change_unit(ledger: MutableInts, at: int, unit: int) -> None:
    """The newest commit changes the unit: one version more, however often it is named."""
    place = at + FIRST_UNIT + PER_UNIT * unit
    if ledger[place + 1] != ledger[at + COMMITS]:
        ledger[place] += 1
        ledger[place + 1] = ledger[at + COMMITS]


@rule
def check_installed(ledger: MutableInts, at: int, txn: int, unit: int, installed: int, now_us: int) -> bool:
    """The catalog's version of the unit after a commit is the one before it plus one."""
    version = ledger[at + FIRST_UNIT + PER_UNIT * unit]
    if installed == version:
        return True
    return blame(ledger, at, INSTALLED_ANOTHER_VERSION, txn, unit, version, installed, now_us)


@rule
def check_log(
    ledger: MutableInts, at: int, txn: int, end_bytes: int, swaps: int, entry_bytes: int, has_applied: bool, now_us: int
) -> bool:
    """The log stays, takes one whole record, or is compacted once; nothing is applied that did not arrive in it."""
    before = ledger[at + LOG_END]
    is_compacted = swaps == ledger[at + LOG_SWAPS] + 1 and end_bytes == before
    is_landed = swaps == ledger[at + LOG_SWAPS] and end_bytes == before + entry_bytes
    is_still = swaps == ledger[at + LOG_SWAPS] and end_bytes == before
    if is_still:
        if not has_applied:
            return True
        return blame(ledger, at, APPLIED_UNLANDED, txn, THE_CATALOG, before + entry_bytes, end_bytes, now_us)
    if not (is_compacted or is_landed):
        return blame(ledger, at, LOG_TORN, txn, THE_CATALOG, before + entry_bytes, end_bytes, now_us)
    ledger[at + LOG_END] = end_bytes
    ledger[at + LOG_SWAPS] = swaps
    return True


# --- answers -----------------------------------------------------------------------------------------------


@rule
def leave_untold(ledger: MutableInts, at: int, times_applied: int) -> None:
    """A txn ends without knowing what became of its commit."""
    ledger[at + UNTOLD] += times_applied


@rule
def check_told(ledger: MutableInts, at: int, txn: int, is_committed: bool, times_applied: int, now_us: int) -> bool:
    """A txn is told "committed" if and only if it was applied."""
    if is_committed and times_applied == 0:
        return blame(ledger, at, COMMITTED_UNAPPLIED, txn, THE_CATALOG, 1, 0, now_us)
    if times_applied > 0 and not is_committed:
        return blame(ledger, at, APPLIED_UNCOMMITTED, txn, THE_CATALOG, 0, times_applied, now_us)
    return True


@rule
def check_counts(ledger: MutableInts, at: int, reported: int, unanswered: int, now_us: int) -> bool:
    """Commits reported, those under way when the simulation ended and those left untold are all there are."""
    accounted = reported + unanswered + ledger[at + UNTOLD]
    if ledger[at + COMMITS] == accounted:
        return True
    return blame(ledger, at, COUNTS_DIFFER, -1, THE_CATALOG, ledger[at + COMMITS], accounted, now_us)


def open_ledger(versions: Ints, log: LogState | None) -> list[int]:
    """The account of a catalog before its first commit, from the versions and the log it starts with."""
    ledger = [0] * (FIRST_UNIT + PER_UNIT * len(versions))
    if log is not None:
        ledger[LOG_END], ledger[LOG_SWAPS] = log.offset, log.epoch
    ledger[FIRST_UNIT::PER_UNIT] = [int(version) for version in versions]
    return ledger


def versions_of(ledger: list[int]) -> tuple[int, ...]:
    """The version of every unit."""
    return tuple(ledger[FIRST_UNIT::PER_UNIT])
