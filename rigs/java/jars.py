"""Where Iceberg's jars come from: a folder the user names, the cache, Maven, or Spark's resolver."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import logging
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

from endive.verification.suite import UnavailableError

RECORDED: Final = ("1.9.2", "1.11.0")  # releases whose recordings the package has, oldest first
VERSION: Final = RECORDED[-1]
VERSIONS_KNOWN: Final = ("1.9.", "1.10.", "1.11.")  # release lines the rig can drive
GROUP: Final = "org.apache.iceberg"
ARTIFACTS: Final = ("iceberg-spark-runtime-3.5_2.12", "iceberg-aws-bundle")
SHA256: Final = {  # of the jars that are fetched, as Maven Central has them
    "iceberg-spark-runtime-3.5_2.12-1.11.0.jar": "94b8e36fc329f0293d44ba9e01b784a56e9501affec1842d898144c51f6e486a",
    "iceberg-aws-bundle-1.11.0.jar": "38f01da7e96850cdd05e6616d758b77b43314b712a8808e3f9a824d56976162f",
    "iceberg-spark-runtime-3.5_2.12-1.10.0.jar": "70f9471870b2d456167d703c829f098a446b86bb1379eee338c0efa03a341026",
    "iceberg-aws-bundle-1.10.0.jar": "172370cfc32a5f1ae5399b210e86fc04a366dc29a112d97ac8ffc74df7525596",
    "iceberg-spark-runtime-4.0_2.13-1.10.0.jar": "0480f1248e0a8b50ae2a730d7ad3e1a727351c362ca63f4a0c35182087a49323",
    "iceberg-spark-runtime-3.5_2.12-1.9.2.jar": "c40ae0a8e2673bb5c01951b7d15aae2224a534f8331f4274ce2082776116a044",
    "iceberg-aws-bundle-1.9.2.jar": "ea5b6fec1b547e2fe936f804c737943f5ee322d038560f63a8261deb766def1b",
}
COPY_GOAL: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
SUPPORT: Final = ("derby-", "derbyshared-", "hadoop-client-api-", "slf4j-api-")  # in the jar folder of PySpark
FETCH_TIMEOUT_S: Final = 900
_JAR: Final = re.compile(r"^(?P<artifact>iceberg-.+?)-(?P<version>\d+\.\d+\.\d+[^/]*)\.jar$")


def find_jars(folder: Path | None = None, release: str | None = None) -> tuple[tuple[Path, ...], str]:
    """The class path of Iceberg, and its version: from ``folder``, or from the cache, filled by Maven if need be.

    Without a ``release`` it is the newest known one of a folder, and the newest recorded one of the cache.
    """
    if release is not None and not release.startswith(VERSIONS_KNOWN):
        lines = ", ".join(f"{line}x" for line in VERSIONS_KNOWN)
        raise UnavailableError(f"Iceberg {release} is not known here. Give a release of {lines}.")
    place = cache_folder() if folder is None else folder
    if folder is None:
        release = release or VERSION
        for artifact in ARTIFACTS:
            if not (place / f"{artifact}-{release}.jar").is_file():
                fetch(artifact, place, release)
    chosen, version = _choose(place, release)
    for jar in chosen:
        _refuse_unknown_bytes(jar)
    return chosen + _support(place), version


def _refuse_unknown_bytes(jar: Path) -> None:
    """A jar of a known name must be the known one: a download may be cut off, and a jar is code."""
    wanted = SHA256.get(jar.name)
    if wanted is None:
        return
    with jar.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != wanted:
        raise UnavailableError(
            f"{jar} has {jar.stat().st_size:,} bytes with SHA-256 {found}, not the known {wanted}: it was cut off or "
            "changed. Delete it; it is then fetched again."
        )


def cache_folder() -> Path:
    """Where fetched jars are kept from one run to the next."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "endive" / "jars"


def load_py4j() -> Any:
    """The library that drives a JVM. It tells the root logger of every interrupt; the command does that in a word."""
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        return importlib.import_module("py4j.java_gateway")
    except ImportError:
        raise UnavailableError(
            "py4j, which drives the JVM, is not installed. It comes with PySpark: pip install 'endive[spark]'."
        ) from None


# ---- fetching ----------------------------------------------------------------------------------------


def fetch(artifact: str, place: Path, release: str) -> None:
    """Put one jar into the cache: by Maven, or by Spark's resolver where there is no Maven."""
    place.mkdir(parents=True, exist_ok=True)
    maven = shutil.which("mvn")
    coordinates = f"{GROUP}:{artifact}:{release}"
    said = _by_spark(coordinates, place) if maven is None else _by_maven(maven, coordinates, place)
    if said:
        raise UnavailableError(
            f"{artifact}-{release}.jar is not in {place}, and fetching it failed: {said} Is there a network? Or put "
            f"{coordinates} into a folder with its companion and give it by --iceberg-jars."
        )


def _by_maven(maven: str, coordinates: str, place: Path) -> str:
    """What Maven complained of, or nothing."""
    command = [maven, "-q", "-B", COPY_GOAL, f"-Dartifact={coordinates}", f"-DoutputDirectory={place}"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=FETCH_TIMEOUT_S,
            cwd=place,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return f"Maven took more than {FETCH_TIMEOUT_S} s."
    if done.returncode == 0:
        return ""
    lines = (done.stdout + done.stderr).splitlines()
    return "Maven says: " + next((line for line in lines if "ERROR" in line), "nothing").strip()[:400]


def _by_spark(coordinates: str, place: Path) -> str:
    """What Spark's own resolver (Ivy, as for ``spark.jars.packages``) complained of, or nothing."""
    spark = _spark_jars()
    if spark is None:
        return "there is neither 'mvn' on PATH nor PySpark, whose resolver could do it."
    py4j = load_py4j()
    port, process = py4j.launch_gateway(
        classpath=str(spark / "*"), die_on_exit=True, return_proc=True, java_path=java_path()
    )
    gateway = py4j.JavaGateway(gateway_parameters=py4j.GatewayParameters(port=port))
    try:
        java, scala = gateway.jvm.java, gateway.jvm.scala
        silence = java.io.PrintStream(java.io.OutputStream.nullOutputStream())
        resolver = gateway.jvm.org.apache.spark.util.MavenUtils
        nothing, folder = scala.Option.empty(), scala.Option.apply(str(place / "ivy"))
        settings = resolver.buildIvySettings(nothing, folder, False, silence)
        none = scala.collection.immutable.List.newBuilder().result()
        found = resolver.resolveMavenCoordinates(coordinates, settings, nothing, False, none, False, silence)
        _, artifact, release = coordinates.split(":")
        shutil.copyfile(found.mkString(""), place / f"{artifact}-{release}.jar")
    except Exception as error:
        return f"Spark's resolver says: {str(error)[:400]}"
    finally:
        gateway.shutdown()
        process.terminate()
        process.wait(timeout=30)
        shutil.rmtree(place / "ivy", ignore_errors=True)
    return ""


def java_path() -> str:
    """The Java that ``endive.pipeline.spark.java.provide_java`` found."""
    return str(Path(os.environ["JAVA_HOME"]) / "bin" / "java")


# ---- choosing ----------------------------------------------------------------------------------------


def _choose(place: Path, version: str | None) -> tuple[tuple[Path, ...], str]:
    """One jar per artifact, all of one known version."""
    found: dict[str, dict[str, Path]] = {artifact: {} for artifact in ARTIFACTS}
    for path in sorted(place.glob("iceberg-*.jar")):
        matched = _JAR.match(path.name)
        if matched is None:
            continue
        artifact = "iceberg-aws-bundle" if matched["artifact"] == "iceberg-aws-bundle" else ARTIFACTS[0]
        is_runtime = matched["artifact"].startswith("iceberg-spark-runtime")
        if artifact != ARTIFACTS[0] or is_runtime:
            found[artifact][matched["version"]] = path
    for artifact in ARTIFACTS:
        if not found[artifact]:
            raise UnavailableError(
                f"there is no {artifact}-*.jar in {place}. Put both {' and '.join(ARTIFACTS)} of {VERSION} there, or "
                "leave --iceberg-jars out to fetch them by Maven."
            )
    shared = sorted(found[ARTIFACTS[0]].keys() & found[ARTIFACTS[1]].keys())
    known = [each for each in shared if each.startswith(VERSIONS_KNOWN)]
    if version is not None:
        known = [each for each in known if each == version]
    if not known:
        there = ", ".join(path.name for artifact in ARTIFACTS for path in found[artifact].values())
        raise UnavailableError(
            f"no two jars in {place} are of one version that is known here ({there}). Put {ARTIFACTS[0]} and "
            f"{ARTIFACTS[1]} of {version or ' or '.join(line + 'x' for line in VERSIONS_KNOWN)} there, or leave "
            f"--iceberg-jars out to fetch {version or VERSION} by Maven."
        )
    chosen = max(known, key=_numbers)
    return tuple(found[artifact][chosen] for artifact in ARTIFACTS), chosen


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def _support(place: Path) -> tuple[Path, ...]:
    """Derby, Hadoop's client API and SLF4J: beside Iceberg's jars, or those PySpark brings."""
    spark = _spark_jars()
    folders = [place] if spark is None else [place, spark]
    jars = []
    for start in SUPPORT:
        there = [path for folder in folders for path in sorted(folder.glob(f"{start}*.jar"))]
        if not there:
            raise UnavailableError(
                f"no {start}*.jar in {' or '.join(str(folder) for folder in folders)}. PySpark brings one: "
                "pip install 'endive[spark]'."
            )
        jars.append(there[0])
    return tuple(jars)


def _spark_jars() -> Path | None:
    """The jar folder of PySpark, which is not imported."""
    spark = importlib.util.find_spec("pyspark")
    return None if spark is None or spark.origin is None else Path(spark.origin).parent / "jars"
