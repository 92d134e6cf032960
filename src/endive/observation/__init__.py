"""From a real table to a configuration: what it did (observe), how fast its store is (measure), and whether the model
agrees with it (replay)."""

from endive.observation.folder import is_observed, load_observed, observed_folders, read_findings
from endive.observation.history import Commit, TableHistory, TableShape

__all__ = [
    "Commit",
    "TableHistory",
    "TableShape",
    "is_observed",
    "load_observed",
    "observed_folders",
    "read_findings",
]
