"""What ``endive verify --live`` asks of the rigs: real Iceberg, played and measured on this machine, now.

How they are answered lives in ``rigs.java`` and ``rigs.pyiceberg``. A library that is missing is an
``UnavailableError``.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from endive.verification.suite import UnavailableError

if TYPE_CHECKING:  # they import this module
    from verification.suites.java.pair_recording import PairRecording
    from verification.suites.java.pairs import Pair
    from verification.suites.java.request_recording import Recording
    from verification.suites.java.scenario import Scenario
    from verification.suites.load.loops import Loop

SPARK_PYTHON: Final = "ENDIVE_SPARK_PYTHON"
STOP_S: Final = 60.0  # for a rig to end its servers when it is told to stop


def java_requests(scenarios: Sequence[Scenario], jars: Path | None) -> Recording:
    """What Java Iceberg asks for in every scenario."""
    from rigs.java.request_stage import record

    return record(scenarios, jars)


def java_pairs(pairs: Sequence[Pair], jars: Path | None) -> PairRecording:
    """What Java Iceberg does in every pair of victim and rival."""
    from rigs.java.pair_stage import record

    return record(pairs, jars)


def java_load(jars: Path | None, *, is_quick: bool = False) -> dict[str, Any]:
    """Java Iceberg under load; quick: every cell once, for a few seconds."""
    from rigs.java.load_plan import measure

    return measure(jars, repetitions=2, duration_s=5.0, beside_repetitions=2) if is_quick else measure(jars)


def java_loops(loops: Sequence[Loop], jars: Path | None, seconds: float, repetitions: int) -> dict[str, Any]:
    """Java Iceberg under load: row deltas, compactions, kept tables, REST."""
    from rigs.java.loop_stage import measure_loops

    return measure_loops(loops, jars, repetitions=repetitions, duration_s=seconds)


def java_replay(jars: Path | None, seconds: float) -> dict[str, Any]:
    """Several writers of Java Iceberg on one table, and what they left."""
    from rigs.java.observed_stage import record

    return record(jars, seconds)


def lakehouse(jars: Path | None, seconds: float, **choices: str) -> dict[str, Any]:
    """Spark, PyIceberg and a compaction on one table, driven by another Python: the package's own Spark is newer."""
    python = os.environ.get(SPARK_PYTHON)
    if python is None or jars is None:
        raise UnavailableError(
            f"the lakehouse needs a Python with pyspark 4.0.1, named by {SPARK_PYTHON}, and by --iceberg-jars a folder "
            "with Iceberg's runtime for Spark 4.0 and the JDBC driver of Postgres. rigs/lakehouse says how."
        )
    with tempfile.TemporaryDirectory(prefix="endive-rig-") as scratch:
        out = Path(scratch) / "lakehouse.json"
        command = [python, "-m", "rigs.lakehouse", "--jars", str(jars.absolute()), "--out", str(out)]
        command += [
            "--seconds",
            str(seconds),
            *(word for key, value in choices.items() for word in (f"--{key}", value)),
        ]
        returncode, said = run_apart(command, timeout_s=seconds + 900.0)
        if returncode:
            raise UnavailableError(f"the lakehouse did not run: {said}")
        document: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return document


def run_apart(command: Sequence[str], *, timeout_s: float) -> tuple[int, str]:
    """Run a rig in a process group of its own: how it ended, and the last line it said.

    Whatever ends this call (a signal, the time) asks the rig to stop its servers, and ends those that are left.
    """
    from endive.pipeline.spark.session import signals_deferred

    checkout = Path(__file__).parents[1]
    rig: subprocess.Popen[str] | None = None
    try:
        with signals_deferred():  # it may be at work before this process knows its number
            rig = subprocess.Popen(
                command,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                cwd=checkout,
                start_new_session=True,
            )
        _, said = rig.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"the lakehouse did not end within {timeout_s:.0f} s.") from None
    finally:
        if rig is not None:
            _end(rig)
    return rig.returncode, (said.splitlines() or ["nothing said"])[-1]


def _end(rig: subprocess.Popen[str]) -> None:
    """It is asked to stop its servers; those that are left are ended."""
    if rig.poll() is None:
        rig.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            rig.wait(STOP_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(rig.pid, signal.SIGKILL)
    rig.wait()


def pyiceberg_requests() -> dict[str, Any]:
    """What the installed PyIceberg asks for in every story."""
    try:
        from rigs.pyiceberg.story_stage import record
    except ImportError as error:
        raise _missing(error) from None
    return record()


def pyiceberg_load(seconds: float, repetitions: int) -> dict[str, Any]:
    """The installed PyIceberg under load."""
    try:
        from rigs.pyiceberg.load_writers import measure_all
    except ImportError as error:
        raise _missing(error) from None
    return measure_all(seconds=seconds, repetitions=repetitions)


def _missing(error: ImportError) -> UnavailableError:
    return UnavailableError(f"there is no PyIceberg to run: {error}. Install it: pip install 'endive[verify]'.")
