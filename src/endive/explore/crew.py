"""The worker processes: a fixed number, one of them kept free for first answers, each replaced if it dies.

This file defines who works on what, how a job is cancelled and what happens if a process ends or hangs. What a job does
is ``endive.explore.jobs``'.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
from collections.abc import AsyncGenerator, Coroutine
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from typing import Any, Final

from endive.explore.process import CANCEL, main

PROMPT: Final = "prompt"  # first answers: short, one after another
PATIENT: Final = "patient"  # everything that refines
PATIENT_MAX: Final = 3
EVENT_S_MAX: Final = 120.0  # without an event; then the process is ended
HIRE_AGAIN_S: Final = 2.0  # after a process that ended before it could do anything
STARTS_MAX: Final = 3  # processes that end so, one after another, before those who wait are told
WAIT_S: Final = 0.5  # for a free process, before the question whether there can be one
CANCEL_S_MAX: Final = 2.0  # between being told to stop and stopping
START_METHOD: Final = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
PRELOADED: Final = ["endive.explore.process"]
DIED: Final = "The process that simulated this has ended. Another one has been started: move something, or ask again."
HUNG: Final = f"No answer within {EVENT_S_MAX:.0f} s, so the simulation was ended. Ask for less simulated time or load."
NO_START: Final = (
    "The processes that simulate end while they start, so there is no answer. `endive run` with any configuration, in "
    "the terminal, says why; this page goes on when they start again."
)

Event = dict[str, Any]
_starting = threading.Lock()


class Worker:
    """One process, and a thread that brings its events into the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, lane: str) -> None:
        context: Any = get_context(START_METHOD)
        if START_METHOD == "forkserver":
            context.set_forkserver_preload(PRELOADED)
        # One after another: a process that is forked meanwhile would hold this one's end open, and hide its death.
        with _starting:
            ours, theirs = context.Pipe()
            self._connection: Connection = ours
            self.process = context.Process(target=main, args=(theirs, lane == PATIENT), daemon=True)
            self.process.start()
            theirs.close()
        self.events: asyncio.Queue[tuple[int, Event | None] | None] = asyncio.Queue()
        self.is_lost = False
        threading.Thread(target=self._read, args=(loop,), daemon=True).start()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        message: Any = ()
        while message is not None:
            try:
                message = self._connection.recv()
            except (EOFError, OSError):
                message = None
            try:
                loop.call_soon_threadsafe(self.events.put_nowait, message)
            except RuntimeError:  # the loop has closed: nobody waits any more
                return

    def send(self, message: tuple[Any, ...]) -> None:
        """Give it a job, or take the one it has away; a process that has died is noticed where its events are read."""
        try:
            self._connection.send(message)
        except OSError:
            pass

    def end(self) -> None:
        """End the process, whatever it does."""
        self.is_lost = True
        self.process.kill()
        self._connection.close()


class Crew:
    """All workers; make it inside a running event loop, and close it."""

    def __init__(self, patient: int | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        count = min(PATIENT_MAX, max(1, (os.cpu_count() or 2) - 1)) if patient is None else patient
        self._numbers = itertools.count(1)
        self._workers: set[Worker] = set()
        self._idle: dict[str, asyncio.Queue[Worker]] = {PROMPT: asyncio.Queue(), PATIENT: asyncio.Queue()}
        self._ended_early = {PROMPT: 0, PATIENT: 0}  # processes, since one of the lane last started
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        for lane in (PROMPT, *(PATIENT for _ in range(count))):
            self._later(self._hire(lane))

    @property
    def processes(self) -> list[int]:
        """The ids of the worker processes."""
        return [worker.process.pid or 0 for worker in self._workers]

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _hire(self, lane: str) -> None:
        """Start a process beside the event loop, which goes on answering."""
        worker = await asyncio.to_thread(Worker, self._loop, lane)
        self._workers.add(worker)
        if self._is_closed:
            worker.end()
        if await worker.events.get() is not None:  # it has the engine; to compile that may have taken minutes
            self._ended_early[lane] = 0
            self._idle[lane].put_nowait(worker)
            return
        self._workers.discard(worker)
        self._ended_early[lane] += 1
        await asyncio.sleep(HIRE_AGAIN_S)
        if not self._is_closed:
            self._later(self._hire(lane))

    async def run(self, lane: str, name: str, payload: Any) -> AsyncGenerator[Event, None]:
        """The events of a job; closing the iterator cancels it."""
        worker = await self._free(lane)
        if worker is None:
            yield {"type": "failed", "text": NO_START}
            return
        number = next(self._numbers)
        worker.send((number, name, payload))
        is_over = False
        try:
            while not is_over:
                event, is_over = await self._next(worker, number)
                if event is not None:
                    yield event
        finally:
            if is_over:
                self._give_back(lane, worker)
            else:
                worker.send((CANCEL,))
                self._later(self._wait_for_end(lane, worker, number))

    async def _free(self, lane: str) -> Worker | None:
        """A worker with nothing to do, or None while none can start.

        One that has died meanwhile is replaced before anybody hears of it.
        """
        while True:
            try:
                worker = await asyncio.wait_for(self._idle[lane].get(), WAIT_S)
            except TimeoutError:
                if self._ended_early[lane] >= STARTS_MAX:
                    return None
                continue
            if worker.process.is_alive():
                return worker
            worker.is_lost = True
            self._give_back(lane, worker)

    async def _next(self, worker: Worker, number: int) -> tuple[Event | None, bool]:
        """The next event of a job, and whether it was the last."""
        while True:
            try:
                message = await asyncio.wait_for(worker.events.get(), EVENT_S_MAX)
            except TimeoutError:
                worker.end()
                return {"type": "failed", "text": HUNG}, True
            if message is None:
                worker.is_lost = True
                return {"type": "failed", "text": DIED}, True
            if message[0] == number:
                return message[1], message[1] is None

    async def _wait_for_end(self, lane: str, worker: Worker, number: int) -> None:
        """Give a cancelled worker time to stop between two simulations; end it if it does not."""
        try:
            async with asyncio.timeout(CANCEL_S_MAX):
                while (message := await worker.events.get()) != (number, None):
                    if message is None:
                        worker.is_lost = True
                        break
        except TimeoutError:
            worker.end()
        self._give_back(lane, worker)

    def _give_back(self, lane: str, worker: Worker) -> None:
        if not worker.is_lost:
            self._idle[lane].put_nowait(worker)
            return
        self._workers.discard(worker)
        worker.end()
        self._later(self._hire(lane))

    def close(self) -> None:
        """End all processes."""
        self._is_closed = True
        for worker in self._workers:
            worker.end()
