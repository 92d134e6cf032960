"""Data files: the shuffle that picks them, and whom an operation minds meeting there."""

from math import comb, sqrt
from typing import Any

import pytest

from endive import simulate
from endive.config import parse_config
from endive.formats.data_files import (
    DELETES_ADDED,
    DELETES_REPLACED,
    FILE_DROPPED,
    FILE_REMOVED,
    KEYS_DELETED,
    ROWS_ADDED,
    files_in_partition,
    shuffled,
    touched_place,
)
from endive.formats.file_history import FileHistory, TouchedFiles
from endive.formats.iceberg.conflicts import makes, minds, minds_in_partition
from endive.formats.operation import Operation
from endive.rng import stream_key, substream
from endive.simulation.build_source import is_by_files
from endive.vocabulary import (
    CHECKS_ADDED_ROWS,
    CHECKS_NONE,
    CHECKS_PARTITIONS,
    DELETES_EQUALITY,
    DELETES_VECTOR,
    FAST_APPEND,
    MERGE_APPEND,
    OVERWRITE_FILES,
    READS_PARTITIONS,
    READS_TABLE,
    REPLACE_PARTITIONS,
    REWRITE_FILES,
    ROW_DELTA,
    SERIALIZABLE,
    SNAPSHOT,
    VALIDATED_OVERWRITE,
)

KEY = stream_key(7, "files")
CHANGES = (ROWS_ADDED, FILE_REMOVED, DELETES_ADDED, KEYS_DELETED, FILE_DROPPED, DELETES_REPLACED)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 16, 17, 64, 100, 1_000])
def test_a_shuffle_names_every_place_once(count):
    assert set(range(count)) == {shuffled(KEY, 0, index, count) for index in range(count)}


def test_two_txns_shuffle_differently():
    first, second = ([shuffled(substream(KEY, txn), 0, index, 1_000) for index in range(20)] for txn in (1, 2))

    assert first != second


@pytest.mark.parametrize(("files", "mine", "theirs"), [(40, 4, 6), (1_000, 20, 50), (100, 1, 1), (50, 25, 3)])
def test_random_files_of_two_txns_meet_as_often_as_random_subsets_of_those_sizes(files, mine, theirs):
    pairs = 3_000
    meetings = 0
    for pair in range(pairs):
        places = {shuffled(substream(KEY, 2 * pair), 0, index, files) for index in range(mine)}
        others = {shuffled(substream(KEY, 2 * pair + 1), 0, index, files) for index in range(theirs)}
        meetings += bool(places & others)
    chance = 1.0 - comb(files - mine, theirs) / comb(files, theirs)

    assert chance == pytest.approx(meetings / pairs, abs=4 * sqrt(chance * (1.0 - chance) / pairs))


def test_files_lie_in_the_partitions_that_are_written():
    places = {touched_place(KEY, 0, index, partition, 10) for partition in (2, 5) for index in range(10)}

    assert {*range(20, 30), *range(50, 60)} == places


@pytest.mark.parametrize("touched", [0, 1, 2, 7, 30])
@pytest.mark.parametrize("partitions", [1, 2, 3, 8])
def test_files_are_shared_out_among_partitions_without_loss(touched, partitions):
    shares = [files_in_partition(touched, partitions, number) for number in range(partitions)]

    assert touched == sum(shares)
    assert max(shares) - min(shares) <= 1


# ---- who minds whom, as docs/model/conflicts.md has it recorded ---------------------------------------


def row_delta(isolation: str = SERIALIZABLE, *, is_referring: int = 1, **more: Any) -> Operation:
    return Operation(kind=VALIDATED_OVERWRITE, form=ROW_DELTA, isolation=isolation, is_referring=is_referring, **more)


def overwrite(isolation: str = SERIALIZABLE, **more: Any) -> Operation:
    return Operation(kind=VALIDATED_OVERWRITE, form=OVERWRITE_FILES, isolation=isolation, **more)


def replacement(**more: Any) -> Operation:
    return Operation(kind=VALIDATED_OVERWRITE, form=REPLACE_PARTITIONS, **more)


def rewrite(**more: Any) -> Operation:
    return Operation(kind=REWRITE_FILES, **more)


GONE = {FILE_REMOVED, FILE_DROPPED}
DELETE = {"is_referring": 1, "checks": CHECKS_ADDED_ROWS}
VICTIMS = {  # which changes it minds at a place, and whether it minds deletes in its partitions
    "fast_append": (Operation(kind=FAST_APPEND), set(), False),
    "merge_append": (Operation(kind=MERGE_APPEND), set(), False),
    "row_delta serializable": (row_delta(is_referring=0), {ROWS_ADDED, KEYS_DELETED}, True),
    "row_delta snapshot": (row_delta(SNAPSHOT, is_referring=0), {KEYS_DELETED}, True),
    "row_delta referring serializable": (row_delta(), GONE | {ROWS_ADDED, KEYS_DELETED}, True),
    "row_delta referring snapshot": (row_delta(SNAPSHOT), GONE | {KEYS_DELETED}, True),
    "overwrite_files serializable": (overwrite(), GONE | {ROWS_ADDED, DELETES_ADDED, KEYS_DELETED}, False),
    "overwrite_files snapshot": (overwrite(SNAPSHOT), GONE | {DELETES_ADDED, KEYS_DELETED}, False),
    "row_delta that has read the table": (row_delta(reads=READS_TABLE), GONE, False),
    "row_delta that has read partitions": (row_delta(reads=READS_PARTITIONS), GONE, True),
    "Spark's DELETE": (row_delta(SNAPSHOT, **DELETE), {FILE_REMOVED}, False),
    "Spark's DELETE with vectors": (
        row_delta(SNAPSHOT, **DELETE, deletes=DELETES_VECTOR),
        {FILE_REMOVED, DELETES_ADDED},
        False,
    ),
    "a sink": (row_delta(is_referring=0, checks=CHECKS_NONE, deletes=DELETES_EQUALITY), set(), False),
    "replace_partitions": (replacement(), set(), False),
    "replace_partitions checked": (replacement(checks=CHECKS_PARTITIONS), set(), True),  # in its partitions everything
    "rewrite_files": (rewrite(), GONE | {DELETES_ADDED}, False),
    "Spark's UPDATE, from 1.10 on": (
        row_delta(SNAPSHOT, replaces_deletes=1, misses_deletes=1),
        GONE | {KEYS_DELETED, DELETES_REPLACED},
        True,
    ),
    "Spark's DELETE, which replaces deletes too": (
        row_delta(SNAPSHOT, **DELETE, replaces_deletes=1),
        {FILE_REMOVED},
        False,
    ),
    "rewrite of position deletes": (rewrite(is_of_deletes=1), {DELETES_REPLACED}, False),
    "rewrite_files unsequenced": (rewrite(is_sequenced=0), GONE | {DELETES_ADDED, KEYS_DELETED}, False),
}


@pytest.mark.parametrize("name", VICTIMS)
def test_an_operation_minds_what_iceberg_was_recorded_failing_on(name):
    operation, minded, is_anywhere = VICTIMS[name]

    assert minded == {change for change in CHANGES if minds(operation, change)}
    assert is_anywhere == minds_in_partition(operation, DELETES_ADDED)


@pytest.mark.parametrize(
    ("isolation", "not_minded"), [(SERIALIZABLE, {DELETES_REPLACED}), (SNAPSHOT, {ROWS_ADDED, DELETES_REPLACED})]
)
def test_an_insert_overwrite_that_checks_minds_every_change_of_data_in_its_partitions(isolation, not_minded):
    operation = replacement(checks=CHECKS_PARTITIONS, isolation=isolation)

    assert not_minded == {change for change in CHANGES if not minds_in_partition(operation, change)}


@pytest.mark.parametrize(
    ("operation", "made"),
    [
        (Operation(kind=FAST_APPEND), {ROWS_ADDED}),
        (Operation(kind=MERGE_APPEND), {ROWS_ADDED}),
        (row_delta(), {ROWS_ADDED, DELETES_ADDED}),
        (row_delta(adds_apart=1), {DELETES_ADDED}),
        (row_delta(deletes=DELETES_EQUALITY), {ROWS_ADDED, KEYS_DELETED}),
        (row_delta(adds_rows=0), {DELETES_ADDED}),
        (overwrite(adds_rows=0), {FILE_DROPPED}),
        (overwrite(), {ROWS_ADDED, FILE_REMOVED}),
        (replacement(), {ROWS_ADDED, FILE_REMOVED, DELETES_REPLACED}),
        (rewrite(), {FILE_REMOVED}),
        (rewrite(is_of_deletes=1), {DELETES_REPLACED}),
        (row_delta(adds_rows=0, replaces_deletes=1), {DELETES_ADDED, DELETES_REPLACED}),
    ],
)
def test_a_commit_makes_the_changes_of_its_operation(operation, made):
    assert made == {change for change in CHANGES if makes(operation, change)}


# ---- what a table remembers -------------------------------------------------------------------------------


def test_a_history_answers_for_the_stretch_between_two_versions():
    history = FileHistory()
    history.note(TouchedFiles((FILE_REMOVED,), (3, 4), (FILE_REMOVED,), (0,)), 5)
    history.note(TouchedFiles((ROWS_ADDED,), (3,), (ROWS_ADDED,), (0,)), 8)

    stretches = [(FILE_REMOVED, 3, 4, 5), (FILE_REMOVED, 3, 5, 9), (FILE_REMOVED, 3, 0, 4)]
    stretches += [(ROWS_ADDED, 3, 0, 7), (FILE_REMOVED, 2, 0, 9)]
    assert [True, False, False, False, False] == [
        history.has_changed(change, place, after=after, until=until) for change, place, after, until in stretches
    ]
    assert history.has_partition_changed(ROWS_ADDED, 0, after=7, until=8)
    assert not history.has_partition_changed(DELETES_ADDED, 0, after=0, until=9)


def test_a_table_may_have_a_hundred_million_files():
    """Places are drawn and remembered where they are touched, and nowhere else."""
    merge = {"operation_types": {"validated_overwrite": 1.0}, "overwrite": "overwrite_files"}
    merge |= {"read": "files", "touched_files": 10, "runtime": "10s"}
    config = {
        "simulation": {"duration_ms": 60_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "table": {"data_files": 100_000_000},
        "source": [{"name": "merge", "arrivals": {"kind": "poisson", "mean_ms": 4_000.0}, **merge}],
    }
    txns = simulate(config, seed=1, engine="reference").summary()["txns"]

    assert (txns["committed"] > 5, txns["aborted"]["validation_exception"]) == (True, 0)


@pytest.mark.parametrize(("keys", "is_held"), [({"checks": "partitions"}, True), ({}, False)])
def test_partitions_that_are_checked_decide_without_a_number_of_files(keys, is_held):
    source = {"name": "nightly", "operation_types": {"validated_overwrite": 1.0}, "overwrite": "replace_partitions"}
    config = parse_config({"source": [{**source, "arrivals": {"kind": "periodic", "period_ms": 1000.0}, **keys}]})

    assert is_held == is_by_files(config, config.sources[0])


# ---- delete files that make room for others -----------------------------------------------------------------

_REWRITE = {"operation_types": {"rewrite_files": 1.0}, "rewritten_files": "position_deletes", "touched_files": "100%"}
_STATEMENT = {"operation_types": {"validated_overwrite": 1.0}, "read": "files", "touched_files": 1}


def _end_beside_a_rewrite(statement: dict, rewrite: dict, **sections: dict) -> str:
    """How one statement ends that has read its table when the delete files of every data file are rewritten."""
    config = {
        "simulation": {"duration_ms": 60_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "table": {"data_files": 100},
        "source": [
            {"name": "statement", "arrivals": {"kind": "periodic", "period_ms": 1e9}, "runtime": "20s"},
            {"name": "rewrite", "arrivals": {"kind": "periodic", "period_ms": 1e9, "offset_ms": 5e3}, "runtime": "1s"},
        ],
        **sections,
    }
    config["source"][0] |= statement
    config["source"][1] |= rewrite
    first, second = (simulate(config, seed=1, engine=engine).transactions for engine in ("reference", "compiled"))
    assert first.equals(second)
    (row,) = [row for row in first.to_pylist() if row["source"] == "statement"]
    return row["reason"] or row["status"]


@pytest.mark.parametrize(
    ("statement", "sections", "end"),
    [
        ({}, {}, "validation_exception"),
        ({"isolation": "snapshot"}, {}, "validation_exception"),
        ({}, {"commit": {"release": "1.10"}}, "validation_exception"),
        ({}, {"commit": {"release": "1.9"}}, "committed"),
        ({"delete_granularity": "partition"}, {}, "committed"),
        ({"checks": "added_rows", "adds_rows": False}, {}, "committed"),
        ({"overwrite": "overwrite_files"}, {}, "committed"),
    ],
    ids=["UPDATE", "snapshot", "1.10", "1.9", "by partition", "DELETE", "copy-on-write"],
)
def test_who_replaces_a_delete_file_fails_beside_a_rewrite_of_it_if_its_engine_looks(statement, sections, end):
    assert end == _end_beside_a_rewrite({**_STATEMENT, **statement}, _REWRITE, **sections)


def test_a_rewrite_of_delete_files_fails_beside_a_statement_that_replaced_one():
    delete = {**_STATEMENT, "checks": "added_rows", "adds_rows": False}

    assert "validation_exception" == _end_beside_a_rewrite(_REWRITE, delete)
    assert "committed" == _end_beside_a_rewrite(_REWRITE, {**delete, "delete_granularity": "partition"})
    assert "committed" == _end_beside_a_rewrite({**_REWRITE, "touched_files": 1}, delete)
