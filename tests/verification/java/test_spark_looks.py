"""When Spark looks at its table between load and commit: the model ends as Spark did, and asks for as much."""

from __future__ import annotations

import json

from endive.rng import LOOK_READ, POINTER_READ, REFRESH
from endive.verification.suite import Options
from verification.suites.java import spark_looks
from verification.suites.java.spark_looks import RECORDING, compare_epoch, compare_statement, run

RECORDED = json.loads(RECORDING.read_text(encoding="utf-8"))["entries"]


def test_every_epoch_and_statement_is_as_it_was_in_spark():
    assert [] == [(check.name, check.what) for check in run(Options()).checks if check.verdict != "right"]


def test_what_moves_a_table_under_a_statement_was_seen_and_nothing_else_did():
    moved = {key for key, told in RECORDED.items() if told.get("exception") == "IllegalStateException"}

    shared = {
        f"cached / {statement} / while rows are looked for, the same session" for statement in ("merge", "delete")
    }
    assert shared | {f"uncached / {statement} / before read 2" for statement in ("merge", "update", "delete")} == moved


def test_a_script_is_read_from_its_words():
    assert {(0, LOOK_READ): 2, (1, REFRESH): 1} == spark_looks._rivals_in("2 before the look, 1 before the refresh")
    assert {(1, POINTER_READ): 1, (2, POINTER_READ): 1} == spark_looks._rivals_in("1 before each of two swaps")


def test_a_model_that_looks_at_another_moment_is_wrong():
    told = RECORDED["cached / merge / before read 2"]
    assert "right" == compare_statement("cached", "merge", "before read 2", told, "1.10").verdict

    alone = RECORDED["stream / nobody"]
    fewer = {**alone, "commit": alone["commit"][1:]}
    assert "catalog.read 1 real, 2 simulated" == compare_epoch("nobody", fewer, "1.10").note
