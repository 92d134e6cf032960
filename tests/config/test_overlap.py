"""What is said, and what is not, about how often operations meet on the same data."""

from __future__ import annotations

from typing import Any

import pytest

from endive.config import parse_config
from endive.config.unsaid import overlap_unsaid

STREAM = {"name": "stream", "arrivals": {"kind": "poisson", "per_s": 1.0}}
MERGE = {**STREAM, "name": "merge", "operation_types": {"validated_overwrite": 1.0}}
COMPACTION = {**STREAM, "name": "compaction", "operation_types": {"rewrite_files": 1.0}}


def unsaid(*sources: dict[str, Any], **sections: Any) -> str | None:
    plain = parse_config({"source": list(sources), **sections}).to_dict()
    assert overlap_unsaid(parse_config(plain).to_dict()) == overlap_unsaid(plain)  # also after it has travelled
    return overlap_unsaid(plain)


def test_appends_alone_leave_nothing_open():
    assert unsaid(STREAM) is None


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


def test_partitions_say_it():
    partitions = {"partitions": {"enabled": True, "num_partitions": 4}}

    assert unsaid(MERGE, catalog=partitions, conflict={"detector": "partition_overlap"}) is None


def test_an_unvalidated_overwrite_leaves_nothing_open():
    assert unsaid(STREAM, {**MERGE, "overwrite": "replace_partitions"}) is None
