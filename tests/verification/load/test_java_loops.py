"""Closed loops of row deltas, compactions and kept tables: what was measured, and what the model is told of it."""

from __future__ import annotations

from collections import Counter

import pytest

from endive.config import parse_config
from endive.verification import Options
from verification.recordings import QUANTILES
from verification.suites.load import java_loops
from verification.suites.load.loops import COMPACTION, FREE, KEEP, LOAD, Loop, all_loops
from verification.suites.load.measurement import read_load, statement_ms, write_loops

MEASURED = java_loops.read_loops()


def test_every_loop_was_measured_several_times():
    assert [loop.key for loop in all_loops()] == list(MEASURED["loops"])
    assert {True} == {len(runs) >= 3 for runs in MEASURED["loops"].values()}


def test_both_ways_with_a_table_at_one_four_and_sixteen_writers():
    appends = {
        (loop.table, loop.writers)
        for loop in all_loops()
        if (loop.operation, loop.catalog, loop.order) == ("append", "jdbc", FREE)
    }

    assert {(table, writers) for table in ("load", "keep") for writers in (1, 4, 16)} == appends


def test_a_mix_is_half_appends_a_quarter_row_deltas_a_quarter_compactions():
    mix = Loop(operation="mix", table="load", catalog="jdbc", writers=16)

    assert {"append": 8, "row_delta": 4, "compaction": 4} == Counter(mix.operations)


@pytest.mark.parametrize("loop", all_loops(), ids=lambda loop: loop.key)
def test_a_loop_is_a_configuration_with_as_many_clients(loop):
    config = parse_config(java_loops.configuration(MEASURED, loop, 0))

    assert loop.writers == sum(source.arrivals.clients for source in config.sources)
    assert 5 + loop.operations.count(COMPACTION) == config.table.initial_manifests


@pytest.mark.parametrize("table", [LOAD, KEEP])
def test_the_sources_keep_their_table_where_the_recorded_writers_did(table):
    loop = Loop(operation="append", table=table, catalog="jdbc", writers=4)

    (source,) = parse_config(java_loops.configuration(MEASURED, loop, 0)).sources

    assert (table == KEEP) == source.keeps_table


def test_a_simulated_run_has_the_latencies_of_one_measured_run():
    loop = Loop(operation="append", table=LOAD, catalog="jdbc", writers=1)
    reads = [java_loops.configuration(MEASURED, loop, place)["storage"]["objects"] for place in range(4)]
    medians = [dict(map(tuple, one["metadata"]["read"]["quantiles"]))[0.5] for one in reads]

    assert 4 == len(set(medians))


@pytest.mark.slow  # "endive verify load" asks for as much
def test_a_quick_run_calls_nothing_wrong(monkeypatch):
    monkeypatch.setattr(java_loops, "GROUPS_QUICK", 4)
    outcome = java_loops.run(Options(is_quick=True))

    wrong = [check for check in outcome.checks if not check.holds]
    assert [] == [(check.name, dict(check.what), check.error, check.doubt) for check in wrong]
    assert {"append", "row_delta", "compaction"} == {check.what["loop"] for check in outcome.checks}


def test_a_statement_is_a_third_of_what_lies_between_a_swap_and_the_next_read():
    def level(ms: float) -> list[float]:
        return [100, ms, *([ms] * len(QUANTILES))]

    cell = [{"swap GET metadata": level(11.0), "first GET manifest_list": level(5.0)}]
    assert 2.0 == statement_ms(cell, 0.3)
    assert 0.3 == statement_ms([{}], 0.3)


def test_the_measurement_is_the_same_after_writing_and_reading(tmp_path):
    write_loops(MEASURED, tmp_path / "loops.json")

    assert MEASURED == read_load(tmp_path / "loops.json")
