"""Laws of a source's choice of tables and partitions, by the rules and by a user's selector."""

from collections import Counter

import pytest

from endive.errors import ConfigError
from endive.rng import PARTITION_COUNT, PARTITIONS, TABLE_COUNT, TABLES, WRITES, slot, substream, uniform
from endive.workload import TableSelector, UniformTableSelector, ZipfTableSelector
from endive.workload.picks import pick_index, zipf_tails

OF_THEM = "must hold at least one index, each from"


class FirstAndLast(TableSelector):
    """A user's selector: reads the first and the last table, writes one of them."""

    def select(self, count, total, /, *, key, counter, write_counter):
        written = 0 if uniform(key, write_counter) < 0.5 else total - 1
        return frozenset({0, total - 1}), frozenset({written})


class Returns(TableSelector):
    """A user's selector that returns what it is told to."""

    def __init__(self, read, written):
        self.sets = frozenset(read), frozenset(written)

    def select(self, count, total, /, *, key, counter, write_counter):
        return self.sets


def test_a_single_table_and_all_of_several_are_read_and_written_in_order(make_tables):
    assert ((0,), 1) == make_tables().tables(key=1)
    assert ((0, 1, 2, 3), 4) == make_tables(total=4, count=4).tables(key=1)


def test_a_hot_table_is_chosen_by_its_zipf_weight(make_tables):
    choice = make_tables(total=3, selector=ZipfTableSelector(1.0, 1.0))
    counts = Counter(choice.tables(key)[0][0] for key in range(22_000))

    assert [12_000, 6_000, 4_000] == pytest.approx([counts[table] for table in range(3)], abs=300)


def test_partitions_of_a_table_that_is_only_read_are_only_read(make_partitions):
    choice = make_partitions()

    for key in range(300):
        read, n_written = choice.partitions(False, key, 0)
        assert 0 == n_written
        assert sorted(read) == list(read)
        assert sorted(choice.partitions(True, key, 0)[0]) == list(read)


def test_partitions_are_picked_as_often_as_their_weights_say_and_others_never(make_partitions):
    choice = make_partitions(count=1, only=(1, 4), weights=(3.0, 1.0))

    picked = Counter(choice.partitions(True, key, 0)[0] for key in range(4_000))

    assert {(1,), (4,)} == set(picked)
    assert 3_000 == pytest.approx(picked[1,], abs=120)


def test_a_single_partition_is_written_if_its_table_is(make_partitions):
    choice = make_partitions(total=1, count=1)

    assert ((0,), 1) == choice.partitions(True, 5, 0)
    assert ((0,), 0) == choice.partitions(False, 5, 0)


# ---- names of draws ---------------------------------------------------------------------------------


def test_count_tables_and_writes_are_drawn_under_names_of_their_own(make_tables):
    choice = make_tables(total=50, count=0, count_alpha=0.5, selector=UniformTableSelector(0.3))
    tails = zipf_tails(50, 0.5)

    for key in range(200):
        count = 1 + pick_index(tails, 0, 50, uniform(key, slot(0, TABLE_COUNT, 0)))
        counters = {"counter": slot(0, TABLES, 0), "write_counter": slot(0, WRITES, 0)}
        read, written = choice.selector.select(count, 50, key=key, **counters)
        tables, n_written = choice.tables(key)
        assert (read, written) == (set(tables), set(tables[:n_written]))


def test_partitions_are_drawn_under_the_same_names_in_the_stream_of_their_table(make_partitions):
    choice = make_partitions(total=50, count=0, count_alpha=0.5)
    tails = zipf_tails(50, 0.5)

    for key in range(200):
        table_key = substream(key, 3)
        count = 1 + pick_index(tails, 0, 50, uniform(table_key, slot(0, PARTITION_COUNT, 0)))
        counters = {"counter": slot(0, PARTITIONS, 0), "write_counter": slot(0, WRITES, 0)}
        read, written = choice.selector.select(count, 50, key=table_key, **counters)
        partitions, n_written = choice.partitions(True, key, 3)
        assert (read, written) == (set(partitions), set(partitions[:n_written]))


# ---- a user's selector -----------------------------------------------------------------------------


def test_a_users_selector_chooses_on_the_reference_engine_only(make_tables):
    choice = make_tables(total=5, count=2, selector=FirstAndLast())

    assert choice.code() is None
    assert {((0, 4), 1), ((4, 0), 1)} == {choice.tables(key) for key in range(50)}


@pytest.mark.parametrize("count", [0, 3])
def test_a_users_selector_that_does_as_ours_chooses_as_ours(make_tables, count):
    class Alike(UniformTableSelector):
        pass

    size = {"total": 12, "count": count, "count_alpha": 0.0 if count else 0.8}
    ours = make_tables(selector=UniformTableSelector(0.5), **size)
    users = make_tables(selector=Alike(0.5), **size)

    assert users.code() is None
    for key in range(100):
        assert ours.tables(key) == users.tables(key)
        assert ours.partitions(True, key, 2) == users.partitions(True, key, 2)
        assert ours.partitions(False, key, 2) == users.partitions(False, key, 2)


def test_a_users_subclass_of_our_selector_is_asked_and_not_our_rules(make_tables, make_partitions):
    class OnlyTheLast(UniformTableSelector):
        def select(self, count, total, /, *, key, counter, write_counter):
            return frozenset({total - 1}), frozenset({total - 1})

    choice = make_tables(total=5, selector=OnlyTheLast(1.0))
    only_read = make_partitions(selector=FirstAndLast())

    assert {((4,), 1)} == {choice.tables(key) for key in range(20)}
    assert {((0, 9), 0)} == {only_read.partitions(False, key, 0) for key in range(20)}


@pytest.mark.parametrize(
    ("read", "written", "message"),
    [
        ([], [], f"the read set []: it {OF_THEM} 0 to 4."),
        ([5], [5], f"the read set [5]: it {OF_THEM} 0 to 4."),
        ([-1, 2], [2], f"the read set [-1, 2]: it {OF_THEM} 0 to 4."),
        ([1, 2], [3], f"the write set [3] with the read set [1, 2]: the write set {OF_THEM} the read set."),
        ([1, 2], [], f"the write set [] with the read set [1, 2]: the write set {OF_THEM} the read set."),
    ],
)
def test_sets_a_txn_cannot_have_are_refused(make_tables, read, written, message):
    choice = make_tables(total=5, count=2, selector=Returns(read, written))

    with pytest.raises(ConfigError) as refusal:
        choice.tables(key=1)

    assert f"Returns.select returned {message}" == str(refusal.value)


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ({"total": 3, "count": 4}, "count = 4: only 3 to choose from; choose a count between 1 and 3."),
        ({"total": 3, "count": -1}, "count = -1: only 3 to choose from; choose a count between 1 and 3."),
        ({"total": 0, "count": 0}, "0 to choose from: there must be at least 1."),
    ],
)
def test_impossible_sizes_are_refused(make_tables, size, message):
    with pytest.raises(ConfigError) as refusal:
        make_tables(**size)

    assert message == str(refusal.value)
