"""A cluster of two workers: the same rows as one machine, bit for bit, with an executor killed in the middle."""

from __future__ import annotations

import pytest
from tests.pipeline.in_process import InProcessSpark
from tests.pipeline.processes import executors, killed_when, runs_ended
from tests.pipeline.test_sweep import contents

from endive.pipeline import make_session, run_sweep

pytestmark = pytest.mark.spark

MASTER = "local-cluster[2,1,1024]"  # two workers with one core and 1 GB each, in processes of their own


@pytest.fixture
def cluster(tmp_path_factory, monkeypatch):
    """A session on a cluster of this machine. Only one session may be alive, so an earlier one is stopped."""
    from pyspark.sql import SparkSession

    if (before := SparkSession.getActiveSession()) is not None:
        before.stop()
    scratch = tmp_path_factory.mktemp("cluster")
    monkeypatch.setenv("SPARK_WORKER_DIR", str(scratch / "work"))
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(scratch))
    session = make_session("endive cluster", master=MASTER, conf={"spark.executor.memory": "512m"})
    yield session
    session.stop()


def test_a_cluster_that_loses_an_executor_writes_what_one_process_writes(cluster, planned, tmp_path):
    study = planned("simulation.duration_ms=200_000", "transaction.retry_backoff.policy=none")
    run_sweep(study, tmp_path / "alone", lambda: InProcessSpark(cores=2), engine="reference")
    out = tmp_path / "cluster"
    with killed_when(lambda: runs_ended(out) >= 1, executors) as killed:
        outcome = run_sweep(study, out, lambda: cluster, engine="reference")

    assert len(killed) == 1
    assert killed[0] not in executors()
    assert (outcome.simulated, outcome.failed) == (6, ())
    assert contents(out) == contents(tmp_path / "alone")
