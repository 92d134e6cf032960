"""The counts that tables are made of: transactions over simulated time, by outcome, and the bins they fall into."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from endive.results.latency_grid import bit_lengths
from endive.results.schema import Ints

BINS: Final = 60  # of simulated time
NO_HISTORY: Final = -1  # in the place of n_behind, of transactions that read none
EXACT_BELOW: Final = 4  # bins of attempts and n_behind: one per value, then two to an octave (4-5, 6-7, 8-11, ...)
TRY_SUMS: Final = ("attempts", "n_behind", "history_lists", "phase_history_us")
TIME_SUMS: Final = ("submitted", "committed", "aborted", "latency_us", "latency_txns")
TIMELINE_SUMS: Final = (*TIME_SUMS, "committed_squared")
OUTCOME_KEYS: Final = ("kind", "source", "is_committed", "attempts_low", "n_behind_low")
OUTCOME_SUMS: Final = ("txns", *TRY_SUMS, "commit_us")
TIMELINE_FIELDS: Final = pa.struct(
    [
        ("source", pa.string()),
        ("kind", pa.string()),
        ("bin", pa.int32()),
        *((name, pa.int64()) for name in TIME_SUMS),
    ]
)
OUTCOME_FIELDS: Final = pa.struct(
    [
        ("source", pa.string()),
        ("kind", pa.string()),
        ("is_committed", pa.int64()),
        ("attempts_low", pa.int64()),
        ("n_behind_low", pa.int64()),
        *((name, pa.int64()) for name in OUTCOME_SUMS),
    ]
)
BOUNDS: Final = ("duration_us", "window_start_us", "window_end_us")
_WINDOW_SCHEMA: Final = pa.schema(
    [
        ("run", pa.int32()),
        ("study", pa.string()),
        ("point", pa.int32()),
        ("seed", pa.int64()),
        ("run_id", pa.string()),
        *((name, pa.int64()) for name in BOUNDS),
    ]
)


def run_windows(runs: pa.Table) -> pa.Table:
    """Number every run that ended and give its bounds in microseconds."""
    ended = runs.filter(pc.equal(runs["status"], "ok"))
    columns: dict[str, Any] = {name: ended[name] for name in ("study", "point", "seed", "run_id")}
    columns["run"] = np.arange(ended.num_rows)
    for name in BOUNDS:
        columns[name] = (ended[f"{name.removesuffix('_us')}_ms"].to_numpy() * 1000.0 + 0.5).astype(np.int64)
    return pa.table({name: columns[name] for name in _WINDOW_SCHEMA.names}).cast(_WINDOW_SCHEMA)


def place_of_count(counts: Ints) -> Ints:
    """Return the number of the bin in which each count lies; counts are not negative and below 2**53."""
    lengths = bit_lengths(counts)
    upper_half = (counts >> np.maximum(lengths - 2, 0)) & 1
    return np.where(counts < EXACT_BELOW, counts, 2 * (lengths - 1) + upper_half)


def smallest_count(places: Ints) -> Ints:
    """Return the smallest count of each bin."""
    return np.where(places < EXACT_BELOW, places, (2 + places % 2) << np.maximum(places // 2 - 1, 0))


def largest_count(smallest: Ints) -> Ints:
    """Return the largest count of the bin that begins at each of ``smallest``."""
    return smallest_count(place_of_count(smallest) + 1) - 1
