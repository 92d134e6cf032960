"""What is said when Spark's Python workers do not start."""

from __future__ import annotations

import pytest

from endive.errors import EngineError
from endive.pipeline.analysis.run_analysis import spark_errors
from endive.pipeline.spark.session import LOCAL_SETTINGS, WORKER_DAEMON, no_workers
from endive.pipeline.sweep import run_sweep

SAID = (
    "An error occurred while calling o100.getResult.\n: org.apache.spark.SparkException: Job aborted\n"
    f"EOFException occurred while reading the port number from {WORKER_DAEMON}'s stdout and terminated with code: 1."
)


@pytest.fixture(autouse=True)
def other_python(monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", "/opt/other/python")


def test_workers_that_do_not_start_are_told_with_the_python_they_were_to_run():
    expected = r"^Spark's workers do not start with PYSPARK_PYTHON = /opt/other/python\. "
    with pytest.raises(EngineError, match=expected), spark_errors():
        raise RuntimeError(SAID)

    assert run_sweep._describe_error(RuntimeError(SAID)).startswith(str(no_workers(SAID)))


def test_other_complaints_are_not_about_that():
    assert None is no_workers("java.lang.OutOfMemoryError: Java heap space")


def test_the_module_is_the_one_that_the_session_names():
    assert WORKER_DAEMON == LOCAL_SETTINGS["spark.python.daemon.module"]
