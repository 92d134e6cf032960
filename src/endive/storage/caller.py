"""Calls from outside a run: a program that drives a store or a catalog by itself, in milliseconds."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

Value = TypeVar("Value")


class CallerClock:
    """The time of the caller's simulation, if it has a ``now`` in ms; otherwise what was waited for so far."""

    def __init__(self) -> None:
        self.sim: Any = None
        self._waited_us = 0

    @property
    def now_us(self) -> int:
        """The time in microseconds."""
        return self._waited_us if self.sim is None else round(self.sim.now * 1000.0)

    @now_us.setter
    def now_us(self, now_us: int) -> None:
        self._waited_us = now_us


def in_ms(process: Generator[int, None, Value], clock: CallerClock) -> Generator[float, None, Value]:
    """Run a process of microseconds as one of milliseconds."""
    while True:
        try:
            delay_us = next(process)
        except StopIteration as ended:
            value: Value = ended.value
            return value
        yield delay_us / 1000.0
        clock.now_us += delay_us
