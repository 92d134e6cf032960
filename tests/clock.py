"""Clocks that drive generators of microseconds by hand, and keep what they return.

``HandClock`` obeys the delays; ``RandomClock`` ignores them and lets a seeded draw say who moves next, so that every
interleaving of server decisions can happen.
"""

import random
from collections.abc import Generator
from heapq import heappop, heappush
from typing import Any


class Started:
    """A call under way: what it waited for, and once it has returned ``value`` is what, ``end_us`` when."""

    def __init__(self, process: Generator[int, None, Any]) -> None:
        self._process = process
        self.waits_us: list[int] = []
        self.value: Any = None
        self.end_us = -1

    def step(self, now_us: int) -> bool:
        """Whether it goes on, after one more delay."""
        try:
            self.waits_us.append(next(self._process))
        except StopIteration as stop:
            self.value, self.end_us = stop.value, now_us
            return False
        return True


class HandClock:
    """Runs generators in the order of time, first started first."""

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
            if started.step(self.now_us):
                heappush(self._events, (self.now_us + started.waits_us[-1], order, started))
        if until_us is not None:
            self.now_us = until_us


class RandomClock:
    """Lets a random one of its generators take the next step; every step is a microsecond."""

    def __init__(self, seed: int) -> None:
        self.now_us = 0
        self._random = random.Random(seed)
        self._running: list[Started] = []

    def start(self, process: Generator[int, None, Any]) -> Started:
        self._running.append(Started(process))
        return self._running[-1]

    def run(self) -> None:
        while self._running:
            chosen = self._random.randrange(len(self._running))
            self.now_us += 1
            if not self._running[chosen].step(self.now_us):
                self._running[chosen] = self._running[-1]
                self._running.pop()
