"""A standalone cluster of processes, an executor and a worker of it killed: the bytes that one process writes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.integration.command import started
from tests.pipeline.contents import contents
from tests.pipeline.in_process import InProcessSpark
from tests.pipeline.processes import executors, killed_when, parts_there
from tests.waiting import PATIENCE_S, free_port, is_answered, wait_until

from endive.pipeline import run_sweep
from endive.pipeline.spark.java import provide_java

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SETTINGS = ("simulation.duration_ms=400_000",)
DEPLOY = "org.apache.spark.deploy"


class Cluster:
    """A master and two workers of one core each, as processes of their own."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        provide_java()
        self._home = Path(pyspark.__file__).parent
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        port = free_port()
        self.master = f"spark://127.0.0.1:{port}"
        self._start("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
        wait_until(lambda: is_answered(port), f"a master answers on port {port}")
        self.workers = [self._start_worker(name) for name in ("one", "two")]

    def _start_worker(self, name: str) -> int:
        place = str(self._folder / name)
        options = ("--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", place)
        return self._start("worker.Worker", self.master, "--host", "127.0.0.1", *options)

    def _start(self, role: str, *options: str) -> int:
        log = (self._folder / f"{role}-{len(self._processes)}.log").open("wb")
        process = subprocess.Popen(
            [str(self._home / "bin" / "spark-class"), f"{DEPLOY}.{role}", *options],
            env={**os.environ, "SPARK_HOME": str(self._home), "PYTHONPATH": os.pathsep.join(sys.path)},
            cwd=self._folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        self._processes.append(process)
        return process.pid

    def stop(self) -> None:
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    folder = tmp_path / "spark"
    folder.mkdir()
    found = Cluster(folder)
    yield found
    found.stop()


def test_a_cluster_that_loses_an_executor_and_a_worker_writes_what_one_process_writes(
    study_file, planned, cluster, tmp_path
):
    run_sweep(planned(*SETTINGS), tmp_path / "alone", lambda: InProcessSpark(cores=2), engine="reference")
    out = tmp_path / "cluster"
    settings = [option for setting in SETTINGS for option in ("--set", setting)]
    conf = ("spark.executor.memory=512m", "spark.driver.host=127.0.0.1", "spark.cores.max=2")
    options = [option for setting in conf for option in ("--conf", setting)]
    driver = started(study_file, out, "--master", cluster.master, *options, *settings)
    first, second = cluster.workers
    with (
        killed_when(lambda: parts_there(out) >= 1, lambda: executors(first)) as executor,
        killed_when(lambda: parts_there(out) >= 2, lambda: [second]) as worker,
    ):
        stdout, stderr = driver.communicate(timeout=4 * PATIENCE_S)

    assert driver.returncode == 0, stderr
    assert stdout.startswith("small: 12 runs simulated in ")
    assert 1 == len(executor)
    assert [second] == worker
    assert contents(out) == contents(tmp_path / "alone")
