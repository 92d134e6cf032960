"""The Spark session: made here, and nowhere else.

Masters and whether they answer are in ``endive.pipeline.spark.masters``. It knows nothing of sweeps.
"""

from __future__ import annotations

import logging
import os
import signal
import socketserver
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from endive.errors import ConfigError, EngineError
from endive.pipeline.spark.java import provide_java
from endive.pipeline.spark.jvm_stderr import stderr_into, stderr_without_empty_phrases
from endive.pipeline.spark.masters import CONNECT, STANDALONE, check_answer, check_reachable, local_cores, with_retries
from endive.pipeline.spark.spark_home import home_without_zip

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKER_DAEMON: Final = "endive.pipeline.spark.worker_daemon"

_EMPTY_PHRASE: Final = "An error occurred while calling"  # of the bridge to the JVM, before what it means
_LOG_SETTINGS: Final = Path(__file__).with_name("log4j2.properties")
_LOG_OPTION: Final = f"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}"
_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
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
# For jobs that do no more than hand rows to Python: to compile their plans takes longer than to interpret them.
PYTHON_JOBS: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
# For jobs whose work Spark's own operators do; adaptive execution would plan each of their few stages anew. Their sums
# of microseconds stay far below 2**63, so no overflow is looked for; their hash maps hold more than 65,536 rows.
AGGREGATIONS: Final = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.codegen.aggregate.fastHashMap.capacityBit": "18",
}
# For jobs that simulate with the compiled engine: the workers' daemon loads it, and they have it.
SIMULATIONS: Final = {"spark.executorEnv.ENDIVE_WORKERS_SIMULATE": "1"}
LOCAL_SETTINGS: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.python.daemon.module": WORKER_DAEMON,  # imports once what all workers need
    "spark.driver.extraJavaOptions": f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {_LOG_OPTION}",
}
# For jobs of minutes in the driver's own JVM: its second compiler repays itself there, and only there.
LONG_JOBS: Final = {"spark.driver.extraJavaOptions": f"-XX:+UseParallelGC {_LOG_OPTION}"}


def make_session(
    name: str = "endive",
    *,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    log: Path | None = None,
    finds_sources: bool = True,
) -> SparkSession:
    """A session on ``master``: ``local[N]``, ``spark://..``, ``k8s://..``, ``yarn`` or ``sc://..`` (Spark Connect).

    Without one, what ``spark-submit`` or SPARK_REMOTE decided holds, else every core of this machine. What the JVM
    and its workers say goes into ``log``, or to stderr. ``finds_sources``: whether Spark looks for data sources that
    installed packages bring, which takes a process of its own.
    """
    logging.getLogger("py4j.clientserver").setLevel(logging.CRITICAL)  # it logs, at length, that a JVM has gone
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise EngineError("Sweeps need PySpark. Install it: pip install 'endive[spark]'") from None
    _pass_over_lost_connections()
    master = master or _given_master()
    if master is not None:
        check_reachable(master)
        check_answer(master)
    builder: Any = SparkSession.builder.appName(name)
    if master is not None and master.startswith(CONNECT):
        settings: dict[str, str] = {"spark.sql.python.filterPushdown.enabled": "true"}
        builder = builder.remote(master)
    else:
        provide_java()
        for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):  # workers run this very Python, not the first on PATH
            os.environ.setdefault(name, sys.executable)
        settings = dict(SETTINGS)
        if master is not None:
            builder = builder.master(with_retries(master))
            settings |= LOCAL_SETTINGS if master.startswith("local") else {}
            settings |= _source_tree()
    for key, value in {**settings, **(conf or {})}.items():
        builder = builder.config(key, value)
    try:
        home = nullcontext() if finds_sources or not (master or "").startswith("local") else home_without_zip()
        with home, stderr_without_empty_phrases() if log is None else stderr_into(log):
            session: SparkSession = builder.getOrCreate()
    except Exception as error:
        where = master or "the configured master"
        hint = " Does a master of the same version of Spark answer there?" if where.startswith(STANDALONE) else ""
        raise EngineError(
            f"No Spark session on {where}: {first_line(str(error)) or type(error).__name__}{hint}"
        ) from error
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
            with signals_deferred():
                made.append(make_session(name, master=master, conf=conf, log=log, finds_sources=False))
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


@contextmanager
def signals_deferred() -> Iterator[None]:
    """A Ctrl-C, or another request to end, is answered when the block is over.

    A JVM that loses its driver in the middle of its start stays behind for good.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked: list[int] = []
    answers = {number: signal.signal(number, lambda asking, _: asked.append(asking)) for number in _ENDING}
    try:
        yield
    finally:
        for number, answer in answers.items():
            signal.signal(number, answer)
    if asked:
        signal.raise_signal(asked[0])


def with_workers(session: Callable[[], SparkSession]) -> Callable[[], SparkSession]:
    """The same, for a command that needs Python workers in any case: on this machine they start with the session."""
    woken: list[SparkSession] = []

    def make() -> SparkSession:
        spark = session()
        if not woken and is_local(spark):
            woken.append(spark)
            threading.Thread(target=_wake, args=(spark,), name="endive-wake", daemon=True).start()
        return spark

    return make


def _wake(spark: SparkSession) -> None:
    """Let every core hand a row to Python and back."""
    cores = core_count(spark)
    with suppress(Exception):  # whoever needs them will say what is wrong
        spark.range(0, cores, 1, cores).mapInArrow(lambda batches: batches, "id bigint").toArrow()


def _pass_over_lost_connections() -> None:
    """PySpark's server of accumulators prints a traceback if a JVM that is being stopped hangs up on it."""
    from pyspark import accumulators

    def handle_error(server: socketserver.BaseServer, request: Any, address: Any) -> None:
        if not isinstance(sys.exception(), (OSError, EOFError)):
            socketserver.BaseServer.handle_error(server, request, address)

    for each in (accumulators.AccumulatorTCPServer, accumulators.AccumulatorUnixServer):
        each.handle_error = handle_error


def _given_master() -> str | None:
    """The master of this machine, unless somebody else has decided already."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # started by spark-submit
        return None
    if os.environ.get("SPARK_REMOTE"):
        return os.environ["SPARK_REMOTE"]
    return os.environ.get("MASTER") or "local[*]"


def _source_tree() -> dict[str, str]:
    """Where Endive runs from a source tree that is not installed, workers on this machine find it there."""
    if _SOURCES.name == "site-packages":
        return {}
    paths = [str(_SOURCES), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    path = os.pathsep.join(dict.fromkeys(item for item in paths if item))
    os.environ["PYTHONPATH"] = path
    return {"spark.executorEnv.PYTHONPATH": path}


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


@contextmanager
def quiet_interrupts() -> Iterator[None]:
    """A Ctrl-C that arrives while the JVM works is not also logged, with a traceback, by the bridge to it."""

    def is_wanted(record: logging.LogRecord) -> bool:
        return "KeyboardInterrupt while sending command" not in record.getMessage()

    root = logging.getLogger()
    root.addFilter(is_wanted)
    try:
        yield
    finally:
        root.removeFilter(is_wanted)


@contextmanager
def job_named(session: SparkSession, name: str) -> Iterator[None]:
    """Jobs started in the block are called so in Spark's UI. A session of Spark Connect has no such name to give."""
    is_connect = "connect" in type(session).__module__
    context = None if is_connect else getattr(session, "sparkContext", None)
    if context is not None:
        context.setJobDescription(name)
    try:
        yield
    finally:
        if context is not None:
            context.setJobDescription("")


def parse_conf(options: Sequence[str]) -> dict[str, str]:
    """``["spark.executor.memory=2g", ..]`` as a dictionary."""
    conf: dict[str, str] = {}
    problems: list[str] = []
    for option in options:
        key, equals, value = option.partition("=")
        if equals and key.strip().startswith("spark."):
            conf[key.strip()] = value.strip()
        else:
            problems.append(f"--conf '{option}' is not spark.key=value.")
    if problems:
        raise ConfigError(problems)
    return conf


def first_line(said: str) -> str:
    """The first line of what Spark says that means anything; empty if there is none."""
    lines = (line.strip() for line in said.splitlines())
    return next((line.removeprefix(": ") for line in lines if line and not line.startswith(_EMPTY_PHRASE)), "")


def no_workers(said: str) -> str | None:
    """What to do, if Spark says that workers do not start; None if it says something else."""
    if f"port number from {WORKER_DAEMON}" not in said:
        return None
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    return (
        f"Spark's workers do not start with PYSPARK_PYTHON = {python}. Name a Python in which Endive and its packages "
        "are installed, or none: then it is the one that runs this command."
    )
