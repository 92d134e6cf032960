"""Why most txns of a source fail: one sentence about the commonest way, and none where most commit."""

import pytest
from tests.answers.conftest import regular

from endive.answers.replicate import run_sample
from endive.answers.run_answer import (
    READ_PARTITIONS,
    READ_TABLE,
    READ_TABLE_DELETES,
    SENTENCES,
    RunAnswer,
    calls_taken_per_s,
    why_it_fails,
)
from endive.config import parse_config
from endive.config.slo import objective_of
from endive.results.statistics import OUTCOMES

STREAM = regular("stream", "1min", "fast_append")
MERGE = regular("merge", "20min", "validated_overwrite", runtime="5min", read="table", retry=6)


FOUND_CONFLICTS = f"merge: {SENTENCES['validation_exception']}."


def answer_of(config):
    return RunAnswer(config, [run_sample(config, 1)], objective_of(config), "run")


def merge_of(**keys):
    partitions = {"partitions": {"enabled": True, "num_partitions": 4}}
    return parse_config({"catalog": partitions, "source": [{**MERGE, **keys}]}).sources[0]


@pytest.mark.parametrize(
    ("keys", "committed", "aborted", "sentence"),
    [
        ({}, 1, {"validation_exception": 2}, f"merge: {READ_TABLE.format(pace='')}."),
        ({}, 2, {"validation_exception": 2}, None),
        ({"isolation": "snapshot"}, 0, {"validation_exception": 1}, f"merge: {READ_TABLE_DELETES}."),
        ({"isolation": "snapshot", "overwrite": "overwrite_files"}, 0, {"validation_exception": 1}, FOUND_CONFLICTS),
        ({"read": "files"}, 0, {"validation_exception": 1}, FOUND_CONFLICTS),
        ({"read": "partitions"}, 0, {"validation_exception": 1}, f"merge: {READ_PARTITIONS}."),
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
    answer = answer_of(config)

    assert [f"merge: {READ_TABLE.format(pace='; stream adds one every 60.4 s')}."] == answer.why
    assert answer.why == answer.judgement()["why"]


def jobs_of_their_own(service, **arrivals):
    """Forty jobs on forty tables of one catalog."""
    arrivals = {"kind": "jobs", "jobs": 40, "period_ms": "1min", **arrivals}
    source = {"name": "w", "arrivals": arrivals, "tables": {"one_each": True}, "runtime": "1s"}
    catalog = {"type": "service", "latency_ms": 5.0, "num_tables": 40, "service": service}
    return parse_config({"simulation": {"duration_ms": "10min"}, "catalog": catalog, "source": [source]})


@pytest.mark.parametrize(
    ("quota", "told"), [(40.0, "(8 %): it is not the bottleneck"), (2.0, "(100 %): it is the bottleneck")]
)
def test_forty_jobs_on_forty_tables_are_told_whether_the_catalog_holds_them_up(quota, told):
    config = jobs_of_their_own({"calls_per_s": quota})
    (sentence,) = answer_of(config).why

    # A fast append asks a pointer catalog five times: 3.3 calls a second. Jobs that wait for it submit less.
    assert f"of the {quota:.3g} it takes {told}" in sentence
    assert f"room for {quota / 5:.3g} txns a second" in sentence


@pytest.mark.parametrize(("phase", "told"), [("random", "it is not the bottleneck"), ("together", "they come at once")])
def test_forty_jobs_that_begin_together_wait_for_a_catalog_that_has_time_on_average(phase, told):
    config = jobs_of_their_own({"calls_per_s": 10.0}, period_ms="4min", phase=phase)
    (sentence,) = answer_of(config).why

    # Two hundred calls take twenty seconds if they come at once; on average there is less than one a second.
    assert told in sentence


def test_a_catalog_without_a_limit_is_no_bottleneck_and_workers_are_one():
    time = {"distribution": "fixed", "ms": 20.0}

    assert calls_taken_per_s(jobs_of_their_own({})) is None
    assert 150.0 == pytest.approx(calls_taken_per_s(jobs_of_their_own({"workers": 3, "time": time})))
