"""Figures of every run, operation type and source from the counts of an analysis, held against what the sweep wrote.

An analysis counts every txn anyway, so what its counts can tell of a run is compared, bit for bit, each time. What
takes more sums than an analysis needs (percentiles, phases, requests) is compared by ``recount``.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from endive.errors import OutputError
from endive.pipeline.analysis.open_dataset import Dataset
from endive.tables.scopes import GROUP, RUN, RUN_GROUP, by_scope, figures_by_scope, ratio, txns_ended

RUN_SUMS: Final = ("window_submitted", "window_committed", "window_aborted", "commits_in_window", "window_commit_us")


def refuse_other_figures(dataset: Dataset, counts: pa.Table) -> None:
    """Raise OutputError if a run's txns, by study, point, seed, ``kind`` and ``source``, give another figure."""
    kept = dataset.runs.filter(dataset.runs["transactions_kept"])
    lengths = kept.select([*RUN, "point", "seed", "window_length_s"])
    keys = ["study", "point", "seed"]
    counted = by_scope(counts, keys, RUN_SUMS).join(lengths, keys=keys, join_type="inner", use_threads=False)
    of_runs = figures_by_scope(kept, dataset.groups).join(lengths, keys=list(RUN), join_type="inner", use_threads=False)
    written = of_runs.append_column("txns_ended", txns_ended(of_runs))
    both = written.join(
        counted.select([*RUN_GROUP, *RUN_SUMS]), keys=list(RUN_GROUP), join_type="left outer", use_threads=False
    )
    for figure, column in _figures(both).items():
        are_both_null = pc.and_(pc.is_null(both[figure]), pc.is_null(column))
        is_other = pc.invert(pc.coalesce(pc.equal(both[figure], column), are_both_null))
        if pc.any(is_other).as_py():
            row = pc.index(is_other, True).as_py()
            where = ", ".join(f"{name} {both[name][row]}" for name in (*RUN, *GROUP))
            raise OutputError(
                f"The txns of {where} give {figure} = {column[row]}, the sweep wrote {both[figure][row]}. A file was "
                f"exchanged: 'endive check {dataset.folder.path}' says which."
            )


def _figures(both: pa.Table) -> dict[str, pa.ChunkedArray]:
    """Every figure that the counts can tell; whole numbers are divided once."""
    submitted, committed, aborted, in_window, commit_us = (pc.fill_null(both[name], 0) for name in RUN_SUMS)
    length_us = pc.cast(pc.add(pc.multiply(both["window_length_s"], 1e6), 0.5), pa.int64(), safe=False)
    ended = pc.add(committed, aborted)

    def per_s(count: pa.ChunkedArray) -> pa.ChunkedArray:
        return ratio(pc.multiply(count, 1_000_000), length_us)

    return {
        "txns_submitted": submitted,
        "txns_committed": committed,
        "txns_ended": ended,
        "offered_per_s": per_s(submitted),
        "committed_per_s": per_s(committed),
        "committed_in_window_per_s": per_s(in_window),
        "success_rate": ratio(committed, ended),
        "commit_latency_mean_ms": ratio(commit_us, pc.multiply(committed, 1000)),
    }
