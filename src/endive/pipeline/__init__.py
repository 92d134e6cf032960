"""Studies on Spark: PySpark is imported here and nowhere else.

``sweep`` simulates a study and writes its dataset, ``dataset`` is what lies there, ``analysis`` turns it into tables,
``spark`` makes the session. The names below are imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from endive.pipeline.spark.session import make_session
    from endive.pipeline.sweep.plan import PlannedStudy
    from endive.pipeline.sweep.run_sweep import SweepOutcome, run_sweep

__all__ = ["PlannedStudy", "SweepOutcome", "make_session", "run_sweep"]

_HOMES = {
    "PlannedStudy": "endive.pipeline.sweep.plan",
    "SweepOutcome": "endive.pipeline.sweep.run_sweep",
    "make_session": "endive.pipeline.spark.session",
    "run_sweep": "endive.pipeline.sweep.run_sweep",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'endive.pipeline' has no attribute '{name}'")
    globals()[name] = value = getattr(import_module(_HOMES[name]), name)
    return value
