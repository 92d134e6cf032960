"""The process that Spark forks its Python workers from, with what they need in memory already.

Without it every worker imports the simulator for itself, which takes it as long as simulating a small study. It imports
and does nothing else: what is compiled is loaded by the worker that needs it.
"""

from __future__ import annotations

import importlib
from typing import Final

from pyspark import daemon

NEEDED: Final = (
    "pandas",  # which Arrow looks for at the first conversion
    "endive.pipeline.sweep.part",
    "endive.pipeline.sweep.sweep_writer",
)


def preload() -> None:
    """Import what workers need; what cannot be imported is told by the worker that misses it."""
    for name in NEEDED:
        try:
            importlib.import_module(name)
        except ImportError:
            continue


if __name__ == "__main__":
    preload()
    daemon.manager()
