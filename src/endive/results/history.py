"""That a run's history was checked, and what was counted on the way.

The check is ``endive.simulation.observer``'s: a run that fails it has no result.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryCheck:
    """The commits of a checked run: what txns were told, have yet to hear, and will never hear is what was applied."""

    commits_applied: int
    commits_reported: int  # txns with status committed, in the whole run
    commits_unanswered: int  # applied; the answer was under way when the simulation ended
    commits_untold: int = 0  # applied; the txn ended as commit_state_unknown


def untold_warnings(history: HistoryCheck | None) -> list[str]:
    """That txns were applied which never learnt it."""
    if history is None or history.commits_untold == 0:
        return []
    return [
        f"{history.commits_untold:,} txns of the run ended as commit_state_unknown although their commits were "
        "applied. They count as aborted; an application that repeats them writes its data twice."
    ]
