"""Columns of txns that hold nothing but zeros, as the feet of their files tell: they need not be read.

This file defines that reading of Parquet's statistics. Whether a file is whole is checked by
``endive.pipeline.analysis.open_dataset``.
"""

from __future__ import annotations

from typing import Any

from endive.pipeline.analysis.open_dataset import COUNTED, Dataset, transaction_feet


def zero_columns(dataset: Dataset) -> frozenset[str]:
    """Of ``COUNTED``: the columns in which no txn has anything but zero."""
    zero = set(COUNTED)
    for foot in transaction_feet(dataset):
        zero -= _used_columns(foot, zero)
    return frozenset(zero)


def _used_columns(foot: Any, candidates: set[str]) -> set[str]:
    """The candidates that may hold something else than zero, as far as the foot of a file tells; absent ones do not."""
    place = {foot.schema.column(index).path: index for index in range(foot.num_columns)}
    return {
        name
        for name in candidates & place.keys()
        if not all(_is_zero(foot.row_group(group).column(place[name])) for group in range(foot.num_row_groups))
    }


def _is_zero(chunk: Any) -> bool:
    told = chunk.statistics
    if chunk.num_values == 0:
        return True
    return told is not None and told.has_min_max and told.min == 0 and told.max == 0
