"""What a reader must know before he trusts the figures.

A warning is a code, the number behind it, and a sentence that says what to do. It reads finished tables, row by row,
and needs no Spark. The limits of the model's own rules are ``endive.results.summary``'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa

from endive.results.summary import COMMITTING_SHARE_MAX

DRIFT_MAX: Final = 0.25  # of mean commit latency, from one half of the window to the other
DRIFT_COMMITS_MIN: Final = 400  # in either half: fewer do not tell drift from chance

WARNING_SCHEMA: Final = pa.schema(
    [
        pa.field("study", pa.string()),
        pa.field("point", pa.int32()),  # null: about the whole study
        pa.field("seed", pa.int64()),  # null: about all seeds of a configuration
        pa.field("run_id", pa.string()),
        pa.field("warning", pa.string()),
        pa.field("value", pa.float64()),
        pa.field("text", pa.string()),
    ]
)

Row = Mapping[str, Any]


def warnings(
    runs: Iterable[Row], configurations: Iterable[Row], runs_planned: Mapping[str, int], assumed: Iterable[Row] = ()
) -> pa.Table:
    """Every warning, as ``WARNING_SCHEMA``.

    ``runs`` and ``configurations`` are rows of the tables of those names, the latter for whole runs, with
    ``commits_half_min`` beside ``commit_latency_drift``. ``runs_planned`` counts the runs each study will have.
    ``assumed`` are the warnings of ``endive.pipeline.analysis.assumptions``.
    """
    runs, configurations, assumed = list(runs), list(configurations), list(assumed)
    found: list[dict[str, Any]] = []
    for study, planned in runs_planned.items():
        of_study = [row for row in runs if row["study"] == study]
        points = [row for row in configurations if row["study"] == study]
        told = [*_of_study(of_study, points, planned), *_of_points(points), *_of_runs(of_study)]
        found += [{"study": study, **warning} for warning in told]
        found += [dict(row) for row in assumed if row["study"] == study]
    return pa.Table.from_pylist(found, WARNING_SCHEMA)


def _of_study(runs: list[Row], points: list[Row], planned: int) -> Iterator[dict[str, Any]]:
    missing = planned - len(runs)
    if missing > 0:
        yield _told(
            "unfinished_sweep",
            missing,
            f"{missing:,} of {planned:,} runs are missing: the sweep has not finished. Start it again; it goes on "
            "where it was.",
        )
    single = sum(row["seeds"] == 1 for row in points)
    if single:
        yield _told(
            "single_seed",
            single,
            f"{single:,} of {len(points):,} configurations have a single seed, so they have no interval. Sweep with "
            "--seeds 3 or more.",
        )


def _of_points(points: Iterable[Row]) -> Iterator[dict[str, Any]]:
    for row in points:
        here = {"point": row["point"]}
        drift = row["commit_latency_drift"]
        if drift is not None and abs(drift) > DRIFT_MAX and row["commits_half_min"] >= DRIFT_COMMITS_MIN:
            yield _told(
                "unsteady_window",
                drift,
                f"Mean commit latency changed by {drift:+.0%} from the first half of the window to the second: the "
                "system had not settled, so figures depend on the length of the window. Raise "
                "simulation.warmup_ms, or read them as a trend.",
                **here,
            )


def _of_runs(runs: Iterable[Row]) -> Iterator[dict[str, Any]]:
    for row in runs:
        here = {name: row[name] for name in ("point", "seed", "run_id")}
        submitted, committing = row["txns_submitted"], row["txns_in_flight_committing"]
        if row["status"] != "ok":
            yield _told("failed_run", None, f"This run failed: {row['error']}", **here)
        elif not submitted:
            yield _told(
                "nothing_measured",
                0,
                "No txn was submitted in the window, so nothing was measured. Raise simulation.duration_ms, or lower "
                "simulation.warmup_ms and simulation.cooldown_ms.",
                **here,
            )
        elif committing > COMMITTING_SHARE_MAX * submitted:
            yield _told(
                "still_committing",
                committing / submitted,
                f"{committing / submitted:.1%} of the window's txns ({committing:,} of {submitted:,}) were still "
                "committing when the simulation ended. They are the slow ones, so latencies are too low and the "
                "success rate is uncertain. Raise simulation.cooldown_ms, or offer less load.",
                **here,
            )
        elif row["success_rate"] is None:
            yield _told(
                "none_ended",
                submitted,
                f"None of the window's {submitted:,} txns ended before the simulation did. Raise "
                "simulation.duration_ms and simulation.cooldown_ms beyond the txns' runtime.",
                **here,
            )


def _told(code: str, value: float | None, text: str, **place: Any) -> dict[str, Any]:
    return {**place, "warning": code, "value": None if value is None else float(value), "text": text}
