"""Spark Connect: a server in a process of its own, a client without a JVM, and the same bytes as one process writes.

Slow, for it needs a JVM of its own; what a glance at the sources tells is in ``test_session``. Skipped where the
client's libraries are missing: ``pip install 'endive[connect]'``.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.pipeline.in_process import InProcessSpark
from tests.pipeline.sweep.test_run_sweep import contents
from tests.waiting import wait_until

from endive.pipeline import run_sweep
from endive.pipeline.spark.session import LOCAL_SETTINGS, SETTINGS

pytest.importorskip("grpc", reason="Spark Connect's client needs: pip install 'endive[connect]'")
pytest.importorskip("grpc_status", reason="Spark Connect's client needs: pip install 'endive[connect]'")

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Connect server with two cores."""
    import pyspark

    scratch = tmp_path_factory.mktemp("connect")
    port = _free_port()
    settings = {**SETTINGS, **LOCAL_SETTINGS, "spark.local.dir": str(scratch)}
    settings |= {"spark.connect.grpc.binding.port": str(port), "spark.sql.warehouse.dir": str(scratch / "warehouse")}
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--class", SERVER, "--master", "local[2,4]"]
    command += [option for key, value in settings.items() for option in ("--conf", f"{key}={value}")]
    with (scratch / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "spark-internal"],
            cwd=scratch,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYSPARK_PYTHON": sys.executable},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        _await_port(port, process, scratch / "server.log")
        yield f"sc://127.0.0.1:{port}"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def endive(*arguments: str | Path) -> str:
    """A command in a process of its own, with no way to start a JVM; what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "endive.cli.main", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "JAVA_HOME": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_sweep_and_its_analysis_over_connect_write_what_one_process_writes(
    server, planned, study_file, tmp_path, spark
):
    from endive.pipeline.analysis.run_analysis import analyze

    alone, out = tmp_path / "alone", tmp_path / "connect"
    run_sweep(planned(), alone, InProcessSpark, engine="reference")

    told = endive("sweep", study_file, "--out", out, "--engine", "reference", "--master", server)

    assert told.startswith("small: 12 runs simulated in ")
    assert contents(alone) == contents(out)

    analyze(alone, lambda: spark)
    endive("analyze", out, "--master", server)

    assert contents(alone / "analysis") == contents(out / "analysis")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    def answers() -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1.0):
            return True
        return False

    wait_until(lambda: process.poll() is not None or answers(), "a Connect server")
    assert process.poll() is None, f"the server did not start:\n{log.read_text(errors='replace')[-2000:]}"
