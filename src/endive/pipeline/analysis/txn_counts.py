"""All txns of a dataset, counted by Spark: one scan of the Parquet files, one aggregation.

The finest groups that any table needs are run, operation type, source and outcome, the bin of simulated time in which a
txn was submitted and the one in which it ended, and, of txns of the window, how often they tried and how far they were
behind. Everything else rolls these groups up: the counts of an analysis in ``count_tables``, the figures of
``endive verify dataset`` in ``figures_from_txns``. Sums are of whole numbers, so their order does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from endive.pipeline.analysis.open_dataset import COUNTED
from endive.results import schema as s
from endive.results.schema import Ints

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

GRAIN: Final = ("run", "kind", "source", "outcome", "in_window")
TIME: Final = ("submit_bin", "end_bin")
TRIES: Final = ("attempts_low", "n_behind_low")  # null outside the window
NO_HISTORY: Final = -1  # in the place of n_behind_low, of txns that read none
COMMITTED: Final = "committed"
STAGES: Final = ("executing", "committing")  # outcomes of txns that were in flight when their run ended
EXACT_BELOW: Final = 4  # bins of attempts and n_behind: one per value, then two to an octave (4-5, 6-7, 8-11, ...)
PHASE_SUMS: Final = tuple(f"phase_{phase}_us" for phase in s.PHASES)

_WINDOW_SCHEMA: Final = pa.schema(
    [
        ("run", pa.int32()),
        ("study", pa.string()),
        ("point", pa.int32()),
        ("run_id", pa.string()),
        *((f"{name}_us", pa.int64()) for name in ("duration", "window_start", "window_end")),
    ]
)


def us(column_ms: str) -> str:
    """Milliseconds as the whole microseconds they were made from; null stays null."""
    return f"cast({column_ms} * 1000.0D + 0.5D as bigint)"


def run_windows(runs: pa.Table) -> pa.Table:
    """Every run that ended, under a number, with its bounds in microseconds: what a txn has to know of its run."""
    ended = runs.filter(pc.equal(runs["status"], "ok"))
    columns: dict[str, Any] = {name: ended[name] for name in ("study", "point", "run_id")}
    columns["run"] = np.arange(ended.num_rows)
    for name in ("duration", "window_start", "window_end"):
        columns[f"{name}_us"] = (ended[f"{name}_ms"].to_numpy() * 1000.0 + 0.5).astype(np.int64)
    return pa.table({name: columns[name] for name in _WINDOW_SCHEMA.names}).cast(_WINDOW_SCHEMA)


def with_window(txns: DataFrame, windows: DataFrame) -> DataFrame:
    """Txns with the number and the bounds of their run, their ``outcome``, and whether they count.

    ``in_window``: submitted in ``[start, end)``. ``is_commit_in_window``: committed in it, whenever submitted. Txns of
    runs that ``windows`` does not know are left out.
    """
    from pyspark.sql import functions as sf

    known = txns.join(sf.broadcast(windows), on=["study", "run_id"], how="inner")
    timed = known.selectExpr("*", f"{us('submit_ms')} as submit_us", f"{us('end_ms')} as end_us")
    return timed.selectExpr(
        "*",
        f"case status when '{COMMITTED}' then status when 'aborted' then reason else in_flight_stage end as outcome",
        f"{_is_inside('submit_us')} as in_window",
        f"status = '{COMMITTED}' and coalesce({_is_inside('end_us')}, false) as is_commit_in_window",
    )


def _is_inside(column_us: str) -> str:
    return f"({column_us} >= window_start_us and {column_us} < window_end_us)"


def count_txns(txns: DataFrame, keys: Sequence[str], sums: Sequence[str], *, bins: int = 1) -> DataFrame:
    """Txns of ``with_window`` in groups of equal ``keys``, with ``sums``; ``bins`` are those of simulated time.

    Keys are ``GRAIN``, ``TIME`` and ``TRIES``, sums those of ``TERMS``.
    """
    facets = {**_time_bins(bins), **_tries()}
    made = [f"{facets[name]} as {name}" if name in facets else name for name in keys]
    terms = txns.selectExpr(*made, *(f"{TERMS[name]} as {name}" for name in sums if name != "txns"))
    from pyspark.sql import functions as sf

    totals = [sf.expr("count(1)" if name == "txns" else f"coalesce(sum({name}), 0L)").alias(name) for name in sums]
    return terms.groupBy(*keys).agg(*totals)


def _time_bins(bins: int) -> dict[str, str]:
    """The last instant of a run belongs to its last bin."""
    return {
        f"{what}_bin": f"cast(least({what}_us * {bins}L div duration_us, {bins - 1}L) as int)"
        for what in ("submit", "end")
    }


def _tries() -> dict[str, str]:
    counts = f"in_window and outcome not in {STAGES}"
    behind = f"if(history_lists > 0 and n_behind_first >= 0, {smallest_count_sql('n_behind_first')}, {NO_HISTORY}L)"
    return {
        "attempts_low": f"if({counts}, {smallest_count_sql('attempts')}, null)",
        "n_behind_low": f"if({counts}, {behind}, null)",
    }


def _terms() -> dict[str, str]:
    """What is summed, by name."""
    is_late = f"status = '{COMMITTED}' and submit_us >= window_start_us + (window_end_us - window_start_us) div 2"
    return {
        "txns": "1L",
        "commits_in_window": "cast(is_commit_in_window as bigint)",
        "attempts": "cast(attempts as bigint)",
        "retries": "greatest(cast(attempts as bigint) - 1L, 0L)",
        "n_behind": "greatest(cast(n_behind_first as bigint), 0L)",
        "late_commits": f"cast({is_late} as bigint)",
        "late_commit_us": f"if({is_late}, {us('commit_latency_ms')}, 0L)",
        "commit_us": us("commit_latency_ms"),
        "total_us": us("total_latency_ms"),
        **{name: us(f"phase_{phase}_ms") for name, phase in zip(PHASE_SUMS, s.PHASES, strict=True)},
        **{name: f"cast({name} as bigint)" for name in COUNTED},
    }


TERMS: Final[Mapping[str, str]] = _terms()


# ---- bins of counts ------------------------------------------------------------------------------------


def place_of_count(counts: Ints) -> Ints:
    """The number of the bin in which each count lies; counts are not negative and below 2**53."""
    lengths = np.frexp(counts.astype(np.float64))[1].astype(np.int64)  # in binary digits
    upper_half = (counts >> np.maximum(lengths - 2, 0)) & 1
    return np.where(counts < EXACT_BELOW, counts, 2 * (lengths - 1) + upper_half)


def smallest_count(places: Ints) -> Ints:
    """The smallest count of each bin."""
    return np.where(places < EXACT_BELOW, places, (2 + places % 2) << np.maximum(places // 2 - 1, 0))


def smallest_count_sql(count: str) -> str:
    """The smallest count of the bin of a count, in SQL; it is not negative."""
    whole = f"cast({count} as bigint)"
    shift = f"length(bin({whole})) - 2"  # all but the first two of its binary digits
    return f"if({count} < {EXACT_BELOW}, {whole}, shiftleft(shiftright({whole}, {shift}), {shift}))"


def largest_count(smallest: Ints) -> Ints:
    """The largest count of the bin that begins at each of ``smallest``."""
    return smallest_count(place_of_count(smallest) + 1) - 1
