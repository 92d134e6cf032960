"""Counts of three kinds as rows of one frame, since a job of Spark's costs more than the rows.

This file defines the three kinds (by bins of time, by outcome, latencies on the grid), their columns, and the way from
each into the common row and back. Counts of one kind with equal keys may be added. What is counted is in
``endive.pipeline.analysis.txn_counts`` and in the sweep's own ``latencies``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from endive.pipeline.analysis.scopes import POINT, summed
from endive.pipeline.analysis.txn_counts import OUTCOME_KEYS, OUTCOME_SUMS, TIMELINE_SUMS

_TEXTS: Final = ("text_1", "text_2", "text_3")
_NUMBERS: Final = ("number_1", "number_2", "number_3")
SUMS: Final = tuple(f"sum_{place}" for place in range(1, 7))
KEYS: Final = ("counts", *POINT, *_TEXTS, *_NUMBERS)
ROW_SCHEMA: Final = pa.schema(
    [
        ("counts", pa.string()),
        ("study", pa.string()),
        ("point", pa.int32()),
        *((name, pa.string()) for name in _TEXTS),
        *((name, pa.int64()) for name in (*_NUMBERS, *SUMS)),
    ]
)
ROW_DDL: Final = ", ".join(
    f"{field.name} {'string' if field.type == pa.string() else 'int' if field.type == pa.int32() else 'bigint'}"
    for field in ROW_SCHEMA
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountKind:
    """The columns of one kind of counts, beside ``study`` and ``point``."""

    name: str
    texts: Sequence[str]
    numbers: Sequence[str]
    sums: Sequence[str]

    def rows(self, study: str, counts: pa.Table) -> pa.Table:
        """``counts``, which have a ``point``, as common rows."""
        size = counts.num_rows
        given = dict(zip((*self.texts, *self.numbers, *self.sums), self._common, strict=True))
        columns = {common: counts[own] for own, common in given.items()} | {"point": counts["point"]}
        constant = {"counts": self.name, "study": study}
        return pa.table(
            [
                columns[field.name].cast(field.type) if field.name in columns else _repeated(field, constant, size)
                for field in ROW_SCHEMA
            ],
            schema=ROW_SCHEMA,
        )

    def counts(self, rows: pa.Table) -> pa.Table:
        """The counts of this kind in common rows, added up."""
        own = rows.filter(pc.equal(rows["counts"], self.name)).select([*POINT, *self._common])
        named = own.rename_columns([*POINT, *self.texts, *self.numbers, *self.sums])
        return summed(named, [*POINT, *self.texts, *self.numbers], self.sums)

    @property
    def _common(self) -> list[str]:
        return [
            *_TEXTS[: len(self.texts)],
            *_NUMBERS[: len(self.numbers)],
            *SUMS[: len(self.sums)],
        ]


def _repeated(field: pa.Field, constant: Mapping[str, str], size: int) -> pa.Array:
    """A column of one value: a constant, or what stands where a kind has no such column."""
    nothing = "" if field.type == pa.string() else 0
    return pa.repeat(pa.scalar(constant.get(field.name, nothing), field.type), size)


TIMELINE: Final = CountKind(name="timeline", texts=("scope", "name"), numbers=("bin",), sums=TIMELINE_SUMS)
OUTCOMES: Final = CountKind(name="outcomes", texts=OUTCOME_KEYS[:2], numbers=OUTCOME_KEYS[2:], sums=OUTCOME_SUMS)
LATENCIES: Final = CountKind(name="latencies", texts=("kind", "source", "latency"), numbers=("bin",), sums=("txns",))
