"""Statements of Spark SQL beside each other: the model ends them as Spark and Iceberg did."""

from __future__ import annotations

import json

from verification.suites.java.spark_sql import RECORDING, UNSAYABLE, Cell, compare, play

RECORDED = json.loads(RECORDING.read_text(encoding="utf-8"))["entries"]


def test_every_statement_ends_as_it_did_in_spark():
    cells = [(Cell.of(key), told) for key, told in RECORDED.items()]

    assert [] == [cell for cell, told in cells if cell.is_sayable and compare(cell, told).verdict != "right"]


def test_what_the_model_has_no_words_for_is_not_asked():
    assert {"rollback", "rewrite_position_delete_files"} == {
        name for key in RECORDED if not (cell := Cell.of(key)).is_sayable for name in cell[3:] if name in UNSAYABLE
    }


def test_the_filter_of_a_merge_without_a_predicate_is_true():
    told = RECORDED["v2 / copy-on-write / serializable / merge / insert, p = 9"]

    assert "Found conflicting files that can contain records matching true" in told["message"]


def test_a_statement_that_is_told_another_filter_ends_otherwise():
    beside = ("copy-on-write", "serializable")

    assert "validation_exception" == play(Cell(2, *beside, "merge", "insert, p = 9"))
    assert "committed" == play(Cell(2, *beside, "merge, t.p = 3", "insert, p = 9"))
