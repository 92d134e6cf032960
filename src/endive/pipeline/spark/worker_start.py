"""How Spark's Python workers start on this machine, and what to say when they cannot."""

from __future__ import annotations

import os
import sys
from typing import Final

WORKER_DAEMON: Final = "endive.pipeline.spark.worker_daemon"


def no_workers(said: str) -> str | None:
    """What to do, if Spark says that workers do not start; None if it says something else."""
    if f"port number from {WORKER_DAEMON}" not in said:
        return None
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    return (
        f"Spark's workers do not start with PYSPARK_PYTHON = {python}. Name a Python in which Endive and its packages "
        "are installed, or none: then it is the one that runs this command."
    )
