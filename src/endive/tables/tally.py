"""The transactions of one run as counts: over simulated time, and by outcome, attempts and n_behind.

Counts are whole numbers, so those of many runs add up in any order. Together with the latencies on their grid
(``endive.tables.latency_counts``) they are all that an analysis needs of single transactions.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from endive.results.schema import Ints
from endive.results.window import Window
from endive.tables.run_counts import BINS, OUTCOME_SUMS, place_of_count, smallest_count

_PLACES: Final = 128  # of bins of a count below 2**53, with one for none
_EXACT: Final = 1 << 53

Labels = list[str]


def tally_time(txns: pa.Table, window: Window) -> pa.Table:
    """Count submissions, commits and aborts by source, kind and bin of simulated time.

    Latencies belong to the bin in which a transaction was submitted; what is still in flight has no end.
    """
    groups, sources, kinds = _groups(txns)
    size = len(sources) * len(kinds) * BINS
    is_committed, is_aborted = _is(txns, "committed"), _is(txns, "aborted")
    submitted_at = groups * BINS + _bin(_us(txns["submit_ms"]), window.duration_us)
    ended_at = groups * BINS + _bin(_us(txns["end_ms"]), window.duration_us)
    sums = {
        "submitted": np.bincount(submitted_at, minlength=size),
        "committed": np.bincount(ended_at[is_committed], minlength=size),
        "aborted": np.bincount(ended_at[is_aborted], minlength=size),
        "latency_us": _sum(submitted_at[is_committed], _us(txns["commit_latency_ms"])[is_committed], size),
        "latency_txns": np.bincount(submitted_at[is_committed], minlength=size),
    }
    cells = np.flatnonzero(sums["submitted"] + sums["committed"] + sums["aborted"])
    group, place = np.divmod(cells, BINS)
    columns = {**_words(group, sources, kinds), "bin": pa.array(place, pa.int32())}
    return pa.table({**columns, **{name: pa.array(total[cells], pa.int64()) for name, total in sums.items()}})


def tally_outcomes(txns: pa.Table, window: Window) -> pa.Table:
    """Count the window's transactions that ended by source, kind, outcome and bins of attempts and n_behind."""
    submit_us = _us(txns["submit_ms"])
    is_committed = _is(txns, "committed")
    inside = (submit_us >= window.start_us) & (submit_us < window.end_us)
    chosen = txns.filter(pa.array(inside & (is_committed | _is(txns, "aborted"))))
    groups, sources, kinds = _groups(chosen)
    attempts = _whole(chosen["attempts"])
    behind = _whole(chosen["n_behind_first"], missing=-1)
    lists = _whole(chosen["history_lists"])
    behind_place = np.where((lists > 0) & (behind >= 0), 1 + place_of_count(np.maximum(behind, 0)), 0)
    code = ((groups * 2 + _is(chosen, "committed")) * _PLACES + place_of_count(attempts)) * _PLACES + behind_place
    cells, where = np.unique(code, return_inverse=True)
    of_txns = {
        "txns": np.ones(len(code), np.int64),
        "attempts": attempts,
        "n_behind": np.maximum(behind, 0),
        "history_lists": lists,
        "phase_history_us": _us(chosen["phase_history_ms"]),
        "commit_us": _us(chosen["commit_latency_ms"]),
    }
    rest, behind_places = np.divmod(cells, _PLACES)
    rest, attempt_places = np.divmod(rest, _PLACES)
    group, committed = np.divmod(rest, 2)
    columns = {
        **_words(group, sources, kinds),
        "is_committed": pa.array(committed, pa.int64()),
        "attempts_low": pa.array(smallest_count(attempt_places), pa.int64()),
        "n_behind_low": pa.array(smallest_count(behind_places - 1), pa.int64()),
    }
    sums = {name: pa.array(_sum(where, of_txns[name], len(cells)), pa.int64()) for name in OUTCOME_SUMS}
    return pa.table({**columns, **sums})


def _groups(txns: pa.Table) -> tuple[Ints, Labels, Labels]:
    """Number the source and kind of each transaction; the sources and the kinds."""
    source, sources = _codes(txns["source"])
    kind, kinds = _codes(txns["kind"])
    return source * max(1, len(kinds)) + kind, sources, kinds


def _codes(column: pa.ChunkedArray) -> tuple[Ints, Labels]:
    whole = column.combine_chunks() if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    coded = whole.unify_dictionaries().combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole
    return coded.indices.to_numpy(zero_copy_only=False).astype(np.int64), coded.dictionary.to_pylist()


def _words(groups: Ints, sources: Labels, kinds: Labels) -> dict[str, pa.Array]:
    source, kind = np.divmod(groups, max(1, len(kinds)))
    return {
        "source": pa.array(sources, pa.string()).take(pa.array(source)),
        "kind": pa.array(kinds, pa.string()).take(pa.array(kind)),
    }


def _is(txns: pa.Table, status: str) -> npt.NDArray[np.bool_]:
    equal: npt.NDArray[np.bool_] = pc.equal(txns["status"].cast(pa.string()), status).to_numpy()
    return equal


def _us(column_ms: pa.ChunkedArray) -> Ints:
    """Return milliseconds as the whole microseconds they were made from, 0 for null."""
    values = pc.fill_null(column_ms, 0.0).to_numpy()
    whole: Ints = (values * 1000.0 + 0.5).astype(np.int64)
    return whole


def _whole(column: pa.ChunkedArray, missing: int = 0) -> Ints:
    values: Any = pc.fill_null(column, missing).to_numpy()
    return np.asarray(values, np.int64)


def _bin(time_us: Ints, duration_us: int) -> Ints:
    bins: Ints = np.minimum(time_us * BINS // max(1, duration_us), BINS - 1)
    return bins


def _sum(cells: Ints, values: Ints, size: int) -> Ints:
    """Add the values of each cell, exactly."""
    if not len(values) or int(values.max()) * len(values) < _EXACT:
        return np.bincount(cells, weights=values, minlength=size).astype(np.int64)
    sums = np.zeros(size, np.int64)
    np.add.at(sums, cells, values)
    return sums
