"""What a statement has read: what is not said is told, and what it has read decides who fails it."""

from __future__ import annotations

import pytest

from endive.config import parse_config
from endive.config.unsaid import reading_unsaid, what_is_unsaid
from endive.simulation import Simulation

MERGE = {"operation_types": {"validated_overwrite": 1.0}}
PARTITIONED = {"partitions": {"enabled": True, "num_partitions": 10}}


def config_of(*, table=None, catalog=None, **keys):
    source = {"name": "merge", "arrivals": {"kind": "periodic", "period_ms": 1000.0}, **MERGE, **keys}
    return parse_config({"table": table or {}, "catalog": catalog or {}, "source": [source]})


@pytest.mark.parametrize(("said", "line"), [("1.9", "1.9"), (1.9, "1.9"), (1.10, "1.10")])
def test_a_release_may_be_given_as_a_number(said, line):
    assert line == parse_config({"commit": {"release": said}}).commit.release


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


def test_keys_left_at_their_default_do_not_change_the_name_of_a_configuration():
    given = config_of(adds_rows=True, checks="all", table={"format_version": 2})

    assert config_of().config_hash() == given.config_hash()


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize(("read", "committed"), [("table", 0), ("partitions", 43)])
def test_a_merge_without_a_predicate_never_commits_beside_an_append_a_minute(engine, read, committed):
    def source(name: str, every: str, works: str, **keys: object) -> dict[str, object]:
        return {"name": name, "arrivals": {"kind": "periodic", "period_ms": every}, "runtime": works, **keys}

    merge = source("merge", "2min", "90s", overwrite="overwrite_files", read=read, **MERGE)
    document = {
        "simulation": {"duration_ms": "2h", "warmup_ms": 0, "cooldown_ms": 0, "seed": 3},
        "catalog": {"type": "service", "latency_ms": 5, "partitions": {"enabled": True, "num_partitions": 10}},
        "source": [merge, source("append", "1min", "1s")],
    }
    rows = Simulation(parse_config(document)).run(engine=engine).transactions.to_pylist()

    ended = [row["status"] for row in rows if row["source"] == "merge" and not row["status"].startswith("in_flight")]
    assert (committed, 60) == (ended.count("committed"), len(ended))
