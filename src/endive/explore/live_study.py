"""A study that grows while it is looked at: one configuration along one key, as the report reads studies.

This file turns samples into the rows of an analysis, so that the charts of the live page are the report's own. Figures
are of all seeds together and intervals those of ``endive.answers.estimates``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from endive.answers.estimates import estimate_of, judge_samples, pooled_figures
from endive.answers.sample import Sample
from endive.config import SimulationConfig
from endive.config.slo import names_of, objective_of
from endive.objectives import DEFAULT_OBJECTIVE, FIELDS, Estimate, Subject, field_at
from endive.objectives.names import ALL, KIND, SOURCE
from endive.report.price import prices_of
from endive.report.reading import Row, Study
from endive.report.report import Section, make_section
from endive.results.provenance import MODEL_VERSION
from endive.tables.verdicts import VERDICTS, figure_row, group_of, group_verdicts

FIGURES: Final = {
    "success_rate": "success_rate",
    "committed_per_s": "committed_per_s",
    "offered_per_s": "offered_per_s",
    **{f"commit_latency_{part}_ms": f"{part}_commit" for part in ("p50", "p95", "p99", "mean")},
    **{f"freshness_{part}_ms": f"{part}_freshness" for part in ("p50", "p95", "p99", "max")},
    "retries_mean": "retries_mean",
    "requests_per_committed_txn": "requests_per_commit",
}
LIVE: Final = "live"  # the name of the study


@dataclass
class LiveStudy:
    """Points along a key, each with the samples it has so far."""

    title: str
    key: str
    points: dict[int, tuple[Any, SimulationConfig]] = field(default_factory=dict)  # number -> value, configuration
    _rows: dict[int, tuple[int, dict[str, list[Row]]]] = field(default_factory=dict)  # number -> seeds, rows

    def add(self, value: Any, config: SimulationConfig, samples: Sequence[Sample]) -> None:
        """Take the samples of a value, instead of those it had."""
        number = next((n for n, (known, _) in self.points.items() if known == value), len(self.points))
        self.points[number] = (value, config)
        if self._rows.get(number, (0, {}))[0] != len(samples):
            self._rows[number] = (len(samples), rows_of(number, value, self.key, config, samples))

    def section(self) -> Section:
        """Return the charts, as the report draws them."""
        prices = prices_of({number: config.to_dict() for number, (_, config) in self.points.items()})
        return make_section(self.study(), prices)

    def study(self) -> Study:
        """Return as the report reads it."""
        names = ("configurations", "figures", "phases", "requests", "conflicts")
        tables = {
            name: pa.Table.from_pylist([row for _, rows in self._rows.values() for row in rows[name]]) for name in names
        }
        runs = sum(seeds for seeds, _ in self._rows.values())
        first = next((config for _, config in self.points.values()), None)
        known = None if first is None else names_of(first)
        facts: dict[str, Any] = {
            "title": self.title,
            "objective": DEFAULT_OBJECTIVE if first is None else objective_of(first).text,
            "sources": () if known is None else known.sources,
            "kinds": () if known is None else known.kinds,
            "axes": [self.key],
            "runs": runs,
            "runs_planned": runs,
            "load_axis": self.key if "arrivals" in self.key.split(".") else None,
            "series": [],
            "report": {},
        }
        held = {name: table for name, table in tables.items() if table.num_columns}
        return Study(name=LIVE, folder=Path(), facts=facts, model_version=MODEL_VERSION, tables=held)


def rows_of(
    number: int, value: Any, key: str, config: SimulationConfig, samples: Sequence[Sample]
) -> dict[str, list[Row]]:
    """Return what the tables of an analysis would say of one point."""
    tables: dict[str, list[Row]] = {"configurations": [], "phases": [], "requests": [], "conflicts": []}
    objective = objective_of(config)
    verdict = judge_samples(objective, samples)
    told = dict(group_verdicts(verdict))
    tables["figures"] = [
        {"study": LIVE, "point": number, **figure_row(part.subject, part.found)} for part in verdict.parts
    ]
    kinds = dict.fromkeys(subject.name for subject in objective.subjects if subject.scope == KIND)
    parts = [(ALL, ""), *((SOURCE, name) for name in names_of(config).sources), *((KIND, name) for name in kinds)]
    for scope, name in parts:
        figures = pooled_figures(samples, scope, name)
        if scope != ALL and not figures["txns"]["submitted"]:
            continue
        group = group_of(Subject(scope, name, FIELDS[0]))
        begin: Row = {"point": number, "scope": group[0], "name": group[1], "seeds": len(samples)}
        judged = told.get(group, dict.fromkeys(VERDICTS))
        tables["configurations"].append({**begin, key: value, **judged, **_figures(samples, scope, name)})
        tables["phases"] += [{**begin, **row} for row in _phases(figures)]
        tables["requests"] += [{**begin, **row} for row in _requests(figures)]
        tables["conflicts"] += [{**begin, **row} for row in _conflicts(figures, len(samples))]
    return tables


def _figures(samples: Sequence[Sample], scope: str, name: str) -> Row:
    row: Row = {}
    for column, field_name in FIGURES.items():
        found_field = field_at(field_name)
        assert found_field is not None
        estimate = estimate_of(samples, Subject(scope, name, found_field))
        if found_field.path[0] == "freshness_ms" and _is_never_visible(samples, scope, name):
            estimate = Estimate(None)  # its age would be the length of the simulation
        high = None if estimate.high == float("inf") else estimate.high
        row |= {
            column: estimate.value,
            f"{column}_ci95_low": None if high is None else estimate.low,
            f"{column}_ci95_high": high,
        }
    return row


def _is_never_visible(samples: Sequence[Sample], scope: str, name: str) -> bool:
    data = pooled_figures(samples, scope, name)["data"]
    return bool(data["batches"]) and not data["visible"]


def _phases(figures: Mapping[str, Any]) -> list[Row]:
    phases = {phase: ms for phase, ms in figures["phases_ms"].items() if ms and phase != "runtime"}
    whole, unknown = sum(phases.values()), {"mean_ms_ci95_low": None, "mean_ms_ci95_high": None}
    return [{"phase": phase, "mean_ms": ms, **unknown, "share": ms / whole} for phase, ms in phases.items()]


def _requests(figures: Mapping[str, Any]) -> list[Row]:
    committed = figures["txns"]["committed"]
    return [
        {"object": name, "operation": operation, "per_committed_txn": count / committed}
        for name, by_operation in figures["requests"]["counts"].items()
        for operation, count in by_operation.items()
        if committed
    ]


def _conflicts(figures: Mapping[str, Any], runs: int) -> list[Row]:
    txns = figures["txns"]
    ended = txns["committed"] + sum(txns["aborted"].values())
    counts = {f"aborted_{reason}": count for reason, count in txns["aborted"].items()} | figures["counters"]
    rows = []
    for counter, count in counts.items():
        per = {"per_txn": ended, "per_committed_txn": txns["committed"], "per_run": runs}
        row: Row = {"counter": counter}
        for column, by in per.items():
            row |= {column: count / by if by else None, f"{column}_ci95_low": None, f"{column}_ci95_high": None}
        rows.append(row)
    return rows
