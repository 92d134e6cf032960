"""Endive: how many commits per second an Iceberg table or catalog takes, what breaks first, what to change.

What is named here is imported when it is first used, so that a command that does not simulate starts at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from endive.config import SimulationConfig, load_simulation_config
    from endive.errors import EndiveError
    from endive.notebook import advise, compare, explain, limit, simulate
    from endive.results.result import SimulationResult
    from endive.results.statistics import Statistics
    from endive.simulation import Simulation

__version__ = "0.2.0"

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

_HOMES = {
    "EndiveError": "endive.errors",
    "Simulation": "endive.simulation",
    "SimulationConfig": "endive.config",
    "SimulationResult": "endive.results.result",
    "Statistics": "endive.results.statistics",
    "load_simulation_config": "endive.config",
} | dict.fromkeys(("advise", "compare", "explain", "limit", "simulate"), "endive.notebook")


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'endive' has no attribute '{name}'")
    globals()[name] = value = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
