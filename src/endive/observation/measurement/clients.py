"""Calls timed, and clients side by side, each as fast as it can: how stores and catalogs are measured."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def time_call(call: Callable[..., T], *given: Any) -> tuple[float, T]:
    """How long a call took, in ms, and what it returned."""
    begin_s = time.perf_counter()
    answer = call(*given)
    return 1000.0 * (time.perf_counter() - begin_s), answer


def run_clients(clients: int, turns: int, end_s: float, turn: Callable[[], None]) -> float:
    """So many turns of all clients together, or as many as there is time for; the seconds they took.

    What one of them raises ends them all, and is raised again.
    """
    lock = threading.Lock()
    left = turns
    raised: list[BaseException] = []

    def is_another() -> bool:
        nonlocal left
        with lock:
            left -= 1
            return left >= 0 and not raised and time.monotonic() < end_s

    def client() -> None:
        try:
            while is_another():
                turn()
        except BaseException as error:
            raised.append(error)

    begin_s = time.perf_counter()
    threads = [threading.Thread(target=client, daemon=True) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]
    return time.perf_counter() - begin_s
