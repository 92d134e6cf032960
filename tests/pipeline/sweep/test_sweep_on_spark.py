"""A sweep on a real session: the same bytes as without Spark, also when workers die."""

import os
import signal
import sys

import pyarrow.parquet as pq
import pytest
from tests.pipeline.in_process import InProcessSpark
from tests.pipeline.processes import killed_when, python_workers, runs_ended
from tests.pipeline.sweep.test_run_sweep import contents

from endive.pipeline import run_sweep
from endive.pipeline.sweep import datasource
from endive.pipeline.sweep.datasource import EndiveDataSource
from endive.pipeline.sweep.sweep_writer import SweepWriter

pytestmark = pytest.mark.spark

LONGER = "simulation.duration_ms=200_000"


def test_spark_writes_the_same_files_as_one_process(spark, planned, whole, tmp_path):
    standings = []
    outcome = run_sweep(planned(), tmp_path / "spark", lambda: spark, progress=standings.append)

    assert outcome.simulated == 12
    assert contents(tmp_path / "spark") == contents(whole)
    assert (standings[0].runs_done, standings[-1].runs_done, standings[-1].share_done) == (0, 12, 1.0)


def test_every_task_is_a_partition_of_its_own(spark, planned):
    from pyspark.sql import functions as F  # noqa: N812

    from endive.pipeline.sweep.plan import plan_parts, plan_tasks
    from endive.pipeline.sweep.run_sweep import runs_frame

    runs = {run.run_id: run for run in planned(seeds=20).runs}
    tasks = plan_tasks(plan_parts(list(runs.values()), cores=8), runs, cores=8)
    frame = runs_frame(spark, tasks, runs)

    where = frame.select("task", F.spark_partition_id().alias("partition")).distinct().collect()
    assert sorted((row["task"], row["partition"]) for row in where) == [(task, task) for task in range(8)]
    assert frame.count() == 120


def test_a_killed_python_worker_costs_time_and_nothing_else(spark, planned, tmp_path):
    study = planned(LONGER)
    run_sweep(study, tmp_path / "whole", lambda: InProcessSpark(cores=2), engine="reference")
    out = tmp_path / "broken"
    with killed_when(lambda: runs_ended(out) >= 2, python_workers) as killed:
        outcome = run_sweep(study, out, lambda: spark, engine="reference")

    assert len(killed) == 1
    assert (outcome.simulated, outcome.failed) == (12, ())
    assert contents(out) == contents(tmp_path / "whole")


class PoisonedWriter(SweepWriter):
    """A writer whose process is killed while it simulates one of its runs."""

    poison = ""

    def write(self, iterator):
        from endive.pipeline.sweep import part

        real = part.simulate_run

        def simulate_run(spec, engine, *, is_lost, **options):
            if spec.run_id == self.poison and not is_lost:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(spec, engine, is_lost=is_lost, **options)

        part.simulate_run = simulate_run
        try:
            return super().write(iterator)
        finally:
            part.simulate_run = real


class PoisonedSource(EndiveDataSource):
    """The data source with that writer; the run it dies of is an option, since Spark makes it elsewhere."""

    def writer(self, schema, overwrite):
        options = dict(self.options)
        writer = PoisonedWriter(options, schema, overwrite=overwrite)
        writer.poison = options["poison"]
        return writer


def test_a_run_that_always_takes_its_process_down_is_given_up(spark, planned, tmp_path, monkeypatch):
    from pyspark import cloudpickle

    import endive.pipeline.sweep.run_sweep as module

    study = planned("transaction.inter_arrival.scale=2000")
    poison = study.runs[1].run_id
    write = module._write
    monkeypatch.setattr(
        module, "_write", lambda folder, options, frame: write(folder, {**options, "poison": poison}, frame)
    )
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.setattr(datasource, "EndiveDataSource", PoisonedSource)
    try:
        outcome = run_sweep(study, tmp_path / "out", lambda: spark)
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
        spark.dataSource.register(EndiveDataSource)

    assert [run_id for run_id, _ in outcome.failed] == [poison]
    found = {row["run_id"]: row for row in pq.read_table(tmp_path / "out" / "runs").to_pylist()}
    assert found[poison]["error"].startswith("The process that simulated it died")
    assert [row["status"] for row in found.values()].count("ok") == 3
