"""From a real table to a configuration: what it did (observe), how fast its store is (measure), and whether the model
agrees with it (replay)."""

from endive.observation.folder import load_observed
from endive.observation.history import TableHistory

__all__ = ["TableHistory", "load_observed"]
