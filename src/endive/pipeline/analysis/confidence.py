"""Confidence intervals of a mean over seeds: Student's t.

This file defines the words that describe the method in an analysis; the quantile lives in
``endive.objectives.student``, and how the interval is computed for every figure of a study in
``endive.pipeline.analysis.across_seeds``.

Seeds are independent repetitions, so the mean of a figure over n seeds, less its true value, divided by s / sqrt(n),
follows Student's t with n - 1 degrees of freedom as far as the figure is normal across seeds. One seed has no interval.
"""

from __future__ import annotations

from typing import Final

from endive.objectives.student import CONFIDENCE, student_t, student_t_table

METHOD: Final = (
    "two-sided 95 % interval of the mean over seeds: mean +- t * stddev / sqrt(n), with stddev the sample standard "
    "deviation and t the 97.5 % quantile of Student's t with n - 1 degrees of freedom; null for a single seed; cut "
    "off at 0, and shares at 1"
)

__all__ = ["CONFIDENCE", "METHOD", "student_t", "student_t_table"]
