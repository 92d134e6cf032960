"""Which tables and partitions a txn touches, as a user sees it: selectors.

The arithmetic is in ``endive.workload.picks``, how many a source selects in ``endive.workload.choice``.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from endive.errors import ConfigError, EngineError
from endive.workload.picks import pick_distinct, split_written, written_count, zipf_tails


class Selector(ABC):
    """Chooses ``count`` of ``total`` to read and, among them, those to write."""

    @abstractmethod
    def select(
        self, count: int, total: int, /, *, key: int, counter: int, write_counter: int
    ) -> tuple[frozenset[int], frozenset[int]]:
        """Read set and write set, the second inside the first.

        All chance comes from ``endive.rng.uniform(key, c)``: ``c`` from ``counter`` on for the read set,
        from ``write_counter`` on for the write set.
        """

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        own = vars(cls).get("select")
        if own is not None and not {"key", "kwargs"} & set(inspect.signature(own).parameters):
            cls.select = _told_counts(cls.__name__, own)  # type: ignore[method-assign]

    @property
    def is_built_in(self) -> bool:
        """Whether the compiled engine knows it: a user's subclass runs on the reference engine only."""
        return type(self).__module__ == __name__


def _told_counts(owner: str, own: Callable[..., Any]) -> Callable[..., tuple[frozenset[int], frozenset[int]]]:
    """Make a user's ``select(count, total)`` take the names of draws, and check what it selects."""

    def select(self: Any, count: int, total: int, /, **named: int) -> tuple[frozenset[int], frozenset[int]]:
        read, written = (frozenset(int(each) for each in picked) for picked in own(self, count, total))
        if not written or not written <= read <= frozenset(range(total)):
            raise EngineError(
                f"{owner}.select({count}, {total}) returned {set(read)}, {set(written)}; it must return what is read "
                f"and, among it, what is written, of 0 to {total - 1}."
            )
        return read, written

    return select


class TableSelector(Selector):
    """Selects which tables a txn touches: ``select(n_tables, total_tables, ...)``."""


class PartitionSelector(Selector):
    """Selects which partitions of one table are touched: ``select(n_partitions, total_partitions, ...)``."""


@dataclass(frozen=True)
class WeightedSelector(Selector):
    """Picks by Zipf weight without replacement; a share of the picks, chosen uniformly, is written."""

    alpha: float = 1.5
    write_fraction: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 <= self.alpha < float("inf"):
            raise ConfigError(f"alpha = {self.alpha}: must be a finite number, 0 (uniform) or above.")
        if not 0.0 <= self.write_fraction <= 1.0:
            raise ConfigError(f"write_fraction = {self.write_fraction}: must lie between 0 and 1.")

    def select(
        self, count: int, total: int, /, *, key: int, counter: int, write_counter: int
    ) -> tuple[frozenset[int], frozenset[int]]:
        """``count`` distinct indices below ``total``, and ``max(1, int(count * write_fraction))`` of them."""
        if not 1 <= count <= total:
            raise ConfigError(f"{count} of {total} cannot be selected: choose a count between 1 and {total}.")
        picks = [0] * count
        written = written_count(count, self.write_fraction)
        pick_distinct(zipf_tails(total, self.alpha), 0, total, count, key, counter, picks, 0)
        split_written(picks, 0, count, written, key, write_counter)
        return frozenset(picks), frozenset(picks[:written])


class ZipfTableSelector(WeightedSelector, TableSelector):
    """Hot tables: table t is picked with weight ``(t + 1) ** -alpha``."""


class ZipfPartitionSelector(WeightedSelector, PartitionSelector):
    """Hot partitions: partition p is picked with weight ``(p + 1) ** -alpha``."""


class _UniformSelector(WeightedSelector):
    def __init__(self, write_fraction: float = 0.5) -> None:
        super().__init__(alpha=0.0, write_fraction=write_fraction)


class UniformTableSelector(_UniformSelector, TableSelector):
    """Every table alike."""


class UniformPartitionSelector(_UniformSelector, PartitionSelector):
    """Every partition alike."""
