"""Endive: how many commits per second an Iceberg table or catalog takes, what breaks first, what to change."""

from endive.config import SimulationConfig, load_simulation_config
from endive.errors import EndiveError
from endive.notebook import advise, compare, explain, limit, simulate
from endive.results.result import SimulationResult
from endive.results.statistics import Statistics
from endive.simulation import Simulation

__version__ = "0.1.0"

__all__ = [
    "EndiveError",
    "Simulation",
    "SimulationConfig",
    "SimulationResult",
    "Statistics",
    "__version__",
    "advise",
    "compare",
    "explain",
    "limit",
    "load_simulation_config",
    "simulate",
]
