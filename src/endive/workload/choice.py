"""How one source chooses tables, or partitions: how many, which, and which of them it writes.

The arithmetic of a pick is in ``endive.workload.picks``.

Code of a choice, one float64 array, offsets relative to its first element::

    0  total            2  write_fraction            3 + total ..  tails of the count, only if count is 0
    1  count, 0: drawn  3 .. 3 + total - 1  tails of the picks
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from endive.distributions.counts import CountDistribution
from endive.errors import ConfigError
from endive.kernel import Floats, MutableInts, jitted, rule
from endive.rng import PARTITION_COUNT, PARTITIONS, TABLE_COUNT, TABLES, WRITES, slot, substream
from endive.workload.picks import (
    pick_count,
    pick_distinct,
    split_written,
    tails_of,
    truncated_zipf_pmf,
    written_count,
    zipf_tails,
)
from endive.workload.selectors import PartitionSelector, Selector, TableSelector, WeightedSelector

CHOICE_TOTAL: Final = 0
CHOICE_COUNT: Final = 1
CHOICE_WRITE_FRACTION: Final = 2
CHOICE_TAILS: Final = 3

TABLE_COUNT_COUNTER: Final = slot(0, TABLE_COUNT, 0)
TABLES_COUNTER: Final = slot(0, TABLES, 0)
PARTITION_COUNT_COUNTER: Final = slot(0, PARTITION_COUNT, 0)
PARTITIONS_COUNTER: Final = slot(0, PARTITIONS, 0)
WRITES_COUNTER: Final = slot(0, WRITES, 0)


@rule
def choose(
    code: Floats,
    at: int,
    is_written: bool,
    key: int,
    count_counter: int,
    counter: int,
    out: MutableInts,
    out_start: int,
) -> tuple[int, int]:
    """Fill ``out`` with one choice, the written ones first; returns how many, and how many are written."""
    total = int(code[at + CHOICE_TOTAL])
    tails_start = at + CHOICE_TAILS
    count = pick_count(int(code[at + CHOICE_COUNT]), code, tails_start + total, total, key, count_counter)
    pick_distinct(code, tails_start, total, count, key, counter, out, out_start)
    written = 0
    if is_written:
        written = written_count(count, code[at + CHOICE_WRITE_FRACTION])
        split_written(out, out_start, count, written, key, WRITES_COUNTER)
    return count, written


@rule
def choose_tables(code: Floats, at: int, key: int, out: MutableInts, out_start: int) -> tuple[int, int]:
    """Tables of the txn with this key: (how many are read, how many of them, the first, are written)."""
    return choose(code, at, True, key, TABLE_COUNT_COUNTER, TABLES_COUNTER, out, out_start)


@rule
def own_table(tables: Floats, at: int, client: int) -> int:
    """The table of a client that has one of its own; ``tables`` are those of all clients of its source."""
    return int(tables[at + client])


@rule
def choose_partitions(
    code: Floats, at: int, is_written: bool, key: int, position: int, out: MutableInts, out_start: int
) -> tuple[int, int]:
    """Partitions of the table at ``position`` of the txn with this key; none is written if the table is not.

    Each table has a stream of its own below the txn's: any number of tables fits.
    """
    table_key = substream(key, position)
    return choose(code, at, is_written, table_key, PARTITION_COUNT_COUNTER, PARTITIONS_COUNTER, out, out_start)


# For the interpreter too: the same rules, and 500 picks of 1,000 take 1 ms instead of 50.
compiled_choose_tables = jitted(choose_tables)
compiled_choose_partitions = jitted(choose_partitions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """``count`` of ``total`` things, picked by ``selector``; ``count = 0`` draws it: Zipf over 1..total, or ``law``."""

    total: int
    count: int
    count_alpha: float  # of the drawn count; must be 0 if the count is fixed
    selector: TableSelector | PartitionSelector
    only: tuple[int, ...] = ()  # those it may pick, the first being the hottest; empty: all
    weights: tuple[float, ...] = ()  # how often each of ``only`` is picked, instead of the selector's weights
    law: CountDistribution | None = None  # of the drawn count, instead of Zipf's
    _code: NDArray[np.float64] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.total < 1:
            raise ConfigError(f"{self.total} to choose from: there must be at least 1.")
        if not 0 <= self.count <= self.most:
            raise ConfigError(
                f"count = {self.count}: only {self.most} to choose from; choose a count between 1 and {self.most}."
            )
        assert self.count == 0 or self.count_alpha == 0.0, "a fixed count has no alpha"
        object.__setattr__(self, "_code", self._encode())

    def _encode(self) -> NDArray[np.float64] | None:
        selector = self.selector
        if not (selector.is_built_in and isinstance(selector, WeightedSelector)):
            return None
        header = (float(self.total), float(self.count), selector.write_fraction)
        counts = self._count_tails() if self.count == 0 else ()
        return np.array(header + self._tails(selector.alpha) + counts)

    def _tails(self, alpha: float) -> tuple[float, ...]:
        """Of the picks; what it may not pick weighs nothing."""
        if not self.only:
            return zipf_tails(self.total, alpha)
        weights = [0.0] * self.total
        for item, weight in zip(self.only, self.weights or truncated_zipf_pmf(len(self.only), alpha), strict=True):
            weights[item] = weight
        return tails_of(weights)

    def _count_tails(self) -> tuple[float, ...]:
        tails = (
            zipf_tails(self.most, self.count_alpha) if self.law is None else tails_of(list(self.law.weights(self.most)))
        )
        return tails + (0.0,) * (self.total - self.most)

    @property
    def most(self) -> int:
        """Of how many it chooses."""
        return len(self.only) or self.total

    @property
    def room(self) -> int:
        """The most it can choose."""
        return self.count or self.most

    def code(self) -> NDArray[np.float64] | None:
        """The choice as the rules read it (not to be written to); None for a user's selector."""
        return self._code

    def tables(self, key: int) -> tuple[tuple[int, ...], int]:
        """Tables of the txn with this key, written ones first, and how many are written."""
        if self.total == 1:
            return (0,), 1
        if self._code is None:
            return self._select(True, key, TABLE_COUNT_COUNTER, TABLES_COUNTER)
        out = np.empty(self.room, dtype=np.int64)
        count, written = compiled_choose_tables(self._code, 0, key, out, 0)
        return tuple(out[:count].tolist()), written

    def partitions(self, is_written: bool, key: int, position: int) -> tuple[tuple[int, ...], int]:
        """Partitions of the txn's table at ``position``, written ones first, and how many are written."""
        if self.total == 1:
            return (0,), int(is_written)
        if self._code is None:
            table_key = substream(key, position)
            return self._select(is_written, table_key, PARTITION_COUNT_COUNTER, PARTITIONS_COUNTER)
        out = np.empty(self.room, dtype=np.int64)
        count, written = compiled_choose_partitions(self._code, 0, is_written, key, position, out, 0)
        return tuple(out[:count].tolist()), written

    def _select(self, is_written: bool, key: int, count_counter: int, counter: int) -> tuple[tuple[int, ...], int]:
        """The same choice by a user's selector."""
        tails = self._count_tails()
        count = pick_count(self.count, tails, 0, self.total, key, count_counter)
        read, written = self.selector.select(count, self.total, key=key, counter=counter, write_counter=WRITES_COUNTER)
        refuse_impossible(self.selector, read, written, self.total)
        if not is_written:
            return tuple(sorted(read)), 0
        return (*sorted(written), *sorted(read - written)), len(written)


def refuse_impossible(selector: Selector, read: frozenset[int], written: frozenset[int], total: int) -> None:
    """Refuse sets that a txn cannot have, naming the user's selector that made them."""
    name = type(selector).__name__
    if not read or min(read) < 0 or max(read) >= total:
        raise ConfigError(
            f"{name}.select returned the read set {sorted(read)}: "
            f"it must hold at least one index, each from 0 to {total - 1}."
        )
    if not written or not written <= read:
        raise ConfigError(
            f"{name}.select returned the write set {sorted(written)} with the read set {sorted(read)}: "
            "the write set must hold at least one index, each from the read set."
        )
