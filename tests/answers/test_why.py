"""Why most txns of a source fail: one sentence about the commonest way, and none where most commit."""

import pytest

from endive.answers.replicate import Replicator
from endive.answers.run_answer import RunAnswer
from endive.answers.why import READ_TABLE, SENTENCES, why_it_fails
from endive.config import parse_config
from endive.config.slo import objective_of
from endive.results.statistics import OUTCOMES

STREAM = {
    "name": "stream",
    "arrivals": {"kind": "periodic", "period_ms": "1min"},
    "operation_types": {"fast_append": 1.0},
}
MERGE = {
    "name": "merge",
    "arrivals": {"kind": "periodic", "period_ms": "20min"},
    "operation_types": {"validated_overwrite": 1.0},
    "runtime": {"distribution": "fixed", "ms": "5min"},
    "read": "table",
    "retry": 6,
}


def merge_of(**keys):
    return parse_config({"source": [{**MERGE, **keys}]}).sources[0]


@pytest.mark.parametrize(
    ("keys", "committed", "aborted", "sentence"),
    [
        ({}, 1, {"validation_exception": 2}, f"merge: {READ_TABLE}."),
        ({}, 2, {"validation_exception": 2}, None),
        ({"isolation": "snapshot"}, 0, {"validation_exception": 1}, f"merge: {SENTENCES['validation_exception']}."),
        ({"read": "files"}, 0, {"validation_exception": 1}, f"merge: {SENTENCES['validation_exception']}."),
        ({}, 0, {"validation_exception": 1, "retries_exhausted": 2}, "merge: each of its 7 attempts lost to a commit"),
        ({}, 0, {"commit_state_unknown": 1}, None),
        ({}, 0, {}, None),
    ],
)
def test_the_commonest_way_to_fail_is_told_if_most_txns_do(keys, committed, aborted, sentence):
    told = why_it_fails(merge_of(**keys), {"committed": committed, "aborted": aborted})

    assert told == sentence if sentence is None else told.startswith(sentence)


def test_every_sentence_is_about_a_way_to_fail_that_there_is():
    assert set() == set(SENTENCES) - set(OUTCOMES)


def test_a_run_says_why_a_merge_that_has_read_the_table_fails_beside_a_stream():
    config = parse_config({"simulation": {"duration_ms": "3h"}, "source": [STREAM, MERGE]})
    with Replicator(processes=1) as replicator:
        answer = RunAnswer(config, replicator.samples(config, [1]), objective_of(config, None), "run")

    assert [f"merge: {READ_TABLE}."] == answer.why
    assert answer.why == answer.judgement()["why"]
