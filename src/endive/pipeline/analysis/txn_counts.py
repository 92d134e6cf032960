"""Transactions counted by Spark: what ``endive check --recount`` compares with the table of runs.

Each step takes and returns a DataFrame. Sums are of whole numbers, so their order does not matter. The steps also stand
in for the counts that datasets of the previous format lack.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from endive.pipeline.analysis.open_dataset import COUNTED, OF_RUN
from endive.results import schema as s
from endive.tables.run_counts import BINS, EXACT_BELOW, NO_HISTORY, OUTCOME_KEYS, OUTCOME_SUMS, TIME_SUMS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

GRAIN: Final = ("run", "kind", "source", "outcome", "in_window")
COMMITTED: Final = "committed"
ABORTED: Final = "aborted"
STAGES: Final = ("executing", "committing")  # outcomes of transactions that were in flight when their run ended
PHASE_SUMS: Final = tuple(f"phase_{phase}_us" for phase in s.PHASES)


def us(column_ms: str) -> str:
    """Return milliseconds as the whole microseconds they were made from, as SQL; null stays null."""
    return f"cast({column_ms} * 1000.0D + 0.5D as bigint)"


def _is_inside(column_us: str) -> str:
    return f"({column_us} >= window_start_us and {column_us} < window_end_us)"


def with_window(txns: DataFrame, windows: DataFrame) -> DataFrame:
    """Add the number and the bounds of its run to each transaction, its ``outcome``, and whether it counts.

    ``in_window`` is of the submission, ``is_commit_in_window`` of the end. Transactions of other runs are left out.
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


# ---- as the table of runs has them ---------------------------------------------------------------------------


def count_timeline(txns: DataFrame) -> DataFrame:
    """Count transactions of ``with_window`` by run, source, kind and bin of simulated time: ``TIME_SUMS``.

    Latencies belong to the bin in which a transaction was submitted.
    """
    from pyspark.sql import functions as sf

    is_commit = f"status = '{COMMITTED}'"
    submitted = [
        "1L as submitted",
        "0L as committed",
        "0L as aborted",
        f"if({is_commit}, {us('commit_latency_ms')}, 0L) as latency_us",
        f"if({is_commit}, 1L, 0L) as latency_txns",
    ]
    ended = [
        "0L as submitted",
        f"if({is_commit}, 1L, 0L) as committed",
        f"if(status = '{ABORTED}', 1L, 0L) as aborted",
        "0L as latency_us",
        "0L as latency_txns",
    ]
    at_submission = txns.selectExpr(*OF_RUN, "source", "kind", f"{_bin_of('submit_us')} as bin", *submitted)
    at_end = txns.where("end_us is not null and status != 'in_flight'").selectExpr(
        *OF_RUN, "source", "kind", f"{_bin_of('end_us')} as bin", *ended
    )
    both = at_submission.unionByName(at_end)
    return both.groupBy(*OF_RUN, "source", "kind", "bin").agg(*(sf.sum(name).alias(name) for name in TIME_SUMS))


def count_outcomes(txns: DataFrame) -> DataFrame:
    """Count the window's transactions that ended by run, outcome and bins of attempts: ``OUTCOME_SUMS``."""
    from pyspark.sql import functions as sf

    behind = "greatest(cast(n_behind_first as bigint), 0L)"
    reads_history = "history_lists > 0 and n_behind_first >= 0"
    terms = {
        "is_committed": f"cast(status = '{COMMITTED}' as bigint)",
        "attempts_low": smallest_count_sql("attempts"),
        "n_behind_low": f"if({reads_history}, {smallest_count_sql('n_behind_first')}, {NO_HISTORY}L)",
        "txns": "1L",
        "attempts": "cast(attempts as bigint)",
        "n_behind": behind,
        "history_lists": "cast(history_lists as bigint)",
        "phase_history_us": f"coalesce({us('phase_history_ms')}, 0L)",
        "commit_us": f"coalesce({us('commit_latency_ms')}, 0L)",
    }
    ended = txns.where(f"in_window and status in ('{COMMITTED}', '{ABORTED}')")
    keyed = ended.selectExpr(*OF_RUN, "source", "kind", *(f"{term} as {name}" for name, term in terms.items()))
    return keyed.groupBy(*OF_RUN, *OUTCOME_KEYS).agg(*(sf.sum(name).alias(name) for name in OUTCOME_SUMS))


def _bin_of(column_us: str) -> str:
    return f"cast(least({column_us} * {BINS}L div duration_us, {BINS - 1}L) as int)"


def smallest_count_sql(count: str) -> str:
    """Return the smallest count of the bin in which a count below 2**40 lies, as SQL.

    Half a count more keeps the logarithm off whole numbers.
    """
    octave = f"cast(log2({count} + 0.5D) as int)"
    upper_half = f"(shiftright(cast({count} as bigint), {octave} - 1) & 1L)"
    return f"if({count} < {EXACT_BELOW}, cast({count} as bigint), shiftleft(2L + {upper_half}, {octave} - 1))"


# ---- every sum of every run ----------------------------------------------------------------------------------


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
