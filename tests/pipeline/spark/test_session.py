"""The way to Spark, as far as it goes without one."""

from __future__ import annotations

import os
import socket
import stat
import tempfile
from pathlib import Path

import pytest

from endive.errors import ConfigError, EngineError
from endive.pipeline.spark import java, session
from endive.pipeline.spark.session import (
    check_answer,
    check_reachable,
    local_cores,
    parse_conf,
    session_on_demand,
    with_retries,
)


@pytest.mark.parametrize(
    ("master", "expected"),
    [
        ("local", "local[1,4]"),
        ("local[2]", "local[2,4]"),
        ("local[*]", "local[*,4]"),
        ("local[2,1]", "local[2,1]"),
        ("spark://a:7077", "spark://a:7077"),
    ],
)
def test_a_local_master_tries_a_task_as_often_as_a_cluster(master, expected):
    assert expected == with_retries(master)


@pytest.mark.parametrize(
    ("master", "cores"),
    [
        ("local", 1),
        ("local[3]", 3),
        ("local[3,4]", 3),
        ("local[*,4]", os.cpu_count()),
        (None, os.cpu_count()),
        ("local-cluster[2,3,1024]", 6),
        ("spark://a:7077", None),
        ("", None),
    ],
)
def test_cores_of_a_master_of_this_machine_are_known(master, cores):
    assert cores == local_cores(master)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_a_master_that_does_not_answer_is_told_at_once(scheme):
    master = f"{scheme}://127.0.0.1:{free_port()}"

    with pytest.raises(EngineError, match=f"--master {master} cannot be reached: 127.0.0.1:.* refused"):
        check_reachable(master)


def test_a_master_that_listens_and_says_nothing_is_given_up(monkeypatch):
    pytest.importorskip("grpc")
    pytest.importorskip("grpc_status")
    monkeypatch.setattr(session, "ANSWER_TIMEOUT_S", 1.0)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        master = f"sc://127.0.0.1:{server.getsockname()[1]}"

        with pytest.raises(EngineError, match=f"^--master {master} is reached, but does not answer within 1 s"):
            check_answer(master)


def test_one_of_several_masters_is_enough():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        check_reachable(f"spark://127.0.0.1:{free_port()},127.0.0.1:{server.getsockname()[1]}")
        check_reachable(f"sc://127.0.0.1:{server.getsockname()[1]}/;user_id=me")


@pytest.mark.parametrize("master", ["loacl[2]", "http://x", "local[x]", "local[2"])
def test_a_master_that_is_none_is_told(master):
    with pytest.raises(EngineError, match=r"is no master\. Give local"):
        check_reachable(master)


def test_settings_are_spark_keys():
    assert parse_conf(["spark.executor.memory=2g", "spark.x = a=b "]) == {
        "spark.executor.memory": "2g",
        "spark.x": "a=b",
    }
    with pytest.raises(ConfigError) as caught:
        parse_conf(["memory=2g", "spark.x"])
    assert caught.value.problems == (
        "--conf 'memory=2g' is not spark.key=value.",
        "--conf 'spark.x' is not spark.key=value.",
    )


# ---- Java ----------------------------------------------------------------------------------------------


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
    def fail(name, *, master, conf, log):
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
