"""The txns of a run by their id, as records made when they are asked for.

A run of a million txns has as many records; a story needs a handful of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa


class Records(Mapping[int, Mapping[str, Any]]):
    """One record per txn, sorted by id."""

    def __init__(self, transactions: pa.Table) -> None:
        self._table = transactions.combine_chunks()
        self._ids = self._table["txn_id"].to_numpy()

    def __getitem__(self, txn_id: int) -> Mapping[str, Any]:
        place = int(np.searchsorted(self._ids, txn_id))
        if place == len(self._ids) or self._ids[place] != txn_id:
            raise KeyError(txn_id)
        record: Mapping[str, Any] = self._table.slice(place, 1).to_pylist()[0]
        return record

    def __iter__(self) -> Iterator[int]:
        return (int(txn_id) for txn_id in self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def columns(self, *names: str) -> list[dict[str, Any]]:
        """These columns of every txn, in the order of their ids."""
        rows: list[dict[str, Any]] = self._table.select(list(names)).to_pylist()
        return rows
