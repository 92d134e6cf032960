"""What decides results and nobody said is told: what a statement has read, how often operations meet."""

from __future__ import annotations

from typing import Any

import pytest

from endive.config import parse_config
from endive.config.unsaid import overlap_unsaid, partitions_unsaid, reading_unsaid, what_is_unsaid
from endive.simulation import Simulation

STREAM: dict[str, Any] = {"name": "stream", "arrivals": {"kind": "poisson", "per_s": 1.0}}
MERGE = {**STREAM, "name": "merge", "operation_types": {"validated_overwrite": 1.0}}
COMPACTION = {**STREAM, "name": "compaction", "operation_types": {"rewrite_files": 1.0}}
BY_PARTITION = {**MERGE, "touched_files": 5, "read": "partitions"}
DELTA_MERGE = {**STREAM, "name": "merge", "operation_types": {"merge": 1.0}, "read": "table"}
OPTIMIZE = {**STREAM, "name": "optimize", "operation_types": {"optimize": 1.0}}

FILES = {"table": {"data_files": 100}}
PARTITIONED = {"catalog": {"partitions": {"enabled": True, "num_partitions": 4}}}
DELTA = {"table": {"format": "delta"}}


def plain(*sources: dict[str, Any], **sections: Any) -> dict[str, Any]:
    """The configuration of these sources, as it travels."""
    once = parse_config({"source": list(sources), **sections}).to_dict()
    assert what_is_unsaid(parse_config(once).to_dict()) == what_is_unsaid(once)
    return once


@pytest.mark.parametrize(
    ("sources", "sections", "who"),
    [
        pytest.param([STREAM], {}, None, id="appends alone"),
        pytest.param([STREAM, {**MERGE, "overwrite": "replace_partitions"}], {}, None, id="nothing is validated"),
        pytest.param([MERGE, COMPACTION], {}, "merge, compaction touch is", id="several are named together"),
        pytest.param([STREAM, {**MERGE, "real_conflict_probability": 0.0}], {}, None, id="a probability, even of zero"),
        pytest.param(
            [{**STREAM, "touched_files": 1}, {**MERGE, "touched_files": "5%"}], FILES, None, id="files of all"
        ),
        pytest.param([STREAM, {**MERGE, "touched_files": 5}], FILES, "stream touches is", id="files of one alone"),
        pytest.param([STREAM, BY_PARTITION], FILES | PARTITIONED, None, id="who minds appends has read partitions"),
        pytest.param([STREAM, BY_PARTITION, COMPACTION], FILES | PARTITIONED, "compaction touches is", id="not all do"),
        pytest.param([MERGE], PARTITIONED | {"conflict": {"detector": "partition_overlap"}}, None, id="partitions"),
        pytest.param(
            [{**STREAM, "operation_types": {"blind_append": 1.0}}, DELTA_MERGE, OPTIMIZE],
            DELTA,
            "optimize touches is",
            id="whether optimize meets a merge",
        ),
        pytest.param([DELTA_MERGE], DELTA, None, id="who has read the table minds every file"),
        pytest.param(
            [{**OPTIMIZE, "arrivals": {"kind": "periodic", "period_ms": 60_000.0}}], DELTA, None, id="one who removes"
        ),
        pytest.param(
            [DELTA_MERGE, OPTIMIZE], DELTA | {"delta": {"client": "delta_rs"}}, None, id="delta-rs minds every removal"
        ),
    ],
)
def test_who_does_not_say_how_many_files_it_touches_is_named(sources, sections, who):
    sentence = overlap_unsaid(plain(*sources, **sections))

    assert (who is None) == (sentence is None)
    assert sentence is None or sentence.startswith(f"How many data files {who} not said")


@pytest.mark.parametrize("source", [MERGE, COMPACTION])
def test_a_source_that_can_fail_for_good_is_named_with_the_keys_that_settle_it(source):
    assert overlap_unsaid(plain(STREAM, source)) == (
        f"How many data files {source['name']} touches is not said, so real conflicts with it are left out and success "
        "rates are upper bounds. Give table.data_files and touched_files, or real_conflict_probability (0 if they "
        "never meet)."
    )


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
    sentence = partitions_unsaid(plain({**STREAM, **stream}, {**MERGE, "read": "partitions", **merge}, **PARTITIONED))

    assert is_said == (sentence is not None)
    assert not is_said or sentence.startswith("stream and merge pick their partitions by chance")


@pytest.mark.parametrize(
    ("keys", "is_asked"),
    [
        ({}, True),
        ({"overwrite": "overwrite_files"}, True),
        ({"read": "table"}, False),
        ({"real_conflict_probability": 0.0}, False),
        ({"checks": "none", "deletes": "equality"}, False),
        ({"overwrite": "replace_partitions"}, False),
        ({"operation_types": {"rewrite_files": 1.0}}, False),
        ({"overwrite": "overwrite_files", "isolation": "snapshot"}, False),
    ],
)
def test_an_overwrite_whose_reading_decides_is_asked_what_it_read(keys, is_asked):
    document = plain({**MERGE, **keys})
    sentence = reading_unsaid(document)

    assert is_asked == (sentence is not None)
    if sentence is not None:
        assert sentence.startswith("What merge reads is not said")
        assert "Set read = 'table'" in sentence
        assert sentence == what_is_unsaid(document)[0]


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize(("read", "committed"), [("table", 0), ("partitions", 43)])
def test_a_merge_without_a_predicate_never_commits_beside_an_append_a_minute(engine, read, committed):
    def source(name: str, every: str, works: str, **keys: object) -> dict[str, object]:
        return {"name": name, "arrivals": {"kind": "periodic", "period_ms": every}, "runtime": works, **keys}

    overwrites = {"overwrite": "overwrite_files", "operation_types": {"validated_overwrite": 1.0}}
    document = {
        "simulation": {"duration_ms": "2h", "warmup_ms": 0, "cooldown_ms": 0, "seed": 3},
        "catalog": {"type": "service", "latency_ms": 5, "partitions": {"enabled": True, "num_partitions": 10}},
        "source": [source("merge", "2min", "90s", read=read, **overwrites), source("append", "1min", "1s")],
    }
    rows = Simulation(parse_config(document)).run(engine=engine).transactions.to_pylist()

    ended = [row["status"] for row in rows if row["source"] == "merge" and not row["status"].startswith("in_flight")]
    assert (committed, 60) == (ended.count("committed"), len(ended))
