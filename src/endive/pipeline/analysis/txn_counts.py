"""All txns of a dataset, counted by Spark: one scan, one aggregation, by three numbers.

``count_txns`` groups by point, seed and *code*, which is made of a *cell* and a *sort*. A cell is the bin of simulated
time in which a txn was submitted, the one in which it ended, and whether it counts for the window; a sort is its
operation type, source and status and, of the window's txns that ended, the bins of its attempts and of n_behind. Texts
would double what a group costs, and exact attempts would make nearly as many groups as there are txns. ``count_slots``
rolls the groups up, and ``count_tables`` makes tables of that.
``count_figures`` sums what ``endive verify dataset`` compares. Sums are of whole numbers: their order does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from endive.pipeline.analysis.open_dataset import COUNTED
from endive.results import schema as s
from endive.tables.run_counts import BOUNDS, EXACT_BELOW, TRY_SUMS
from endive.tables.scopes import POINT

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SEED: Final = (*POINT, "seed")  # one run
GRAIN: Final = ("run", "kind", "source", "outcome", "in_window")
COMMITTED: Final = "committed"
ABORTED: Final = "aborted"
STATUSES: Final = (COMMITTED, ABORTED, "in_flight")
STAGES: Final = ("executing", "committing")  # outcomes of txns that were in flight when their run ended
GROUP_SUMS: Final = ("txns", "commit_us", *TRY_SUMS)
SLOT_SUMS: Final = (*GROUP_SUMS, "squared")
WHOLE: Final = -1  # label of all kinds and sources; below it each kind, then each source
PHASE_SUMS: Final = tuple(f"phase_{phase}_us" for phase in s.PHASES)


def us(column_ms: str) -> str:
    """Milliseconds as the whole microseconds they were made from; null stays null."""
    return f"cast({column_ms} * 1000.0D + 0.5D as bigint)"


def _is_inside(column_us: str) -> str:
    return f"({column_us} >= window_start_us and {column_us} < window_end_us)"


# ---- one aggregation -----------------------------------------------------------------------------------


BEHIND_PLACES: Final = 128  # of n_behind below 2**53, and one for none
_TRIES: Final = 1 + 64 * BEHIND_PLACES  # of attempts below 2**31, and one for txns that do not count


@dataclass(frozen=True, slots=True)
class Labels:
    """The operation types and sources that txns may have; one of several that is not among them is not counted."""

    kinds: Sequence[str]
    sources: Sequence[str]

    @property
    def sorts(self) -> int:
        """How many sorts of txns there may be."""
        return len(self.kinds) * len(self.sources) * len(STATUSES) * _TRIES


def numbered_runs(windows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Points of ``run_windows`` under a number, ``place``, with the bounds all their runs share; and the runs there.

    Points of one study alone do not name it.
    """
    bounds = windows.group_by(list(POINT), use_threads=False).aggregate([(name, "max") for name in BOUNDS])
    places = pa.array(np.arange(bounds.num_rows, dtype=np.int32))
    points = bounds.rename_columns([*POINT, *BOUNDS]).append_column("place", places)
    runs = windows.join(points.select([*POINT, "place"]), keys=list(POINT), join_type="inner", use_threads=False)
    is_one_study = len(pc.unique(windows["study"])) < 2
    return points.drop_columns("study") if is_one_study else points, runs.select(["run", *SEED, "place"])


def with_bounds(txns: DataFrame, points: DataFrame) -> DataFrame:
    """Txns of the points of ``numbered_runs``, with number and bounds. To join by one number is quickest."""
    from pyspark.sql import functions as sf

    keys = [name for name in POINT if name in points.columns]
    known = txns.join(sf.broadcast(points), on=keys, how="inner")
    return known.selectExpr("*", f"{us('submit_ms')} as submit_us", f"{us('end_ms')} as end_us")


def count_txns(txns: DataFrame, labels: Labels, bins: int) -> DataFrame:
    """Txns of ``with_bounds`` by ``place``, ``seed`` and ``code``: ``GROUP_SUMS``.

    ``count_slots`` takes codes apart. ``TRY_SUMS`` mean something only where tries were counted.
    """
    from pyspark.sql import functions as sf

    submitted, ended = (f"least({what}_us * {bins}L div duration_us, {bins - 1}L)" for what in ("submit", "end"))
    is_commit = f"status_code = 0 and {_is_inside('end_us')}"
    flags = f"if({_is_inside('submit_us')}, 2, 0) + if({is_commit}, 1, 0)"
    behind = f"if(history_lists > 0 and n_behind_first >= 0, 1L + {place_of_count_sql('n_behind_first')}, 0L)"
    tries = f"1L + {place_of_count_sql('attempts')} * {BEHIND_PLACES}L + {behind}"
    is_counted = f"status_code < 2 and {_is_inside('submit_us')}"
    of_kind = f"(kind_code * {len(labels.sources)}L + source_code) * {len(STATUSES)}L + status_code"
    cell = f"({submitted} * {bins}L + coalesce({ended}, 0L)) * 4L + {flags}"
    sort = f"({of_kind}) * {_TRIES}L + if({is_counted}, {tries}, 0L)"
    terms = {
        "code": f"({cell}) * {labels.sorts}L + {sort}",
        "commit_us": us("commit_latency_ms"),
        "attempts": "cast(attempts as bigint)",
        "n_behind": "greatest(cast(n_behind_first as bigint), 0L)",
        "history_lists": "cast(history_lists as bigint)",
        "phase_history_us": us("phase_history_ms"),
    }
    coded = txns.select(
        "*",
        code_of("kind", labels.kinds).alias("kind_code"),
        code_of("source", labels.sources).alias("source_code"),
        sf.coalesce(code_of("status", STATUSES[:2]), sf.lit(2)).alias("status_code"),
    )
    keyed = coded.selectExpr("place", "seed", *(f"{term} as {name}" for name, term in terms.items()))
    sums = (sf.expr(f"coalesce(sum({name}), 0L) as {name}") for name in GROUP_SUMS[1:])
    return keyed.groupBy("place", "seed", "code").agg(sf.count(sf.lit(1)).alias("txns"), *sums)


class Slots(NamedTuple):
    """What a group of txns counts for, as one number: a bin of time, the window, or tries.

    Bins that txns were submitted in are counted from 0 on.
    """

    ends: int  # the first bin that txns end in
    window: int  # the flag 0 of the four of a cell (2: submitted in the window, 1: committed in it)
    tries: int  # of no tries, which is empty; above it the tries of a sort


def slots_of(bins: int) -> Slots:
    """The slots of an analysis with so many bins."""
    return Slots(bins, 2 * bins, 2 * bins + 4)


def count_slots(groups: DataFrame, runs: DataFrame, labels: Labels, bins: int) -> DataFrame:
    """Groups of ``count_txns`` of these runs by ``place``, ``seed``, ``slot`` and ``label``: ``SLOT_SUMS``.

    A label is a kind, a source and a status. Seeds are told of the window's slots only, and are together elsewhere.
    ``squared`` is the sum over seeds of each one's commits squared, by the bin they ended in and the labels below zero:
    all, each kind, each source. For that, what a seed has comes together in one partition first.
    """
    from pyspark.sql import functions as sf

    slots = slots_of(bins)
    known = groups.join(sf.broadcast(runs), on=["place", "seed"], how="inner")  # a semi join would be made per txn
    parted = known.repartition("place", "seed").selectExpr(
        "place", "seed", *GROUP_SUMS, f"code div {labels.sorts} as cell", f"code % {labels.sorts} as sort"
    )
    numbered = parted.selectExpr(
        "*",
        f"cast(sort div {_TRIES} as int) as label",
        f"cast(sort % {_TRIES} as int) as tries",
        f"cast(cell div {4 * bins} as int) as submit_bin",
        f"cast(cell div 4 % {bins} as int) + {slots.ends} as end_slot",
    )
    entries = [
        "submit_bin",
        f"if(label % {len(STATUSES)} < 2, end_slot, -1)",
        f"if(tries > 0, tries + {slots.tries}, -1)",
        f"cast(cell & 3 as int) + {slots.window}",
    ]
    entered = _stack(numbered, ["place", "seed", "label", *GROUP_SUMS], "slot", entries).where("slot >= 0")
    of_seeds = entered.groupBy("place", "seed", "slot", "label").agg(*_sums(GROUP_SUMS))
    pooled = _with_pools(of_seeds, labels, slots).selectExpr(
        *("place", "slot", "label", *GROUP_SUMS),
        f"if(slot between {slots.window} and {slots.tries}, seed, null) as seed",
        "if(label < 0, txns * txns, 0L) as squared",
    )
    return pooled.groupBy("place", "seed", "slot", "label").agg(*_sums(SLOT_SUMS))


def _with_pools(of_seeds: DataFrame, labels: Labels, slots: Slots) -> DataFrame:
    """The slots of every seed, and below them its commits by the bin they ended in under the labels below zero."""
    name = f"label div {len(STATUSES)}"
    is_commit = f"slot >= {slots.ends} and slot < {slots.window} and label % {len(STATUSES)} = 0"
    pools = [
        f"{WHOLE}",
        f"cast({WHOLE - 1} - {name} div {len(labels.sources)} as int)",
        f"cast({WHOLE - 1 - len(labels.kinds)} - {name} % {len(labels.sources)} as int)",
    ]
    entries = ["label", *(f"if({is_commit}, {pool}, null)" for pool in pools)]
    entered = _stack(of_seeds, ["place", "seed", "slot", *GROUP_SUMS], "pool", entries).where("pool is not null")
    pooled = entered.groupBy("place", "seed", "slot", "pool").agg(*_sums(GROUP_SUMS))
    return pooled.withColumnRenamed("pool", "label")


def _stack(frame: DataFrame, columns: Sequence[str], name: str, entries: Sequence[str]) -> DataFrame:
    """Each row once for each of ``entries``, which becomes its column ``name``."""
    return frame.selectExpr(*columns, f"stack({len(entries)}, {', '.join(entries)}) as {name}")


def _sums(names: Sequence[str]) -> list[Column]:
    from pyspark.sql import functions as sf

    return [sf.sum(name).alias(name) for name in names]


def code_of(column: str, words: Sequence[str]) -> Column:
    """The place of a column's word among ``words``, as one comparison after another; null if it is none of them.

    A column that has but one word is not read: to make a text of each row is a third of what a scan costs.
    """
    from pyspark.sql import functions as sf

    if len(words) == 1:
        return sf.lit(0)
    chain = sf.when(sf.col(column) == words[0], 0)
    for place, word in enumerate(words[1:], 1):
        chain = chain.when(sf.col(column) == word, place)
    return chain


# ---- every sum of every run --------------------------------------------------------------------------


def with_window(txns: DataFrame, windows: DataFrame) -> DataFrame:
    """Txns with the number and the bounds of their run, their ``outcome``, and whether they count.

    ``in_window`` is of the submission, ``is_commit_in_window`` of the end. Txns of other runs are left out.
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


def place_of_count_sql(count: str) -> str:
    """``place_of_count`` of a count below 2**40, in SQL: half a count more keeps its logarithm off whole numbers."""
    octave = f"cast(log2({count} + 0.5D) as int)"
    upper_half = f"(shiftright(cast({count} as bigint), {octave} - 1) & 1L)"
    return f"if({count} < {EXACT_BELOW}, cast({count} as bigint), 2L * {octave} + {upper_half})"
