"""Packing: laws of the plan, whatever the study."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from endive.config import parse_config
from endive.errors import ConfigError
from endive.pipeline.sweep.plan import (
    PART_TXNS_MAX,
    Run,
    axis_fields,
    axis_values,
    pack,
    plan_jobs,
    plan_parts,
    plan_tasks,
)
from endive.workload.expected_txns import expected_txns


def run(number: int, txns: float, point: int | None = None) -> Run:
    place = number if point is None else point
    return Run(run_id=f"{number:016x}", point=place, seed=1, config_hash="", point_config="{}", values={}, txns=txns)


runs_of_any_size = st.lists(st.floats(0, 3e6), min_size=1, max_size=60).map(
    lambda sizes: [run(number, txns) for number, txns in enumerate(sizes)]
)
cores = st.integers(1, 8)


@pytest.mark.lengthy
@given(runs_of_any_size, cores)
def test_every_run_is_in_exactly_one_part_and_every_part_in_exactly_one_task(runs, cores):
    parts = plan_parts(runs)
    tasks = plan_tasks(parts, {one.run_id: one for one in runs}, cores=cores)

    assert [one.run_id for one in runs] == [run_id for part in parts for run_id in part.run_ids]
    in_tasks = [part for task in tasks for part in task]
    assert list(parts) == sorted(in_tasks, key=lambda part: part.name)
    assert all(part.run_ids for part in parts)
    assert all(tasks)
    # Up to four tasks per core, as far as they have enough to do.
    worthwhile = int(sum(one.cost for one in runs) // 50_000)
    assert len(tasks) == min(len(parts), max(cores, worthwhile), 4 * cores)


def test_a_small_study_is_one_task_per_core():
    runs = [run(number, 100.0) for number in range(39)]
    parts = plan_parts(runs)

    assert (5, 2) == (len(parts), len(plan_tasks(parts, {one.run_id: one for one in runs}, cores=2)))


@given(runs_of_any_size, cores)
def test_no_bin_is_fuller_than_the_fair_share_plus_the_largest_item(runs, cores):
    count = min(len(runs), 4 * cores)
    bins = pack(runs, count, lambda one: one.cost)
    loads = [sum(one.cost for one in members) for members in bins]

    assert max(loads) <= sum(loads) / count + max(one.cost for one in runs) + 1e-6
    assert loads == sorted(loads, reverse=True)


@given(runs_of_any_size)
def test_a_part_of_several_runs_is_not_much_larger_than_intended(runs):
    by_id = {one.run_id: one for one in runs}
    for part in plan_parts(runs):
        costs = [by_id[run_id].cost for run_id in part.run_ids]
        assert sum(costs) - costs[-1] / 2 <= PART_TXNS_MAX + 1e-6 or len(costs) == 1


@given(runs_of_any_size, st.sets(st.integers(0, 59)))
def test_parts_that_lost_no_run_are_the_same_parts_whatever_is_done(runs, numbers):
    done = {f"{number:016x}" for number in numbers}

    parts = plan_parts(runs, done=done)

    assert [one.run_id for one in runs if one.run_id not in done] == [run for part in parts for run in part.run_ids]
    untouched = [part for part in plan_parts(runs) if not done & set(part.run_ids)]
    assert untouched == [part for part in parts if part in untouched]


def test_a_part_keeps_the_transactions_of_some_of_its_runs():
    runs = [run(number, 10.0) for number in range(3)]

    (part,) = plan_parts(runs, kept={runs[1].run_id, "another"})

    assert {runs[1].run_id} == part.kept


@given(runs_of_any_size, st.floats(0, 1e7))
def test_jobs_take_the_parts_in_their_order_and_at_least_one(runs, cost_max):
    by_id = {one.run_id: one for one in runs}
    parts = plan_parts(runs)

    job, rest = plan_jobs(parts, by_id, cost_max, runs_max=40)

    assert [*parts] == [*job, *rest]
    cost = sum(by_id[run_id].cost for part in job for run_id in part.run_ids)
    assert len(job) == 1 or (cost <= cost_max and sum(len(part.run_ids) for part in job) <= 40)


def test_a_study_of_many_txns_has_parts_of_about_a_quarter_of_a_million():
    runs = [run(number, 28_000.0, point=0) for number in range(900)]

    parts = plan_parts(runs)
    assert 100 == len(parts)
    assert {9} == {len(part.run_ids) for part in parts}


def test_the_seeds_of_a_point_share_its_configuration(planned):
    first, second = planned().runs[:2]

    assert first.point_config is second.point_config
    assert (42, 43) == tuple(json.loads(one.config)["simulation"]["seed"] for one in (first, second))
    assert {**json.loads(first.config)["simulation"], "seed": 43} == json.loads(second.config)["simulation"]


def test_expected_txns_follow_the_sources():
    minute = {"simulation": {"duration_ms": 60_000}}
    runtime = {"distribution": "fixed", "ms": 500}

    def source(arrivals: dict, **keys: object) -> dict:
        return {"name": str(arrivals), "arrivals": arrivals, "runtime": runtime, **keys}

    def txns(*sources: dict) -> float:
        return expected_txns(parse_config({**minute, "source": list(sources)}))

    assert txns(source({"kind": "poisson", "mean_ms": 100})) == 600.0
    assert txns(source({"kind": "fixed", "ms": 200})) == 300.0
    assert txns(source({"kind": "uniform", "low_ms": 100, "high_ms": 300})) == 300.0
    assert txns(source({"kind": "lognormal", "mean_ms": 100, "sigma": 1.0})) == 600.0
    assert txns(source({"kind": "periodic", "period_ms": 10_000})) == 6.0
    assert txns(source({"kind": "jobs", "jobs": 3, "period_ms": 10_000})) == 18.0
    assert txns(source({"kind": "closed", "clients": 3, "think_ms": 500})) == 180.0
    assert txns(source({"kind": "poisson", "mean_ms": 100}, start_ms=10_000, stop_ms=40_000)) == 300.0
    assert txns(source({"kind": "poisson", "mean_ms": 100}), source({"kind": "fixed", "ms": 200})) == 900.0


def test_a_trace_is_as_large_as_its_file_is_long(tmp_path):
    trace = tmp_path / "log.csv"
    trace.write_text("submit_ms\n" + "0\n" * 41)
    config = parse_config({"source": [{"name": "replay", "arrivals": {"kind": "trace", "path": str(trace)}}]})

    assert expected_txns(config) == 42.0


# ---- axes as columns ---------------------------------------------------------------------------------


def runs(*values: dict) -> list[Run]:
    return [replace(run(point, 1.0), values=each) for point, each in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "kind", "cells"),
    [
        ([1, 2], pa.int64(), [1, 2]),
        ([1, 2.5], pa.float64(), [1.0, 2.5]),
        ([True, False], pa.bool_(), [True, False]),
        (["a", "b"], pa.string(), ["a", "b"]),
        ([True, 1], pa.string(), ["true", "1"]),
        (["none", 3], pa.string(), ["none", "3"]),
        ([{"mean": 5}, [1, "x"]], pa.string(), ["{ mean = 5 }", '[1, "x"]']),
    ],
)
def test_a_column_has_the_type_of_its_values(values, kind, cells):
    (field,) = axis_fields(["a.b"], runs(*({"a.b": value} for value in values)))

    assert (field.name, field.type) == ("a.b", kind)
    assert [axis_values([field], {"a.b": value})["a.b"] for value in values] == cells


def test_an_axis_a_point_does_not_have_is_null():
    fields = axis_fields(["a.b", "c.d"], runs({"a.b": 1}, {"c.d": "x"}))

    assert axis_values(fields, {"a.b": 1}) == {"a.b": 1, "c.d": None}


def test_an_axis_named_like_a_column_of_the_results_is_refused():
    with pytest.raises(ConfigError, match="'success_rate' is the name of a column of the results; rename it"):
        axis_fields(["success_rate"], runs({"success_rate": 1}))
