"""The Spark session: made here, and nowhere else.

Masters and whether they answer are in ``endive.pipeline.spark.masters``. It knows nothing of sweeps.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from endive.errors import ConfigError, EngineError
from endive.pipeline.spark.class_archive import SWITCH, ClassArchive
from endive.pipeline.spark.java import JAVA_HOME, provide_java
from endive.pipeline.spark.jvm_stderr import stderr_into, stderr_without_empty_phrases
from endive.pipeline.spark.masters import CONNECT, STANDALONE, check_answer, check_reachable, local_cores, with_retries
from endive.pipeline.spark.scratch import keep_log, scratch_folder
from endive.pipeline.spark.spark_home import home_without_zip

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKER_DAEMON: Final = "endive.pipeline.spark.worker_daemon"

_UNREADABLE: Final = re.compile(r"FAILED_READ_FILE.*?file:/*(/[^\s]+?)\.?(?:\s|$)", re.DOTALL)
_EMPTY_PHRASE: Final = "An error occurred while calling"  # of the bridge to the JVM, before what it means
_LOG_SETTINGS: Final = Path(__file__).with_name("log4j2.properties")
_JAVA_OPTIONS: Final = "spark.driver.extraJavaOptions"
_LOG_OPTION: Final = f"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}"
_SIGNALLED: Final = 128  # plus the number of the signal: the code of a JVM that a signal has ended
_SIGNAL_S: Final = 2.0
_SOCKET_FOLDER_MAX: Final = 60  # characters: the path of a socket in it must stay below 108
_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SOURCES: Final = Path(__file__).parents[3]  # what has to be on the workers' path

# For jobs of seconds to minutes; a user's --conf wins.
SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.session.timeZone": "UTC",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "20s",
}
# For jobs that do little but hand rows to Python: to compile their plans takes longer than to interpret them.
PYTHON_JOBS: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
# For jobs that simulate with the compiled engine: the workers' daemon loads it, and they have it.
SIMULATIONS: Final = {"spark.executorEnv.ENDIVE_WORKERS_SIMULATE": "1"}
LOCAL_SETTINGS: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.python.daemon.module": WORKER_DAEMON,  # imports once what all workers need
    _JAVA_OPTIONS: f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {_LOG_OPTION}",
}


def make_session(
    name: str = "endive",
    *,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    log: Path | None = None,
    finds_sources: bool = True,
    archive: list[ClassArchive] | None = None,
) -> SparkSession:
    """A session on ``master``: ``local[N]``, ``spark://..``, ``k8s://..``, ``yarn`` or ``sc://..`` (Spark Connect).

    Without one, what ``spark-submit`` or SPARK_REMOTE decided holds, else every core of this machine. What the JVM
    and its workers say goes into ``log``, or to stderr. ``finds_sources``: whether Spark looks for data sources that
    installed packages bring, which takes a process of its own. ``archive`` takes an archive of classes that the JVM
    will write when it ends; without it, none is written.
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
        options: dict[str, str] = {}
        builder = builder.remote(master)
    else:
        provide_java()
        for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):  # workers run this very Python, not the first on PATH
            os.environ.setdefault(name, sys.executable)
        options = dict(SETTINGS)
        if master is not None:
            builder = builder.master(with_retries(master))
            options |= LOCAL_SETTINGS if master.startswith("local") else {}
            if log is not None and master.startswith("local"):
                options["spark.local.dir"] = str(log.parent)
                if len(str(log.parent)) <= _SOCKET_FOLDER_MAX and " " not in str(log.parent):
                    options[_JAVA_OPTIONS] += f" -Djava.io.tmpdir={log.parent}"
            options |= _source_tree()
    for key, value in {**options, **(conf or {})}.items():
        builder = builder.config(key, value)
    try:
        home = nullcontext() if finds_sources or not (master or "").startswith("local") else home_without_zip()
        with home, stderr_without_empty_phrases() if log is None else stderr_into(log):
            if archive is not None and (master or "").startswith("local"):
                _use_archive(builder, options, conf or {}, archive)
            session: SparkSession = builder.getOrCreate()
    except Exception as error:
        where = master or "the configured master"
        hint = " Does a master of the same version of Spark answer there?" if where.startswith(STANDALONE) else ""
        raise EngineError(
            f"No Spark session on {where}: {first_line(str(error)) or type(error).__name__}{hint}"
        ) from error
    _refuse_other_version(session, master)
    return session


def _use_archive(
    builder: Any, options: Mapping[str, str], conf: Mapping[str, str], archive: list[ClassArchive]
) -> None:
    """Let the JVM that is about to start use the archive of its classes, or make it."""
    from pyspark import SparkContext
    from pyspark.find_spark_home import _find_spark_home

    is_off = conf.get(SWITCH, "true").lower() == "false" or _JAVA_OPTIONS in conf or SparkContext._gateway is not None
    found = None if is_off else ClassArchive.find(Path(os.environ[JAVA_HOME]), Path(_find_spark_home()))
    if found is not None:
        builder.config(_JAVA_OPTIONS, f"{options[_JAVA_OPTIONS]} {found.options()}")
        archive.extend([] if found.is_there else [found])


def _refuse_other_version(session: SparkSession, master: str | None) -> None:
    """Raise EngineError where a server of Spark Connect is of another version, which PySpark does not notice."""
    import pyspark

    if master is None or not master.startswith(CONNECT):
        return
    theirs, ours = session.version, str(pyspark.__version__)
    if theirs.split(".")[:2] != ours.split(".")[:2]:
        raise EngineError(
            f"The server at {master} runs Spark {theirs}, and this client is PySpark {ours}. Install the client of the "
            f"server's version: pip install 'pyspark[connect]=={theirs}'"
        )


@contextmanager
def session_on_demand(
    name: str, *, master: str | None = None, conf: Mapping[str, str] | None = None
) -> Iterator[Callable[[], SparkSession]]:
    """For a command: a session that is made when it is first asked for, and stopped at the end of the block.

    What the JVM says and writes goes into a folder that ends with the block; the log stays if Spark is the reason for
    an end before time.
    """
    made: list[SparkSession] = []
    archives: list[ClassArchive] = []
    with scratch_folder() as scratch:
        log = scratch / "spark.log"

        def make() -> SparkSession:
            if not made:
                with signals_deferred():
                    made.append(
                        make_session(name, master=master, conf=conf, log=log, finds_sources=False, archive=archives)
                    )
            return made[0]

        try:
            yield make
        except EngineError as error:
            _await_signal()
            if log.exists() and log.stat().st_size:
                raise EngineError(f"{error} What Spark said is in {keep_log(log)}.") from error
            raise
        finally:
            for session in made:
                with suppress(Exception):
                    session.stop()
            for archive in archives:
                archive.finish()


def _await_signal() -> None:
    """Give a signal that has ended the JVM the time to reach this process, which is in the same group."""
    from pyspark import SparkContext

    process = getattr(SparkContext._gateway, "proc", None)
    code = None if process is None else process.poll()
    if code is not None and code - _SIGNALLED in {int(number) for number in _ENDING}:
        time.sleep(_SIGNAL_S)


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


@dataclass(frozen=True, slots=True)
class JobGroup:
    """The jobs of one piece of work: described in Spark's UI, and cancelled together.

    Spark Connect has tags in the place of groups, and no descriptions.
    """

    spark: SparkSession
    name: str | None = None

    @contextmanager
    def described(self, text: str) -> Iterator[None]:
        """Let the jobs that this thread starts in the block belong to the group."""
        context = self._context
        if context is None:
            if self.name is not None:
                self.spark.addTag(self.name)
            yield
            return
        if self.name is not None:
            context.setJobGroup(self.name, text, True)
        context.setJobDescription(text)
        try:
            yield
        finally:
            context.setLocalProperty("spark.jobGroup.id", None)
            context.setJobDescription("")

    def cancel(self) -> None:
        """Cancel the group's jobs."""
        context = self._context
        if self.name is None:
            return
        if context is None:
            self.spark.interruptTag(self.name)
        else:
            context.cancelJobGroup(self.name)

    @property
    def _context(self) -> Any:
        is_connect = "connect" in type(self.spark).__module__
        return None if is_connect else getattr(self.spark, "sparkContext", None)


def job_group(spark: SparkSession, name: str | None = None) -> JobGroup:
    """Return the group of this name; without one, jobs are described and nothing else."""
    return JobGroup(spark, name)


@contextmanager
def settings(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """Use these settings of Spark SQL in the block."""
    before = {key: spark.conf.get(key) for key in wanted}
    for key, value in wanted.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, value in before.items():
            spark.conf.set(key, value)


def setting(spark: SparkSession, name: str, default: float) -> float:
    """Return the number that ``spark.endive.NAME`` is set to; ConfigError if it is none."""
    value = spark.conf.get(f"spark.endive.{name}", str(default))
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0.0 < number < float("inf"):
        raise ConfigError(f"spark.endive.{name} = '{value}' must be a number above 0.")
    return number


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


def explain_spark(error: BaseException) -> str:
    """Say in one line what Spark's many come down to: a worker's own words, if there are any."""
    said = str(error)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if ours := [line for line in lines if line.startswith("endive.errors.")]:
        return ours[-1].partition(": ")[2]
    if file := _UNREADABLE.search(said):
        return f"{unquote(file[1])} is damaged and cannot be read. Sweep again with --repair."
    if workers := no_workers(said):
        return workers
    if "OutOfMemoryError" in said:
        return "Spark ran out of memory. Give it more: --conf spark.driver.memory=4g."
    reason = next((line for line in lines if "Exception" in line or "Error" in line), first_line(said))
    return f"Spark failed: {(reason or type(error).__name__).removeprefix(': ').rstrip('.')}."


def no_workers(said: str) -> str | None:
    """What to do, if Spark says that workers do not start; None if it says something else."""
    if f"port number from {WORKER_DAEMON}" not in said:
        return None
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    return (
        f"Spark's workers do not start with PYSPARK_PYTHON = {python}. Name a Python in which Endive and its packages "
        "are installed, or none: then it is the one that runs this command."
    )
