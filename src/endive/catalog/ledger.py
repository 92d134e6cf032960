"""A second set of books: what every version must be if the history is serial.

An account of the commits, kept apart from the catalog's: for every unit of conflict (the catalog, a group, a table, a
partition) its version and the number of the commit that last changed it. The books share no code with what they check
(``endive.catalog.rules``), do not know what a txn does, and do not raise: the first violation is written down, and
whoever runs the simulation raises it (``endive.simulation.observer``).

Both engines keep a ``Ledger`` and one ``Unit`` for each unit the catalog has; neither grows with the commits.
"""

from operator import attrgetter
from typing import Final

from endive.catalog.rules import LogState
from endive.kernel import Ints, rule
from endive.record import Int32, Int64, Record, record

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


@record
class Violation(Record):
    """The first thing that was wrong: what, by whom, on which unit, what was due, what was found, and when."""

    wrong: Int64 = NOTHING
    txn: Int64
    unit: Int64
    due: Int64
    found: Int64
    at_us: Int64


@record
class Ledger(Record):
    """The account as a whole."""

    commits: Int64  # applied so far
    log_end_bytes: Int64  # of an append catalog
    log_swaps: Int64
    untold: Int64  # commits whose txns ended without knowing
    violation: Violation


@record
class Unit(Record):
    """Something that two txns can conflict on."""

    version: Int64
    changed_by: Int64  # number of the commit that last changed it
    firm_by: Int64  # the same, of commits that are no compactions
    number: Int32


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
def blame(ledger: Ledger, wrong: int, txn: int, unit: int, due: int, found: int, now_us: int) -> bool:
    """Write a violation down, unless there was one before; always False."""
    violation = ledger.violation
    if violation.wrong == NOTHING:
        violation.wrong = wrong
        violation.txn = txn
        violation.unit = unit
        violation.due = due
        violation.found = found
        violation.at_us = now_us
    return False


# --- reads -------------------------------------------------------------------------------------------------


@rule
def check_instant(ledger: Ledger, txn: int, server_us: int, stamped_us: int) -> bool:
    """A read describes the instant at which its request was at the server."""
    if stamped_us == server_us:
        return True
    return blame(ledger, READ_ANOTHER_INSTANT, txn, THE_CATALOG, server_us, stamped_us, server_us)


@rule
def check_seen(ledger: Ledger, unit: Unit, txn: int, seen: int, now_us: int) -> bool:
    """What a txn was shown of a unit is the unit's version at the server's instant."""
    if seen == unit.version:
        return True
    return blame(ledger, READ_ANOTHER_STATE, txn, unit.number, unit.version, seen, now_us)


# --- commits -----------------------------------------------------------------------------------------------


@rule
def has_changed(unit: Unit, base_commit: int) -> bool:
    """Whether a commit after number ``base_commit`` changed the unit."""
    return unit.changed_by > base_commit


@rule
def check_base(ledger: Ledger, unit: Unit, txn: int, base_commit: int, now_us: int, can_undo: bool) -> bool:
    """Nobody changed the unit after the commit that the txn built on, or only compactions that give way to it."""
    if not has_changed(unit, base_commit) or (can_undo and unit.firm_by <= base_commit):
        return True
    return blame(ledger, BUILT_ON_OLD, txn, unit.number, unit.changed_by, base_commit, now_us)


@rule
def check_once(ledger: Ledger, txn: int, times_applied: int, now_us: int) -> bool:
    """No txn is applied a second time."""
    if times_applied == 0:
        return True
    return blame(ledger, APPLIED_TWICE, txn, THE_CATALOG, 1, times_applied + 1, now_us)


@rule
def begin_commit(ledger: Ledger, catalog: Unit, is_compaction: bool) -> None:
    """One commit more, which changes the catalog; the other units it writes follow."""
    ledger.commits += 1
    change_unit(ledger, catalog, is_compaction)


@rule
def change_unit(ledger: Ledger, unit: Unit, is_compaction: bool) -> None:
    """The newest commit changes the unit: one version more, however often it is named."""
    if unit.changed_by != ledger.commits:
        unit.version += 1
        unit.changed_by = ledger.commits
        if not is_compaction:
            unit.firm_by = ledger.commits


@rule
def check_installed(ledger: Ledger, unit: Unit, txn: int, installed: int, now_us: int) -> bool:
    """The catalog's version of the unit after a commit is the one before it plus one."""
    if installed == unit.version:
        return True
    return blame(ledger, INSTALLED_ANOTHER_VERSION, txn, unit.number, unit.version, installed, now_us)


@rule
def check_log(
    ledger: Ledger, txn: int, end_bytes: int, swaps: int, entry_bytes: int, has_applied: bool, now_us: int
) -> bool:
    """The log stays, takes one whole record, or is compacted once; nothing is applied that did not arrive in it."""
    before = ledger.log_end_bytes
    is_compacted = swaps == ledger.log_swaps + 1 and end_bytes == before
    is_landed = swaps == ledger.log_swaps and end_bytes == before + entry_bytes
    is_still = swaps == ledger.log_swaps and end_bytes == before
    if is_still:
        if not has_applied:
            return True
        return blame(ledger, APPLIED_UNLANDED, txn, THE_CATALOG, before + entry_bytes, end_bytes, now_us)
    if not (is_compacted or is_landed):
        return blame(ledger, LOG_TORN, txn, THE_CATALOG, before + entry_bytes, end_bytes, now_us)
    ledger.log_end_bytes = end_bytes
    ledger.log_swaps = swaps
    return True


# --- answers -----------------------------------------------------------------------------------------------


@rule
def leave_untold(ledger: Ledger, times_applied: int) -> None:
    """A txn ends without knowing what became of its commit."""
    ledger.untold += times_applied


@rule
def check_told(ledger: Ledger, txn: int, is_committed: bool, times_applied: int, now_us: int) -> bool:
    """A txn is told "committed" if and only if it was applied."""
    if is_committed and times_applied == 0:
        return blame(ledger, COMMITTED_UNAPPLIED, txn, THE_CATALOG, 1, 0, now_us)
    if times_applied > 0 and not is_committed:
        return blame(ledger, APPLIED_UNCOMMITTED, txn, THE_CATALOG, 0, times_applied, now_us)
    return True


@rule
def check_counts(ledger: Ledger, reported: int, unanswered: int, now_us: int) -> bool:
    """Commits reported, those under way when the simulation ended and those left untold are all there are."""
    accounted = reported + unanswered + ledger.untold
    if ledger.commits == accounted:
        return True
    return blame(ledger, COUNTS_DIFFER, -1, THE_CATALOG, ledger.commits, accounted, now_us)


# --- a catalog before its first commit ---------------------------------------------------------------------


def open_ledger(log: LogState | None) -> Ledger:
    """The account, from the log the catalog starts with."""
    return Ledger() if log is None else Ledger(log_end_bytes=log.offset, log_swaps=log.epoch)


def open_units(versions: Ints) -> list[Unit]:
    """Its units, from the versions it starts with."""
    return [Unit(number=number, version=int(version)) for number, version in enumerate(versions)]


_version = attrgetter("version")


def versions_of(units: list[Unit]) -> tuple[int, ...]:
    """The version of every unit."""
    return tuple(map(_version, units))
