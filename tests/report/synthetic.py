"""An analysis as ``endive analyze`` leaves it, made from formulas instead of runs.

The numbers are easy to check by hand: with ``pressure`` = load / capacity, the success rate is 1 up to pressure 1 and 1
/ pressure beyond, P50 is 100 ms times (1 + pressure), P95 three times that once pressure exceeds 1 and 1.5 times
before. Seeds differ by a hundredth. Nothing here is a result of the simulator.
"""

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from endive.objectives.student import student_t
from endive.pipeline.analysis.analysis_folder import write_analysis
from endive.report.report import Section, make_report
from endive.results.schema import PHASES
from endive.tables.warning_table import WARNING_SCHEMA

Row = dict[str, Any]

LEADING = (
    *("offered_per_s", "committed_per_s", "committed_in_window_per_s", "success_rate"),
    *(f"{kind}_latency_{name}_ms" for kind in ("commit", "total") for name in ("p50", "p95", "p99", "mean")),
    *("retries_mean", "requests_per_txn", "requests_per_committed_txn", "in_flight_committing_share"),
)
GROUPS = (("all", "all", 1.0), ("operation", "fast_append", 0.8), ("operation", "validated_overwrite", 0.2))
SOURCES = (("source", "appends", 0.8), ("source", "overwrites", 0.2))
BINS = 60
SIMULATED = {  # what an analysis keeps of the first configuration
    "configuration": {
        "simulation": {"duration_ms": 3_600_000.0, "seed": 42, "warmup_ms": 900_000.0, "cooldown_ms": 900_000.0},
        "storage": {"provider": "s3", "max_parallel": 4},
        "catalog": {"type": "service", "latency_ms": 5.0},
        "table": {"snapshots_kept_max": 1000},
        "commit": {"protocol": "iceberg", "merging": "off"},
        "source": [{"name": "appends", "retry": 4, "arrivals": {"kind": "poisson", "per_s": 2.0}}],
    },
    "config_hash": "0123456789abcdef",
    "seeds": [42, 43, 44],
    "known": [
        {"of": "s3", "object": "any", "operation": "read", "mean_ms": 34.0, "known": "measured", "source": "a paper"},
        {"of": "catalog", "object": "catalog", "operation": "cas", "mean_ms": 5.0, "known": "assumed", "source": "us"},
    ],
}


class SyntheticStudy:
    """One study: axes crossed, figures from the formulas above."""

    def __init__(
        self,
        name: str,
        axes: Mapping[str, Sequence[Any]],
        *,
        load: str | None = "load_per_s",
        seeds: int = 3,
        capacity_per_s: float = 3.0,
        report: Mapping[str, Any] | None = None,
        detail: str = "transactions",
        has_groups: bool = True,
        failed: Sequence[int] = (),
        objective: str = "success_rate >= 99 %",
        subject: str | None = None,
    ) -> None:
        self.name = name
        self.axes = {key: list(values) for key, values in axes.items()}
        self.load = load
        self.seeds = seeds
        self.capacity_per_s = capacity_per_s
        self.report = dict(report or {})
        self.detail = detail
        self.groups = (*GROUPS, *SOURCES) if has_groups else GROUPS[:1]
        self.points = [dict(zip(self.axes, values, strict=True)) for values in itertools.product(*self.axes.values())]
        self.failed = set(failed)
        self.objective, self.subject = objective, subject

    def facts(self) -> Row:
        """Its entry in the index."""
        runs = len(self.points) * self.seeds
        return {
            "title": self.name.replace("_", " ").capitalize(),
            "question": "What does the table take?",
            "look_for": "where the curve bends",
            "subject": self.subject,
            "objective": self.objective,
            "sources": [name for scope, name, _ in self.groups if scope == "source"],
            "kinds": [name for scope, name, _ in self.groups if scope == "operation"],
            "report": self.report,
            "detail": self.detail,
            "axes": list(self.axes),
            "load_axis": self.load,
            "series": [key for key in self.axes if key != self.load],
            "simulated": SIMULATED,
            "points": len(self.points),
            "runs": runs,
            "runs_planned": runs,
        }

    def pressure(self, point: int) -> float:
        """Load over capacity; a name in place of the load has its place in the list."""
        values = self.points[point]
        load = values.get(self.load or "", 1.0)
        if self.load and self.load.endswith("scale"):
            load = 1000.0 / load
        shift = sum(0.05 * self.axes[key].index(value) for key, value in values.items() if key != self.load)
        return float(load) / (self.capacity_per_s * (1.0 + shift))

    def figures(self, point: int, scope: str, name: str, share: float) -> Row:
        """The leading figures of a group, by the formulas."""
        pressure = self.pressure(point)
        if name in ("validated_overwrite", "overwrites"):
            pressure *= 4.0
        offered = pressure * self.capacity_per_s * share
        success = 1.0 if pressure <= 1 else 1.0 / pressure
        p50 = 100.0 * (1 + pressure)
        p95 = p50 * (3.0 if pressure > 1 else 1.5)
        found = {
            "offered_per_s": offered,
            "committed_per_s": offered * success,
            "committed_in_window_per_s": offered * success,
            "success_rate": success,
            "retries_mean": pressure,
            "requests_per_txn": 8 * (1 + pressure),
            "requests_per_committed_txn": 8 * (1 + pressure) / success,
            "in_flight_committing_share": 0.0,
        }
        for kind, extra in (("commit", 0.0), ("total", 5000.0)):
            for which, value in (("p50", p50), ("p95", p95), ("p99", 1.2 * p95), ("mean", 1.1 * p50)):
                found[f"{kind}_latency_{which}_ms"] = value + extra
        return found

    def spread(self, figure: str, value: float) -> Row:
        """A figure with the statistics of its seeds: value times 1, 1.01, 0.99, 1.02, ..."""
        stddev = 0.01 * abs(value)
        half = None if self.seeds < 2 else student_t(self.seeds - 1) * stddev / math.sqrt(self.seeds)
        top = 1.0 if figure in ("success_rate", "share") else math.inf
        return {
            figure: value,
            f"{figure}_stddev": None if half is None else stddev,
            f"{figure}_ci95_low": None if half is None else max(0.0, value - half),
            f"{figure}_ci95_high": None if half is None else min(top, value + half),
        }

    def rows(self) -> dict[str, list[Row]]:
        """Every table."""
        found: dict[str, list[Row]] = {name: [] for name in TITLES}
        for point, values in enumerate(self.points):
            found["runs"] += self._runs(point, values)
            if point in self.failed:
                continue
            for scope, name, share in self.groups:
                group = {"study": self.name, "point": point, "scope": scope, "name": name}
                figures = self.figures(point, scope, name, share)
                found["configurations"].append(
                    {**group, **values, **self._judged(figures), **self._spread_all(figures)}
                )
                found["phases"] += self._phases(group, figures)
                found["requests"] += self._requests(group, figures)
                found["conflicts"] += self._conflicts(group, figures)
                if self.detail != "runs":
                    found["attempts"] += self._attempts(group, figures)
                    found["convoy"] += self._convoy(group, name)
                    found["timeline"] += self._timeline(group, figures)
            found["figures"] += self._figures(point)
        return found

    def _judged(self, figures: Row) -> Row:
        meets = figures["success_rate"] >= 0.99
        verdict, misses = ("met", None) if meets else ("not met", "success_rate >= 99 %")
        return {"seeds": self.seeds, "meets_objective": meets, "verdict": verdict, "misses": misses}

    def _spread_all(self, figures: Row) -> Row:
        return {key: value for name in LEADING for key, value in self.spread(name, figures[name]).items()}

    def _runs(self, point: int, values: Row) -> list[Row]:
        figures = self.figures(point, "all", "all", 1.0)
        is_failed = point in self.failed
        runs = []
        for seed in range(self.seeds):
            factor = 1.0 + 0.01 * ((seed + 1) // 2) * (1 if seed % 2 else -1)
            status = {"status": "failed" if is_failed else "ok", "error": "boom" if is_failed else None}
            run = {name: None if is_failed else figures[name] * factor for name in LEADING}
            run["success_rate"] = None if is_failed else figures["success_rate"]
            runs.append({"study": self.name, "point": point, "seed": seed, **status, **values, **run})
        return runs

    def _figures(self, point: int) -> list[Row]:
        history = ("all", "all", {"phase_history_mean_ms": 10.0 * (1 + self.pressure(point))})
        groups = [(scope, name, self.figures(point, scope, name, share)) for scope, name, share in self.groups]
        rows = []
        for scope, name, figures in (history, *groups):
            for figure, value in figures.items():
                ends = {key.removeprefix(f"{figure}_"): end for key, end in self.spread(figure, value).items()}
                row = {"study": self.name, "point": point, "seeds": self.seeds, "scope": scope, "name": name}
                rows.append({**row, "figure": figure, "mean": ends.pop(figure), **ends})
        return rows

    def _phases(self, group: Row, figures: Row) -> list[Row]:
        total = figures["commit_latency_mean_ms"]
        shares = {"metadata": 0.2, "manifest_list": 0.3, "commit": 0.1, "backoff": 0.4}
        rows = []
        for phase in PHASES:
            is_own_work = phase == "runtime"
            share = None if is_own_work else shares.get(phase, 0.0)
            mean_ms = self.spread("mean_ms", 5000.0 if is_own_work else total * shares.get(phase, 0.0))
            rows.append({**group, "phase": phase, "share": share, **mean_ms})
        return rows

    def _requests(self, group: Row, figures: Row) -> list[Row]:
        kinds = (("catalog", "read"), ("catalog", "cas"), ("manifest_list", "read"), ("manifest_list", "write"))
        each = self.spread("per_committed_txn", figures["requests_per_committed_txn"] / len(kinds))
        return [{**group, "object": obj, "operation": operation, **each} for obj, operation in kinds]

    def _conflicts(self, group: Row, figures: Row) -> list[Row]:
        success = figures["success_rate"]
        counts = {"false_conflicts": figures["retries_mean"], "aborted_retries_exhausted": 1 - success}
        rows = []
        for counter, value in counts.items():
            per = {"per_run": 1000 * value, "per_txn": value, "per_committed_txn": value / success}
            spreads = {key: end for name, each in per.items() for key, end in self.spread(name, each).items()}
            rows.append({**group, "counter": counter, "seeds": self.seeds, **spreads})
        return rows

    def _attempts(self, group: Row, figures: Row) -> list[Row]:
        committed, aborted = round(1000 * figures["success_rate"]), round(1000 * (1 - figures["success_rate"]))
        bins = ((1, 1, committed // 2, 0), (2, 2, committed - committed // 2, 0), (4, 5, 0, aborted))
        names = ("attempts_low", "attempts_high", "txns_committed", "txns_aborted")
        return [{**group, **dict(zip(names, each, strict=True))} for each in bins if any(each[2:])]

    def _convoy(self, group: Row, name: str) -> list[Row]:
        if name in ("fast_append", "appends"):
            return []
        return [
            {
                **group,
                **dict.fromkeys(("n_behind_low", "n_behind_high"), behind),
                "txns": 100 - behind,
                "n_behind_mean": float(behind),
                "history_lists_mean": 1.5 * behind,
                "history_mean_ms": 30.0 * behind,
                "attempts_mean": 2.0,
                "commit_latency_mean_ms": 200.0 + 30 * behind,
                "success_rate": 1.0 - behind / 100,
            }
            for behind in (1, 2, 5, 12, 40)
        ]

    def _timeline(self, group: Row, figures: Row) -> list[Row]:
        return [
            {
                **group,
                "bin": place,
                "start_ms": 20_000.0 * place,
                "end_ms": 20_000.0 * (place + 1),
                "in_window": 15 <= place < 45,
                **self.spread("committed_per_s", figures["committed_per_s"] * (1 + 0.1 * math.sin(place))),
                "aborted_per_s": figures["offered_per_s"] - figures["committed_per_s"],
                "commit_latency_mean_ms": figures["commit_latency_mean_ms"],
            }
            for place in range(BINS)
        ]


_TABLES = "configurations runs figures phases requests conflicts attempts convoy timeline"
TITLES = {name: name.capitalize() for name in (*_TABLES.split(), "warnings")}


def write_synthetic(folder: Path, *studies: SyntheticStudy, warnings: Sequence[Row] = ()) -> Path:
    """Write ``folder/analysis`` and the plan of the sweep beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    rows: dict[str, list[Row]] = {name: [] for name in TITLES}
    for study in studies:
        for name, own in study.rows().items():
            rows[name] += own
    tables = {name: _table(own) for name, own in rows.items() if own}
    tables["warnings"] = pa.Table.from_pylist(list(warnings), WARNING_SCHEMA)
    for name in ("attempts", "convoy", "timeline"):
        if name not in tables and any(study.detail != "runs" for study in studies):
            tables[name] = pa.table({"study": pa.array([], pa.string()), "scope": pa.array([], pa.string())})
    write_analysis(folder, tables, TITLES, {"bins": BINS, "studies": {study.name: study.facts() for study in studies}})
    plans = {
        study.name: {"parts": [{"name": "part", "runs": ["run"] * len(study.points) * study.seeds}]}
        for study in studies
    }
    (folder / "_endive.json").write_text(json.dumps({"endive": "sweep", "studies": plans}))
    return folder


def _table(rows: list[Row]) -> pa.Table:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return pa.table({name: [row.get(name) for row in rows] for name in columns})


def section_of(folder: Path, *studies: SyntheticStudy) -> Section:
    """What a page says of the first of these studies."""
    return make_report(write_synthetic(folder, *studies)).sections[0]
