"""Statements of Spark SQL beside each other: the model ends them as Spark and Iceberg did."""

from __future__ import annotations

import json

import pytest

from verification.suites.java.spark_sql import DELETES_REWRITTEN, RECORDING, UNSAYABLE, Cell, compare, play

RECORDED = json.loads(RECORDING.read_text(encoding="utf-8"))["entries"]


@pytest.mark.lengthy
def test_every_third_statement_ends_as_it_did_in_spark():
    """``endive verify requests`` asks all of them."""
    cells = [(Cell.of(key), told) for key, told in list(RECORDED.items())[::3]]

    assert [] == [cell for cell, told in cells if cell.is_sayable and compare(cell, told).verdict != "right"]


def test_what_the_model_has_no_words_for_is_not_asked():
    assert {"rollback"} == {
        name for key in RECORDED if not (cell := Cell.of(key)).is_sayable for name in cell[3:] if name in UNSAYABLE
    }


def test_of_two_statements_beside_a_rewrite_of_delete_files_the_one_fails_that_looks_for_what_it_replaces():
    beside = ("merge-on-read", "serializable")
    told = RECORDED["v2 / merge-on-read / serializable / update, p = 3 and id = 30 / rewrite_position_delete_files"]

    assert "Missing required files to delete" in told["message"]
    assert "validation_exception" == play(Cell(2, *beside, "update, p = 3 and id = 30", DELETES_REWRITTEN))
    assert "committed" == play(Cell(2, *beside, "delete, p = 3 and id = 30", DELETES_REWRITTEN))


def test_the_filter_of_a_merge_without_a_predicate_is_true():
    told = RECORDED["v2 / copy-on-write / serializable / merge / insert, p = 9"]

    assert "Found conflicting files that can contain records matching true" in told["message"]


def test_a_statement_that_is_told_another_filter_ends_otherwise():
    beside = ("copy-on-write", "serializable")

    assert "validation_exception" == play(Cell(2, *beside, "merge", "insert, p = 9"))
    assert "committed" == play(Cell(2, *beside, "merge, t.p = 3", "insert, p = 9"))
