"""The archive of the driver's classes: found by what it is of, used if it is there, never required."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
from pyspark import SparkContext

from endive.code_cache import CACHE_FOLDER_VARIABLE
from endive.pipeline.spark import session
from endive.pipeline.spark.class_archive import ClassArchive


@pytest.fixture
def homes(tmp_path, monkeypatch):
    """A Java and a Spark, and a cache of our own."""
    monkeypatch.setenv(CACHE_FOLDER_VARIABLE, str(tmp_path / "cache"))
    java, spark = tmp_path / "java", tmp_path / "spark"
    (spark / "jars").mkdir(parents=True)
    java.mkdir()
    (java / "release").write_text('JAVA_VERSION="17.0.1"')
    (spark / "jars" / "core.jar").write_bytes(b"jar")
    return java, spark


def test_one_java_and_one_spark_have_one_archive(homes):
    java, spark = homes
    first = ClassArchive.find(java, spark)

    assert first.path == ClassArchive.find(java, spark).path
    (spark / "jars" / "more.jar").write_bytes(b"jar")
    second = ClassArchive.find(java, spark)
    (java / "release").write_text('JAVA_VERSION="21"')
    assert 3 == len({first.path, second.path, ClassArchive.find(java, spark).path})


def test_it_is_made_once_and_then_used(homes):
    archive = ClassArchive.find(*homes)

    assert archive.options().startswith(f"-XX:ArchiveClassesAtExit={archive.partial} ")
    archive.path.write_bytes(b"classes")
    assert archive.options().startswith(f"-Xshare:auto -XX:SharedArchiveFile={archive.path} ")


def test_nothing_is_kept_where_no_place_is_safe_or_java_is_unknown(homes, monkeypatch, tmp_path):
    java, spark = homes
    assert None is ClassArchive.find(tmp_path / "nowhere", spark)
    monkeypatch.setattr("endive.pipeline.spark.class_archive.is_ours_alone", lambda folder: False)
    assert None is ClassArchive.find(java, spark)


def test_archives_that_nobody_used_for_a_month_are_removed(homes):
    java, spark = homes
    kept = ClassArchive.find(java, spark).path
    old = kept.with_name("0123.jsa")
    for path in (kept, old):
        path.write_bytes(b"classes")
        os.utime(path, (0, 0))

    ClassArchive.find(java, spark)

    assert (True, False) == (kept.exists(), old.exists())


def test_the_jvm_that_makes_it_ends_and_the_archive_gets_its_name(homes, monkeypatch):
    archive = ClassArchive.find(*homes)

    class Process:
        stdin = SimpleNamespace(close=lambda: archive.partial.write_bytes(b"classes"))

        def wait(self, timeout):
            assert archive.partial.exists()

    monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=Process(), shutdown=lambda: None))
    monkeypatch.setattr(SparkContext, "_jvm", None)
    archive.finish()

    assert (b"classes", False) == (archive.path.read_bytes(), archive.partial.exists())


@pytest.mark.parametrize(
    "conf", [{"spark.endive.classArchive": "false"}, {"spark.driver.extraJavaOptions": "-XX:+UseParallelGC"}]
)
def test_who_does_not_want_it_or_has_options_of_his_own_gets_none(conf, monkeypatch):
    monkeypatch.setattr(session.ClassArchive, "find", lambda *_: pytest.fail("not wanted"))
    archives: list[ClassArchive] = []

    session._use_archive(None, {}, conf, archives)

    assert [] == archives
