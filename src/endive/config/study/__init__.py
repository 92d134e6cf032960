"""Studies: a base configuration and the axes along which it is varied, from TOML to points.

``load_study`` reads a file; ``Study.expand`` gives the resolved configuration of every point. Nothing is run here.
"""

from endive.config.expression import Expression
from endive.config.study.axis import Axis
from endive.config.study.study import Drop, Report, Study, SweepPoint, consecutive_seeds, load_study, run_identity

__all__ = [
    "Axis",
    "Drop",
    "Expression",
    "Report",
    "Study",
    "SweepPoint",
    "consecutive_seeds",
    "load_study",
    "run_identity",
]
