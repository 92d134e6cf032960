"""A call that must end in time: whoever waits for it stops waiting.

The call runs in a thread of its own, because nothing can interrupt a library that waits for a server. What comes too
late is thrown away; the thread ends with the program.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from endive.errors import IntakeError

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T], *, name: str) -> T:
    """What the call returns or raises; IntakeError if it takes longer."""
    answers: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(call())
        except BaseException as error:  # handed over to whoever waits
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if raised:
        raise raised[0]
    if not answers:
        raise IntakeError(name, f"gave no complete answer within {seconds:g} s.")
    return answers[0]
