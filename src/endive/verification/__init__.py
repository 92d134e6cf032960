"""The model held against closed forms, measurements, real Iceberg and Delta: what ``endive verify`` runs.

The model is simulated as users simulate it. A suite is a module with ``run(options) -> Outcome``; see ``suite`` and
``suites``.
"""

from endive.verification.suite import Check, Figure, Options, Outcome, Point, Table, provenance, skipped
from endive.verification.suites import Suite, find_suite, run_suite, suites_here

__all__ = [
    "Check",
    "Figure",
    "Options",
    "Outcome",
    "Point",
    "Suite",
    "Table",
    "find_suite",
    "provenance",
    "run_suite",
    "skipped",
    "suites_here",
]
