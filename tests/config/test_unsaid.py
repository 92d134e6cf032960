"""What decides results and nobody said is told: what a statement has read, how often operations meet."""

from __future__ import annotations

from typing import Any

import pytest

from endive.config import parse_config
from endive.config.unsaid import overlap_unsaid, partitions_unsaid, reading_unsaid, what_is_unsaid
from endive.simulation import Simulation

STREAM = {"name": "stream", "arrivals": {"kind": "poisson", "per_s": 1.0}}
MERGE = {**STREAM, "name": "merge", "operation_types": {"validated_overwrite": 1.0}}
COMPACTION = {**STREAM, "name": "compaction", "operation_types": {"rewrite_files": 1.0}}


def unsaid(*sources: dict[str, Any], **sections: Any) -> str | None:
    plain = parse_config({"source": list(sources), **sections}).to_dict()
    assert overlap_unsaid(parse_config(plain).to_dict()) == overlap_unsaid(plain)  # also after it has travelled
    return overlap_unsaid(plain)


def test_appends_alone_and_an_unvalidated_overwrite_leave_nothing_open():
    assert unsaid(STREAM) is None
    assert unsaid(STREAM, {**MERGE, "overwrite": "replace_partitions"}) is None


@pytest.mark.parametrize("source", [MERGE, COMPACTION])
def test_a_source_that_can_fail_for_good_is_named(source):
    assert unsaid(STREAM, source) == (
        f"How many data files {source['name']} touches is not said, so real conflicts with it are left out and success "
        "rates are upper bounds. Give table.data_files and touched_files, or real_conflict_probability (0 if they "
        "never meet)."
    )


def test_several_are_named_together():
    assert unsaid(MERGE, COMPACTION).startswith("How many data files merge, compaction touch is not said")


@pytest.mark.parametrize("probability", [0.0, 0.3])
def test_a_probability_says_it_even_if_it_is_zero(probability):
    assert unsaid(STREAM, {**MERGE, "real_conflict_probability": probability}) is None


def test_with_files_every_source_has_to_say_what_it_touches():
    table = {"data_files": 100}

    assert unsaid({**STREAM, "touched_files": 1}, {**MERGE, "touched_files": "5%"}, table=table) is None
    assert unsaid(STREAM, {**MERGE, "touched_files": 5}, table=table).startswith("How many data files stream touches")


def test_an_append_says_nothing_where_all_who_mind_it_have_read_partitions():
    by_partition = {**MERGE, "touched_files": 5, "read": "partitions"}
    sections = {"table": {"data_files": 100}, "catalog": {"partitions": {"enabled": True, "num_partitions": 4}}}

    assert unsaid(STREAM, by_partition, **sections) is None
    assert unsaid(STREAM, by_partition, COMPACTION, **sections).startswith("How many data files compaction touches")


@pytest.mark.parametrize(
    ("merge", "stream", "is_said"),
    [
        ({}, {}, True),
        ({"isolation": "snapshot"}, {}, False),
        ({"read": "table"}, {}, False),
        ({}, {"partitions": {"weights": [0.5, 0.5]}}, False),
        ({}, {"partitions": {"count": 4}}, False),
        ({}, {"partitions": {"count": 3}}, True),
    ],
)
def test_partitions_picked_by_chance_are_said_where_a_predicate_names_some(merge, stream, is_said):
    sources = [{**STREAM, **stream}, {**MERGE, "read": "partitions", **merge}]
    catalog = {"partitions": {"enabled": True, "num_partitions": 4}}
    sentence = partitions_unsaid(parse_config({"source": sources, "catalog": catalog}).to_dict())

    assert is_said == (sentence is not None)
    assert not is_said or sentence.startswith("stream and merge pick their partitions by chance")


def test_partitions_say_it():
    partitions = {"partitions": {"enabled": True, "num_partitions": 4}}

    assert unsaid(MERGE, catalog=partitions, conflict={"detector": "partition_overlap"}) is None


OVERWRITES = {"operation_types": {"validated_overwrite": 1.0}}
PARTITIONED = {"partitions": {"enabled": True, "num_partitions": 10}}


def config_of(*, table=None, catalog=None, **keys):
    source = {"name": "merge", "arrivals": {"kind": "periodic", "period_ms": 1000.0}, **OVERWRITES, **keys}
    return parse_config({"table": table or {}, "catalog": catalog or {}, "source": [source]})


def test_an_overwrite_that_does_not_say_what_it_read_is_told_so_with_the_key():
    sentence = reading_unsaid(config_of().to_dict())

    assert sentence is not None
    assert sentence.startswith("What merge reads is not said")
    assert "Set read = 'table'" in sentence
    assert sentence == what_is_unsaid(config_of().to_dict())[0]


@pytest.mark.parametrize(
    "keys",
    [
        {"read": "table"},
        {"real_conflict_probability": 0.0},
        {"checks": "none", "deletes": "equality"},
        {"overwrite": "replace_partitions"},
        {"operation_types": {"rewrite_files": 1.0}},
        {"overwrite": "overwrite_files", "isolation": "snapshot"},
    ],
)
def test_who_need_not_say_it_is_not_asked(keys):
    assert reading_unsaid(config_of(**keys).to_dict()) is None


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize(("read", "committed"), [("table", 0), ("partitions", 43)])
def test_a_merge_without_a_predicate_never_commits_beside_an_append_a_minute(engine, read, committed):
    def source(name: str, every: str, works: str, **keys: object) -> dict[str, object]:
        return {"name": name, "arrivals": {"kind": "periodic", "period_ms": every}, "runtime": works, **keys}

    merge = source("merge", "2min", "90s", overwrite="overwrite_files", read=read, **OVERWRITES)
    document = {
        "simulation": {"duration_ms": "2h", "warmup_ms": 0, "cooldown_ms": 0, "seed": 3},
        "catalog": {"type": "service", "latency_ms": 5, "partitions": {"enabled": True, "num_partitions": 10}},
        "source": [merge, source("append", "1min", "1s")],
    }
    rows = Simulation(parse_config(document)).run(engine=engine).transactions.to_pylist()

    ended = [row["status"] for row in rows if row["source"] == "merge" and not row["status"].startswith("in_flight")]
    assert (committed, 60) == (ended.count("committed"), len(ended))


DELTA = {"table": {"format": "delta"}}
DELTA_MERGE = {**STREAM, "name": "merge", "operation_types": {"merge": 1.0}, "read": "table"}
OPTIMIZE = {**STREAM, "name": "optimize", "operation_types": {"optimize": 1.0}}


def test_whether_optimize_meets_a_merge_is_left_open_by_who_gives_no_files():
    told = unsaid({**STREAM, "operation_types": {"blind_append": 1.0}}, DELTA_MERGE, OPTIMIZE, **DELTA)

    assert told.startswith("How many data files optimize touches is not said")


@pytest.mark.parametrize(
    ("sources", "client"),
    [
        ((DELTA_MERGE,), "spark"),  # who has read the table minds every file
        (({**OPTIMIZE, "arrivals": {"kind": "periodic", "period_ms": 60_000.0}},), "spark"),  # nobody else removes any
        ((DELTA_MERGE, OPTIMIZE), "delta_rs"),  # its compaction minds every removal
    ],
)
def test_files_decide_nothing_where_whatever_is_removed_is_minded(sources, client):
    assert unsaid(*sources, **DELTA, delta={"client": client}) is None
