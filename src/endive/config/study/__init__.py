"""Studies: a base configuration and the axes along which it is varied, from TOML to points.

``load_study`` reads a file; ``Study.expand`` gives the resolved configuration of every point. Nothing is run here.
"""

from endive.config.study.study import Study, SweepPoint, load_study, run_identity

__all__ = ["Study", "SweepPoint", "load_study", "run_identity"]
