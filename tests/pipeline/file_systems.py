"""Servers of other file systems, for the slow tests: HDFS as a cluster in one process, Azure's blobs as an emulator.

HDFS comes from Maven (its mini cluster) and needs ``libhdfs.so``, which the Hadoop distribution has: set
ARROW_LIBHDFS_DIR or HADOOP_HOME. The emulator is npm's ``azurite``, on PATH. What is missing skips its tests.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest
from tests.observation.measurement.test_azurite import ACCOUNT, KEY, create_container
from tests.waiting import wait_until

from endive.pipeline.dataset import files
from endive.pipeline.dataset.files import Place, place_of
from rigs.java.jars import _by_maven, cache_folder

HADOOP_JARS = (
    "org.apache.hadoop:hadoop-client-minicluster:3.5.0",
    "org.junit.jupiter:junit-jupiter-api:5.10.2",
    "org.junit.platform:junit-platform-commons:1.10.2",
    "org.opentest4j:opentest4j:1.3.0",
)


@contextmanager
def _process(command: list[str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    with (folder / "said.txt").open("w") as said:
        server = subprocess.Popen(command, stdout=said, stderr=said, text=True, cwd=folder)
        try:
            yield server
        finally:
            server.terminate()
            server.wait(30)


@pytest.fixture(scope="session")
def hdfs_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """``hdfs://host:port`` of a name node with one data node."""
    if not (os.environ.get("ARROW_LIBHDFS_DIR") or os.environ.get("HADOOP_HOME")):
        pytest.skip("no libhdfs.so: set ARROW_LIBHDFS_DIR or HADOOP_HOME")
    maven, jars = shutil.which("mvn"), cache_folder() / "hadoop"
    jars.mkdir(parents=True, exist_ok=True)
    for coordinates in HADOOP_JARS:
        _, artifact, version = coordinates.split(":")
        if not (jars / f"{artifact}-{version}.jar").is_file() and (
            maven is None or _by_maven(maven, coordinates, jars)
        ):
            pytest.skip(f"{coordinates} cannot be fetched")
    folder = tmp_path_factory.mktemp("hdfs")
    classes = f"{jars}/*:{Path(pyspark.__file__).parent}/jars/*"
    java = Path(os.environ.get("JAVA_HOME", "/usr")) / "bin" / "java"
    manager = "org.apache.hadoop.test.MiniDFSClusterManager"
    details = folder / "details.json"
    command = [java, "-Xmx512m", "-cp", classes, manager, "-format", "-datanodes", "1", "-writeDetails", details]
    with _process([str(word) for word in command], folder) as server:
        wait_until(lambda: server.poll() is not None or (details.is_file() and "}" in details.read_text()), "HDFS")
        assert server.poll() is None, (folder / "said.txt").read_text()[-2000:]
        yield f"hdfs://127.0.0.1:{json.loads(details.read_text())['namenode_port']}"


@pytest.fixture
def hdfs_place(hdfs_address: str) -> Place:
    """A folder of HDFS that is not there yet."""
    place = place_of(f"{hdfs_address}/tests/out")
    place.remove_tree()
    return place


@pytest.fixture(scope="session")
def azure_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """``host:port`` of the emulator, with a container ``lake`` in it."""
    program = shutil.which("azurite-blob")
    if program is None:
        pytest.skip("no azurite-blob on PATH: npm install azurite")
    folder = tmp_path_factory.mktemp("azure")
    command = [program, "--blobPort", "0", "--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry"]
    with _process(command, folder) as server:
        listens = re.compile(r"successfully listens on http://(\S+)")
        wait_until(lambda: server.poll() is not None or listens.search((folder / "said.txt").read_text()), "azurite")
        found = listens.search((folder / "said.txt").read_text())
        assert found is not None, (folder / "said.txt").read_text()[-2000:]
        create_container(int(found[1].rpartition(":")[2]), "lake")
        yield found[1]


@pytest.fixture
def azure_place(azure_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """An empty prefix of a container."""
    settings = {
        "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
        "AZURE_STORAGE_ACCOUNT_KEY": KEY,
        "AZURITE_BLOB_STORAGE_URL": f"http://{azure_endpoint}",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    files._file_system.cache_clear()
    place = place_of(f"abfss://lake@{ACCOUNT}.dfs.core.windows.net/tests/out")
    place.remove_tree()
    yield place
    files._file_system.cache_clear()
