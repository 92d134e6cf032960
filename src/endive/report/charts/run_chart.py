"""Pictures of one run: latencies, commits over time, attempts and phases, source by source."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from endive.report.charts.chart import COLOURS, CONFIG, THEME, Spec, layer, quantity
from endive.report.words import clock_unit
from endive.results.columns import Floats
from endive.results.freshness import Ages
from endive.results.schema import Ints

BINS: Final = 60  # of simulated time
CURVE_POINTS: Final = 100
_ATTEMPTS_MAX: Final = 8  # more are counted together
_OUTCOMES: Final = ("committed", "aborted")
_WIDTH: Final = 640
_NARROW: Final = 300  # of one of several beside each other
_RULE: Final[Spec] = {"stroke": "var(--bad)", "strokeDash": [3, 3]}  # at what is asked for
_COLOURS: Final = [f"var(--c{place})" for place in range(COLOURS)]
JOBS: Final = ("furthest behind", "the middle one")


@dataclass(frozen=True, slots=True)
class Late:
    """The age of the newest visible data of each client (a row each) at some moments, and what is asked for."""

    moments_us: Ints
    ages_us: Ints
    bound_us: int | None


def _committed(txns: pa.Table, column: str, name: str) -> Floats:
    """Return a column of those txns of a source that committed."""
    own = txns.filter(pc.and_(pc.equal(txns["source"], name), pc.equal(txns["status"], "committed")))
    return np.asarray(own[column].to_numpy(), np.float64)


def latency_spec(txns: pa.Table, names: Sequence[str]) -> Spec:
    """Return the share of committed txns of each source that were faster than a latency."""
    shares = np.linspace(0.0, 100.0, CURVE_POINTS + 1)
    values = []
    for name in names:
        chosen = _committed(txns, "commit_latency_ms", name)
        if len(chosen):
            values += [
                {"source": name, "ms": float(max(ms, 1e-3)), "share": float(share) / 100.0}
                for ms, share in zip(np.percentile(chosen, shares), shares, strict=True)
            ]
    x = quantity("ms", scale={"type": "log"}, title="commit latency (ms)")
    y = quantity("share", "committed txns", axis={"format": ".0%"})
    return _spec(values, layer("line", {"x": x, "y": y, "color": _by_source(names)}, strokeWidth=2))


def time_spec(txns: pa.Table, names: Sequence[str], duration_ms: float) -> Spec:
    """Commits of each source per second, over simulated time."""
    edges = np.linspace(0.0, duration_ms, BINS + 1)
    unit_us, unit = clock_unit(1000.0 * duration_ms)
    values = [
        {"source": name, "t": 1000.0 * float(edge) / unit_us, "per_s": float(count) * 1000.0 * BINS / duration_ms}
        for name in names
        for edge, count in zip(edges, np.histogram(_committed(txns, "end_ms", name), edges)[0], strict=False)
    ]
    x, y = quantity("t", f"simulated time ({unit})"), quantity("per_s", "commits/s")
    area = {"x": x, "y": y, "color": _by_source(names), "row": _row(names)}
    spec = _spec(values, layer("area", area, interpolate="step-after", opacity=0.8))
    return {**spec, "height": 90, "resolve": {"scale": {"y": "independent"}}}


def freshness_spec(ages: Mapping[str, Ages]) -> Spec:
    """The share of time in which the newest data that a reader sees were no older than that; a rule at each bound."""
    shares = np.linspace(0.0, 1.0, CURVE_POINTS + 1)
    known = {name: source_ages for name, source_ages in ages.items() if source_ages.total_us}
    ages_ms = {name: source_ages.at(shares) for name, source_ages in known.items()}
    unit_us, unit = clock_unit(max((1000.0 * float(each[-1]) for each in ages_ms.values()), default=0.0))
    values = [
        {"source": name, "age": 1000.0 * float(age) / unit_us, "share": float(share)}
        for name, each in ages_ms.items()
        for age, share in zip(each, shares, strict=True)
    ]
    x = quantity("age", f"age of the newest visible data ({unit})")
    y = quantity("share", "share of time", axis={"format": ".0%"})
    line = layer("line", {"x": x, "y": y, "color": _by_source(list(known))}, strokeWidth=2)
    bounds = sorted({each.bound_us / unit_us for each in known.values() if each.bound_us is not None})
    rules = {"data": {"values": [{"age": bound} for bound in bounds]}, **layer("rule", {"x": x}, **_RULE)}
    return _spec(values, {"layer": [line, rules]})


def lateness_spec(late: Mapping[str, Late]) -> Spec:
    """Return how late data are over simulated time: of the job that is furthest behind, and of the middle one."""
    unit_us, unit = clock_unit(max((float(each.ages_us.max()) for each in late.values()), default=0.0))
    clock_us, clock = clock_unit(max((float(each.moments_us[-1]) for each in late.values()), default=0.0))
    values = [
        {"source": name, "job": job, "t": float(moment) / clock_us, "age": float(age) / unit_us}
        | ({} if each.bound_us is None else {"bound": each.bound_us / unit_us})
        for name, each in late.items()
        for job, row in zip(JOBS, (each.ages_us.max(axis=0), np.median(each.ages_us, axis=0)), strict=True)
        for moment, age in zip(each.moments_us, row, strict=True)
    ]
    y = quantity("age", f"age ({unit})")
    scale = {"domain": list(JOBS), "range": ["var(--c1)", "var(--c0)"]}
    colour = {"field": "job", "type": "nominal", "sort": None, "scale": scale}
    line = {"x": quantity("t", f"simulated time ({clock})"), "y": y, "color": colour}
    layers = [layer("line", line, strokeWidth=1.5)]
    if any(each.bound_us is not None for each in late.values()):
        layers.append(layer("rule", {"y": {**y, "field": "bound", "aggregate": "min"}}, **_RULE))
    spec = {"width": _WIDTH, "height": 120, "layer": layers}
    return {"config": CONFIG, "data": {"values": values}, "facet": {"row": _row(list(late))}, "spec": spec}


def attempt_spec(txns: pa.Table, names: Sequence[str]) -> Spec:
    """Return how many attempts txns needed, as a share of those of their source that ended."""
    sources = np.asarray(txns["source"].to_pylist())
    attempts = np.asarray(txns["attempts"].to_numpy(), np.int64)
    status = np.asarray(txns["status"].to_pylist())
    has_ended = np.isin(status, _OUTCOMES)
    values = []
    for name in names:
        ended = int(np.count_nonzero(has_ended & (sources == name)))
        for outcome in _OUTCOMES:
            chosen = np.minimum(attempts[(status == outcome) & (sources == name)], _ATTEMPTS_MAX)
            for count, txns_there in zip(*np.unique(chosen, return_counts=True), strict=True):
                label = f"{count} or more" if count == _ATTEMPTS_MAX else str(count)
                values.append({"source": name, "attempts": label, "outcome": outcome, "share": txns_there / ended})
    x = {"field": "attempts", "type": "ordinal", "title": "attempts", "axis": {"labelAngle": 0}}
    y = quantity("share", "share", axis={"format": ".2~%"})
    scale = {"domain": list(_OUTCOMES), "range": ["var(--c0)", "var(--c1)"]}
    colour = {"field": "outcome", "type": "nominal", "scale": scale}
    return {**_spec(values, layer("bar", {"x": x, "y": y, "color": colour, "row": _row(names)})), "height": 90}


def phase_spec(by_source: Mapping[str, Mapping[str, float | None]]) -> Spec:
    """Mean time of a committed txn of each source in each phase of its commit."""
    values = [
        {"source": name, "phase": phase.replace("_", " "), "ms": ms}
        for name, phases in by_source.items()
        for phase, ms in phases.items()
        if ms and phase != "runtime"
    ]
    y = {"field": "source", "type": "nominal", "title": None}
    colour = {"field": "phase", "type": "nominal", "sort": None, "scale": {"range": _COLOURS}}
    return _spec(values, layer("bar", {"x": quantity("ms", "mean time (ms)"), "y": y, "color": colour}))


def _spec(values: list[dict[str, Any]], drawn: Spec) -> Spec:
    return {"config": CONFIG, "width": _WIDTH, "data": {"values": values}, **drawn}


def _row(names: Sequence[str]) -> Spec:
    """Return a panel for each source, one below the other."""
    return {"field": "source", "type": "nominal", "sort": list(names), "title": None}


def _by_source(names: Sequence[str]) -> Spec:
    return {"field": "source", "type": "nominal", "scale": {"domain": list(names), "range": _COLOURS[: len(names)]}}


def apply_theme(spec: Spec) -> Spec:
    """With the colours of a picture in place of the page's variables."""
    text = json.dumps(spec)
    for name, colour in THEME.items():
        text = text.replace(f"var({name})", colour)
    return dict(json.loads(text))


@dataclass(frozen=True, slots=True)
class RunChart:
    """A Vega-Lite document that a notebook shows as a picture made here, with nothing to load."""

    document: Spec

    def to_dict(self) -> Spec:
        """Return the document, for other tools that draw Vega-Lite."""
        return self.document

    def _repr_mimebundle_(self, *_: Any, **__: Any) -> dict[str, str]:
        import vl_convert

        return {
            "image/svg+xml": vl_convert.vegalite_to_svg(self.document),
            "text/plain": "a chart of latencies, phases and, of streams, how late data are",
        }


def run_chart(
    transactions: pa.Table,
    phases_by_source: Mapping[str, Mapping[str, float | None]],
    ages: Mapping[str, Ages] | None = None,
) -> RunChart:
    """Commit latency of committed txns, the mean time in each phase, and of streams how late data are."""
    specs = [latency_spec(transactions, list(phases_by_source)), phase_spec(phases_by_source)]
    if ages:
        specs.append(freshness_spec(ages))
    own = {"scale": {"color": "independent"}, "legend": {"color": "independent"}}  # sources here, phases there
    document = {"config": CONFIG, "hconcat": [_narrow(spec) for spec in specs], "resolve": own}
    return RunChart(apply_theme(document))


def _narrow(spec: Spec) -> Spec:
    """Return one of several beside each other, which share their looks."""
    return {**{key: value for key, value in spec.items() if key != "config"}, "width": _NARROW}
