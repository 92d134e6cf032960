"""The second set of books: what it accepts and what it blames, in both engines."""

import pytest

from endive.catalog import ledger as books
from endive.catalog.rules import LogState

GROUPS, TABLES, PARTITIONS = 2, 3, 4
UNITS = 1 + GROUPS + TABLES + TABLES * PARTITIONS


@pytest.fixture
def ledger():
    return books.open_ledger(None)


@pytest.fixture
def units():
    return books.open_units([0] * UNITS)


@pytest.fixture
def commit(ledger, units):
    def commit(*numbers):
        books.begin_commit(ledger, units[books.THE_CATALOG], False)
        for number in numbers:
            books.change_unit(ledger, units[number], False)

    return commit


def blamed(ledger):
    violation = ledger.violation
    return violation.wrong, violation.txn, violation.unit, violation.due, violation.found, violation.at_us


def test_every_unit_has_a_place_of_its_own():
    places = [books.THE_CATALOG]
    places += [books.unit_of_group(table, GROUPS) for table in range(GROUPS)]
    places += [books.unit_of_table(table, GROUPS) for table in range(TABLES)]
    places += [
        books.unit_of_partition(table, partition, GROUPS, TABLES, PARTITIONS)
        for table in range(TABLES)
        for partition in range(PARTITIONS)
    ]

    assert list(range(UNITS)) == places


@pytest.mark.parametrize(
    ("scope", "unit"), [(books.BY_CATALOG, 0), (books.BY_GROUP, 1), (books.BY_TABLE, 1 + GROUPS + 2)]
)
def test_two_txns_on_one_table_meet_on_the_unit_of_the_scope(scope, unit):
    assert unit == books.deciding_unit(scope, 2, GROUPS)


def test_a_commit_moves_each_of_its_units_by_one_however_often_it_is_named(ledger, units, commit):
    commit(1, 4, 1)
    commit(4)

    assert (2, 1, 0, 0, 2) == books.versions_of(units)[:5]
    assert [2, 1, 0, 0, 2] == [unit.changed_by for unit in units[:5]]
    assert 2 == ledger.commits


def test_a_base_is_old_once_somebody_changed_what_it_touches_and_not_before(ledger, units, commit):
    commit(4)
    commit(5)

    assert books.check_base(ledger, units[4], 7, 1, 900, False)
    assert not books.check_base(ledger, units[5], 7, 1, 900, False)
    assert (books.BUILT_ON_OLD, 7, 5, 2, 1, 900) == blamed(ledger)


def test_the_first_violation_is_the_one_that_stays(ledger, units):
    books.check_once(ledger, 3, 1, 50)
    books.check_seen(ledger, units[4], 9, 6, 60)

    assert (books.APPLIED_TWICE, 3, 0, 1, 2, 50) == blamed(ledger)


def test_what_a_txn_is_shown_is_the_version_in_the_books(ledger, units, commit):
    commit(4)

    assert books.check_seen(ledger, units[4], 1, 1, 10)
    assert not books.check_seen(ledger, units[4], 1, 0, 10)
    assert (books.READ_ANOTHER_STATE, 1, 4, 1, 0, 10) == blamed(ledger)


@pytest.mark.parametrize(
    ("is_committed", "times_applied", "wrong"),
    [
        (True, 1, books.NOTHING),
        (False, 0, books.NOTHING),
        (True, 0, books.COMMITTED_UNAPPLIED),
        (False, 1, books.APPLIED_UNCOMMITTED),
    ],
)
def test_a_txn_is_told_committed_if_and_only_if_it_was_applied(ledger, is_committed, times_applied, wrong):
    assert (wrong == books.NOTHING) == books.check_told(ledger, 5, is_committed, times_applied, 10)
    assert wrong == ledger.violation.wrong


@pytest.mark.parametrize(
    ("end", "swaps", "has_applied", "wrong"),
    [
        (300, 2, False, books.NOTHING),  # refused
        (400, 2, True, books.NOTHING),  # landed
        (400, 2, False, books.NOTHING),  # landed, not applied
        (300, 3, True, books.NOTHING),  # compacted, with a record
        (300, 2, True, books.APPLIED_UNLANDED),
        (350, 2, False, books.LOG_TORN),
        (200, 2, False, books.LOG_TORN),
        (300, 4, False, books.LOG_TORN),
        (400, 3, True, books.LOG_TORN),
    ],
)
def test_a_log_takes_whole_records_one_at_a_time(end, swaps, has_applied, wrong):
    ledger = books.open_ledger(LogState(offset=300, epoch=2))

    books.check_log(ledger, 5, end, swaps, 100, has_applied, 10)

    assert wrong == ledger.violation.wrong


def test_commits_reported_and_under_way_are_all_there_are(ledger, commit):
    commit(4)
    commit(4)

    assert books.check_counts(ledger, 1, 1, 10)
    assert not books.check_counts(ledger, 1, 0, 10)
    assert (books.COUNTS_DIFFER, -1, 0, 2, 1, 10) == blamed(ledger)


def test_a_commit_whose_txn_never_learnt_of_it_is_accounted_for(ledger, commit):
    commit(4)
    commit(4)
    books.leave_untold(ledger, 1)
    books.leave_untold(ledger, 0)  # a txn that was not applied

    assert 1 == ledger.untold
    assert books.check_counts(ledger, 1, 0, 10)
    assert not books.check_counts(ledger, 1, 1, 10)
    assert (books.COUNTS_DIFFER, -1, 0, 2, 3, 10) == blamed(ledger)
