"""What a reader must know before he trusts the figures.

Owns the warnings of an analysis: a code, the number behind it, and a sentence that says what to do. The limits of the
model's own rules are ``endive.results.summary``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as sf

from endive.pipeline.scopes import ALL, RUN
from endive.results.summary import COMMITTING_SHARE_MAX

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

DRIFT_MAX: Final = 0.25  # of mean commit latency, from one half of the window to the other
DRIFT_COMMITS_MIN: Final = 400  # in either half: fewer do not tell drift from chance

WARNINGS: Final = ("study", "point", "seed", "run_id", "warning", "value", "text")


def warnings(runs: DataFrame, measured: DataFrame, configurations: DataFrame) -> DataFrame:
    """``WARNINGS`` of runs (with a ``seed``), of configurations (with a ``point``) and of studies.

    ``measured`` and ``configurations`` are of any scope; ``configurations`` has a ``commit_latency_drift`` and its
    ``commits_half_min``, which may be null.
    """
    whole = measured.where(sf.col("scope") == ALL).join(
        sf.broadcast(runs.select(*RUN, "point", "seed")), on=list(RUN), how="inner"
    )
    points = configurations.where(sf.col("scope") == ALL)
    parts = [*_of_runs(runs, whole), *_of_points(points), *_of_studies(points, whole)]
    return reduce(lambda left, right: left.unionByName(right), parts)


def _of_runs(runs: DataFrame, whole: DataFrame) -> list[DataFrame]:
    submitted, committing = sf.col("txns_submitted"), sf.col("txns_in_flight_committing")
    share = sf.col("in_flight_committing_share")
    failed = runs.where("status != 'ok'")
    none_ended = whole.where((submitted > 0) & sf.col("success_rate").isNull())
    still = whole.where(committing > COMMITTING_SHARE_MAX * submitted)
    return [
        _told(failed, "failed_run", None, "This run failed: %s", sf.coalesce("error", sf.lit("no reason given"))),
        _told(
            whole.where(submitted == 0),
            "nothing_measured",
            submitted,
            "No txn was submitted in the window, so nothing was measured. Raise simulation.duration_ms, or lower "
            "simulation.warmup_ms and simulation.cooldown_ms.",
        ),
        _told(
            still,
            "still_committing",
            share,
            "%.1f %% of the window's txns (%,d of %,d) were still committing when the clock stopped. They are the slow "
            "ones, so latencies are too low and the success rate is uncertain. Raise simulation.cooldown_ms, or offer "
            "less load.",
            share * 100.0,
            committing,
            submitted,
        ),
        _told(
            none_ended,
            "none_ended",
            submitted,
            "None of the window's %,d txns ended before the clock stopped. Raise simulation.duration_ms and "
            "simulation.cooldown_ms beyond the txns' runtime.",
            submitted,
        ),
    ]


def _of_points(points: DataFrame) -> list[DataFrame]:
    drift = sf.col("commit_latency_drift")
    alone = points.withColumns({"seed": _null("bigint"), "run_id": _null("string")})
    is_unsteady = (sf.abs(drift) > DRIFT_MAX) & (sf.col("commits_half_min") >= DRIFT_COMMITS_MIN)
    return [
        _told(
            alone.where("saturated"),
            "saturated",
            sf.col("success_rate"),
            "Saturated by %s: success rate %.1f %%, commit latency P50 %,.1f ms and P95 %,.1f ms.",
            sf.col("saturation_sign"),
            sf.col("success_rate") * 100.0,
            sf.col("commit_latency_p50_ms"),
            sf.col("commit_latency_p95_ms"),
        ),
        _told(
            alone.where(is_unsteady),
            "unsteady_window",
            drift,
            "Mean commit latency changed by %+.0f %% from the first half of the window to the second: the system had "
            "not settled, so figures depend on the length of the window. Raise simulation.warmup_ms, or read them as a "
            "trend.",
            drift * 100.0,
        ),
    ]


def _of_studies(points: DataFrame, whole: DataFrame) -> list[DataFrame]:
    single = (
        points.groupBy("study")
        .agg(sf.count_if(sf.col("seeds") == 1).alias("few"), sf.count(sf.lit(1)).alias("total"))
        .where("few > 0")
        .transform(_of_study)
    )
    approximate = (
        whole.groupBy("study")
        .agg(sf.count_if(sf.col("percentiles") != "exact").alias("few"), sf.count(sf.lit(1)).alias("total"))
        .where("few > 0")
        .transform(_of_study)
    )
    few, total = sf.col("few"), sf.col("total")
    return [
        _told(
            single,
            "single_seed",
            few,
            "%,d of %,d configurations have a single seed, so they have no interval. Sweep with --seeds 3 or more.",
            few,
            total,
        ),
        _told(
            approximate,
            "approximate_percentiles",
            few,
            "Percentiles of %,d of %,d runs are approximate, because of the number of their txns.",
            few,
            total,
        ),
    ]


def _of_study(frame: DataFrame) -> DataFrame:
    return frame.withColumns({"point": _null("int"), "seed": _null("bigint"), "run_id": _null("string")})


def _told(frame: DataFrame, code: str, value: Column | None, text: str, *given: Column) -> DataFrame:
    number = _null("double") if value is None else value.cast("double")
    sentence = sf.format_string(text, *given) if given else sf.lit(text)
    return frame.select(
        "study",
        sf.col("point").cast("int").alias("point"),
        "seed",
        "run_id",
        sf.lit(code).alias("warning"),
        number.alias("value"),
        sentence.alias("text"),
    )


def _null(kind: str) -> Column:
    return sf.lit(None).cast(kind)


def unfinished_sweeps(runs_missing: Sequence[tuple[str, int, int]]) -> list[dict[str, object]]:
    """Rows of ``WARNINGS`` for sweeps that have not finished: study, runs that are missing, runs planned."""
    return [
        {
            "study": study,
            "warning": "unfinished_sweep",
            "value": float(missing),
            "text": f"{missing:,} of {planned:,} runs are missing: the sweep has not finished. "
            "Start it again; it goes on where it was.",
        }
        for study, missing, planned in runs_missing
    ]
