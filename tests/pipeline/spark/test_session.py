"""The way to Spark, as far as it goes without one."""

from __future__ import annotations

import os
import re
import signal
import stat
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark import SparkContext

from endive.cli.console import Terminated, _answer_signals
from endive.errors import ConfigError, EngineError
from endive.pipeline.spark import java, scratch, session
from endive.pipeline.spark.session import parse_conf, session_on_demand, signals_deferred
from endive.results.writer import hold_folder


def test_a_request_to_end_waits_until_the_session_is_there():
    done = []

    def start():
        signal.raise_signal(signal.SIGINT)
        done.append("session")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background has it ignored
    try:
        with pytest.raises(KeyboardInterrupt), signals_deferred():
            start()

        assert ["session"] == done
        assert signal.default_int_handler is signal.getsignal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_settings_are_spark_keys():
    settings = {"spark.executor.memory": "2g", "spark.x": "a=b"}
    assert settings == parse_conf(["spark.executor.memory=2g", "spark.x = a=b "])
    with pytest.raises(ConfigError) as caught:
        parse_conf(["memory=2g", "spark.x"])
    wrong = ("memory=2g", "spark.x")
    assert tuple(f"--conf '{text}' is not spark.key=value." for text in wrong) == caught.value.problems


def installation(home: Path, version: str, *, states_version: bool = True) -> Path:
    """A folder that looks like a Java of that version."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '    java.specification.version = {version}' >&2\n")
    program.chmod(0o755)
    if states_version:
        (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}.0.1"\n')
    return home


@pytest.fixture
def no_java(monkeypatch, tmp_path):
    """A machine without Java, whose Python environment is empty."""
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(java.sys, "prefix", str(tmp_path / "environment"))
    return monkeypatch


@pytest.mark.parametrize("states_version", [True, False])
def test_java_home_comes_first(no_java, tmp_path, states_version):
    home = installation(tmp_path / "jdk", "21", states_version=states_version)
    no_java.setenv("JAVA_HOME", str(home))
    java.provide_java()

    assert os.environ["JAVA_HOME"] == str(home)


def test_a_java_that_is_too_old_is_passed_over_for_the_one_on_path(no_java, tmp_path):
    no_java.setenv("JAVA_HOME", str(installation(tmp_path / "old", "11")))
    home = installation(tmp_path / "new", "17")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    java.provide_java()

    assert os.environ["JAVA_HOME"] == str(home)


def test_the_java_of_the_python_environment_comes_last(no_java, tmp_path):
    home = installation(tmp_path / "environment" / "java", "21", states_version=False)
    java.provide_java()

    assert os.environ["JAVA_HOME"] == str(home)


def test_without_java_the_message_says_what_was_tried_and_what_to_do(no_java, tmp_path):
    no_java.setenv("JAVA_HOME", str(installation(tmp_path / "old", "11")))

    with pytest.raises(EngineError) as caught:
        java.provide_java()
    assert "Spark needs Java 17 or newer" in str(caught.value)
    assert f"JAVA_HOME ({tmp_path / 'old'}: Java 11)" in str(caught.value)
    assert "sudo apt install default-jre-headless" in str(caught.value)


def test_what_spark_said_is_kept_in_a_new_file_that_nobody_else_reads(monkeypatch, tmp_path):
    def fail(name, *, log, **settings):
        log.write_text("no java")
        raise EngineError("No Spark session.")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(session, "make_session", fail)
    for _ in range(2):
        with pytest.raises(EngineError, match=r"What Spark said is in .*endive-spark-"), session_on_demand("x") as make:
            make()

    logs = list(tmp_path.iterdir())
    assert 2 == len(logs)
    assert {0o600} == {stat.S_IMODE(log.stat().st_mode) for log in logs}
    assert {"no java"} == {log.read_text() for log in logs}


def test_what_killed_commands_left_is_removed_and_what_living_ones_use_is_not(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("endive-spark-dead", "endive-spark-alive", "somebody-else"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "blockmgr").write_bytes(b"x")
        os.utime(tmp_path / name, (0, 0))

    with hold_folder(tmp_path / "endive-spark-alive"), scratch.scratch_folder() as folder:
        assert {"endive-spark-alive", "somebody-else", folder.name} == {path.name for path in tmp_path.iterdir()}

    assert {"endive-spark-alive", "somebody-else"} == {path.name for path in tmp_path.iterdir()}


def test_a_hang_up_that_ends_the_jvm_first_still_ends_the_command_as_one(monkeypatch, tmp_path):
    """The signal goes to the whole group; the driver may hear of the lost JVM before it hears the signal itself."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    process = SimpleNamespace(poll=lambda: 128 + signal.SIGHUP)
    monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=process))
    monkeypatch.setattr(session.time, "sleep", lambda _: os.kill(os.getpid(), signal.SIGHUP))

    with pytest.raises(Terminated) as ended, _answer_signals(), session_on_demand("x"):
        raise EngineError("Spark failed: the JVM is gone.")

    assert 128 + signal.SIGHUP == ended.value.exit_code


def test_only_the_session_itself_asks_for_what_spark_connect_has_not():
    beyond = re.compile(r"\.(rdd|_jvm|_jsc|_jdf|_jsparkSession)\b|[.\"]sparkContext\b")
    sources = sorted(Path(session.__file__).parents[1].rglob("*.py"))

    found = [path.name for path in sources if beyond.search(path.read_text(encoding="utf-8"))]
    assert ["class_archive.py", "session.py"] == found
