"""Runs of a configuration with many seeds, in this process or in a pool of them.

The pool needs no Spark. It starts once the work ahead is worth the start; where a simulation runs changes nothing about
its result.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from multiprocessing import active_children, get_context
from types import TracebackType
from typing import TYPE_CHECKING, Final

from endive.answers.sample import Sample, SampleSink
from endive.config import SimulationConfig

if TYPE_CHECKING:
    from endive.simulation import Simulation

POOL_WORTH_S: Final = 1.0  # of simulations still to run, in this process; below it a pool starts in vain
# A forked process has the engine compiled already; elsewhere each has to load it, which takes seconds.
START_METHOD: Final = "fork" if sys.platform == "linux" else "spawn"
Job = tuple[SimulationConfig, int]


def run_sample(config: SimulationConfig, seed: int, *, is_per_table: bool = False) -> Sample:
    """Return one simulation, and what it measured."""
    sink = SampleSink(config, is_per_table=is_per_table, keep_transactions=False)
    _simulation_of(config).run(seed=seed, sink=sink)
    return sink.sample(seed)


@lru_cache(maxsize=4)
def _simulation_of(config: SimulationConfig) -> Simulation:
    """Return one for all seeds of a configuration, which share what does not depend on them."""
    from endive.simulation import Simulation

    return Simulation(config)


class Replicator:
    """Runs jobs and keeps their samples; close it, or use it as a context manager."""

    def __init__(
        self,
        *,
        processes: int | None = None,
        is_per_table: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.simulations = 0  # run so far
        self._progress = progress  # is told how many were run, and how many are known to be
        self._children: set[int] = set()  # of this process, before the pool started
        self._processes = os.cpu_count() or 1 if processes is None else processes
        self._is_per_table = is_per_table
        self._pool: ProcessPoolExecutor | None = None
        self._kept: dict[tuple[str, int], Sample] = {}
        self._seconds_each: float | None = None  # the longest simulation so far
        self._due = 0  # simulations that are known to be run

    def take(self, config: SimulationConfig, count: int) -> list[Sample]:
        """So many samples: with the seed of the configuration and the next ones."""
        first = config.simulation.seed
        return self.samples(config, range(first, first + count))

    def samples(self, config: SimulationConfig, seeds: Iterable[int]) -> list[Sample]:
        """Return one sample per seed, in their order."""
        return self.run_all([(config, seed) for seed in seeds])

    def run_all(self, jobs: Sequence[Job]) -> list[Sample]:
        """Return one sample per job, in their order; what ran before is not run again."""
        hashes = {key: config.config_hash() for key, config in {id(config): config for config, _ in jobs}.items()}
        keys = [(hashes[id(config)], seed) for config, seed in jobs]
        todo = {key: job for key, job in zip(keys, jobs, strict=True) if key not in self._kept}
        self._due = self.simulations + len(todo)
        while todo and not self._is_pool_worth_it(len(todo)):
            key, (config, seed) = next(iter(todo.items()))
            self._kept[key] = self._run_here(config, seed)
            del todo[key]
            self._tell()
        if todo:
            self._run_in_pool(todo)
        return [self._kept[key] for key in keys]

    def _run_here(self, config: SimulationConfig, seed: int) -> Sample:
        begin_s = time.perf_counter()
        sample = run_sample(config, seed, is_per_table=self._is_per_table)
        if self.simulations:  # the first one may have had to compile
            self._seconds_each = max(self._seconds_each or 0.0, time.perf_counter() - begin_s)
        self.simulations += 1
        return sample

    def _run_in_pool(self, todo: dict[tuple[str, int], Job]) -> None:
        if self._pool is None:
            self._children = {child.pid for child in active_children() if child.pid is not None}
            self._pool = ProcessPoolExecutor(
                self._processes, mp_context=get_context(START_METHOD), initializer=_leave_interrupts
            )
        futures = {
            key: self._pool.submit(run_sample, config, seed, is_per_table=self._is_per_table)
            for key, (config, seed) in todo.items()
        }
        for key, future in futures.items():
            self._kept[key] = future.result()
            self.simulations += 1
            self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self.simulations, self._due)

    def _is_pool_worth_it(self, count: int) -> bool:
        if self._processes < 2 or count < 2 or (START_METHOD == "fork" and threading.active_count() > 1):
            return False  # to fork beside other threads, as a notebook has them, may hang
        if self._pool is not None:
            return True
        return self._seconds_each is not None and self._seconds_each * count > POOL_WORTH_S

    def close(self, *, at_once: bool = False) -> None:
        """End the processes; at once, in the middle of what they simulate, if nobody waits for it any more."""
        if self._pool is not None:
            if at_once:
                for child in active_children():
                    if child.pid not in self._children:
                        child.kill()  # a handler would only be called once the simulation has ended
            self._pool.shutdown(wait=not at_once, cancel_futures=True)
            self._pool = None

    def __enter__(self) -> Replicator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close(at_once=error is not None)


def _leave_interrupts() -> None:
    """Ctrl-C is answered by the process that was asked, which ends this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
