"""Across seeds: mean, standard deviation and confidence interval of every figure of a configuration.

Values are added in the order of their seeds, whatever order they are found in, so that an analysis gives the same bits
again. The formulas of the intervals are ``endive.objectives.intervals``'.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from endive.objectives.intervals import (
    MEAN_DEGREES,
    SHARE_DEGREES,
    count_reach,
    degrees_of,
    design_of,
    none_reach,
    score_ends,
    wilson,
)
from endive.objectives.student import CONFIDENCE, normal_z, student_ts
from endive.results import schema as s
from endive.results.schema import Ints
from endive.tables.figure_columns import FIGURES
from endive.tables.scopes import EXTRA_FIGURES, POINT_GROUP, RUN, ratio, txns_ended, with_columns

METHOD: Final = (
    "two-sided 95 % interval of the mean over seeds, from how seeds differ: of shares Wilson's, with the design effect "
    "between seeds; of other figures Student's t, with a variance that grows with the mean, so that no end lies below "
    "0; degrees of freedom are n - 1, fewer where few seeds make most of the spread; null for a single seed"
)

Floats = npt.NDArray[np.float64]

STATISTICS: Final = ("seeds", "mean", "stddev", "ci95_low", "ci95_high")
FIGURE_TABLE: Final = (*POINT_GROUP, "figure", *STATISTICS)

REQUEST_COUNTS: Final = tuple(f"requests_{request}" for request in s.REQUESTS)
CONFLICT_COUNTS: Final = ("restarts", "history_lists", *s.COUNTERS)
ABORT_COUNTS: Final = tuple(f"txns_aborted_{reason}" for reason in s.REASONS[1:])
BYTE_COUNTS: Final = ("bytes_read", "bytes_written")
PER_TXN: Final = "_per_txn"
PER_COMMITTED: Final = "_per_committed_txn"
SHARE_FIGURES: Final = ("success_rate", "in_flight_committing_share", "stale_share", "lost_share")  # never above 1
RATE_FIGURES: Final = ("offered_per_s", "committed_per_s", "committed_in_window_per_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class OverSeeds:
    """One figure of every group: as many values as there are groups, NaN where there is none."""

    seeds: Ints  # that have a value
    mean: Floats
    stddev: Floats
    ci95_low: Floats
    ci95_high: Floats

    def column(self, statistic: str) -> pa.Array:
        """``mean``, ``stddev``, ``ci95_low`` or ``ci95_high``, null where there is none."""
        return pa.array(getattr(self, statistic), pa.float64(), from_pandas=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Every figure of every configuration, operation type and source."""

    groups: pa.Table  # POINT_GROUP
    by_name: Mapping[str, OverSeeds]  # its values are in the order of ``groups``

    def table(self) -> pa.Table:
        """``FIGURE_TABLE``: one row per group and figure that has a value."""
        return pa.concat_tables(self._rows(name, one) for name, one in self.by_name.items())

    def _rows(self, name: str, one: OverSeeds) -> pa.Table:
        statistics = {statistic: one.column(statistic) for statistic in STATISTICS[1:]}
        rows = with_columns(self.groups, {"figure": name, "seeds": pa.array(one.seeds, pa.int32()), **statistics})
        return rows.filter(pa.array(one.seeds > 0))


def figures_across_seeds(measured: pa.Table, runs: pa.Table, unused: Collection[str]) -> Figures:
    """The figures of ``measured`` over the seeds of each configuration.

    ``runs`` says which ``study`` and ``run_id`` belongs to which ``point`` and ``seed``. Counts named in ``unused``
    are zero everywhere and left out.
    """
    points = runs.select([*RUN, "point", "seed", "window_start_ms", "window_end_ms"])
    joined = measured.join(points, keys=list(RUN), join_type="inner", use_threads=False)
    joined = joined.sort_by([(name, "ascending") for name in (*POINT_GROUP, "seed")]).combine_chunks()
    first = first_rows(joined.select(list(POINT_GROUP)))
    txns = {"success_rate": txns_ended(joined), "in_flight_committing_share": joined["txns_submitted"]}
    txns |= dict.fromkeys(("stale_share", "lost_share"), joined["data_batches"])
    figures = {
        name: over_seeds(_floats(column), first, of=_floats(txns[name]) if name in SHARE_FIGURES else None)
        for name, column in _columns(joined, unused)
    }
    length_s = (_floats(joined["window_end_ms"]) - _floats(joined["window_start_ms"]))[first] / 1000.0
    for name in RATE_FIGURES:
        figures[name] = of_whole_txns(figures[name], length_s)
    figures["committed_per_s"] = within_offered(figures["committed_per_s"], figures["offered_per_s"])
    return Figures(groups=joined.select(list(POINT_GROUP)).take(pa.array(first)), by_name=figures)


def over_seeds(values: Floats, first: Ints, *, of: Floats | None = None) -> OverSeeds:
    """Statistics of each group; its values, NaN if missing, lie together and in the order of seeds from ``first`` on.

    Values are never negative; shares are ``of`` so many txns each.
    """
    sizes = np.diff(first, append=len(values))
    is_given = ~np.isnan(values)
    seeds = np.add.reduceat(is_given.astype(np.int64), first) if len(first) else np.zeros(0, np.int64)
    n = seeds.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = _in_order(np.where(is_given, values, 0.0), first, sizes) / n
        away = np.where(is_given, np.square(values - np.repeat(mean, sizes)), 0.0)
        squares, fourths = _in_order(away, first, sizes), _in_order(away * away, first, sizes)
        stddev = np.where(seeds > 1, np.sqrt(squares / (n - 1.0)), np.nan)
        error = stddev / np.sqrt(n)
        degrees = degrees_of(n, squares, fourths, MEAN_DEGREES if of is None else SHARE_DEGREES)
        if of is None:
            low, high = score_ends(mean, student_ts(degrees, CONFIDENCE) * error)
        else:
            weights = np.where(is_given, of, 0.0)
            sums = [_in_order(part, first, sizes) for part in (weights, weights * weights)]
            low, high = _share_ends(mean, error, n, degrees, *sums)
    is_known = seeds > 1
    return OverSeeds(
        seeds=seeds,
        mean=mean,
        stddev=stddev,
        ci95_low=np.where(is_known, low, np.nan),
        ci95_high=np.where(is_known, high, np.nan),
    )


def within_offered(committed: OverSeeds, offered: OverSeeds) -> OverSeeds:
    """Commits, no more of them than are submitted."""
    most = np.maximum(committed.mean, np.minimum(committed.ci95_high, offered.ci95_high))
    return replace(committed, ci95_high=most)


def of_whole_txns(rate: OverSeeds, length_s: Floats) -> OverSeeds:
    """A rate of txns, which is never surer than whole numbers in so many windows of ``length_s`` allow."""
    with np.errstate(divide="ignore", invalid="ignore"):
        unseen = count_reach(rate.seeds, CONFIDENCE) / length_s
        none = none_reach(CONFIDENCE) / (rate.seeds * length_s)
    high = np.where(rate.mean > 0.0, rate.ci95_high, np.where(rate.seeds > 1, none, np.nan))
    return replace(
        rate,
        ci95_low=np.where(rate.seeds > 1, np.maximum(0.0, np.minimum(rate.ci95_low, rate.mean - unseen)), np.nan),
        ci95_high=np.where(rate.seeds > 1, np.maximum(high, rate.mean + unseen), np.nan),
    )


def _share_ends(
    mean: Floats, error: Floats, n: Floats, degrees: Floats, txns: Floats, squared: Floats
) -> tuple[Floats, Floats]:
    """Ends of shares of ``txns`` in all seeds; ``squared`` is the sum of the squares of those of each."""
    events = txns * np.minimum(mean, 1.0 - mean)
    design = design_of(mean, error, n, degrees, txns, squared / txns, events, CONFIDENCE)
    low, high = wilson(mean, txns / design, normal_z(CONFIDENCE))
    return np.asarray(low), np.asarray(high)


def _in_order(values: Floats, first: Ints, sizes: Ints) -> Floats:
    """The sum of each group, its values added one after another."""
    total = np.zeros(len(first))
    for place in range(int(sizes.max(initial=0))):
        has_more = sizes > place
        total[has_more] += values[first[has_more] + place]
    return total


def _columns(measured: pa.Table, unused: Collection[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
    """Every figure by name; counts also per txn that ended and per committed txn."""
    for name in (*FIGURES, *EXTRA_FIGURES):
        if name not in unused:
            yield name, measured[name]
    ended, committed = txns_ended(measured), measured["txns_committed"]
    for name in (*REQUEST_COUNTS, *CONFLICT_COUNTS, *ABORT_COUNTS, *BYTE_COUNTS):
        if name not in unused:
            yield f"{name}{PER_TXN}", ratio(measured[name], ended)
            yield f"{name}{PER_COMMITTED}", ratio(measured[name], committed)


def _floats(column: pa.ChunkedArray) -> Floats:
    """Doubles, with NaN for null."""
    floats: Floats = pc.fill_null(column.cast(pa.float64(), safe=False), np.nan).to_numpy()
    return floats


def first_rows(ordered: pa.Table) -> Ints:
    """Where a new group begins in a table that is sorted by all its columns."""
    if not ordered.num_rows:
        return np.zeros(0, np.int64)
    changes = np.zeros(ordered.num_rows, np.bool_)
    changes[0] = True
    for column in ordered.columns:
        values = column.combine_chunks()
        changes[1:] |= pc.not_equal(values[1:], values[:-1]).to_numpy(zero_copy_only=False)
    return np.flatnonzero(changes)
