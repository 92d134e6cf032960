"""Packing: laws of the plan, whatever the study."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from endive.config import parse_config
from endive.pipeline.sweep.plan import PART_TXNS, Run, pack, plan_parts, plan_tasks
from endive.workload.expected_txns import expected_txns


def run(number: int, txns: float) -> Run:
    return Run(run_id=f"{number:016x}", point=number, seed=1, config_hash="", config="{}", values={}, txns=txns)


runs_of_any_size = st.lists(st.floats(0, 3e6), min_size=1, max_size=60).map(
    lambda sizes: [run(number, txns) for number, txns in enumerate(sizes)]
)
cores = st.integers(1, 8)


@given(runs_of_any_size, cores)
def test_every_run_is_in_exactly_one_part_and_every_part_in_exactly_one_task(runs, cores):
    parts = plan_parts(runs, cores=cores)
    tasks = plan_tasks(parts, {one.run_id: one for one in runs}, cores=cores)

    assert sorted(one.run_id for one in runs) == sorted(run_id for part in parts for run_id in part.run_ids)
    assert sorted(parts, key=lambda part: part.name) == sorted(
        (part for task in tasks for part in task), key=lambda part: part.name
    )
    assert all(part.run_ids for part in parts)
    assert all(tasks)


@given(runs_of_any_size, cores)
def test_there_are_up_to_four_tasks_per_core_as_far_as_they_have_enough_to_do(runs, cores):
    parts = plan_parts(runs, cores=cores)
    tasks = plan_tasks(parts, {one.run_id: one for one in runs}, cores=cores)

    worthwhile = int(sum(one.cost for one in runs) // 50_000)
    assert len(tasks) == min(len(parts), max(cores, worthwhile), 4 * cores)


def test_a_small_study_is_one_task_per_core():
    runs = [run(number, 100.0) for number in range(39)]
    parts = plan_parts(runs, cores=2)

    assert (8, 2) == (len(parts), len(plan_tasks(parts, {one.run_id: one for one in runs}, cores=2)))


@given(runs_of_any_size, cores)
def test_no_bin_is_fuller_than_the_fair_share_plus_the_largest_item(runs, cores):
    count = min(len(runs), 4 * cores)
    bins = pack(runs, count, lambda one: one.cost)
    loads = [sum(one.cost for one in members) for members in bins]

    assert max(loads) <= sum(loads) / count + max(one.cost for one in runs) + 1e-6
    assert loads == sorted(loads, reverse=True)


@given(runs_of_any_size, cores)
def test_a_part_of_several_runs_is_not_much_larger_than_intended(runs, cores):
    by_id = {one.run_id: one for one in runs}
    for part in plan_parts(runs, cores=cores):
        rest = sorted(by_id[run_id].cost for run_id in part.run_ids)[:-1]
        assert sum(rest) <= PART_TXNS + 1e-6


def test_runs_of_a_part_keep_the_order_of_the_grid():
    runs = [run(number, txns) for number, txns in enumerate([5e3, 9e3, 1e3, 7e3])]

    (part,) = plan_parts(runs[:1], cores=1)
    assert part.run_ids == (runs[0].run_id,)
    for part in plan_parts([*runs, *(run(number, 4e3) for number in range(4, 40))], cores=1):
        assert list(part.run_ids) == sorted(part.run_ids)


def test_a_parts_name_stands_for_its_runs():
    first, second = run(1, 10.0), run(2, 10.0)
    (one,) = plan_parts([first], cores=1)
    (other,) = plan_parts([second], cores=1)
    (again,) = plan_parts([first], cores=8)

    assert one.name == again.name
    assert one.name[:10] == other.name[:10] == "part-00000"
    assert one.name != other.name


def test_a_large_study_has_parts_of_about_half_a_million_txns():
    runs = [run(number, 28_000.0) for number in range(500)]

    parts = plan_parts(runs, cores=2)
    assert len(parts) == 32
    assert {len(part.run_ids) for part in parts} == {15, 16}


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
