"""Suite ``load``, Java half: throughput and latency of the simulator against Java Iceberg under load.

What Iceberg did was measured once and lies in ``data/load.json``; ``--live`` measures again on this machine, which
takes an hour or two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from endive.verification.suite import Check, Figure, Options, Outcome, Point, Table, Value, provenance
from rigs import live as rigs
from verification.suites.java.scenario import Operation
from verification.suites.load import load_model
from verification.suites.load.cells import beside_cells
from verification.suites.load.closed_checks import (
    EXHAUSTED_ALLOWED_POINTS,
    GROUPS,
    GROUPS_QUICK,
    LATENCY_ALLOWED,
    THROUGHPUT_ALLOWED,
    closed_checks,
)
from verification.suites.load.measurement import (
    Figures,
    ended,
    latencies,
    load_averages,
    measured,
    pointer_ms,
    read_load,
)
from verification.suites.sampling import doubt, mean_error, share_error_percent

BESIDE_SEEDS: Final = 8
BESIDE_SEEDS_QUICK: Final = 2

INTRO: Final = """
Real Iceberg runs in one JVM; its `S3FileIO` talks to a local S3 that answers after a fixed delay (GET 20, HEAD 10, PUT
30, DELETE 20 ms), the catalog is `JdbcCatalog` in memory. *Closed loop*: each writer loads the table, appends one file
(`FastAppend`) and begins again without a pause. *Beside a stream*: an overwrite (serializable) or a compaction loads
its table, N0 appends commit, then it commits while one more append begins every T seconds.

Nothing is fitted. The model is given the delays, what each kind of request took beyond its delay in the cell itself on
a busy machine, and the time of a statement to the database. Latencies are those of committed txns, from the beginning
of `commit()` to its return; only txns that ended within a run count. *Chance*, in the file: the range of the model's
figure in 95 of 100 cases, from as many simulated runs as were measured.
"""

REMARKS: Final = """
Latencies fall into clusters, one per number of attempts; where the middle txn stands at the edge of two, a few points
in the shares of attempts move P50 by a third. Writers fall into step for seconds at a time, in Iceberg and in the
model, so repetitions differ more than the number of txns suggests. Not covered: several tables or client processes,
more than 16 writers.
"""


def run(options: Options) -> Outcome:
    """Hold the model against the measurement, or against a new one."""
    if options.is_live:
        document = rigs.java_load(options.iceberg_jars, is_quick=options.is_quick)
    else:
        document = read_load()
    closed = [_closed_cell(document, writers, options) for writers in document["closed"]]
    beside = [_beside_cell(document, *cell, options) for cell in beside_cells() if cell[0] in document["beside"]]
    return Outcome(
        intro=INTRO,
        checks=tuple(check for checks in [*(checks for checks, _ in closed), *beside] for check in checks),
        tables=(_attempts_table(document, [cell for _, cell in closed]), _beyond_table(document)),
        figures=(_figure(document, [cell for _, cell in closed]),),
        remarks=REMARKS,
        provenance=provenance(
            iceberg=document["iceberg"],
            measured=document["date"],
            machine=document["machine"],
            pointer_ms=document["pointer_ms"],
        ),
    )


# ---- closed loop ---------------------------------------------------------------------------------------


def _closed_cell(document: Mapping[str, Any], writers: str, options: Options) -> tuple[list[Check], Figures]:
    """The figures of one number of writers, and the simulated ones."""
    runs = document["closed"][writers]
    duration_s = runs[0]["duration_s"]
    cell = [run["beyond_ms"] for run in runs]
    objects = _objects(document, cell, is_append=True)
    pointer = pointer_ms(cell, document["pointer_ms"])
    config = load_model.closed_configuration(int(writers), duration_s, pointer, objects, document["iceberg"])
    groups = GROUPS_QUICK if options.is_quick else GROUPS
    real = [ended(run) for run in runs]
    simulated = load_model.simulate_closed(config, range(groups * len(runs)))
    checks = closed_checks("closed loop: ", {"writers": int(writers), "runs": len(runs)}, real, simulated, duration_s)
    return checks, Figures.of_runs(simulated, duration_s)


def _objects(
    document: Mapping[str, Any], cell: Sequence[Mapping[str, Any]], *, is_append: bool
) -> dict[str, dict[str, Any]]:
    """Measured latencies by object and operation; a key that no txn of the cell reads would be refused."""
    closed = [run["beyond_ms"] for runs in document["closed"].values() for run in runs]
    beside = [each["beyond_ms"] for each in document["beside"].values()]
    spare = [closed, beside] if is_append else [beside, closed]
    objects = latencies(document["delays_ms"], cell, spare, is_first_dearer=is_append)
    if is_append:
        objects["manifest"].pop("read", None)
    return objects


# ---- beside a stream -----------------------------------------------------------------------------------


def _beside_cell(
    document: Mapping[str, Any], key: str, operation: Operation, n: int, period_s: float, options: Options
) -> list[Check]:
    """One slow operation: how long until it ended, and how often it committed."""
    cell = document["beside"][key]
    objects = _objects(document, [cell["beyond_ms"]], is_append=False)
    real = [(1000.0 * end_s, bool(is_committed), attempts) for _, end_s, is_committed, attempts, _ in cell["txns"]]
    simulated = []
    for phase_s, *_ in cell["txns"]:
        config = load_model.beside_configuration(
            operation, n, period_s, phase_s, document["pointer_ms"], objects, document["iceberg"]
        )
        seeds = range(BESIDE_SEEDS_QUICK if options.is_quick else BESIDE_SEEDS)
        simulated.extend(load_model.simulate_victim(config, seeds))
    what: dict[str, Value] = {"operation": operation.java, "N0": n, "T": f"{period_s:g} s", "runs": len(real)}
    committed = [100.0 * sum(each[1] for each in txns) / len(txns) for txns in (real, simulated)]
    ends_ms = [sum(each[0] for each in txns) / len(txns) for txns in (real, simulated)]
    attempts = [sum(each[2] for each in txns) / len(txns) for txns in (real, simulated)]
    return [
        Check.points(
            "beside a stream: committed",
            what,
            expected=committed[0],
            actual=committed[1],
            allowed=EXHAUSTED_ALLOWED_POINTS,
            note=f"attempts {attempts[0]:.2f} real, {attempts[1]:.2f} simulated",
            doubt=doubt(*(share_error_percent(sum(each[1] for each in txns), len(txns)) for txns in (real, simulated))),
        ),
        Check.relative(
            "beside a stream: mean time until the commit ends",
            what,
            expected=ends_ms[0],
            actual=ends_ms[1],
            allowed=LATENCY_ALLOWED,
            unit="ms",
            doubt=doubt(*(mean_error([each[0] for each in txns]) for txns in (real, simulated)), scale=ends_ms[0]),
        ),
    ]


# ---- shown beside the checks -----------------------------------------------------------------------------


def _attempts_table(document: Mapping[str, Any], simulated: Sequence[Figures]) -> Table:
    rows: list[tuple[Value, ...]] = []
    for (writers, runs), model in zip(document["closed"].items(), simulated, strict=True):
        for name, figures in (("real", measured(runs)), ("simulated", model)):
            shares = [100.0 * count / sum(figures.attempts) for count in figures.attempts]
            cells = [f"{share:.1f}" for share in shares] + ["0.0"] * (5 - len(shares))
            busy = load_averages(runs) if name == "real" else ""
            rows.append((int(writers), name, *cells, busy))
    return Table(
        title="Attempts per txn, in percent of the txns that ended",
        headings=("writers", "", "1", "2", "3", "4", "5", "load average of the machine"),
        rows=tuple(rows),
        is_filed=True,
    )


def _beyond_table(document: Mapping[str, Any]) -> Table:
    """What requests took beyond their delay: the input."""
    rows: list[tuple[Value, ...]] = []
    for writers, runs in document["closed"].items():
        objects = _objects(document, [run["beyond_ms"] for run in runs], is_append=True)
        cells = []
        for obj, operation, method in (
            ("metadata", "read", "GET"),
            ("metadata", "write", "PUT"),
            ("manifest_list", "head", "HEAD"),
            ("manifest_list", "read", "GET"),
            ("manifest_list", "write", "PUT"),
            ("manifest", "write", "PUT"),
        ):
            points = objects[obj][operation]["quantiles"]
            middle, late = (_at(points, share) - document["delays_ms"][method] for share in (0.5, 0.9))
            cells.append(f"{middle:.1f} / {late:.1f}")
        rows.append((int(writers), *cells))
    return Table(
        title="Time of a request beyond its delay, in ms: P50 / P90",
        headings=("writers", "metadata GET", "metadata PUT", "list HEAD", "list GET", "list PUT", "manifest PUT"),
        rows=tuple(rows),
        is_filed=True,
    )


def _at(points: Sequence[Sequence[float]], share: float) -> float:
    return next(ms for p, ms in points if p >= share)


def _figure(document: Mapping[str, Any], simulated: Sequence[Figures]) -> Figure:
    points = []
    panels = (
        ("committed per second", "committed_per_s", THROUGHPUT_ALLOWED, 0.0),
        ("retries exhausted (%)", "exhausted_percent", 0.0, EXHAUSTED_ALLOWED_POINTS),
        ("P50 (ms)", "p50_ms", LATENCY_ALLOWED, 0.0),
        ("P95 (ms)", "p95_ms", LATENCY_ALLOWED, 0.0),
    )
    for panel, name, share, width in panels:
        for (writers, runs), model in zip(document["closed"].items(), simulated, strict=True):
            real: float = getattr(measured(runs), name)
            points.append(
                Point(
                    panel=panel,
                    x=float(writers),
                    expected=real,
                    actual=getattr(model, name),
                    low=max(0.0, real * (1.0 - share) - width),
                    high=real * (1.0 + share) + width,
                )
            )
    return Figure(
        name="load_java",
        title="FastAppend in a closed loop: real Iceberg and the model",
        x_title="writers",
        y_title="",
        points=tuple(points),
        is_x_log=True,
    )
