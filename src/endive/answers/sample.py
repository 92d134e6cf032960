"""A sample: what one simulation measured, kept in pieces of time so that its doubt can be computed.

This file defines the sink that cuts a run's window into batches while rows arrive, and the value that comes out of it.
How figures and intervals follow from samples lives in ``endive.answers.estimates``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import numpy as np

from endive.config import SimulationConfig
from endive.objectives.names import ALL, KIND, SOURCE, TABLE
from endive.results import RowSink, Statistics, Window
from endive.results.schema import (
    KINDS,
    ROW_END_US,
    ROW_N_TABLES_READ,
    ROW_N_TABLES_WRITTEN,
    ROW_SUBMIT_US,
    Ints,
)
from endive.results.statistics import Slice

BATCHES: Final = 10  # of one run's window: enough to see how a figure varies, few enough to be nearly independent


@dataclass(frozen=True)
class Sample:
    """One run, in batches; with ``tables`` also apart by the table that was written."""

    seed: int
    window: Window
    batches: tuple[Statistics, ...]
    tables: tuple[tuple[Statistics, ...], ...] = ()
    _slices: dict[tuple[str, str], tuple[Slice, ...]] = field(default_factory=dict, repr=False)

    def slices(self, scope: str, name: str) -> tuple[Slice, ...]:
        """The batches of the whole run, of a source, a kind or a table."""
        key = (scope, name)
        if key not in self._slices:
            self._slices[key] = self._cut(scope, name)
        return self._slices[key]

    def _cut(self, scope: str, name: str) -> tuple[Slice, ...]:
        if scope == TABLE:
            return tuple(batch.slice() for batch in self.tables[int(name)])
        if scope == SOURCE:
            index = self.batches[0].source_names.index(name)
            return tuple(batch.slice(source=index) for batch in self.batches)
        if scope == KIND:
            return tuple(batch.slice(kind=KINDS.index(name)) for batch in self.batches)
        assert scope == ALL
        return tuple(batch.slice() for batch in self.batches)

    @cached_property
    def batch_windows(self) -> tuple[Window, ...]:
        """The windows of the batches."""
        return tuple(batch.window for batch in self.batches)


class SampleSink(RowSink):
    """Takes the rows of a run as any sink does, and counts them into batches on the way."""

    def __init__(self, config: SimulationConfig, *, is_per_table: bool = False, **options: Any) -> None:
        section = config.simulation
        self._window = Window.of_ms(
            duration_ms=section.duration_ms, warmup_ms=section.warmup_ms, cooldown_ms=section.cooldown_ms
        )
        names = [source.name for source in config.sources]
        super().__init__(self._window, names, **options)
        windows = batches_of(self._window)
        self._pieces = tuple(Statistics(window, names) for window in windows)
        tables = config.catalog.num_tables if is_per_table else 0
        self._by_table = tuple(tuple(Statistics(window, names) for window in windows) for _ in range(tables))

    def add(self, rows: Ints, table_ids: Ints) -> None:
        """Take rows, as any sink does."""
        super().add(rows, table_ids)
        _record(self._pieces, rows)
        if self._by_table:
            of_row, written = written_tables(rows, table_ids)
            for table in np.unique(written):
                _record(self._by_table[table], rows[of_row[written == table]])

    def sample(self, seed: int) -> Sample:
        """What was counted, once the run has ended."""
        return Sample(seed, self._window, self._pieces, self._by_table)


def batches_of(window: Window) -> tuple[Window, ...]:
    """Equal pieces of a window."""
    edges = [window.start_us + window.length_us * place // BATCHES for place in range(BATCHES + 1)]
    return tuple(
        Window(duration_us=window.duration_us, warmup_us=start, cooldown_us=window.duration_us - end)
        for start, end in pairwise(edges)
    )


def written_tables(rows: Ints, table_ids: Ints) -> tuple[Ints, Ints]:
    """Pairs of a row's place and a table it writes; the tables written come first among those read."""
    n_read, n_written = rows[:, ROW_N_TABLES_READ], rows[:, ROW_N_TABLES_WRITTEN]
    of_row = np.repeat(np.arange(len(rows)), n_read)
    position = np.arange(len(table_ids)) - np.repeat(np.cumsum(n_read) - n_read, n_read)
    is_written = position < n_written[of_row]
    return of_row[is_written], table_ids[is_written]


def _record(batches: Sequence[Statistics], rows: Ints) -> None:
    """Count rows into every batch they concern: the one they were submitted in, and the one they ended in."""
    submitted, ended = rows[:, ROW_SUBMIT_US], rows[:, ROW_END_US]
    for statistics in batches:
        window = statistics.window
        concerned = window.contains(submitted) | window.contains(ended)
        if concerned.any():
            statistics.record(rows[concerned])
