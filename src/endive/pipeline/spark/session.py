"""The Spark session: made here, and nowhere else.

This file defines the settings, the way to a master (local, a cluster, Spark Connect) and what to say when there is
none. Knows nothing of sweeps.
"""

from __future__ import annotations

import os
import re
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from endive.errors import ConfigError, EngineError
from endive.pipeline.spark.java import provide_java
from endive.pipeline.spark.jvm_stderr import stderr_into, stderr_without_empty_phrases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REACH_TIMEOUT_S: Final = 5.0
ANSWER_TIMEOUT_S: Final = 30.0  # of a server of Spark Connect that may have just been started
TASK_FAILURES_MAX: Final = 4  # as on a cluster; Spark's local mode would give up after one
CONNECT: Final = "sc://"
STANDALONE: Final = "spark://"
_EMPTY_PHRASE: Final = "An error occurred while calling"  # of the bridge to the JVM, before what it means
_LOG_SETTINGS: Final = Path(__file__).with_name("log4j2.properties")
_SOURCES: Final = Path(__file__).parents[3]  # what has to be on the workers' path

# For jobs of seconds to minutes; a user's --conf wins.
SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.python.filterPushdown.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.session.timeZone": "UTC",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "20s",
}
LOCAL_SETTINGS: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": (
        f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}"
    ),
}


def make_session(
    name: str = "endive",
    *,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    log: Path | None = None,
) -> SparkSession:
    """A session on ``master``: ``local[N]``, ``spark://..``, ``k8s://..``, ``yarn`` or ``sc://..`` (Spark Connect).

    Without one, what ``spark-submit`` or SPARK_REMOTE decided holds, else every core of this machine. What the JVM
    and its workers say goes into ``log``, or to stderr.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise EngineError("Sweeps need PySpark. Install it: pip install 'endive[spark]'") from None
    master = master or _given_master()
    if master is not None:
        check_reachable(master)
    builder: Any = SparkSession.builder.appName(name)
    if master is not None and master.startswith(CONNECT):
        check_answer(master)
        settings: dict[str, str] = {"spark.sql.python.filterPushdown.enabled": "true"}
        builder = builder.remote(master)
    else:
        provide_java()
        _provide_python()
        settings = dict(SETTINGS)
        if master is not None:
            builder = builder.master(with_retries(master))
            settings |= LOCAL_SETTINGS if master.startswith("local") else {}
            settings |= _source_tree()
    for key, value in {**settings, **(conf or {})}.items():
        builder = builder.config(key, value)
    try:
        with stderr_without_empty_phrases() if log is None else stderr_into(log):
            session: SparkSession = builder.getOrCreate()
    except Exception as error:
        where = master or "the configured master"
        hint = " Does a master of the same version of Spark answer there?" if where.startswith(STANDALONE) else ""
        raise EngineError(f"No Spark session on {where}: {_first_line(error)}{hint}") from error
    return session


@contextmanager
def session_on_demand(
    name: str, *, master: str | None = None, conf: Mapping[str, str] | None = None
) -> Iterator[Callable[[], SparkSession]]:
    """For a command: a session that is made when it is first asked for, and stopped at the end of the block.

    What the JVM says goes into a file, which stays only if Spark is the reason for an end before time.
    """
    descriptor, name_of_log = tempfile.mkstemp(prefix="endive-spark-", suffix=".log")  # new, and nobody else's
    os.close(descriptor)
    log = Path(name_of_log)
    made: list[SparkSession] = []

    def make() -> SparkSession:
        if not made:
            made.append(make_session(name, master=master, conf=conf, log=log))
        return made[0]

    is_log_wanted = False
    try:
        yield make
    except EngineError as error:
        is_log_wanted = log.exists() and log.stat().st_size > 0
        if is_log_wanted:
            raise EngineError(f"{error} What Spark said is in {log}.") from error
        raise
    finally:
        for session in made:
            with suppress(Exception):
                session.stop()
        if not is_log_wanted:
            log.unlink(missing_ok=True)


def _given_master() -> str | None:
    """The master of this machine, unless somebody else has decided already."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # started by spark-submit
        return None
    if os.environ.get("SPARK_REMOTE"):
        return os.environ["SPARK_REMOTE"]
    return os.environ.get("MASTER") or "local[*]"


def with_retries(master: str) -> str:
    """``local[N]`` with as many tries per task as a cluster has; other masters as they are."""
    if master == "local":
        return f"local[1,{TASK_FAILURES_MAX}]"
    found = re.fullmatch(r"local\[([0-9]+|\*)\]", master)
    return f"local[{found[1]},{TASK_FAILURES_MAX}]" if found else master


def _provide_python() -> None:
    """Workers run this very Python, not the first on PATH."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)


def _source_tree() -> dict[str, str]:
    """Where Endive runs from a source tree that is not installed, workers on this machine find it there."""
    if _SOURCES.name == "site-packages":
        return {}
    paths = [str(_SOURCES), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    path = os.pathsep.join(dict.fromkeys(item for item in paths if item))
    os.environ["PYTHONPATH"] = path
    return {"spark.executorEnv.PYTHONPATH": path}


# ---- masters -----------------------------------------------------------------------------------------


def check_reachable(master: str) -> None:
    """Raise EngineError if ``master`` is no master, or one of a known address that does not answer."""
    if master.startswith(STANDALONE):
        addresses = master.removeprefix(STANDALONE).split(",")
        port_default = 7077
    elif master.startswith(CONNECT):
        addresses = [re.split(r"[/;]", master.removeprefix(CONNECT))[0]]
        port_default = 15002
    elif re.fullmatch(r"local(\[[0-9*]+(,[0-9]+)?\])?|local-cluster\[.*\]|yarn|k8s://.+", master):
        return
    else:
        raise EngineError(
            f"--master {master} is no master. Give local[N], spark://host:7077, sc://host:15002, k8s://.. or yarn."
        )
    failures = [failure for address in addresses if (failure := _failure(address, port_default))]
    if len(failures) == len(addresses):
        raise EngineError(f"--master {master} cannot be reached: {'; '.join(failures)}.")


def check_answer(master: str) -> None:
    """Raise EngineError if what listens at ``master`` does not speak like a server of Spark Connect."""
    try:
        import grpc
        from pyspark.sql.connect.client import DefaultChannelBuilder
    except ImportError:
        return  # what is missing is told by PySpark, in its own words
    with DefaultChannelBuilder(master).toChannel() as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=ANSWER_TIMEOUT_S)
        except grpc.FutureTimeoutError:
            raise EngineError(
                f"--master {master} is reached, but does not answer within {ANSWER_TIMEOUT_S:g} s. Is it a server of "
                "Spark Connect?"
            ) from None


def _failure(address: str, port_default: int) -> str | None:
    host, _, port = address.rpartition(":") if ":" in address else (address, "", str(port_default))
    if not host or not port.isdecimal():
        return f"'{address}' is not host:port"
    try:
        socket.create_connection((host, int(port)), timeout=REACH_TIMEOUT_S).close()
    except OSError as error:
        return f"{host}:{port} says: {error.strerror or error}"
    return None


def local_cores(master: str | None) -> int | None:
    """Tasks that run at once on a master of this machine; None if it is elsewhere."""
    if master is None or (found := re.match(r"local\[\*", master)):
        return os.cpu_count() or 1
    if found := re.match(r"local-cluster\[(\d+),(\d+)", master):
        return int(found[1]) * int(found[2])
    if found := re.match(r"local\[(\d+)", master):
        return int(found[1])
    return 1 if master == "local" else None


def is_local(session: SparkSession) -> bool:
    """Whether the session's tasks run on this machine."""
    return local_cores(session.conf.get("spark.master", "") or "") is not None


def core_count(session: SparkSession) -> int:
    """Tasks that run at once, without asking ``sparkContext``."""
    from pyspark.sql import functions as F  # noqa: N812

    here = local_cores(session.conf.get("spark.master", "") or "")
    if here is not None:
        return here
    # A range is split into as many partitions as there are cores.
    spread = session.range(0, 1 << 16).select(F.spark_partition_id().alias("partition"))
    last = spread.agg(F.max("partition").alias("last")).first()
    return int(last["last"]) + 1 if last is not None else 1


def parse_conf(options: Sequence[str]) -> dict[str, str]:
    """``["spark.executor.memory=2g", ..]`` as a dictionary."""
    found: dict[str, str] = {}
    problems: list[str] = []
    for option in options:
        key, equals, value = option.partition("=")
        if equals and key.strip().startswith("spark."):
            found[key.strip()] = value.strip()
        else:
            problems.append(f"--conf '{option}' is not spark.key=value.")
    if problems:
        raise ConfigError(problems)
    return found


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(_EMPTY_PHRASE)]
    return told[0].removeprefix(": ") if told else type(error).__name__
