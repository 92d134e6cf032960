"""Spark Connect: a server in a process of its own, a client without a JVM, and the same bytes as one process writes.

Slow, for it needs a JVM of its own; what a glance at the sources tells is in ``test_session``. Skipped where the
client's libraries are missing: ``pip install 'endive[connect]'``.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.integration.command import ran
from tests.pipeline.contents import contents
from tests.pipeline.in_process import InProcessSpark
from tests.waiting import free_port, is_answered, wait_until

from endive.pipeline import run_sweep
from endive.pipeline.analysis.run_analysis import analyze
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
    port = free_port()
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
        wait_until(lambda: process.poll() is not None or is_answered(port), "a Connect server")
        assert process.poll() is None, (scratch / "server.log").read_text(errors="replace")[-2000:]
        yield f"sc://127.0.0.1:{port}"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def endive(*arguments: object) -> str:
    """What a command printed that has no way to start a JVM."""
    done = ran(*arguments, JAVA_HOME="/nowhere")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_sweep_and_its_analysis_over_connect_write_what_one_process_writes(
    server, planned, study_file, tmp_path, spark
):
    alone, out = tmp_path / "alone", tmp_path / "connect"
    run_sweep(planned(), alone, InProcessSpark, engine="reference")

    told = endive("sweep", study_file, "--out", out, "--engine", "reference", "--master", server)

    assert told.startswith("small: 12 runs simulated in ")
    assert contents(alone) == contents(out)

    analyze(alone, lambda: spark)
    endive("analyze", out, "--master", server)

    assert {path.name: path.read_bytes() for path in (alone / "analysis").iterdir()} == {
        path.name: path.read_bytes() for path in (out / "analysis").iterdir()
    }
