"""Ctrl-C is answered between two units of work of the thread that hears it: none may be long.

Measured in the processor time of that thread, so that a busy machine changes nothing: what others compute, and what is
waited for, does not keep an interrupt from being heard.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

import numpy as np
import pytest

from endive.answers.advice.advise import advise_on
from endive.answers.replicate import Replicator
from endive.answers.variation import base_of

pytestmark = pytest.mark.lengthy

TICK_S = 0.01
LONGEST_S = 0.25  # of processor time; a second is promised, and the machine may be busy

WRITERS = {
    "simulation": {"duration_ms": "3min", "seed": 1},
    "slo": {"objective": "writers.success_rate >= 0.99"},
    "storage": {"provider": "s3"},
    "catalog": {"type": "cas"},
    "source": [{"name": "writers", "arrivals": {"kind": "closed", "clients": 12}, "runtime": "1s"}],
}


def longest_unit_s(work: Callable[[], object]) -> float:
    """The most processor time this thread spends without hearing a signal."""
    units: list[float] = []
    last_s = time.thread_time()

    def hear(_number: int, _frame: object) -> None:
        nonlocal last_s
        now_s = time.thread_time()
        units.append(now_s - last_s)
        last_s = now_s

    before = signal.signal(signal.SIGALRM, hear)
    signal.setitimer(signal.ITIMER_REAL, TICK_S, TICK_S)
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    return max(units)


@pytest.mark.parametrize("processes", [1, 2])
def test_advice_hears_ctrl_c_between_short_units_of_work(processes):
    def ask() -> None:
        advise_on(base_of(WRITERS), levers=("retries",), seeds=2, replicator=Replicator(processes=processes))

    assert LONGEST_S > longest_unit_s(ask)


def test_a_unit_that_is_too_long_is_seen():
    """The control: sorting in one call, which no signal interrupts."""
    numbers = np.random.default_rng(1).random(12_000_000)

    assert LONGEST_S < longest_unit_s(lambda: [numbers.copy().sort(kind="stable"), time.sleep(2 * TICK_S)])
