"""The process that Spark forks its Python workers from, with what they need in memory already.

Without it every worker imports the simulator and loads its compiled code for itself, which takes it as long as
simulating a small study.
"""

from __future__ import annotations

import gc
import importlib
import os
from contextlib import suppress
from typing import Final

from pyspark import daemon

NEEDED: Final = (
    "pandas",  # which Arrow looks for at the first conversion
    "endive.pipeline.sweep.simulate",
)
SIMULATES: Final = "ENDIVE_WORKERS_SIMULATE"  # set where they will, with the compiled engine


def preload() -> None:
    """Import what workers need; what cannot be imported is told by the worker that misses it."""
    for name in NEEDED:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    if os.environ.get(SIMULATES):
        load_engine()


def load_engine() -> None:
    """Compile the engine, or load it from disk."""
    from endive.simulation import Simulation

    with suppress(Exception):  # the runs will say what is wrong
        Simulation({"simulation": {"duration_ms": 1_000}}).run(engine="compiled")


if __name__ == "__main__":
    preload()
    gc.freeze()  # workers need not look through all of it again and again, nor copy its pages
    daemon.manager()
