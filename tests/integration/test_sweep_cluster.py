"""A cluster of two workers: the same rows as one machine, bit for bit, with an executor killed in the middle."""

from pathlib import Path

import pytest
from tests.integration.command import started
from tests.pipeline.contents import contents
from tests.pipeline.in_process import InProcessSpark
from tests.pipeline.processes import executors, killed_when, parts_there

from endive.pipeline import run_sweep

pytestmark = [pytest.mark.spark, pytest.mark.slow]  # three JVMs; repeated tasks without them: test_run_sweep.py

MASTER = "local-cluster[2,1,1024]"  # two workers with one core and 1 GB each, executors in processes of their own
SETTINGS = ("simulation.duration_ms=200_000", "transaction.retry_backoff.policy=none")


@pytest.fixture
def spark_home(tmp_path):
    """Spark as it is installed, but with a place of its own for what the workers of a cluster leave behind."""
    import pyspark

    home = tmp_path / "spark"
    home.mkdir()
    for entry in Path(pyspark.__file__).parent.iterdir():
        (home / entry.name).symlink_to(entry)
    return home


def test_a_cluster_that_loses_an_executor_writes_what_one_process_writes(study_file, planned, spark_home, tmp_path):
    run_sweep(planned(*SETTINGS), tmp_path / "alone", lambda: InProcessSpark(cores=2), engine="reference")
    out = tmp_path / "cluster"
    settings = [option for setting in SETTINGS for option in ("--set", setting)]
    driver = started(
        study_file,
        out,
        *("--master", MASTER, "--conf", "spark.executor.memory=512m", *settings),
        SPARK_HOME=str(spark_home),
    )
    with killed_when(lambda: parts_there(out) >= 1, lambda: executors(driver.pid)) as killed:
        stdout, stderr = driver.communicate()

    assert driver.returncode == 0, stderr
    assert stdout.startswith("small: 6 runs simulated in ")
    assert len(killed) == 1
    assert contents(out) == contents(tmp_path / "alone")
