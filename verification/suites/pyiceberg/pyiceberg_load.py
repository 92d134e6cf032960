"""A table under load: closed-loop writers on real PyIceberg, measured, and the model fed with what a request took.

The measurement lives in ``verification/pyiceberg_rig``.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from endive.simulation.simulation import Simulation
from endive.verification.suite import Check, Figure, Options, Outcome, Point, Table, provenance
from verification import rigs
from verification.suites.sampling import doubt, errors_of, resample, standard_error

LOAD_FILE: Final = Path(__file__).parent / "data" / "load.json"

SEEDS: Final = range(1, 41)
QUICK_SEEDS: Final = range(1, 11)
THROUGHPUT_ALLOWED: Final = 0.05
EXHAUSTED_POINTS_ALLOWED: Final = 5.0
LATENCY_ALLOWED: Final = 0.10
ATTEMPTS_POINTS_ALLOWED: Final = 5.0
JUDGED: Final = ("commits_per_s", "exhausted_percent", "p50_ms", "p95_ms")
ATTEMPTS_MAX: Final = 5  # PyIceberg's four retries

_LIVE: Final = (20.0, 3)  # seconds of a run, and how many
_LIVE_QUICK: Final = (5.0, 2)


class Txn(NamedTuple):
    """One txn that ended inside the time measured."""

    latency_ms: float  # from the loaded table to the end of the commit
    attempts: int
    is_committed: bool


@dataclass(frozen=True, slots=True)
class Figures:
    """What a cell is judged by."""

    commits_per_s: float
    exhausted_percent: float
    p50_ms: float
    p95_ms: float
    attempts: tuple[int, ...]  # how many committed or gave up after 1, 2, ... attempts

    @classmethod
    def of(cls, runs: Sequence[Sequence[Txn]], duration_ms: float) -> Figures:
        """Of several runs of the same duration, their txns taken together."""
        txns = [txn for run_of in runs for txn in run_of]
        latencies = sorted(txn.latency_ms for txn in txns if txn.is_committed)
        counted = Counter(txn.attempts for txn in txns)
        return cls(
            commits_per_s=1e3 * len(latencies) / (duration_ms * len(runs)),
            exhausted_percent=100.0 * (len(txns) - len(latencies)) / len(txns),
            p50_ms=percentile(latencies, 0.50),
            p95_ms=percentile(latencies, 0.95),
            attempts=tuple(counted[n] for n in range(1, ATTEMPTS_MAX + 1)),
        )

    def share_percent(self, attempts: int) -> float:
        """Of the txns that ended, those after so many attempts."""
        return 100.0 * self.attempts[attempts - 1] / sum(self.attempts)


def percentile(ordered: Sequence[float], p: float) -> float:
    """Straight lines between the sorted values."""
    place = p * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


# ---- what was measured -----------------------------------------------------------------------------------


def measurement() -> dict[str, Any]:
    """The measurement that comes with the package."""
    found = json.loads(LOAD_FILE.read_text(encoding="utf-8"))
    return dict(found)


def measured_runs(cell: Mapping[str, Any]) -> list[list[Txn]]:
    """The txns of every repetition that ended in time."""
    return [
        [
            Txn(end - commit, attempts, bool(is_committed))
            for _, commit, end, attempts, is_committed in run_of["txns"]
            if end <= cell["duration_ms"]
        ]
        for run_of in cell["runs"]
    ]


# ---- the model's side ------------------------------------------------------------------------------------


def configuration(cell: Mapping[str, Any], quantiles: Sequence[float]) -> dict[str, Any]:
    """As many closed-loop appenders; every request takes what one of its kind was measured to take in this cell."""
    taken = {
        name: {"distribution": "empirical", "quantiles": [list(pair) for pair in _rising(quantiles, span)]}
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
                "name": "writers",
                "arrivals": {"kind": "closed", "clients": cell["writers"], "think_ms": 0.0},
                "operation_types": {"fast_append": 1.0},
                "runtime": {"distribution": "fixed", "ms": 0.0},
            }
        ],
    }


def _rising(quantiles: Sequence[float], span: Mapping[str, Any]) -> list[tuple[float, float]]:
    return list(zip(quantiles, span["quantiles_ms"], strict=True))


def simulated_runs(cell: Mapping[str, Any], quantiles: Sequence[float], seeds: Iterable[int]) -> list[list[Txn]]:
    """The same cell in the model, once per seed."""
    simulation = Simulation(configuration(cell, quantiles))
    runs = []
    for seed in seeds:
        table = simulation.run(seed=seed).transactions
        columns = (table.column(name).to_pylist() for name in ("commit_latency_ms", "attempts", "status"))
        runs.append(
            [
                Txn(latency_ms, attempts, status == "committed")
                for latency_ms, attempts, status in zip(*columns, strict=True)
                if status in ("committed", "aborted")
            ]
        )
    return runs


# ---- the comparison --------------------------------------------------------------------------------------


def doubts_of(measured: Sequence[Figures], simulated: Sequence[Figures]) -> dict[str, float]:
    """Two standard errors of the difference of each figure, from resampled runs of both sides."""
    sides = [errors_of(side, JUDGED) for side in (measured, simulated)]
    return {name: doubt(*(side[name] for side in sides)) for name in JUDGED}


def law_of_attempts(
    writers: int, real: Sequence[Figures], model: Sequence[Figures], pair: tuple[Figures, Figures]
) -> Check:
    """The share of txns that took k attempts, at the k where model and measurement differ most.

    ``real`` and ``model`` are resampled figures of the two sides, ``pair`` those of all runs.
    """
    measured, simulated = pair
    differences = {n: simulated.share_percent(n) - measured.share_percent(n) for n in range(1, ATTEMPTS_MAX + 1)}
    worst = max(differences, key=lambda n: abs(differences[n]))
    errors = [standard_error([each.share_percent(worst) for each in side]) for side in (real, model)]
    return Check.points(
        "law of attempts, the share that differs most",
        {"writers": writers, "attempts": worst},
        expected=measured.share_percent(worst),
        actual=simulated.share_percent(worst),
        allowed=ATTEMPTS_POINTS_ALLOWED,
        doubt=doubt(*errors),
    )


def checks_of(
    writers: int, measured: Figures, simulated: Figures, doubts: Mapping[str, float] | None = None
) -> list[Check]:
    """The four figures a cell is held to."""
    what = {"writers": writers}
    known = doubts or dict.fromkeys(JUDGED, 0.0)
    return [
        Check.relative(
            "commits per second",
            what,
            expected=measured.commits_per_s,
            actual=simulated.commits_per_s,
            allowed=THROUGHPUT_ALLOWED,
            unit="/s",
            doubt=known["commits_per_s"] / measured.commits_per_s,
        ),
        Check.points(
            "share of txns whose retries ran out",
            what,
            expected=measured.exhausted_percent,
            actual=simulated.exhausted_percent,
            allowed=EXHAUSTED_POINTS_ALLOWED,
            doubt=known["exhausted_percent"],
        ),
        *(
            Check.relative(
                f"commit latency, {name}",
                what,
                expected=getattr(measured, f"{name}_ms"),
                actual=getattr(simulated, f"{name}_ms"),
                allowed=LATENCY_ALLOWED,
                unit="ms",
                doubt=known[f"{name}_ms"] / float(getattr(measured, f"{name}_ms")),
            )
            for name in ("p50", "p95")
        ),
    ]


def run(options: Options) -> Outcome:
    """Every cell, against the measurement that comes along or, live, against one made now."""
    if options.is_live:
        document = rigs.pyiceberg_load(*(_LIVE_QUICK if options.is_quick else _LIVE))
    else:
        document = measurement()
    seeds = QUICK_SEEDS if options.is_quick else SEEDS
    checks: list[Check] = []
    rows: list[tuple[Any, ...]] = []
    points: list[Point] = []
    medians: list[tuple[Any, ...]] = []
    for cell in document["cells"]:
        runs = measured_runs(cell)
        model_runs = simulated_runs(cell, document["quantiles"], seeds)
        figures = functools.partial(Figures.of, duration_ms=cell["duration_ms"])
        measured, simulated = figures(runs), figures(model_runs)
        again = resample(runs, figures), resample(model_runs, figures)
        checks += checks_of(cell["writers"], measured, simulated, doubts_of(*again))
        medians.append(median_row(cell["writers"], runs, again[0]))
        checks.append(law_of_attempts(cell["writers"], *again, (measured, simulated)))
        rows.append(measured_row(cell, runs, measured, simulated))
        points += points_of(cell["writers"], measured, simulated)
    return Outcome(
        intro=_INTRO,
        checks=tuple(checks),
        tables=(_measured_table(rows), _median_table(medians)),
        figures=(_figure(points),),
        remarks=_REMARKS,
        provenance=provenance(
            pyiceberg=document["pyiceberg"], recorded=document["recorded"], cores=document["cores"], seeds=len(seeds)
        ),
    )


def measured_row(
    cell: Mapping[str, Any], runs: Sequence[Sequence[Txn]], measured: Figures, simulated: Figures
) -> tuple[Any, ...]:
    """How far the repetitions of a cell lie apart, how busy the machine was, and the attempts on both sides."""
    each = [Figures.of([run_of], cell["duration_ms"]) for run_of in runs]
    return (
        cell["writers"],
        len(runs),
        sum(measured.attempts),
        _extremes([figures.commits_per_s for figures in each], 2),
        _extremes([figures.p50_ms for figures in each], 0),
        _extremes([figures.p95_ms for figures in each], 0),
        _extremes([run_of["loadavg"] for run_of in cell["runs"]], 1),
        _shares(measured.attempts),
        _shares(simulated.attempts),
    )


def median_row(writers: int, runs: Sequence[Sequence[Txn]], again: Sequence[Figures]) -> tuple[Any, ...]:
    """How well the measured median is known, from the measurement alone."""
    latencies = sorted(txn.latency_ms for run_of in runs for txn in run_of if txn.is_committed)
    medians = sorted(figures.p50_ms for figures in again)
    return (
        writers,
        *(round(percentile(latencies, share)) for share in (0.45, 0.50, 0.55)),
        f"{percentile(medians, 0.025):,.0f} to {percentile(medians, 0.975):,.0f}",
    )


def _median_table(rows: Sequence[tuple[Any, ...]]) -> Table:
    return Table(
        title="How well PyIceberg's median is known",
        headings=("writers", "P45, ms", "P50, ms", "P55, ms", "P50 of the runs drawn anew, 95 of 100 cases"),
        rows=tuple(rows),
        is_filed=True,
    )


def _extremes(values: Sequence[float], decimals: int) -> str:
    return f"{min(values):,.{decimals}f} to {max(values):,.{decimals}f}"


def _shares(attempts: Sequence[int]) -> str:
    return " / ".join(f"{100.0 * count / sum(attempts):.0f}" for count in attempts)


def points_of(writers: int, measured: Figures, simulated: Figures) -> list[Point]:
    """Throughput and exhausted share, with the bands they are held to."""
    rate, share = measured.commits_per_s, measured.exhausted_percent
    return [
        Point(
            panel="commits per second",
            x=writers,
            expected=rate,
            actual=simulated.commits_per_s,
            low=rate * (1.0 - THROUGHPUT_ALLOWED),
            high=rate * (1.0 + THROUGHPUT_ALLOWED),
        ),
        Point(
            panel="retries ran out, %",
            x=writers,
            expected=share,
            actual=simulated.exhausted_percent,
            low=max(0.0, share - EXHAUSTED_POINTS_ALLOWED),
            high=share + EXHAUSTED_POINTS_ALLOWED,
        ),
    ]


def _figure(points: Sequence[Point]) -> Figure:
    return Figure(
        name="load-pyiceberg",
        title="PyIceberg 0.12 under load",
        x_title="closed-loop writers",
        y_title="",
        points=tuple(points),
        is_x_log=True,
    )


def _measured_table(rows: Sequence[tuple[Any, ...]]) -> Table:
    return Table(
        title="The measurement of PyIceberg",
        headings=(
            "writers",
            "runs",
            "txns",
            "commits/s of single runs",
            "p50 of single runs, ms",
            "p95 of single runs, ms",
            "load average",
            "attempts 1 / 2 / 3 / 4 / 5, % of txns, measured",
            "the same, simulated",
        ),
        rows=tuple(rows),
        is_filed=True,
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
