"""Looks between load and commit: an epoch's refresh, and the filter of files of a copy-on-write statement."""

import pytest
from tests.transaction.stage import LOOKING, REFRESHING, append, expiry, play

from endive import simulate
from endive.answers.stories.explain import explain_run
from endive.config import parse_config

POINTER = {"catalog": {"type": "service", "service": {"flavour": "pointer"}, "latency_ms": 1.0}}
COPIES = {"overwrite": "overwrite_files", "runtime": {"distribution": "fixed", "ms": 9.0}, "runtime_filter_ms": 4.0}


def test_an_epoch_refreshes_and_its_first_attempt_then_reads_no_metadata():
    plain = play("fast_append", {(1, REFRESHING): append(2)}, **POINTER)
    epoch = play("fast_append", {(0, LOOKING): append(2)}, transaction={"commit_path": "epoch"}, **POINTER)

    assert 1 == plain.attempt(1)["metadata.read"]
    assert 0 == epoch.attempt(1)["metadata.read"]
    assert (2, 0) == (plain.row["n_behind_first"], epoch.row["n_behind_first"])
    assert plain.row["requests_catalog_read"] + 1 == epoch.row["requests_catalog_read"]
    assert plain.row["requests_metadata_read"] == epoch.row["requests_metadata_read"]


@pytest.mark.parametrize(
    ("rivals", "ending"),
    [((), ("committed", None, 1)), (append(), ("aborted", "table_moved", 0)), (expiry(1), ("committed", None, 1))],
    ids=["nobody", "append", "expiry"],
)
def test_a_copy_on_write_statement_fails_before_any_attempt_if_a_snapshot_came_before_its_filter(rivals, ending):
    played = play("validated_overwrite", {(0, LOOKING): rivals}, transaction={**COPIES, "read": "table"}, **POINTER)

    assert ending == played.told("status", "reason", "attempts")
    if ending[2] == 0:
        sent = played.told("requests_catalog_read", "requests_metadata_read", "requests_manifest_list_write")
        assert (2, 2, 0) == sent


def test_what_comes_after_the_filter_is_left_to_the_validation():
    played = play(
        "validated_overwrite", {(1, REFRESHING): append()}, transaction={**COPIES, "read": "table"}, **POINTER
    )

    assert ("aborted", "validation_exception", 1) == played.told("status", "reason", "attempts")


STREAM = {"kind": "jobs", "jobs": 3, "period_ms": 1_000.0}
BUSY = {
    "simulation": {"duration_ms": 60_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0},
    "storage": {"provider": "constant", "latency_ms": 5.0},
    "source": [
        {"name": "stream", "arrivals": STREAM, "runtime": "100ms", "keeps_table": True, "commit_path": "epoch"},
        {
            "name": "merge",
            "arrivals": {"kind": "poisson", "mean_ms": 2_000.0},
            "operation_types": {"validated_overwrite": 1.0},
            **COPIES,
            "read": "table",
            "runtime": "500ms",
            "runtime_filter_ms": 150.0,
            "after_failure": {"kind": "rerun", "times": 1, "pause_ms": 10.0},
        },
    ],
    **POINTER,
}


def test_both_engines_look_alike_and_the_story_says_who_came_between():
    reference, compiled = (simulate(BUSY, seed=3, engine=engine) for engine in ("reference", "compiled"))

    assert reference.transactions.equals(compiled.transactions)
    aborted = reference.summary()["txns"]["aborted"]
    assert aborted["table_moved"] > 0
    stories = explain_run(parse_config(BUSY), seed=3, where="reason = 'table_moved'").stories
    told = "\n".join(line for story in stories for line in story.lines)
    assert "Runtime file filtering is not possible" in told
    assert "of stream)" in told
