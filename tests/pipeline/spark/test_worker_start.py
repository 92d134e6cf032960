"""How Spark's Python processes start, and what is said when they do not."""

import os
import sys
from pathlib import Path

import pyspark
import pytest

from endive import kernel_cache
from endive.errors import EngineError
from endive.pipeline.analysis.run_analysis import spark_errors
from endive.pipeline.spark import worker_daemon
from endive.pipeline.spark.session import SIMULATIONS, WORKER_DAEMON, explain_spark, no_workers
from endive.pipeline.spark.spark_home import home_without_zip
from endive.pipeline.spark.worker_daemon import SIMULATES
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

    assert explain_spark(RuntimeError(SAID)) == no_workers(SAID)


def test_other_complaints_are_not_about_that():
    assert None is no_workers("java.lang.OutOfMemoryError: Java heap space")


def test_workers_are_told_by_the_name_that_their_daemon_knows_to_load_the_engine():
    assert [f"spark.executorEnv.{SIMULATES}"] == list(SIMULATIONS)


def test_the_spark_of_a_command_is_the_installed_one_without_its_zips(monkeypatch):
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    for _ in range(2):  # made, and found again
        with home_without_zip():
            entries = {entry.name: entry.resolve() for entry in Path(os.environ["SPARK_HOME"]).iterdir()}

        installed = Path(pyspark.__file__).resolve().parent
        assert {name: installed / name for name in ("bin", "jars")} == {name: entries[name] for name in ("bin", "jars")}
        assert "python" not in entries
    assert "SPARK_HOME" not in os.environ


@pytest.mark.parametrize("named", [None, "/opt/spark"])
def test_workers_of_another_python_keep_the_zip_and_a_spark_that_the_user_names_is_taken(monkeypatch, named):
    monkeypatch.delenv("SPARK_HOME", raising=False)
    if named is not None:
        monkeypatch.setenv("SPARK_HOME", named)
        monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    with home_without_zip():
        assert named == os.environ.get("SPARK_HOME")
    assert named == os.environ.get("SPARK_HOME")


@pytest.mark.parametrize(
    ("engine", "is_kept", "compiles"), [("auto", False, 1), ("auto", True, 0), ("reference", False, 0)]
)
def test_the_driver_compiles_the_engine_only_if_workers_will_need_it_and_nobody_has(
    engine, is_kept, compiles, monkeypatch
):
    compiled = []
    monkeypatch.setattr(run_sweep, "is_kept", lambda module: is_kept)
    monkeypatch.setattr(worker_daemon, "load_engine", lambda: compiled.append(1))

    thread = run_sweep.start_warm_up(engine)
    if thread is not None:
        thread.join()

    assert compiles == len(compiled)


def test_the_module_of_the_kept_engine_is_one_that_is_compiled():
    worker_daemon.load_engine()

    assert kernel_cache.cache_folder() is None or kernel_cache.is_kept("simulation.compiled.loop")
    assert not kernel_cache.is_kept("simulation.compiled.nothing")
