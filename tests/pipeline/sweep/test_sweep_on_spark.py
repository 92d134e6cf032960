"""A sweep on a real session: the same bytes as without Spark, also when workers die."""

import os
import signal
import sys

import pytest
from tests.pipeline.contents import contents, rows
from tests.pipeline.in_process import InProcessSpark
from tests.pipeline.processes import killed_when, parts_there, python_workers

from endive.pipeline import run_sweep
from endive.pipeline.sweep.simulate import SimulateTask

pytestmark = pytest.mark.spark

LONGER = "simulation.duration_ms=200_000"


def test_spark_writes_the_same_files_as_one_process(spark, planned, whole, tmp_path):
    standings = []
    outcome = run_sweep(planned(), tmp_path / "spark", lambda: spark, progress=standings.append)

    assert outcome.simulated == 12
    assert contents(tmp_path / "spark") == contents(whole)
    assert (standings[0].runs_done, standings[-1].runs_done) == (0, 12)


def test_every_task_is_a_partition_of_its_own(spark, planned):
    from pyspark.sql import functions as F  # noqa: N812

    from endive.pipeline.sweep.plan import plan_parts, plan_tasks
    from endive.pipeline.sweep.run_sweep import runs_frame

    runs = {run.run_id: run for run in planned(seeds=20).runs}
    tasks = plan_tasks(plan_parts(list(runs.values())), runs, cores=8)
    frame = runs_frame(spark, tasks, runs)

    where = frame.select("task", F.spark_partition_id().alias("partition")).distinct().collect()
    assert sorted((row["task"], row["partition"]) for row in where) == [(task, task) for task in range(8)]
    assert frame.count() == 120


def test_a_killed_python_worker_costs_time_and_nothing_else(spark, planned, tmp_path):
    study = planned(LONGER)
    run_sweep(study, tmp_path / "whole", lambda: InProcessSpark(cores=2), engine="reference")
    out = tmp_path / "broken"
    with killed_when(lambda: parts_there(out) >= 1, python_workers) as killed:
        outcome = run_sweep(study, out, lambda: spark, engine="reference")

    assert len(killed) == 1
    assert (outcome.simulated, outcome.failed) == (12, ())
    assert contents(out) == contents(tmp_path / "whole")


def poisoned(run_id: str):
    """A function of a task that is killed while it simulates this run, unless it is told that the run is lost."""

    def simulate_part(specs, *arguments, lost=(), **options):
        from endive.pipeline.sweep import part

        real = part.simulate_run

        def simulate_run(spec, engine, *, is_lost, **rest):
            if spec.run_id == run_id and not is_lost:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(spec, engine, is_lost=is_lost, **rest)

        part.simulate_run = simulate_run
        try:
            return part.simulate_part(specs, *arguments, lost=lost, **options)
        finally:
            part.simulate_run = real

    return simulate_part


class PoisonedTask(SimulateTask):
    """The task of a sweep with a poisoned run; its process imports the module anew, so it takes the poison along."""

    poison = ""

    def __call__(self, batches):
        from endive.pipeline.sweep import simulate as module

        real, module.simulate_part = module.simulate_part, poisoned(self.engine.partition("/")[2])
        object.__setattr__(self, "engine", self.engine.partition("/")[0])
        try:
            yield from SimulateTask.__call__(self, batches)
        finally:
            module.simulate_part = real


def test_a_run_that_always_kills_its_process_is_skipped_and_reported(spark, planned, tmp_path, monkeypatch):
    from pyspark import cloudpickle

    import endive.pipeline.sweep.run_sweep as module

    study = planned("transaction.inter_arrival.scale=2000")
    poison = study.runs[1].run_id
    monkeypatch.setattr(
        module, "SimulateTask", lambda **options: PoisonedTask(**{**options, "engine": f"auto/{poison}"})
    )
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        outcome = run_sweep(study, tmp_path / "out", lambda: spark)
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])

    assert [poison] == [run_id for run_id, _ in outcome.failed]
    assert {4} == set(outcome.repeated.values())
    found = {row["run_id"]: row for row in rows(tmp_path / "out")}
    assert found[poison]["error"].startswith("The process that simulated it died")
    assert 3 == [row["status"] for row in found.values()].count("ok")
