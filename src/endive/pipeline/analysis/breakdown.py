"""Where the time, the requests and the conflicts of a configuration come from.

This file defines three tables with one row per part (phase, kind of request, counter), cut from the table of all
figures across seeds. Computes no figure of its own but shares.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as sf

from endive.pipeline.analysis.across_seeds import ABORT_COUNTS, CONFLICT_COUNTS, PER_COMMITTED, PER_TXN, REQUEST_COUNTS
from endive.pipeline.analysis.measured import ratio
from endive.pipeline.analysis.scopes import POINT_GROUP
from endive.results import schema as s

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_INTERVAL: Final = ("stddev", "ci95_low", "ci95_high")


def with_interval(name: str) -> list[str]:
    """The columns of a figure that is given as its mean over seeds with its interval."""
    return [name, *(f"{name}_{part}" for part in _INTERVAL)]


PHASES: Final = (*POINT_GROUP, "phase", "seeds", *with_interval("mean_ms"), "share")
REQUESTS: Final = (
    *POINT_GROUP,
    "object",
    "operation",
    "seeds",
    *with_interval("per_txn"),
    *with_interval("per_committed_txn"),
)
CONFLICTS: Final = (
    *POINT_GROUP,
    "counter",
    "seeds",
    *with_interval("per_run"),
    *with_interval("per_txn"),
    *with_interval("per_committed_txn"),
)


def phases(figures: DataFrame) -> DataFrame:
    """``PHASES``: where a committed txn's time goes; the share is of its commit, so runtime has none."""
    names = {f"phase_{phase}_mean_ms": (phase, "mean_ms") for phase in s.PHASES}
    found = _spread(figures, names, "phase", ["mean_ms"])
    is_commit = sf.col("phase") != "runtime"
    group = (
        Window.partitionBy(*POINT_GROUP)
        .orderBy("phase")  # the order in which doubles are added
        .rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    )
    commit_ms = sf.sum(sf.when(is_commit, sf.col("mean_ms"))).over(group)
    return found.withColumn("share", sf.when(is_commit, ratio(sf.col("mean_ms"), commit_ms))).select(*PHASES)


def requests(figures: DataFrame, unused: Collection[str]) -> DataFrame:
    """``REQUESTS``: how often each object is asked for what, per txn that ended and per committed txn."""
    slots = [name for name in REQUEST_COUNTS if name not in unused] or REQUEST_COUNTS
    names = {
        f"{slot}{suffix}": (slot, measure)
        for slot in slots
        for suffix, measure in ((PER_TXN, "per_txn"), (PER_COMMITTED, "per_committed_txn"))
    }
    found = _spread(figures, names, "slot", ["per_txn", "per_committed_txn"])
    parts = {f"requests_{obj}_{op}": (obj, op) for obj in s.OBJECTS for op in s.OPERATIONS}
    return found.select(
        "*",
        _named("slot", {slot: obj for slot, (obj, _) in parts.items()}).alias("object"),
        _named("slot", {slot: op for slot, (_, op) in parts.items()}).alias("operation"),
    ).select(*REQUESTS)


def conflicts(figures: DataFrame, unused: Collection[str]) -> DataFrame:
    """``CONFLICTS``: every counter that moved, and every reason to abort."""
    counters = [name for name in CONFLICT_COUNTS if name not in unused]
    measures = {"": "per_run", PER_TXN: "per_txn", PER_COMMITTED: "per_committed_txn"}
    names = {
        f"{name}{suffix}": (name.removeprefix("txns_"), measure)
        for name in (*counters, *ABORT_COUNTS)
        for suffix, measure in measures.items()
    }
    return _spread(figures, names, "counter", list(measures.values())).select(*CONFLICTS)


def _spread(figures: DataFrame, names: Mapping[str, tuple[str, str]], part: str, measures: Sequence[str]) -> DataFrame:
    """One row per part: figure NAME goes to part ``names[NAME][0]``, in the columns of measure ``names[NAME][1]``."""
    chosen = figures.select(
        *POINT_GROUP,
        "seeds",
        "mean",
        *_INTERVAL,
        _named("figure", {name: one for name, (one, _) in names.items()}).alias(part),
        _named("figure", {name: measure for name, (_, measure) in names.items()}).alias("measure"),
    ).where("measure is not null")

    def value(measure: str, statistic: str) -> Column:
        name = measure if statistic == "mean" else f"{measure}_{statistic}"
        return sf.expr(f"max(if(measure = '{measure}', {statistic}, null)) as {name}")

    return chosen.groupBy(*POINT_GROUP, part).agg(
        sf.max("seeds").alias("seeds"),
        *(value(measure, statistic) for measure in measures for statistic in ("mean", *_INTERVAL)),
    )


def _named(column: str, names: Mapping[str, str]) -> Column:
    """A column's values by a small dictionary."""
    pairs = ", ".join(f"'{item}'" for pair in names.items() for item in pair)
    return sf.expr(f"try_element_at(map({pairs}), {column})")
