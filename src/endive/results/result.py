"""The result of a run, and the sink through which an engine delivers it.

Every row passes the fingerprint, the statistics and the files exactly once.

The refactoring specification lets ``Simulation.run`` return its ``Statistics`` with the txns inside; here the txns,
their ``to_dataframe`` and ``export_parquet`` belong to ``SimulationResult`` and the counters to
``SimulationResult.statistics``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from endive.errors import OutputError
from endive.results.arrow import to_record_batch
from endive.results.columns import Columns, check_columns
from endive.results.fingerprint import Fingerprint
from endive.results.freshness import Stream
from endive.results.history import HistoryCheck, untold_warnings
from endive.results.knowledge import assumption_warnings, sent_figures
from endive.results.provenance import Provenance
from endive.results.schema import TRANSACTION_SCHEMA
from endive.results.statistics import Statistics
from endive.results.summary import summarise
from endive.results.window import Window
from endive.results.writer import ResultWriter, output_errors


class SimulationResult:
    """One run: where it comes from, what it measured, and its txns if they were kept."""

    def __init__(
        self,
        *,
        provenance: Provenance,
        statistics: Statistics,
        fingerprint: str,
        batches: Sequence[pa.RecordBatch] | None = None,
        path: Path | None = None,
        history: HistoryCheck | None = None,
    ) -> None:
        self.provenance = provenance
        self.statistics = statistics
        self.fingerprint = fingerprint
        self.history = history  # None if nobody checked it
        self._batches = batches
        self._path = path

    @cached_property
    def transactions(self) -> pa.Table:
        """Every txn of the run, sorted by ``txn_id``; read back if they were streamed to a file."""
        return _by_txn_id(self.transactions_as_ended())

    def transactions_as_ended(self) -> pa.Table:
        """The same rows in the order the txns ended, which costs no sorting."""
        if self._batches is not None:
            table = pa.Table.from_batches(self._batches, TRANSACTION_SCHEMA)
        elif self._path is not None:
            with output_errors(self._path):
                table = pq.read_table(self._path)
        else:
            raise OutputError("This run kept no txns; run it with a sink that keeps or writes them.")
        return table.replace_schema_metadata(self._metadata)

    @property
    def _metadata(self) -> dict[str, str]:
        return {**self.provenance.to_metadata(), **self.statistics.window.to_metadata()}

    @cached_property
    def _figures_by_part(self) -> dict[str, Any]:
        summarised = summarise(self.statistics)
        phases_ms, counts = summarised["summary"]["phases_ms"], summarised["requests"]["counts"]
        figures = sent_figures(self.provenance.figures, counts)
        summarised["warnings"] += [
            *untold_warnings(self.history),
            *self.provenance.unsaid,
            *assumption_warnings(figures, phases_ms, counts),
        ]
        return {**summarised, "figures": [figure.to_dict() for figure in figures]}

    def summary(self) -> dict[str, Any]:
        """Rates, success, latencies, retries, txns, phases and counters of the window."""
        summary: dict[str, Any] = self._figures_by_part["summary"]
        return summary

    def requests(self) -> dict[str, Any]:
        """Requests and bytes of the window's txns."""
        requests: dict[str, Any] = self._figures_by_part["requests"]
        return requests

    @property
    def warnings(self) -> list[str]:
        """What a reader must know before he trusts the figures."""
        warnings: list[str] = self._figures_by_part["warnings"]
        return warnings

    def to_json_dict(self) -> dict[str, Any]:
        """The object that ``endive run --json`` prints."""
        return {
            "config_hash": self.provenance.config_hash,
            "seed": self.provenance.seed,
            "engine": self.provenance.engine,
            "fingerprint": self.fingerprint,
            "history_checked": self.history is not None,
            "commits_untold": None if self.history is None else self.history.commits_untold,
            **self._figures_by_part,
        }

    def to_dataframe(self) -> Any:
        """The txns as a pandas frame; ``transactions`` is the Arrow table, which needs no pandas."""
        try:
            return self.transactions.to_pandas()
        except ImportError:
            raise OutputError(
                "to_dataframe() needs pandas: pip install 'endive[spark]'. Or use .transactions, an Arrow table."
            ) from None

    def write(self, path: str | os.PathLike[str]) -> None:
        """The txns, sorted by ``txn_id``, as one Parquet file."""
        with ResultWriter(path) as writer:
            writer.start(self._metadata)
            for batch in self.transactions.to_batches():
                writer.write(batch)
            writer.close()

    export_parquet = write


class RowSink:
    """Takes rows from an engine: ``start`` once, ``add`` as often as it likes, ``finish`` once.

    With ``keep_transactions`` the txns stay in memory; each writer gets them as well. Whoever made the
    writers discards them if the run fails.
    """

    def __init__(
        self,
        window: Window,
        source_names: Sequence[str],
        *,
        writers: Sequence[ResultWriter] = (),
        keep_transactions: bool = True,
        streams: Sequence[Stream] = (),
    ) -> None:
        self._statistics = Statistics(window, source_names, streams)
        self._fingerprint = Fingerprint()
        self._writers = tuple(writers)
        self._batches: list[pa.RecordBatch] | None = [] if keep_transactions else None
        self._provenance: Provenance | None = None

    def start(self, provenance: Provenance) -> None:
        """Before the first row."""
        assert self._provenance is None, "a sink takes one run"
        self._provenance = provenance
        for writer in self._writers:
            writer.start({**provenance.to_metadata(), **self._statistics.window.to_metadata()})

    def add(self, columns: Columns) -> None:
        """Take a batch; its arrays are the sink's from now on."""
        assert self._provenance is not None
        check_columns(columns)
        self._fingerprint.update(columns)
        self._statistics.record(columns)
        if self._batches is None and not self._writers:
            return
        batch = to_record_batch(columns, self._statistics.source_names)
        if self._batches is not None:
            self._batches.append(batch)
        for writer in self._writers:
            writer.write(batch)

    def finish(self, history: HistoryCheck | None = None) -> SimulationResult:
        """After the last row: the files appear, and the result is complete. ``history`` is the engine's check of it."""
        assert self._provenance is not None
        for writer in self._writers:
            writer.close()
        return SimulationResult(
            provenance=self._provenance,
            statistics=self._statistics,
            fingerprint=self._fingerprint.hexdigest(),
            batches=self._batches,
            path=self._writers[0].path if self._writers else None,
            history=history,
        )


def _by_txn_id(table: pa.Table) -> pa.Table:
    txn_ids = table.column("txn_id").to_numpy()
    if (np.diff(txn_ids) > 0).all():
        return table
    order = pa.array(np.argsort(txn_ids, kind="stable"))
    columns = [column if _is_constant(column) else column.take(order) for column in table.combine_chunks().columns]
    return pa.Table.from_arrays(columns, schema=table.schema)


def _is_constant(column: pa.ChunkedArray) -> bool:
    """Whether all rows are surely equal: what a run has not met is 0 in all of them, which is half the columns."""
    if column.num_chunks != 1 or not pa.types.is_primitive(column.type) or column.null_count:
        return False
    values = column.chunk(0).to_numpy()
    return bool((values == values[0]).all())
