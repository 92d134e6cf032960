"""The worker processes: a fixed number, one of them kept free for first answers, each replaced if it dies.

Who asks first is served first, and one page never has all of them. What a job does is ``endive.explore.jobs``'.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Coroutine
from dataclasses import dataclass
from multiprocessing import forkserver, get_all_start_methods, get_context
from multiprocessing.connection import Connection
from typing import Any, Final

from endive.explore.process import CANCEL, main

PROMPT: Final = "prompt"  # first answers: short, one after another
PATIENT: Final = "patient"  # everything that refines
PATIENT_MAX: Final = 3
EVENT_S_MAX: Final = {PROMPT: 30.0, PATIENT: 120.0}  # without an event; then the process is ended
HIRE_AGAIN_S: Final = 2.0  # after a process that ended before it could do anything
STARTS_MAX: Final = 3  # processes that end so, one after another, before those who wait are told
WAIT_S: Final = 0.5  # for a free process, before the question whether there can be one
CANCEL_S_MAX: Final = 2.0  # between being told to stop and stopping
START_METHOD: Final = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
PRELOADED: Final = ["endive.explore.process"]
DIED: Final = "The process that simulated this has ended. Another one has been started: move something, or ask again."
HUNG: Final = "No answer within {:.0f} s, so the simulation was ended. Ask for less simulated time or load."
NO_START: Final = (
    "The processes that simulate end while they start, so there is no answer. `endive run` with any configuration, in "
    "the terminal, says why; this page goes on when they start again."
)

Event = dict[str, Any]
_starting = threading.Lock()


def start_forkserver() -> None:
    """Start the process that starts the others, deaf to the Ctrl-C that a terminal sends to all; in the main thread."""
    if START_METHOD != "forkserver":
        return
    context: Any = get_context(START_METHOD)
    context.set_forkserver_preload(PRELOADED)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # what it inherits
    try:
        forkserver.ensure_running()
    finally:
        signal.signal(signal.SIGINT, before)


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
            except (EOFError, OSError, TypeError):  # TypeError: it was closed while it was read
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


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """A page that waits, and the worker it will have."""

    client: str
    worker: asyncio.Future[Worker]


class Crew:
    """All workers; make it inside a running event loop, and close it."""

    def __init__(self, patient: int | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        count = min(PATIENT_MAX, max(1, (os.cpu_count() or 2) - 1)) if patient is None else patient
        self._numbers = itertools.count(1)
        self._workers: set[Worker] = set()
        self._sizes = {PROMPT: 1, PATIENT: count}
        self._idle: dict[str, list[Worker]] = {PROMPT: [], PATIENT: []}
        self._waiting: dict[str, list[Waiting]] = {PROMPT: [], PATIENT: []}  # in the order they came
        self._held: Counter[tuple[str, str]] = Counter()  # processes, by lane and page
        self._ended_early = {PROMPT: 0, PATIENT: 0}  # processes, since one of the lane last started
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        for lane in (PROMPT, *(PATIENT for _ in range(count))):
            self._later(self._hire(lane))

    @property
    def processes(self) -> list[int]:
        """Return the ids of the worker processes."""
        return [worker.process.pid or 0 for worker in self._workers]

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _hire(self, lane: str) -> None:
        """Start a process beside the event loop, which goes on answering; again after a while if it ends at once."""
        try:
            worker = await asyncio.to_thread(Worker, self._loop, lane)
        except (OSError, EOFError):  # whoever starts processes has ended, as with a signal to all of us
            pass
        else:
            self._workers.add(worker)
            if self._is_closed:
                worker.end()
            if await worker.events.get() is not None:  # it has the engine; to compile that may have taken minutes
                self._ended_early[lane] = 0
                self._idle[lane].append(worker)
                self._hand_out(lane)
                return
            self._workers.discard(worker)
        self._ended_early[lane] += 1
        await asyncio.sleep(HIRE_AGAIN_S)
        if not self._is_closed:
            self._later(self._hire(lane))

    async def run(self, lane: str, name: str, payload: Any, client: str = "") -> AsyncGenerator[Event, None]:
        """Return the events of a job that a page asks for; closing the iterator cancels it."""
        worker = await self._free(lane, client)
        if worker is None:
            yield {"type": "failed", "text": NO_START}
            return
        number = next(self._numbers)
        worker.send((number, name, payload))
        is_over = False
        try:
            while not is_over:
                event, is_over = await self._next(lane, worker, number)
                if event is not None:
                    yield event
        finally:
            if is_over:
                self._give_back(lane, worker, client)
            else:
                worker.send((CANCEL,))
                self._later(self._wait_for_end(lane, worker, number, client))

    async def _free(self, lane: str, client: str) -> Worker | None:
        """Return a worker with nothing to do, or None while none can start.

        One that has died meanwhile is replaced before anybody hears of it, and whoever was to have it is next.
        """
        place = len(self._waiting[lane])
        while True:
            waiting = Waiting(client, self._loop.create_future())
            self._waiting[lane].insert(place, waiting)
            self._hand_out(lane)
            worker = await self._wait(lane, waiting)
            if worker is None or worker.process.is_alive():
                return worker
            worker.is_lost = True
            self._give_back(lane, worker, client)
            place = 0

    async def _wait(self, lane: str, waiting: Waiting) -> Worker | None:
        """Return what is handed to somebody who waits; asking whether there can be one costs nobody the place."""
        try:
            while not waiting.worker.done():
                await asyncio.wait({waiting.worker}, timeout=WAIT_S)
                if not waiting.worker.done() and self._ended_early[lane] >= STARTS_MAX:
                    self._waiting[lane].remove(waiting)
                    return None
        except asyncio.CancelledError:
            if waiting.worker.done():
                self._give_back(lane, waiting.worker.result(), waiting.client)
            else:
                self._waiting[lane].remove(waiting)
            raise
        return waiting.worker.result()

    def _hand_out(self, lane: str) -> None:
        """Free processes to those who wait, the first first; a page that has its share waits for one of its own."""
        share = max(1, self._sizes[lane] - 1)
        for waiting in list(self._waiting[lane]):
            if not self._idle[lane]:
                return
            if self._held[lane, waiting.client] < share:
                self._waiting[lane].remove(waiting)
                self._held[lane, waiting.client] += 1
                waiting.worker.set_result(self._idle[lane].pop(0))

    async def _next(self, lane: str, worker: Worker, number: int) -> tuple[Event | None, bool]:
        """Return the next event of a job, and whether it was the last."""
        while True:
            try:
                message = await asyncio.wait_for(worker.events.get(), EVENT_S_MAX[lane])
            except TimeoutError:
                worker.end()
                return {"type": "failed", "text": HUNG.format(EVENT_S_MAX[lane])}, True
            if message is None:
                worker.is_lost = True
                return {"type": "failed", "text": DIED}, True
            if message[0] == number:
                return message[1], message[1] is None

    async def _wait_for_end(self, lane: str, worker: Worker, number: int, client: str) -> None:
        """Give a cancelled worker time to stop between two simulations; end it if it does not."""
        try:
            async with asyncio.timeout(CANCEL_S_MAX):
                while (message := await worker.events.get()) != (number, None):
                    if message is None:
                        worker.is_lost = True
                        break
        except TimeoutError:
            worker.end()
        self._give_back(lane, worker, client)

    def _give_back(self, lane: str, worker: Worker, client: str) -> None:
        self._held[lane, client] -= 1
        if not worker.is_lost:
            self._idle[lane].append(worker)
            self._hand_out(lane)
            return
        self._workers.discard(worker)
        worker.end()
        self._later(self._hire(lane))

    def close(self) -> None:
        """End all processes."""
        self._is_closed = True
        for worker in self._workers:
            worker.end()
