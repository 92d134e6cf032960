"""Where Iceberg's jars come from: a folder the user names, the cache, or Maven.

Owns the coordinates, the cache and every reason why real Iceberg cannot be run here. Starts no JVM but Maven's.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from endive.errors import EndiveError

VERSION: Final = "1.9.2"
VERSIONS_KNOWN: Final = ("1.9.", "1.10.")  # release lines whose requests are known to be the recorded ones
GROUP: Final = "org.apache.iceberg"
ARTIFACTS: Final = ("iceberg-spark-runtime-3.5_2.12", "iceberg-aws-bundle")
COPY_GOAL: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
SUPPORT: Final = ("derby-", "derbyshared-", "hadoop-client-api-", "slf4j-api-")  # in the jar folder of PySpark
FETCH_TIMEOUT_S: Final = 900
_JAR: Final = re.compile(r"^(?P<artifact>iceberg-.+?)-(?P<version>\d+\.\d+\.\d+[^/]*)\.jar$")


class IcebergMissingError(EndiveError):
    """Real Iceberg cannot be run here: which part, where it was looked for, what to do."""


def find_jars(folder: Path | None = None) -> tuple[tuple[Path, ...], str]:
    """The class path of Iceberg, and its version: from ``folder``, or from the cache, filled by Maven if need be."""
    place = cache_folder() if folder is None else folder
    if folder is None:
        for artifact in ARTIFACTS:
            if not (place / f"{artifact}-{VERSION}.jar").is_file():
                _fetch(artifact, place)
    chosen, version = _choose(place, VERSION if folder is None else None)
    return chosen + _support(place), version


def cache_folder() -> Path:
    """Where fetched jars are kept from one run to the next."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "endive" / "jars"


def _fetch(artifact: str, place: Path) -> None:
    coordinates = f"{GROUP}:{artifact}:{VERSION}"
    by_hand = f"Or put the jar into a folder with its companion and give it by --iceberg-jars. Wanted: {coordinates}"
    maven = shutil.which("mvn")
    if maven is None:
        raise IcebergMissingError(
            f"{artifact}-{VERSION}.jar is not in {place}, and there is no 'mvn' on PATH to fetch it. Install Maven "
            f"(Debian, Ubuntu: sudo apt install maven). {by_hand}."
        )
    place.mkdir(parents=True, exist_ok=True)
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
        raise IcebergMissingError(
            f"Maven did not fetch {coordinates} within {FETCH_TIMEOUT_S} s. Is there a network? {by_hand}."
        ) from None
    if done.returncode != 0:
        said = next((line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line), "no message")
        raise IcebergMissingError(f"Maven cannot fetch {coordinates} into {place}: {said[:400]} {by_hand}.")


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
            raise IcebergMissingError(
                f"there is no {artifact}-*.jar in {place}. Put both {' and '.join(ARTIFACTS)} of {VERSION} there, or "
                "leave --iceberg-jars out to fetch them by Maven."
            )
    shared = sorted(found[ARTIFACTS[0]].keys() & found[ARTIFACTS[1]].keys())
    known = [each for each in shared if each.startswith(VERSIONS_KNOWN)]
    if version is not None:
        known = [version]
    if not known:
        there = ", ".join(path.name for artifact in ARTIFACTS for path in found[artifact].values())
        raise IcebergMissingError(
            f"no two jars in {place} are of one version that is known here ({there}). Put {ARTIFACTS[0]} and "
            f"{ARTIFACTS[1]} of {' or '.join(line + 'x' for line in VERSIONS_KNOWN)} there, or leave --iceberg-jars "
            f"out to fetch {VERSION} by Maven."
        )
    chosen = known[-1]
    return tuple(found[artifact][chosen] for artifact in ARTIFACTS), chosen


def _support(place: Path) -> tuple[Path, ...]:
    """Derby, Hadoop's client API and SLF4J: beside Iceberg's jars, or those PySpark brings."""
    folders = [place]
    spark = importlib.util.find_spec("pyspark")
    if spark is not None and spark.origin is not None:
        folders.append(Path(spark.origin).parent / "jars")
    jars = []
    for start in SUPPORT:
        there = [path for folder in folders for path in sorted(folder.glob(f"{start}*.jar"))]
        if not there:
            raise IcebergMissingError(
                f"no {start}*.jar in {' or '.join(str(folder) for folder in folders)}. PySpark brings one: "
                "pip install 'endive[spark]'."
            )
        jars.append(there[0])
    return tuple(jars)
