"""Groups of txns that are measured on their own: all of a run, each operation type, each source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

ALL: Final = "all"  # scope and name of the whole run
OPERATION: Final = "operation"
SOURCE: Final = "source"

RUN: Final = ("study", "run_id")
GROUP: Final = ("scope", "name")
RUN_GROUP: Final = (*RUN, *GROUP)
POINT: Final = ("study", "point")
POINT_GROUP: Final = (*POINT, *GROUP)


def by_scope(counts: pa.Table, keys: Sequence[str], sums: Sequence[str]) -> pa.Table:
    """Each row three times, once per scope, and added up: ``kind`` and ``source`` give way to ``scope`` and ``name``.

    The result has ``keys``, ``scope``, ``name`` and ``sums``.
    """
    kept = counts.select([*keys, *sums])
    whole = pa.array([ALL] * counts.num_rows, pa.string())
    named = {ALL: whole, OPERATION: counts["kind"], SOURCE: counts["source"]}
    parts = [
        kept.append_column("scope", pa.array([scope] * counts.num_rows, pa.string())).append_column("name", name)
        for scope, name in named.items()
    ]
    return summed(pa.concat_tables(parts), [*keys, *GROUP], sums)


def summed(counts: pa.Table, keys: Sequence[str], sums: Sequence[str]) -> pa.Table:
    """Rows with equal ``keys`` as one row with the sums of the columns ``sums``."""
    found = counts.group_by(list(keys), use_threads=False).aggregate([(name, "sum") for name in sums])
    return found.select([*keys, *(f"{name}_sum" for name in sums)]).rename_columns([*keys, *sums])
