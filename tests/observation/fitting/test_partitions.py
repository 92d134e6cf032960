"""Partitions that commits were seen to write to become weights, as the table has them or from the newest back."""

from dataclasses import replace
from types import SimpleNamespace

from tests.observation.fitting.test_sources import commits, history

from endive.config import parse_config
from endive.observation.fitting.configuration import configuration
from endive.observation.fitting.partitions import partition_numbers, partition_weights
from endive.observation.fitting.sources import fit_sources
from endive.observation.history import TableShape
from endive.observation.tables.manifests import _one_of_each, _place

SHAPE = TableShape(snapshots=60, partition_fields=1, partitions=4, data_files=40)


def placed(found, names, first_id=1):
    return [
        replace(each, snapshot_id=first_id + at, places=(names[at % len(names)],), changed_partitions=1)
        for at, each in enumerate(found)
    ]


def test_who_always_writes_to_the_same_partitions_gets_their_weights_and_who_writes_to_all_gets_none():
    table = history(
        placed(commits(40, 10_000, writer="stream"), ["b"]),
        placed(
            commits(20, 20_000, writer="batch", engine="trino", offset_ms=5_000.0), ["a", "b", "c", "d"], first_id=100
        ),
        shape=SHAPE,
    )

    document, _ = configuration(table, fit_sources(table))
    weights = {source["name"]: source["partitions"].get("weights") for source in document["source"]}

    assert {"stream": [40.0], "batch": None} == weights
    assert (40.0,) == parse_config(document).sources[0].partitions.weights


def test_a_table_that_goes_on_to_new_partitions_is_counted_from_the_newest_back():
    hours = [f"hour={at // 10:02d}" for at in range(80)]
    late = [f"hour={max(0, at // 10 - 1):02d}" for at in range(80)]
    table = history(
        [
            replace(each, snapshot_id=at, places=(hours[at],))
            for at, each in enumerate(commits(80, 1_000, writer="now"))
        ],
        [
            replace(each, snapshot_id=500 + at, places=(late[at],))
            for at, each in enumerate(commits(80, 1_000, writer="late", offset_ms=500.0))
        ],
    )

    numbers = partition_numbers(table.commits)
    now, later = ([each for each in table.commits if each.writer == name] for name in ("now", "late"))

    assert (80.0,) == partition_weights(now, numbers, 24)
    assert (10.0, 70.0) == partition_weights(later, numbers, 24)


def test_a_table_whose_partitions_nobody_counted_has_no_weights():
    own = placed(commits(40, 10_000, writer="w"), ["a", "b"])

    assert None is partition_weights(own, partition_numbers(own), 0)


def manifest(snapshot_id, low, high, *, existing=0):
    bounds = SimpleNamespace(lower_bound=low, upper_bound=high, contains_null=False)
    counts = {"existing_files_count": existing, "deleted_files_count": 0, "added_files_count": 1}
    return SimpleNamespace(added_snapshot_id=snapshot_id, content=0, partitions=[bounds], partition_spec_id=0, **counts)


def test_partitions_of_many_manifests_are_counted_by_reading_one_of_each():
    many = [manifest(n, bytes([n % 4]), bytes([n % 4])) for n in range(120)]
    wide = manifest(120, b"\x01", b"\x09")

    assert [*many[:4], wide] == _one_of_each([*many, wide])


def test_a_manifest_of_one_partition_says_where_its_snapshot_added_files():
    places: dict[int, set[str]] = {}
    for low, existing, snapshot_id in ((b"\x04", 0, 1), (b"\x01", 0, 2), (b"\x04", 2, 3)):
        _place(manifest(snapshot_id, low, b"\x04", existing=existing), places)

    assert {1: {"04"}, 2: {""}} == places


def test_a_few_commits_to_one_partition_tell_but_those_of_a_source_that_mostly_fails_do_not():
    three = placed(commits(3, 10_000, writer="w"), ["c"])
    expired = [replace(each, snapshot_id=None, places=()) for each in commits(20, 10_000, writer="w")]
    lost = [replace(each, snapshot_id=None, places=(), is_committed=False) for each in commits(2, 9_000, writer="w")]
    numbers = {each.snapshot_id: (2,) for each in three}

    assert (0.0, 0.0, 3.0) == partition_weights([*three, *expired], numbers, 8)
    assert None is partition_weights([*three, *lost], numbers, 8)
    assert None is partition_weights(three[:2], {1: (2,), 2: (5,)}, 8)  # two of eight may be any two
