"""The compiled engine, loaded before the workers need it.

This file does one thing: on a machine that has never run it, the engine is compiled once and kept on disk, instead of
once in every worker at the same time. It happens beside the start of the session, so where the engine is on disk
already it costs no time.
"""

from __future__ import annotations

import threading
from typing import Final

_TINY: Final = {"simulation": {"duration_ms": 1_000}}


def start_warm_up(engine: str) -> threading.Thread | None:
    """Begin to load the engine; None if it is not the compiled one. Join it before workers start on this machine."""
    if engine == "reference":
        return None
    thread = threading.Thread(target=load_engine, args=(engine,), name="endive-warm-up", daemon=True)
    thread.start()
    return thread


def load_engine(engine: str) -> None:
    """Compile the engine, or load it from disk; nothing if it is not the compiled one."""
    from endive.simulation import Simulation

    if engine == "reference":
        return

    try:
        Simulation(_TINY).run(engine="compiled")
    except Exception:
        pass  # the runs will say what is wrong
