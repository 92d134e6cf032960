"""The reference engine's transactions inside a SimPy environment: an event loop that is not ours, as a check on it.

The documents name SimPy (internals, line 7; the specification's diagram). Its events are ordered by (time, priority,
insertion); with a transaction's order as the priority that is our order, so every result must be the same.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import simpy

from endive.results.history import HistoryCheck
from endive.simulation.reference import Process, ReferenceEngine
from endive.transaction.ordering import PARKED_US

FIRST = 2**40  # above SimPy's own priorities, so that a process has begun before anything else happens


class SimPyEngine(ReferenceEngine):
    """The same simulation, driven by SimPy: one process for each transaction and each source."""

    def __init__(self, *parts: Any, **options: Any) -> None:
        self._env = simpy.Environment()
        self._waiting: dict[int, simpy.Event] = {}  # in a queue, until their turn to commit
        super().__init__(*parts, **options)

    @property
    def now_us(self) -> int:  # type: ignore[override]
        return int(self._env.now)

    @now_us.setter
    def now_us(self, now_us: int) -> None:
        assert now_us == self._env.now, "only SimPy moves the clock"

    def run(self) -> HistoryCheck | None:
        self._start_sources()
        self._hand_over()
        while self._env.peek() < self._parts.duration_us:
            self._env.step()
        self._record_in_flight()
        self._flush()
        return None if self._observed is None else self._observed.close(self._reported)

    def _live(self, order: int, delay_us: int, process: Process) -> Generator[simpy.Event, None, None]:
        """Run one process of the reference engine as one of SimPy's."""
        yield self._turn(self._env.event(), order, delay_us)
        while True:
            try:
                delay_us = process.send(None)
            except StopIteration:
                if order in self._running:
                    self._finish(order)
                self._hand_over()
                return
            self.steps += 1
            if delay_us == PARKED_US:
                event = self._waiting[order] = self._env.event()
            else:
                event = self._turn(self._env.event(), order, delay_us)
            self._hand_over()
            yield event

    def _turn(self, event: simpy.Event, order: int, delay_us: int) -> simpy.Event:
        event._ok, event._value = True, None
        self._env.schedule(event, priority=FIRST + order, delay=delay_us)  # type: ignore[arg-type]
        return event

    def _hand_over(self) -> None:
        """Give SimPy what the engine has just begun, and wake whose turn has come."""
        while self._events:
            at_us, order, process = self._events.pop()
            self._env.process(self._live(order, at_us - self.now_us, process))
        while self._woken:
            order = self._woken.pop()
            self._turn(self._waiting.pop(order), order, 0)
