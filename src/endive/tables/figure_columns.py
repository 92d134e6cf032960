"""The metrics of a run as columns.

It computes nothing; what a figure means is ``endive.results.summary``'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from endive.results import schema as s
from endive.vocabulary import OTHER_REQUEST

_LATENCIES: Final = ("p50", "p95", "p99", "mean")
_REASONS: Final = s.REASONS[1:]
AGES: Final = tuple(f"freshness_{part}_ms" for part in ("p50", "p95", "p99", "mean", "max"))
FATES: Final = tuple(f"data_{fate}" for fate in ("batches", "visible", "lost", "waiting", "twice"))
OF_DATA: Final = (*AGES, "stale_share", "lost_share", *FATES)  # of streams only; null elsewhere
_OF_DATA_BLOCKS: Final = ("freshness_ms", "data", "stale_share", "lost_share")
_HALVES: Final = ("first", "second")

Place = tuple[str, ...]


def _figures() -> dict[str, tuple[pa.DataType, Place]]:
    """Column -> type and place in a block of the summary."""
    ratio, count = pa.float64(), pa.int64()
    figures: dict[str, tuple[pa.DataType, Place]] = {
        name: (ratio, (name,))
        for name in (
            "offered_per_s",
            "committed_per_s",
            "committed_in_window_per_s",
            "success_rate",
            "retries_mean",
        )
    }
    for latency in ("commit_latency", "total_latency"):
        for name in _LATENCIES:
            figures[f"{latency}_{name}_ms"] = (ratio, (f"{latency}_ms", name))
    figures["txns_submitted"] = (count, ("txns", "submitted"))
    figures["txns_committed"] = (count, ("txns", "committed"))
    for reason in _REASONS:
        figures[f"txns_aborted_{reason}"] = (count, ("txns", "aborted", reason))
    for stage in ("executing", "committing"):
        figures[f"txns_in_flight_{stage}"] = (count, ("txns", "in_flight", stage))
    for half in _HALVES:
        figures[f"txns_committed_{half}_half"] = (count, ("halves", half, "committed"))
        figures[f"commit_latency_{half}_half_mean_ms"] = (ratio, ("halves", half, "commit_latency_mean_ms"))
    for phase in s.PHASES:
        figures[f"phase_{phase}_mean_ms"] = (ratio, ("phases_ms", phase))
    for counter in ("restarts", "history_lists", *s.COUNTERS):
        figures[counter] = (count, ("counters", counter))
    for obj, operation in s.REQUEST_PAIRS:
        figures[f"requests_{obj}_{operation}"] = (count, ("requests", "counts", obj, operation))
    figures["requests_total"] = (count, ("requests", "total"))
    figures["requests_per_committed_txn"] = (ratio, ("requests", "per_committed_txn"))
    figures["bytes_read"] = (count, ("requests", "bytes_read"))
    figures["bytes_written"] = (count, ("requests", "bytes_written"))
    for name in AGES:
        figures[name] = (ratio, ("freshness_ms", name.split("_")[1]))
    for name in ("stale_share", "lost_share"):
        figures[name] = (ratio, (name,))
    for name in FATES:
        figures[name] = (count, ("data", name.removeprefix("data_")))
    return figures


FIGURES: Final = _figures()
FIGURE_FIELDS: Final = tuple(pa.field(name, kind) for name, (kind, _) in FIGURES.items())

WINDOW: Final = {
    "duration_ms": "duration_ms",
    "warmup_ms": "warmup_ms",
    "cooldown_ms": "cooldown_ms",
    "window_start_ms": "start_ms",
    "window_end_ms": "end_ms",
    "window_length_s": "length_s",
}

RESERVED: Final = frozenset(  # columns of the results, which no axis may be called
    {
        *("study", "txn_id", "scope", "name", "run_id", "config_hash", "point", "seed", "status", "error", "engine"),
        *("fingerprint", "model_version", "transactions_kept", "txns", "warnings", "config", "groups", "latencies"),
        *("timeline", "outcomes", "file", "bytes", "digest"),
        *WINDOW,
        *FIGURES,
    }
)


def with_known_requests(figures: pa.Table) -> pa.Table:
    """Figures with the counts of requests that this release has, whichever those had that it was written with.

    A request that was not known then was not sent. One that has no column any more is counted as "other".
    """
    other = f"requests_{'_'.join(OTHER_REQUEST)}"
    nothing = pc.multiply(figures["requests_total"], 0)  # null where a run failed
    old = {f"requests_{obj}_{op}" for obj in s.OBJECTS for op in s.OPERATIONS} - set(FIGURES)
    dropped = [name for name in figures.column_names if name in old]
    if other not in figures.column_names:
        total = reduce(pc.add, (figures[name] for name in dropped), nothing)
        figures = figures.append_column(other, total)
    for name in (*(f"requests_{request}" for request in s.REQUESTS), *s.COUNTERS):
        if name not in figures.column_names:
            figures = figures.append_column(name, nothing)
    for name in OF_DATA:  # nor was it told how late data are
        if name not in figures.column_names:
            figures = figures.append_column(name, pa.nulls(figures.num_rows, FIGURES[name][0]))
    return figures.drop_columns(dropped)


def figures_of(block: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of one block of a summary (the whole run, an operation type, a source) by column.

    ``block`` holds the figures and, under ``requests``, the requests. Request counts that a summary leaves out
    are zero; any other figure that is not there is null.
    """
    return {name: _at(block, place) for name, (_, place) in FIGURES.items()}


def window_of(window: Mapping[str, Any]) -> dict[str, float]:
    """The measurement window by column."""
    return {column: window[name] for column, name in WINDOW.items()}


def _at(block: Mapping[str, Any], place: Place) -> Any:
    value: Any = block
    for name in place:
        if name not in value:  # of an earlier release: what it did not count did not happen, ages it did not tell
            is_count = place[0] == "counters" or place[:2] in (("requests", "counts"), ("txns", "aborted"))
            assert is_count or place[0] in _OF_DATA_BLOCKS, f"a summary has no {'.'.join(place)}"
            return 0 if is_count else None
        value = value[name]
    return value
