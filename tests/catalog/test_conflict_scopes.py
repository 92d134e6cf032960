"""Which commits conflict: the scope of a catalog's state, its partitions and groups, and what its tables hold."""

import pytest
from tests.catalog.calls import commit, intend, make_catalog

from endive.catalog import CatalogState
from endive.catalog.rules import SCOPE_CATALOG, SCOPE_GROUP, SCOPE_PARTITION, SCOPE_TABLE

# (tables read, how many of them written) of the winner and of the txn that comes after it.
MEETINGS = {
    "same table": (((0,), 1), ((0,), 1)),
    "same group": (((0,), 1), ((2,), 1)),
    "other group": (((0,), 1), ((1,), 1)),
    "read by the loser": (((0,), 1), ((1, 0), 1)),
    "read by the winner": (((1, 0), 1), ((0,), 1)),
}


def test_a_snapshot_carries_what_the_internals_list(clock):
    """Sequence number, versions of tables and partitions, and when it was captured; lists are the format's."""
    state = CatalogState(num_tables=2, num_partitions=3, scope=SCOPE_PARTITION)
    catalog = make_catalog("cas", clock, state)
    clock.now_us = 7_000
    start = state.snapshot(clock.now_us)
    done = clock.start(commit(catalog, clock, intend(1, start, 1, partitions=(((2,), 1),))))
    clock.run()
    after = state.snapshot(clock.now_us)

    assert done.value.success
    assert (0, 7.0) == (start.seq, start.timestamp_ms)
    assert (1, [0, 1]) == (after.seq, [table.version for table in after.tables])
    assert (3, 0, 1) == (
        after.get_table(1).num_partitions,
        after.get_partition_version(1, 0),
        after.get_partition_version(1, 2),
    )


@pytest.mark.parametrize(
    ("scope", "conflicts"),
    [
        (SCOPE_CATALOG, set(MEETINGS)),
        (SCOPE_GROUP, {"same table", "same group", "read by the loser"}),
        (SCOPE_TABLE, {"same table", "read by the loser"}),
    ],
)
@pytest.mark.parametrize("meeting", MEETINGS)
def test_a_scope_says_which_commits_conflict(clock, scope, conflicts, meeting):
    state = CatalogState(num_tables=4, scope=scope, num_groups=2 if scope == SCOPE_GROUP else 0)
    catalog = make_catalog("instant", clock, state)
    base = state.snapshot(0)
    (winner, n_won), (loser, n_lost) = MEETINGS[meeting]
    first = clock.start(commit(catalog, clock, intend(1, base, *winner, n_written=n_won)))
    second = clock.start(commit(catalog, clock, intend(2, base, *loser, n_written=n_lost)))
    clock.run()

    assert first.value.success
    assert (meeting not in conflicts) == second.value.success


# (partitions touched, how many of them written) of winner and loser, on one table.
PARTITION_MEETINGS = {
    "same partition": (((0,), 1), ((0,), 1), True),
    "other partition": (((0,), 1), ((1,), 1), False),
    "overlapping": (((0, 1), 2), ((1, 2), 2), True),
    "read by the loser": (((0,), 1), ((1, 0), 1), True),
    "read by the winner": (((1, 0), 1), ((0,), 1), False),
}


@pytest.mark.parametrize("meeting", PARTITION_MEETINGS)
def test_partition_scope_conflicts_only_on_partitions_touched(clock, meeting):
    state = CatalogState(num_tables=2, scope=SCOPE_PARTITION, num_partitions=3)
    catalog = make_catalog("instant", clock, state)
    base = state.snapshot(0)
    winner, loser, conflicts = PARTITION_MEETINGS[meeting]
    clock.start(commit(catalog, clock, intend(1, base, 0, partitions=(winner,))))
    second = clock.start(commit(catalog, clock, intend(2, base, 0, partitions=(loser,))))
    clock.run()

    assert (not conflicts) == second.value.success
    moved = 1 if conflicts else 2
    assert (moved, moved) == (state.seq, state.snapshot(0).tables[0].version)


def test_a_partition_is_its_tables_own(clock):
    state = CatalogState(num_tables=2, scope=SCOPE_PARTITION, num_partitions=3)
    catalog = make_catalog("instant", clock, state)
    base = state.snapshot(0)
    calls = [clock.start(commit(catalog, clock, intend(t, base, t, partitions=(((0,), 1),)))) for t in (0, 1)]
    clock.run()

    assert [True, True] == [call.value.success for call in calls]
    assert (1, 0, 0) == state.snapshot(0).tables[0].partition_versions
    assert (1, 0, 0) == state.snapshot(0).tables[1].partition_versions


def test_a_group_moves_once_per_commit_however_many_of_its_tables_are_written():
    state = CatalogState(num_tables=4, scope=SCOPE_GROUP, num_groups=2)
    state.apply(intend(1, state.snapshot(0), 0, 1, 2))

    assert [1, 1, 1, 1, 1, 1, 0] == state.versions  # seq, groups 0 and 1, tables 0 to 3


class Counting:
    """Content that counts commits, and makes the catalog object grow by seven bytes each."""

    def __init__(self):
        self.commits = []

    def show(self, table):
        return (f"table {table} after {len(self.commits)}",)

    def install(self, intention, now_us):
        self.commits.append((intention.txn_id, now_us))
        return 7


def test_what_a_commit_leaves_behind_is_installed_by_the_content_and_shown_as_it_says():
    content = Counting()
    state = CatalogState(num_tables=2, scope=SCOPE_TABLE, catalog_bytes=500, content=content)
    before = state.snapshot(0)
    state.apply(intend(1, before, 1), now_us=30)
    state.apply(intend(2, state.snapshot(0), 0), now_us=40)

    assert [(1, 30), (2, 40)] == content.commits
    assert (500, 514) == (before.size_bytes, state.size_bytes)
    assert ["table 0 after 0", "table 1 after 0"] == [table.state for table in before.tables]
    assert ["table 0 after 2", "table 1 after 1"] == [table.state for table in state.snapshot(0).tables]


def test_a_catalog_without_content_keeps_versions_and_nothing_else():
    state = CatalogState(num_tables=2, scope=SCOPE_TABLE)
    state.apply(intend(1, state.snapshot(0), 1))

    assert [(0, None), (1, None)] == [(table.version, table.state) for table in state.snapshot(0).tables]
    assert 1_000 == state.size_bytes
