"""Studies on Spark: PySpark lives here and nowhere else.

Four rooms: ``sweep`` simulates a study and writes its dataset, ``dataset`` is what lies in that place, ``analysis``
turns it into tables, ``spark`` makes the session. What is named here is imported when it is first used: Spark starts
Python processes that need one file of all this.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from endive.pipeline.dataset.sweep_folder import SweepFolder
    from endive.pipeline.spark.session import make_session
    from endive.pipeline.sweep.plan import PlannedStudy
    from endive.pipeline.sweep.run_sweep import SweepOutcome, run_sweep

__all__ = ["PlannedStudy", "SweepFolder", "SweepOutcome", "make_session", "run_sweep"]

_HOMES = {
    "PlannedStudy": "endive.pipeline.sweep.plan",
    "SweepFolder": "endive.pipeline.dataset.sweep_folder",
    "SweepOutcome": "endive.pipeline.sweep.run_sweep",
    "make_session": "endive.pipeline.spark.session",
    "run_sweep": "endive.pipeline.sweep.run_sweep",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'endive.pipeline' has no attribute '{name}'")
    globals()[name] = value = getattr(import_module(_HOMES[name]), name)
    return value
