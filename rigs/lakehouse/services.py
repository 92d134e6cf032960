"""What the lakehouse stands on: Postgres, Iceberg's REST server, an S3, each its own process; and a Spark session."""

from __future__ import annotations

import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from verification import recordings

RUNTIME: Final = "iceberg-spark-runtime-4.0_2.13-*.jar"
DRIVER: Final = "postgresql-*.jar"
AWS: Final = "iceberg-aws-bundle-*.jar"
REST_FOLDER: Final = "rest"
REST_SERVER: Final = "org.apache.iceberg.rest.RESTCatalogServer"
DELAYS_MS: Final = {"GET": 30.0, "HEAD": 15.0, "PUT": 60.0, "DELETE": 20.0, "POST": 30.0}
START_S: Final = 90.0
JVM: Final = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"  # the default of 48 MB was full after 154 s
_SERVE: Final = """
import sys, time
from rigs.java.object_server import ObjectServer
server = ObjectServer()
door = server.open_door("s3")
door.delays_ms, door.is_logged = eval(sys.argv[1]), False
print(door.port, flush=True)
while True:
    time.sleep(60)
"""
_LOG4J: Final = """
rootLogger.level = off
rootLogger.appenderRef.none.ref = none
appender.none.type = Null
appender.none.name = none
appender.reports.type = File
appender.reports.name = reports
appender.reports.fileName = {path}
appender.reports.layout.type = PatternLayout
appender.reports.layout.pattern = %d{{ISO8601}} %m%n
logger.reports.name = org.apache.iceberg.metrics.LoggingMetricsReporter
logger.reports.level = info
logger.reports.appenderRef.reports.ref = reports
"""


@dataclass(slots=True)
class Lake:
    """Where everything is: the catalog's properties for Spark and for PyIceberg, and who must be stopped."""

    folder: Path
    jars: Path
    spark: dict[str, str] = field(default_factory=dict)
    python: dict[str, str] = field(default_factory=dict)
    stops: list[Callable[[], None]] = field(default_factory=list)

    def stop(self) -> None:
        """End whatever was started, the last first."""
        while self.stops:
            self.stops.pop()()

    def jar(self, pattern: str) -> Path:
        """The newest jar of a name."""
        found = sorted(self.jars.glob(pattern))
        if not found:
            raise SystemExit(f"no {pattern} in {self.jars}.")
        return found[-1]


def open_lake(lake: Lake, *, catalog: str, store: str) -> None:
    """Start the services; a REST server stands before the database, and writes the metadata itself."""
    port, uri = _start_postgres(lake)
    jdbc = f"jdbc:postgresql://127.0.0.1:{port}/postgres"
    files = {"s3": _start_s3, "moto": _start_moto}[store](lake) if store != "disk" else {}
    warehouse = "s3://warehouse/" if files else f"file://{lake.folder / 'warehouse'}"
    io = {"io-impl": "org.apache.iceberg.aws.s3.S3FileIO", "client.region": "us-east-1", **files} if files else {}
    python_io = {"py-io-impl": "pyiceberg.io.fsspec.FsspecFileIO", **files} if files else {}
    if catalog == "rest":
        address = _start_rest(lake, {"uri": jdbc, "jdbc.user": "lake", "warehouse": warehouse, **io})
        lake.spark = {"type": "rest", "uri": address, **io}
        lake.python = {"type": "rest", "uri": address, **python_io}
        return
    lake.spark = {"catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog", "uri": jdbc, "jdbc.user": "lake", **io}
    lake.spark["warehouse"] = warehouse
    lake.python = {"type": "sql", "uri": uri, "warehouse": warehouse, "init_catalog_tables": "false", **python_io}


def _start_postgres(lake: Lake) -> tuple[int, str]:
    places = [shutil.which("initdb"), *sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))]
    binaries = next((Path(place).resolve().parent for place in places if place), None)
    if binaries is None:
        raise SystemExit("no Postgres: initdb is neither on the path nor in /usr/lib/postgresql.")
    port, data = free_port(), lake.folder / "postgres"
    data.mkdir()
    as_user = []
    if os.geteuid() == 0:  # Postgres refuses to run as root
        shutil.chown(data, "postgres", "postgres")
        os.chmod(lake.folder, 0o755)
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    own = str(data / "db")
    _quiet([*as_user, str(binaries / "initdb"), "-D", own, "-U", "lake", "-A", "trust"]).check_returncode()
    options = ["-D", own, "-p", str(port), "-k", str(data), "-c", "listen_addresses=127.0.0.1"]
    server = _start(lake, [*as_user, str(binaries / "postgres"), *options], signal.SIGINT)
    asked = [str(binaries / "pg_isready"), "-h", "127.0.0.1", "-p", str(port)]
    _wait("Postgres", server, lambda: _quiet(asked).returncode == 0)
    return port, f"postgresql+psycopg2://lake@127.0.0.1:{port}/postgres"


def _start_s3(lake: Lake) -> dict[str, str]:
    """Objects in memory behind a door that delays every request, and the properties that lead there."""
    command = [sys.executable, "-c", _SERVE, repr(DELAYS_MS)]
    server = _start(lake, command, signal.SIGTERM, cwd=str(Path(__file__).parents[2]), stdout=subprocess.PIPE)
    assert server.stdout is not None
    return _s3_properties(int(server.stdout.readline()))


def _start_moto(lake: Lake) -> dict[str, str]:
    """moto's S3, which is as fast as this machine lets it be."""
    port = free_port()
    server = _start(lake, [sys.executable, "-m", "moto.server", "-p", str(port)], signal.SIGTERM)
    _wait("moto", server, lambda: _is_open(port))
    bucket = urllib.request.Request(f"http://127.0.0.1:{port}/warehouse", method="PUT")
    urllib.request.urlopen(bucket, timeout=START_S).close()
    return _s3_properties(port)


def _s3_properties(port: int) -> dict[str, str]:
    return {
        "s3.endpoint": f"http://127.0.0.1:{port}",
        "s3.path-style-access": "true",
        "s3.access-key-id": "local",
        "s3.secret-access-key": "local",
    }


def _start_rest(lake: Lake, properties: Mapping[str, str]) -> str:
    """Iceberg's own server; it takes properties from names like CATALOG_IO__IMPL (``RCKUtils``)."""
    from pyspark.find_spark_home import _find_spark_home

    port = free_port()
    jars = [f"{lake.jars / REST_FOLDER}/*", str(lake.jar(DRIVER)), *glob.glob(f"{_find_spark_home()}/jars/hadoop-cl*")]
    jars += [str(path) for path in lake.jars.glob(AWS)]
    told = {**properties, "rest.port": str(port)}
    told = {f"CATALOG_{key.upper().replace('-', '__').replace('.', '_')}": value for key, value in told.items()}
    java = f"{os.environ['JAVA_HOME']}/bin/java" if "JAVA_HOME" in os.environ else "java"
    command = [java, "-Xmx512m", "-XX:TieredStopAtLevel=1", "-cp", ":".join(jars), REST_SERVER]
    server = _start(lake, command, signal.SIGTERM, env={**os.environ, **told})
    _wait("the REST server", server, lambda: _is_open(port))
    return f"http://127.0.0.1:{port}"


def _start(lake: Lake, command: list[str], end: signal.Signals, **more: Any) -> subprocess.Popen[bytes]:
    settings = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/", **more}
    server = subprocess.Popen(command, **settings)

    def stop() -> None:
        server.send_signal(end)
        server.wait(60)

    lake.stops.append(stop)
    return server


def _wait(name: str, server: subprocess.Popen[bytes], is_ready: Callable[[], bool]) -> None:
    end = time.monotonic() + START_S
    while not is_ready():
        if time.monotonic() > end or server.poll() is not None:
            raise SystemExit(f"{name} did not start.")
        time.sleep(0.3)


def _quiet(command: list[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", check=False)


def _is_open(port: int) -> bool:
    with socket.socket() as door:
        return door.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return int(door.getsockname()[1])


def start_spark(lake: Lake) -> Any:
    """A session whose catalog is ``lake``, with an event log and Iceberg's commit reports in a file."""
    (lake.folder / "events").mkdir()
    log4j = lake.folder / "log4j2.properties"
    log4j.write_text(_LOG4J.format(path=lake.folder / "reports.log"), encoding="utf-8")
    jars = [RUNTIME, DRIVER, *([AWS] if "s3.endpoint" in lake.spark else [])]
    settings = {
        "spark.jars": ",".join(str(lake.jar(name)) for name in jars),
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.cache-enabled": "false",  # every statement sees the newest snapshot
        "spark.sql.catalog.lake.metrics-reporter-impl": "org.apache.iceberg.metrics.LoggingMetricsReporter",
        **{f"spark.sql.catalog.lake.{key}": value for key, value in lake.spark.items()},
        "spark.sql.shuffle.partitions": "2",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{lake.folder / 'events'}",
        "spark.driver.memory": "2g",
        "spark.scheduler.mode": "FAIR",
        "spark.driver.extraJavaOptions": f"{JVM} -Dlog4j2.configurationFile=file:{log4j}",
    }
    return recordings.start_spark(8, settings)
