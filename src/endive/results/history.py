"""That a run's history was checked, and what was counted on the way.

This file defines the value that a result carries. Not here: the check (``endive.simulation.observer``): a run that
fails it has no result.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryCheck:
    """The commits of a checked run: what the catalog applied is what txns were told, and what they have yet to hear."""

    commits_applied: int
    commits_reported: int  # txns with status committed, in the whole run
    commits_unanswered: int  # applied; the answer was under way when the simulation ended
