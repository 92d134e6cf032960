"""How often txns tried, and what being behind cost them.

Two histograms over the window's txns that ended, all seeds of a configuration together: attempts, and the convoy
(manifest lists read against n_behind). The txns are counted in ``endive.pipeline.analysis.count_tables``.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from endive.pipeline.analysis.count_tables import OUTCOME_SUMS
from endive.pipeline.analysis.measured import ratio
from endive.pipeline.analysis.scopes import POINT, POINT_GROUP, by_scope, summed
from endive.pipeline.analysis.txn_counts import NO_HISTORY, largest_count

ATTEMPTS: Final = (*POINT_GROUP, "attempts_low", "attempts_high", "txns_committed", "txns_aborted", "share")
CONVOY: Final = (
    *POINT_GROUP,
    "n_behind_low",
    "n_behind_high",
    "txns",
    "n_behind_mean",
    "history_lists_mean",
    "history_mean_ms",
    "attempts_mean",
    "commit_latency_mean_ms",
    "success_rate",
)


def attempts_histogram(outcomes: pa.Table) -> pa.Table:
    """``ATTEMPTS``: txns by the number of their commit attempts, and their share of all that ended."""
    sums = ["txns_committed", "txns_aborted", "txns"]
    counts = by_scope(_with_commits(outcomes), [*POINT, "attempts_low"], sums)
    whole = summed(counts, POINT_GROUP, ["txns"]).rename_columns([*POINT_GROUP, "all"])
    found = counts.join(whole, keys=list(POINT_GROUP), join_type="inner", use_threads=False)
    found = found.append_column("attempts_high", _high(found["attempts_low"]))
    return found.append_column("share", ratio(found["txns"], found["all"])).select(list(ATTEMPTS))


def convoy(outcomes: pa.Table) -> pa.Table:
    """``CONVOY``: of txns that read history, what they read and how long it took, by n_behind at first."""
    reading = outcomes.filter(pc.not_equal(outcomes["n_behind_low"], NO_HISTORY))
    sums = by_scope(_with_commits(reading), [*POINT, "n_behind_low"], [*OUTCOME_SUMS, "txns_committed"])
    txns = sums["txns"]
    thousands = pc.multiply(txns, 1000)
    columns = {
        "n_behind_high": _high(sums["n_behind_low"]),
        "n_behind_mean": ratio(sums["n_behind"], txns),
        "history_lists_mean": ratio(sums["history_lists"], txns),
        "history_mean_ms": ratio(sums["phase_history_us"], thousands),
        "attempts_mean": ratio(sums["attempts"], txns),
        "commit_latency_mean_ms": ratio(sums["commit_us"], thousands),
        "success_rate": ratio(sums["txns_committed"], txns),
    }
    for name, column in columns.items():
        sums = sums.append_column(name, column)
    return sums.select(list(CONVOY))


def _with_commits(outcomes: pa.Table) -> pa.Table:
    """The txns of every row also by their outcome."""
    is_committed = pc.equal(outcomes["is_committed"], 1)
    zero = pa.scalar(0, pa.int64())
    found = outcomes.append_column("txns_committed", pc.if_else(is_committed, outcomes["txns"], zero))
    return found.append_column("txns_aborted", pc.if_else(is_committed, zero, outcomes["txns"]))


def _high(low: pa.ChunkedArray) -> pa.Array:
    return pa.array(largest_count(low.to_numpy()), pa.int64())
