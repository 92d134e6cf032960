"""Runs that are simulated while Spark starts: on a master of this machine, by one process beside it.

This file defines that process and who feeds it. It is given one part at a time, writes it as a worker of Spark's would,
and knows nothing of Spark. A part has the same bytes whoever made it, and appears whole or not at all, so nothing is
lost if the process dies: the part is still missing, and Spark's workers make it.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Final

from endive.pipeline.sweep.warm_up import load_engine
from endive.pipeline.sweep.work import RunSpec, Work
from endive.pipeline.sweep.worker import simulate_or_read

IN_HAND_MAX_S: Final = 4.0  # for the part that it has in hand when it is to end
PART_COST_MAX: Final = 1_000_000.0  # in txns: what takes about as long
END_MAX_S: Final = 2.0  # to end when told to
_SOURCES: Final = Path(__file__).parents[3]
_READY: Final = b"ready\n"
_DONE: Final = b"done\n"


@dataclass(frozen=True, slots=True)
class PartWork:
    """One part, and what it takes to make it."""

    work: Work
    name: str
    specs: Sequence[RunSpec]
    cost: float  # in txns


class HeadStart:
    """A context manager, in which the process works through ``waiting``. What it has not done at the end, it leaves."""

    def __init__(self, waiting: Sequence[PartWork], engine: str) -> None:
        short = [part for part in waiting if part.cost <= PART_COST_MAX]
        self._waiting = sorted(short, key=lambda part: part.cost)  # none is long in hand when Spark is there
        self._engine = engine
        self._lock = threading.Lock()
        self._is_ready = threading.Event()
        self._begin_s = 0.0
        self._done_cost = 0.0
        self._in_hand_cost = 0.0
        self._process: subprocess.Popen[bytes] | None = None
        self._feeder = threading.Thread(target=self._feed, name="endive-head-start", daemon=True)

    def __enter__(self) -> HeadStart:
        path = os.pathsep.join(filter(None, [str(_SOURCES), os.environ.get("PYTHONPATH", "")]))
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, self._engine],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # a Ctrl-C is for the sweep, which ends the process
        )
        self._feeder.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """It may finish what it has in hand, if that does not take long."""
        assert self._process is not None
        with self._lock:
            self._waiting.clear()
        if kind is None:
            self._is_ready.wait()  # or every worker would compile the engine for itself
            self._feeder.join(IN_HAND_MAX_S)
        self._process.terminate()
        try:
            self._process.wait(END_MAX_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._feeder.join()

    def wait_if_short(self, limit_s: float) -> None:
        """Let it do all, if that takes no longer than ``limit_s``, as far as can be told."""
        if self._seconds_left() <= limit_s:
            self._feeder.join()

    def _seconds_left(self) -> float:
        with self._lock:
            left = self._in_hand_cost + sum(part.cost for part in self._waiting)
            elapsed_s = time.monotonic() - self._begin_s
            return elapsed_s / self._done_cost * left if self._done_cost else float("inf") if left else 0.0

    def _feed(self) -> None:
        assert self._process is not None
        answers, tasks = self._process.stdout, self._process.stdin
        assert answers is not None
        assert tasks is not None
        with answers, suppress(OSError), tasks:
            is_alive = answers.readline() == _READY
            self._begin_s = time.monotonic()
            self._is_ready.set()
            while is_alive and (part := self._next()) is not None:
                pickle.dump(part, tasks)
                tasks.flush()
                is_alive = answers.readline() == _DONE
                with self._lock:
                    self._done_cost += part.cost
                    self._in_hand_cost = 0.0
        self._is_ready.set()

    def _next(self) -> PartWork | None:
        with self._lock:
            if not self._waiting:
                return None
            part = self._waiting.pop(0)
            self._in_hand_cost = part.cost
            return part


# ---- the process -------------------------------------------------------------------------------------


def work_on(tasks: IO[bytes], answers: IO[bytes], engine: str) -> None:
    """Load the engine, then simulate one part after another, until there is none or nobody to ask."""
    load_engine(engine)
    _tell(answers, _READY)
    with suppress(EOFError):
        while True:
            part: PartWork = pickle.load(tasks)
            simulate_or_read(part.work, part.name, part.specs)
            _tell(answers, _DONE)


def _tell(answers: IO[bytes], what: bytes) -> None:
    answers.write(what)
    answers.flush()


if __name__ == "__main__":
    # At once: an exception that arrives while compiled code runs would be taken for a failure of the run it is in.
    signal.signal(signal.SIGTERM, lambda number, frame: os._exit(1))
    with suppress(BrokenPipeError):
        work_on(sys.stdin.buffer, sys.stdout.buffer, sys.argv[1])
