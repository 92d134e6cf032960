"""The words that describe in an analysis how its intervals were found.

Seeds are independent repetitions, so every interval comes from how they differ, and one seed has none. The formulas are
``endive.objectives.intervals``', the same as for the answers of every other command.
"""

from __future__ import annotations

from typing import Final

from endive.objectives.student import CONFIDENCE

METHOD: Final = (
    "two-sided 95 % interval of the mean over seeds, from how seeds differ: of shares Wilson's, with the design effect "
    "between seeds; of other figures Student's t, with a variance that grows with the mean, so that no end lies below "
    "0; degrees of freedom are n - 1, fewer where few seeds make most of the spread; null for a single seed"
)

__all__ = ["CONFIDENCE", "METHOD"]
