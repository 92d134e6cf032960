"""A table under load: closed-loop writers on real PyIceberg, measured, and the model fed with what a request took.

The measurement lives in ``rigs/pyiceberg``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from endive.verification.suite import Check, Figure, Options, Outcome, Point, Table, Value, provenance
from rigs import live as rigs
from verification.suites.load.closed_checks import (
    ATTEMPTS_MAX,
    EXHAUSTED_ALLOWED_POINTS,
    THROUGHPUT_ALLOWED,
    figure_check,
    law_check,
    worst_attempts,
)
from verification.suites.load.load_model import WRITERS, simulate_closed
from verification.suites.load.measurement import Figures, TxnRuns, extremes, quantile
from verification.suites.sampling import doubt, errors_of, resample, standard_error

LOAD_FILE: Final = Path(__file__).parent / "data" / "load.json"
SEEDS: Final = range(1, 41)
QUICK_SEEDS: Final = range(1, 11)
FIGURES: Final = {
    "committed_per_s": "commits per second",
    "exhausted_percent": "share of txns whose retries ran out",
    "p50_ms": "commit latency, p50",
    "p95_ms": "commit latency, p95",
}

_LIVE: Final = (20.0, 3)  # seconds of a run, and how many
_LIVE_QUICK: Final = (5.0, 2)


def measurement() -> dict[str, Any]:
    """The measurement that comes with the package."""
    return dict(json.loads(LOAD_FILE.read_text(encoding="utf-8")))


def measured_runs(cell: Mapping[str, Any]) -> TxnRuns:
    """The txns of every repetition that ended in time; their latency is from the loaded table to the commit's end."""
    return [
        [
            (end - commit, bool(is_committed), attempts)
            for _, commit, end, attempts, is_committed in run_of["txns"]
            if end <= cell["duration_ms"]
        ]
        for run_of in cell["runs"]
    ]


def configuration(cell: Mapping[str, Any], quantiles: Sequence[float]) -> dict[str, Any]:
    """As many closed-loop appenders; every request takes what one of its kind was measured to take in this cell."""
    taken = {
        name: {
            "distribution": "empirical",
            "quantiles": list(map(list, zip(quantiles, span["quantiles_ms"], strict=True))),
        }
        for name, span in cell["spans"].items()
    }
    objects: dict[str, dict[str, Any]] = {}
    catalog = []
    for name, distribution in taken.items():
        object, _, operation = name.partition(".")
        if object == "catalog":
            catalog.append({**distribution, "weight": float(cell["spans"][name]["count"])})
        elif operation:
            objects.setdefault(object, {})[operation] = distribution
    return {
        "simulation": {"duration_ms": float(cell["duration_ms"]), "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "storage": {"provider": "constant", "latency_ms": 0.0, "objects": objects},
        "catalog": {"type": "service", "latency": {"distribution": "mixture", "components": catalog}},
        "table": {"initial_snapshots": 1, "initial_manifests": 1},
        "commit": {"protocol": "pyiceberg"},
        "source": [
            {
                "name": WRITERS,
                "arrivals": {"kind": "closed", "clients": cell["writers"], "think_ms": 0.0},
                "operation_types": {"fast_append": 1.0},
                "runtime": {"distribution": "fixed", "ms": 0.0},
            }
        ],
    }


def checks_of(
    cell: Mapping[str, Any], measured: Figures, simulated: Figures, doubts: Mapping[str, float]
) -> list[Check]:
    """The four figures a cell is held to."""
    what: dict[str, Value] = {"writers": cell["writers"]}
    return [
        figure_check(
            told, name, what, (getattr(measured, name), getattr(simulated, name)), doubts[name], rate_unit="/s"
        )
        for name, told in FIGURES.items()
    ]


def run(options: Options) -> Outcome:
    """Every cell, against the measurement that comes along or, live, against one made now."""
    if options.is_live:
        document = rigs.pyiceberg_load(*(_LIVE_QUICK if options.is_quick else _LIVE))
    else:
        document = measurement()
    seeds = QUICK_SEEDS if options.is_quick else SEEDS
    checks: list[Check] = []
    rows: list[tuple[Value, ...]] = []
    points: list[Point] = []
    medians: list[tuple[Value, ...]] = []
    for cell in document["cells"]:
        runs = measured_runs(cell)
        simulated_runs = simulate_closed(configuration(cell, document["quantiles"]), seeds)
        figures = partial(Figures.of_runs, duration_s=cell["duration_ms"] / 1e3)
        measured, simulated = figures(runs), figures(simulated_runs)
        again = resample(runs, figures), resample(simulated_runs, figures)
        errors = [errors_of(side, tuple(FIGURES)) for side in again]
        checks += checks_of(
            cell, measured, simulated, {name: doubt(*(side[name] for side in errors)) for name in FIGURES}
        )
        worst = worst_attempts(measured, simulated)
        off = doubt(*(standard_error([each.share_percent(worst) for each in side]) for side in again))
        checks.append(law_check("", {"writers": cell["writers"]}, (measured, simulated), worst, off))
        medians.append(_median_row(cell["writers"], runs, again[0]))
        rows.append(_measured_row(cell, runs, measured, simulated))
        points += _points(cell["writers"], measured, simulated)
    return Outcome(
        intro=_INTRO,
        checks=tuple(checks),
        tables=(
            Table(title="The measurement of PyIceberg", headings=_MEASURED_HEADINGS, rows=tuple(rows), is_filed=True),
            Table(
                title="How well PyIceberg's median is known",
                headings=("writers", "P45, ms", "P50, ms", "P55, ms", "P50 of the runs drawn anew, 95 of 100 cases"),
                rows=tuple(medians),
                is_filed=True,
            ),
        ),
        figures=(
            Figure(
                name="load-pyiceberg",
                title="PyIceberg 0.12 under load",
                x_title="closed-loop writers",
                y_title="",
                points=tuple(points),
                is_x_log=True,
            ),
        ),
        remarks=_REMARKS,
        provenance=provenance(
            pyiceberg=document["pyiceberg"], recorded=document["recorded"], cores=document["cores"], seeds=len(seeds)
        ),
    )


def _measured_row(cell: Mapping[str, Any], runs: TxnRuns, measured: Figures, simulated: Figures) -> tuple[Value, ...]:
    """How far the repetitions of a cell lie apart, how busy the machine was, and the attempts on both sides."""
    each = [Figures.of(run_of, cell["duration_ms"] / 1e3) for run_of in runs]
    return (
        cell["writers"],
        len(runs),
        sum(measured.attempts),
        extremes([figures.committed_per_s for figures in each], 2),
        extremes([figures.p50_ms for figures in each]),
        extremes([figures.p95_ms for figures in each]),
        extremes([run_of["loadavg"] for run_of in cell["runs"]], 1),
        *(" / ".join(f"{of.share_percent(n):.0f}" for n in range(1, ATTEMPTS_MAX + 1)) for of in (measured, simulated)),
    )


def _median_row(writers: int, runs: TxnRuns, again: Sequence[Figures]) -> tuple[Value, ...]:
    """How well the measured median is known, from the measurement alone."""
    latencies = sorted(ms for run_of in runs for ms, is_committed, _ in run_of if is_committed)
    medians = sorted(figures.p50_ms for figures in again)
    return (
        writers,
        *(round(quantile(latencies, share)) for share in (0.45, 0.50, 0.55)),
        f"{quantile(medians, 0.025):,.0f} to {quantile(medians, 0.975):,.0f}",
    )


def _points(writers: int, measured: Figures, simulated: Figures) -> list[Point]:
    """Throughput and exhausted share, with the bands they are held to."""
    rate, share = measured.committed_per_s, measured.exhausted_percent
    return [
        Point(
            panel="commits per second",
            x=writers,
            expected=rate,
            actual=simulated.committed_per_s,
            low=rate * (1.0 - THROUGHPUT_ALLOWED),
            high=rate * (1.0 + THROUGHPUT_ALLOWED),
        ),
        Point(
            panel="retries ran out, %",
            x=writers,
            expected=share,
            actual=simulated.exhausted_percent,
            low=max(0.0, share - EXHAUSTED_ALLOWED_POINTS),
            high=share + EXHAUSTED_ALLOWED_POINTS,
        ),
    ]


_MEASURED_HEADINGS: Final = (
    *("writers", "runs", "txns", "commits/s of single runs", "p50 of single runs, ms", "p95 of single runs, ms"),
    *("load average", "attempts 1 / 2 / 3 / 4 / 5, % of txns, measured", "the same, simulated"),
)
_INTRO: Final = """
Writers in a closed loop, a process each, append to one table with PyIceberg's default retry properties, through its
SqlCatalog on SQLite in memory; the FileIO injects the delays above. The model runs protocol `pyiceberg`; a request
takes what one of its kind was measured to take in the same cell, client's work included. Nothing is fitted.
[PyIceberg](pyiceberg.md) says how it was measured and what is not covered.
"""

_REMARKS: Final = """
Where about half of the commits need one attempt, one txn in a hundred moves the median across the pause that follows;
the file on the median shows how far.
"""
