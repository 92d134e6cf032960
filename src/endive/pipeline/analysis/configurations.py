"""The table most readers want: one row per configuration, the leading figures with their intervals.

The verdict itself is ``endive.pipeline.analysis.verdicts``'.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from endive.pipeline.analysis.across_seeds import Figures
from endive.pipeline.analysis.breakdown import with_interval, with_statistics
from endive.pipeline.analysis.scopes import POINT, POINT_GROUP
from endive.pipeline.analysis.verdicts import VERDICTS

LEADING: Final = (
    "offered_per_s",
    "committed_per_s",
    "committed_in_window_per_s",
    "success_rate",
    *(f"commit_latency_{name}_ms" for name in ("p50", "p95", "p99", "mean")),
    *(f"total_latency_{name}_ms" for name in ("p50", "p95", "p99", "mean")),
    "retries_mean",
    "requests_per_txn",
    "requests_per_committed_txn",
    "in_flight_committing_share",
)
CONFIGURATIONS: Final = (
    *POINT_GROUP,
    "seeds",
    *VERDICTS,
    *(column for figure in LEADING for column in with_interval(figure)),
)


def configurations(figures: Figures, verdicts: pa.Table) -> pa.Table:
    """``CONFIGURATIONS``, from all figures across seeds and the verdicts on groups that are judged."""
    wide = with_statistics(figures.groups, {name: figures.by_name[name] for name in LEADING}, drops_missing=True)
    joined = wide.join(verdicts, keys=list(POINT_GROUP), join_type="left outer", use_threads=False)
    return joined.select(list(CONFIGURATIONS))


def configuration_table(runs: pa.Table, axes: Sequence[str], judged: pa.Table, drifts: pa.Table) -> pa.Table:
    """``judged`` configurations with their hash, their axes and their drift."""
    about = runs.group_by([*POINT, "config_hash", *axes], use_threads=False).aggregate([])
    joined = about.join(judged, keys=list(POINT), join_type="inner", use_threads=False)
    joined = joined.join(drifts, keys=list(POINT), join_type="left outer", use_threads=False)
    columns = [name for name in CONFIGURATIONS if name not in POINT]
    return joined.select([*POINT, "config_hash", *axes, *columns, "commit_latency_drift", "commits_half_min"])
