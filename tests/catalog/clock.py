"""A hand clock for catalogs: starts their generators, lets time pass, keeps what they return.

``HandClock`` obeys the latencies; ``RandomClock`` ignores them and lets a seeded draw say who moves next, so that every
interleaving of server decisions can happen.
"""

import random
from collections.abc import Generator
from heapq import heappop, heappush
from typing import Any


class Started:
    """A call under way: ``value`` is what it returned, ``end_us`` when."""

    def __init__(self, process: Generator[int, None, Any]) -> None:
        self.process = process
        self.value: Any = None
        self.end_us = -1


class HandClock:
    """Runs generators of microseconds in the order of time, first started first."""

    def __init__(self) -> None:
        self.now_us = 0
        self._events: list[tuple[int, int, Started]] = []
        self._order = 0

    def start(self, process: Generator[int, None, Any], at_us: int | None = None) -> Started:
        started = Started(process)
        heappush(self._events, (self.now_us if at_us is None else at_us, self._order, started))
        self._order += 1
        return started

    def run(self, until_us: int | None = None) -> None:
        while self._events and (until_us is None or self._events[0][0] <= until_us):
            self.now_us, order, started = heappop(self._events)
            try:
                delay_us = started.process.send(None)
            except StopIteration as stop:
                started.value, started.end_us = stop.value, self.now_us
                continue
            heappush(self._events, (self.now_us + delay_us, order, started))
        if until_us is not None:
            self.now_us = until_us


class RandomClock:
    """Lets a random one of its generators take the next step; every step is a microsecond."""

    def __init__(self, seed: int) -> None:
        self.now_us = 0
        self._random = random.Random(seed)
        self._running: list[Started] = []

    def start(self, process: Generator[int, None, Any]) -> Started:
        started = Started(process)
        self._running.append(started)
        return started

    def run(self) -> None:
        while self._running:
            chosen = self._random.randrange(len(self._running))
            started = self._running[chosen]
            self.now_us += 1
            try:
                started.process.send(None)
            except StopIteration as stop:
                started.value, started.end_us = stop.value, self.now_us
                self._running[chosen] = self._running[-1]
                self._running.pop()
