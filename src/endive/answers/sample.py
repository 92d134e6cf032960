"""A sample: what one run measured, ready to be taken together with other runs of the same configuration.

The sink counts rows by table on the way if that is asked for. How figures and intervals follow from samples is said in
``endive.answers.estimates``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from endive.config import SimulationConfig
from endive.objectives.names import ALL, KIND, SOURCE, TABLE
from endive.results import RowSink, SimulationResult, Statistics, Window
from endive.results.columns import Columns
from endive.results.history import HistoryCheck
from endive.results.schema import KINDS
from endive.results.statistics import Slice
from endive.workload.streams import streams_of


@dataclass(frozen=True)
class Sample:
    """One run; with ``tables`` also apart by the table that was written."""

    seed: int
    window: Window
    statistics: Statistics
    tables: tuple[Statistics, ...] = ()
    history: HistoryCheck | None = None
    _slices: dict[tuple[str, str], Slice] = field(default_factory=dict, repr=False)

    def slice(self, scope: str, name: str) -> Slice:
        """Return the whole run, a source, a kind or a table."""
        key = (scope, name)
        if key not in self._slices:
            self._slices[key] = self._cut(scope, name)
        return self._slices[key]

    def _cut(self, scope: str, name: str) -> Slice:
        if scope == TABLE:
            return self.tables[int(name)].slice()
        if scope == SOURCE:
            return self.statistics.slice(source=self.statistics.source_names.index(name))
        if scope == KIND:
            return self.statistics.slice(kind=KINDS.index(name))
        assert scope == ALL
        return self.statistics.slice()

    @property
    def n_txns(self) -> int:
        """Return txns of the whole run, those outside of its window included."""
        return self.statistics.n_txns


class SampleSink(RowSink):
    """Takes the rows of a run as any sink does, and counts them by table on the way if asked."""

    def __init__(self, config: SimulationConfig, *, is_per_table: bool = False, **options: Any) -> None:
        section = config.simulation
        self._window = Window.of_ms(
            duration_ms=section.duration_ms, warmup_ms=section.warmup_ms, cooldown_ms=section.cooldown_ms
        )
        names = [source.name for source in config.sources]
        super().__init__(self._window, names, streams=streams_of(config), **options)
        tables = config.catalog.num_tables if is_per_table else 0
        self._by_table = tuple(Statistics(self._window, names) for _ in range(tables))
        self._history: HistoryCheck | None = None

    def add(self, columns: Columns) -> None:
        """Take a batch, as any sink does."""
        super().add(columns)
        if self._by_table:
            n_written = np.diff(columns.written_ends[: columns.n_rows + 1])
            of_row = np.repeat(np.arange(columns.n_rows), n_written)
            written = columns.written_ids[: len(of_row)]
            for table in np.unique(written):
                self._by_table[table].record(columns, of_row[written == table])

    def finish(self, history: HistoryCheck | None = None) -> SimulationResult:
        """After the last row, as any sink does."""
        self._history = history
        return super().finish(history)

    def sample(self, seed: int) -> Sample:
        """Return what was counted, once the run has ended."""
        return Sample(seed, self._window, self._statistics, self._by_table, self._history)
