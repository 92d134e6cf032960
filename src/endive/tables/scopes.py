"""Groups of txns that are measured on their own: all of a run, each operation type, each source.

``figures_by_scope`` are their figures as the sweep wrote them down; ``recount`` derives them again from txns, to test
that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from endive.results import schema as s
from endive.tables.figure_columns import FIGURES

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
    named = {ALL: ALL, OPERATION: counts["kind"], SOURCE: counts["source"]}
    kept = counts.select([*keys, *sums])
    parts = [with_columns(kept, {"scope": scope, "name": name}) for scope, name in named.items()]
    return sum_by(pa.concat_tables(parts), [*keys, *GROUP], sums)


def with_columns(table: pa.Table, columns: Mapping[str, Any]) -> pa.Table:
    """A table with more columns; a text stands in every row."""
    for name, column in columns.items():
        is_text = isinstance(column, str)
        table = table.append_column(name, pa.repeat(pa.scalar(column), table.num_rows) if is_text else column)
    return table


def sum_by(counts: pa.Table, keys: Sequence[str], sums: Sequence[str]) -> pa.Table:
    """Rows with equal ``keys`` as one row with the sums of the columns ``sums``."""
    sums_by_key = counts.group_by(list(keys), use_threads=False).aggregate([(name, "sum") for name in sums])
    return sums_by_key.select([*keys, *(f"{name}_sum" for name in sums)]).rename_columns([*keys, *sums])


# ---- figures as the sweep wrote them -----------------------------------------------------------------


EXTRA_FIGURES: Final = ("requests_per_txn", "in_flight_committing_share")  # beside the sweep's FIGURES
MEASURED: Final = (*RUN_GROUP, *FIGURES, *EXTRA_FIGURES)

_ENDED: Final = ("txns_committed", *(f"txns_aborted_{reason}" for reason in s.REASONS[1:]))


def figures_by_scope(runs: pa.Table, groups: pa.Table) -> pa.Table:
    """``MEASURED``: one row for every run that ended, and one for each of its operation types and sources."""
    ended = runs.filter(pc.equal(runs["status"], "ok"))
    whole = with_columns(ended.select([*RUN, *FIGURES]), {"scope": ALL, "name": ALL})
    columns = [*RUN_GROUP, *FIGURES]
    both = pa.concat_tables([whole.select(columns), groups.select(columns)], promote_options="default")
    per_txn = ratio(both["requests_total"], txns_ended(both))
    share = ratio(both["txns_in_flight_committing"], both["txns_submitted"])
    return with_columns(both, dict(zip(EXTRA_FIGURES, (per_txn, share), strict=True)))


def txns_ended(figures: pa.Table) -> pa.ChunkedArray:
    """How many txns committed or aborted."""
    return reduce(pc.add, (figures[name] for name in _ENDED))


def ratio(part: pa.ChunkedArray, whole: pa.ChunkedArray) -> pa.ChunkedArray:
    """A quotient as a double; null where there is nothing to divide by."""
    divisor = whole.cast(pa.float64(), safe=False)
    quotient = pc.divide(part.cast(pa.float64(), safe=False), divisor)
    return pc.if_else(pc.not_equal(divisor, 0.0), quotient, pa.scalar(None, pa.float64()))
