"""All txns of a dataset, counted by Spark in two narrow aggregations: where in time they lie, and how often they tried.

Both group by run, operation type, source and status. ``count_cells`` adds the *cell*: the bin of simulated time in
which a txn was submitted, the one in which it ended, and whether it counts for the window. ``count_tries`` adds
attempts and n_behind, of the window's txns that ended. In one key they would make nearly as many groups as there are
txns. Everything else rolls these groups up (``count_tables``).
``count_figures`` sums what ``endive verify dataset`` compares. Sums are of whole numbers: their order does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from endive.pipeline.analysis.open_dataset import COUNTED
from endive.pipeline.analysis.scopes import POINT
from endive.results import schema as s
from endive.results.schema import Ints

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SEED: Final = (*POINT, "seed")  # one run
LABELS: Final = ("kind", "source", "status")
GRAIN: Final = ("run", "kind", "source", "outcome", "in_window")
COMMITTED: Final = "committed"
ABORTED: Final = "aborted"
STAGES: Final = ("executing", "committing")  # outcomes of txns that were in flight when their run ended
NO_HISTORY: Final = -1  # in the place of n_behind, of txns that read none
EXACT_BELOW: Final = 4  # bins of attempts and n_behind: one per value, then two to an octave (4-5, 6-7, 8-11, ...)
PHASE_SUMS: Final = tuple(f"phase_{phase}_us" for phase in s.PHASES)

_BOUNDS: Final = ("duration_us", "window_start_us", "window_end_us")
_WINDOW_SCHEMA: Final = pa.schema(
    [
        ("run", pa.int32()),
        ("study", pa.string()),
        ("point", pa.int32()),
        ("seed", pa.int64()),
        ("run_id", pa.string()),
        *((name, pa.int64()) for name in _BOUNDS),
    ]
)


def us(column_ms: str) -> str:
    """Milliseconds as the whole microseconds they were made from; null stays null."""
    return f"cast({column_ms} * 1000.0D + 0.5D as bigint)"


def run_windows(runs: pa.Table) -> pa.Table:
    """Every run that ended, under a number, with its bounds in microseconds: what a txn has to know of its run."""
    ended = runs.filter(pc.equal(runs["status"], "ok"))
    columns: dict[str, Any] = {name: ended[name] for name in ("study", "point", "seed", "run_id")}
    columns["run"] = np.arange(ended.num_rows)
    for name in _BOUNDS:
        columns[name] = (ended[f"{name.removesuffix('_us')}_ms"].to_numpy() * 1000.0 + 0.5).astype(np.int64)
    return pa.table({name: columns[name] for name in _WINDOW_SCHEMA.names}).cast(_WINDOW_SCHEMA)


def _is_inside(column_us: str) -> str:
    return f"({column_us} >= window_start_us and {column_us} < window_end_us)"


# ---- two narrow aggregations -------------------------------------------------------------------------


def point_bounds(windows: pa.Table) -> pa.Table:
    """The bounds of every point of ``run_windows``, which all its runs share; without the study if there is but one."""
    keys = POINT if len(pc.unique(windows["study"])) > 1 else ("point",)
    found = windows.group_by(list(keys), use_threads=False).aggregate([(name, "max") for name in _BOUNDS])
    return found.rename_columns([*keys, *_BOUNDS])


def with_bounds(txns: DataFrame, points: DataFrame) -> DataFrame:
    """Txns of the points of ``point_bounds``, with their bounds. A join by one number is the quickest there is."""
    from pyspark.sql import functions as sf

    keys = [name for name in points.columns if name not in _BOUNDS]
    known = txns.join(sf.broadcast(points), on=keys, how="inner")
    return known.selectExpr("*", f"{us('submit_ms')} as submit_us", f"{us('end_ms')} as end_us")


def count_cells(txns: DataFrame, bins: int) -> DataFrame:
    """Txns of ``with_bounds`` by ``SEED``, ``LABELS`` and ``cell``, with ``txns`` and ``commit_us``.

    A cell is one number, since a short key is a quick one; ``split_cells`` takes it apart.
    """
    from pyspark.sql import functions as sf

    submitted, ended = (f"least({what}_us * {bins}L div duration_us, {bins - 1}L)" for what in ("submit", "end"))
    is_commit = f"status = '{COMMITTED}' and {_is_inside('end_us')}"
    flags = f"if({_is_inside('submit_us')}, 2, 0) + if({is_commit}, 1, 0)"
    cell = f"cast(({submitted} * {bins}L + coalesce({ended}, 0L)) * 4L + {flags} as int) as cell"
    terms = txns.selectExpr(*SEED, *LABELS, cell, f"{us('commit_latency_ms')} as commit_us")
    sums = sf.count(sf.lit(1)).alias("txns"), sf.sum("commit_us").alias("commit_us")
    return terms.groupBy(*SEED, *LABELS, "cell").agg(*sums)


def split_cells(cells: DataFrame, bins: int) -> DataFrame:
    """``cell`` gives way to ``submit_bin``, ``end_bin``, ``in_window`` and ``is_commit_in_window``.

    The last two: submitted in ``[start, end)`` of the window; committed in it, whenever submitted.
    """
    return cells.selectExpr(
        *(name for name in cells.columns if name != "cell"),
        f"cast(cell div {4 * bins} as int) as submit_bin",
        f"cast(cell div 4 % {bins} as int) as end_bin",
        "cell & 2 != 0 as in_window",
        "cell & 1 != 0 as is_commit_in_window",
    )


def count_tries(txns: DataFrame) -> DataFrame:
    """The window's txns that ended by ``SEED``, ``LABELS``, ``attempts`` and ``n_behind``, with the sums of both."""
    from pyspark.sql import functions as sf

    ended = txns.where(f"status in ('{COMMITTED}', '{ABORTED}') and {_is_inside('submit_us')}")
    sums = {
        "n_behind_sum": "greatest(cast(n_behind_first as bigint), 0L)",
        "history_lists": "cast(history_lists as bigint)",
        "phase_history_us": us("phase_history_ms"),
        "commit_us": us("commit_latency_ms"),
    }
    behind = f"if(history_lists > 0 and n_behind_first >= 0, n_behind_first, {NO_HISTORY}) as n_behind"
    terms = ended.selectExpr(*SEED, *LABELS, "attempts", behind, *(f"{term} as {name}" for name, term in sums.items()))
    totals = (sf.expr(f"coalesce(sum({name}), 0L) as {name}") for name in sums)
    return terms.groupBy(*SEED, *LABELS, "attempts", "n_behind").agg(sf.count(sf.lit(1)).alias("txns"), *totals)


# ---- every sum of every run --------------------------------------------------------------------------


def with_window(txns: DataFrame, windows: DataFrame) -> DataFrame:
    """Txns with the number and the bounds of their run, their ``outcome``, and whether they count.

    ``in_window`` and ``is_commit_in_window`` as in ``split_cells``. Txns of runs not in ``windows`` are left out.
    """
    from pyspark.sql import functions as sf

    known = txns.drop("point", "seed").join(sf.broadcast(windows), on=["study", "run_id"], how="inner")
    timed = known.selectExpr("*", f"{us('submit_ms')} as submit_us", f"{us('end_ms')} as end_us")
    return timed.selectExpr(
        "*",
        f"case status when '{COMMITTED}' then status when '{ABORTED}' then reason else in_flight_stage end as outcome",
        f"{_is_inside('submit_us')} as in_window",
        f"status = '{COMMITTED}' and coalesce({_is_inside('end_us')}, false) as is_commit_in_window",
    )


def count_figures(txns: DataFrame, sums: tuple[str, ...]) -> DataFrame:
    """Txns of ``with_window`` by ``GRAIN``, with ``sums`` of ``TERMS``; only those that count for the window."""
    from pyspark.sql import functions as sf

    counting = txns.where("in_window or is_commit_in_window")
    terms = counting.selectExpr(*GRAIN, *(f"{TERMS[name]} as {name}" for name in sums))
    return terms.groupBy(*GRAIN).agg(*(sf.expr(f"coalesce(sum({name}), 0L) as {name}") for name in sums))


def _terms() -> dict[str, str]:
    """What is summed, by name."""
    is_late = f"status = '{COMMITTED}' and submit_us >= window_start_us + (window_end_us - window_start_us) div 2"
    return {
        "txns": "1L",
        "commits_in_window": "cast(is_commit_in_window as bigint)",
        "retries": "greatest(cast(attempts as bigint) - 1L, 0L)",
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
