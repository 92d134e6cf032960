"""Studies on Spark: PySpark lives here and nowhere else.

Four rooms: ``sweep`` simulates a study and writes its dataset, ``dataset`` is what lies in that folder, ``analysis``
turns it into tables, ``spark`` makes the session. Importing this package does not import PySpark; the functions that
need it do.
"""

from endive.pipeline.dataset.sweep_folder import SweepFolder
from endive.pipeline.spark.session import make_session
from endive.pipeline.sweep.planned_study import PlannedStudy
from endive.pipeline.sweep.run_sweep import SweepOutcome, run_sweep

__all__ = ["PlannedStudy", "SweepFolder", "SweepOutcome", "make_session", "run_sweep"]
