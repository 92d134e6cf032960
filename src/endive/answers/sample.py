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
from endive.results.columns import Columns
from endive.results.schema import KINDS, Ints
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

    def add(self, columns: Columns) -> None:
        """Take a batch, as any sink does."""
        super().add(columns)
        everything = np.arange(columns.n_rows)
        _record(self._pieces, columns, everything)
        if self._by_table:
            n_written = np.diff(columns.written_ends[: columns.n_rows + 1])
            of_row = np.repeat(everything, n_written)
            written = columns.written_ids[: len(of_row)]
            for table in np.unique(written):
                _record(self._by_table[table], columns, of_row[written == table])

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


def _record(batches: Sequence[Statistics], columns: Columns, rows: Ints) -> None:
    """Count rows into every batch they concern: the one they were submitted in, and the one they ended in."""
    submitted, ended = columns.us("submit_ms")[rows], columns.us("end_ms")[rows]
    for statistics in batches:
        window = statistics.window
        statistics.record(columns, rows[window.contains(submitted) | window.contains(ended)])
