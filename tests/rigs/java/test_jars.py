"""Iceberg's jars: which are taken, and what is said where there are none."""

import hashlib
import shutil
from dataclasses import replace

import pytest

from endive.verification import Options, find_suite, run_suite
from endive.verification.suite import UnavailableError
from rigs.java import jars
from rigs.java.jars import find_jars

OTHERS = ("derby-10.jar", "derbyshared-10.jar", "hadoop-client-api-3.jar", "slf4j-api-2.jar")
REQUESTS = replace(find_suite("requests"), parts=find_suite("requests").parts[:1])


@pytest.fixture(autouse=True)
def any_bytes(monkeypatch):
    """Jars of these tests are empty files; the test of digests brings its own."""
    monkeypatch.setattr(jars, "SHA256", {})


@pytest.fixture
def folder(tmp_path):
    put(tmp_path, *OTHERS)
    return tmp_path


def put(folder, *names):
    for name in names:
        (folder / name).touch()


def pair(version):
    return [f"iceberg-spark-runtime-3.5_2.12-{version}.jar", f"iceberg-aws-bundle-{version}.jar"]


def test_the_newest_version_both_jars_have_is_taken(folder):
    put(folder, *pair("1.9.1"), *pair("1.9.2"), "iceberg-aws-bundle-1.10.0.jar")

    found, version = find_jars(folder)

    assert "1.9.2" == version
    assert [*pair("1.9.2"), *OTHERS] == [jar.name for jar in found]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (
            ["iceberg-spark-runtime-3.5_2.12-1.9.2.jar"],
            r"no iceberg-aws-bundle-\*\.jar in .*leave --iceberg-jars out",
        ),
        (pair("1.4.3"), r"known here \(.*1\.4\.3\.jar.*of 1\.9\.x or 1\.10\.x or 1\.11\.x"),
    ],
)
def test_a_folder_that_lacks_a_jar_or_has_others_is_refused_by_their_names(folder, names, told):
    put(folder, *names)

    with pytest.raises(UnavailableError, match=told):
        find_jars(folder)


def test_a_release_that_is_not_known_is_refused():
    with pytest.raises(UnavailableError, match=r"Iceberg 1\.4\.3 is not known here\. Give a release of 1\.9\.x"):
        find_jars(release="1.4.3")


def test_releases_are_ordered_by_number(folder):
    for version in ("1.9.2", "1.11.0", "1.10.0"):
        put(folder, *pair(version))

    assert ["1.11.0", "1.9.2"] == [find_jars(folder)[1], find_jars(folder, "1.9.2")[1]]


def test_without_maven_and_pyspark_the_reason_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(jars, "_spark_jars", lambda: None)

    with pytest.raises(UnavailableError, match=r"neither 'mvn' on PATH nor PySpark.*give it by --iceberg-jars"):
        find_jars()


def test_maven_that_fails_is_quoted(tmp_path, monkeypatch):
    maven = tmp_path / "mvn"
    maven.write_text("#!/bin/sh\necho '[ERROR] Could not transfer artifact'\nexit 1\n")
    maven.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda name: str(maven))

    with pytest.raises(UnavailableError, match=r"Maven says: \[ERROR\] Could not transfer artifact Is there a network"):
        find_jars()


def test_a_live_suite_without_jars_is_skipped_with_the_reason(tmp_path, monkeypatch):
    pytest.importorskip("py4j")
    monkeypatch.setattr("rigs.java.gateway.provide_java", lambda: None)

    (outcome,) = run_suite(REQUESTS, Options(is_live=True, iceberg_jars=tmp_path))

    assert outcome.skipped is not None
    assert f"there is no iceberg-spark-runtime-3.5_2.12-*.jar in {tmp_path}" in outcome.skipped


def test_a_live_suite_without_java_is_skipped_with_the_reason(tmp_path, monkeypatch):
    monkeypatch.setattr("endive.pipeline.spark.java._candidates", list)

    (outcome,) = run_suite(REQUESTS, Options(is_live=True, iceberg_jars=tmp_path))

    assert outcome.skipped is not None
    assert outcome.skipped.startswith("Iceberg needs Java 17 or newer, and none was found.")


def test_a_jar_that_was_cut_off_is_noticed(folder, monkeypatch):
    names = pair("1.9.2")
    put(folder, *names)
    (folder / names[1]).write_bytes(b"whole")
    monkeypatch.setattr(jars, "SHA256", {names[1]: hashlib.sha256(b"whole").hexdigest()})
    assert "1.9.2" == find_jars(folder)[1]

    (folder / names[1]).write_bytes(b"who")

    with pytest.raises(UnavailableError, match=r"aws-bundle-1\.9\.2\.jar has 3 bytes with SHA-256 .*cut off"):
        find_jars(folder)
