"""Studies on Spark: PySpark lives here and nowhere else.

Importing this package does not import PySpark; the functions that need it do.
"""

from endive.pipeline.folder import SweepFolder
from endive.pipeline.session import make_session
from endive.pipeline.sweep import PlannedStudy, SweepOutcome, run_sweep

__all__ = ["PlannedStudy", "SweepFolder", "SweepOutcome", "make_session", "run_sweep"]
