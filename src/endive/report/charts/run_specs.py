"""Pictures of one run: latencies, commits over time, attempts and phases, source by source.

Charts of studies are elsewhere in this package.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from endive.report.charts.chart import COLOURS, CONFIG, THEME, Spec
from endive.results.freshness import Ages

BINS: Final = 60  # of simulated time
CURVE_POINTS: Final = 100
_ATTEMPTS_MAX: Final = 8  # more are counted together
_OUTCOMES: Final = ("committed", "aborted")
_WIDTH: Final = 640


def latency_spec(txns: pa.Table, names: Sequence[str]) -> Spec:
    """The share of committed txns of each source that were faster than a latency."""
    sources = _sources(txns)
    latencies = np.asarray(txns["commit_latency_ms"].to_numpy(), np.float64)
    is_committed = np.asarray(txns["status"].to_pylist()) == "committed"
    shares = np.linspace(0.0, 100.0, CURVE_POINTS + 1)
    values = []
    for name in names:
        chosen = latencies[is_committed & (sources == name)]
        if len(chosen):
            values += [
                {"source": name, "ms": float(max(ms, 1e-3)), "share": float(share) / 100.0}
                for ms, share in zip(np.percentile(chosen, shares), shares, strict=True)
            ]
    x = {"field": "ms", "type": "quantitative", "scale": {"type": "log"}, "title": "commit latency (ms)"}
    y = {"field": "share", "type": "quantitative", "title": "committed txns", "axis": {"format": ".0%"}}
    return _spec(values, {"type": "line", "strokeWidth": 2}, {"x": x, "y": y, "color": _by_source(names)})


def time_spec(txns: pa.Table, names: Sequence[str], duration_ms: float) -> Spec:
    """Commits of each source per second, over simulated time."""
    sources = _sources(txns)
    edges = np.linspace(0.0, duration_ms, BINS + 1)
    end_ms = np.asarray(txns["end_ms"].to_numpy(zero_copy_only=False), np.float64)
    is_committed = np.asarray(txns["status"].to_pylist()) == "committed"
    values = [
        {"source": name, "s": float(edge) / 1000.0, "per_s": float(count) * 1000.0 * BINS / duration_ms}
        for name in names
        for edge, count in zip(edges, np.histogram(end_ms[is_committed & (sources == name)], edges)[0], strict=False)
    ]
    x = {"field": "s", "type": "quantitative", "title": "simulated time (s)"}
    y = {"field": "per_s", "type": "quantitative", "title": "commits/s"}
    row = {"field": "source", "type": "nominal", "sort": list(names), "title": None}
    spec = _spec(values, {"type": "area", "interpolate": "step-after", "opacity": 0.8}, {"x": x, "y": y})
    spec["encoding"] |= {"color": _by_source(names), "row": row}
    return {**spec, "height": 90, "resolve": {"scale": {"y": "independent"}}}


def freshness_spec(ages: Mapping[str, Ages]) -> Spec:
    """The share of time in which the newest data that a reader sees were no older than that; a rule at each bound."""
    shares = np.linspace(0.0, 1.0, CURVE_POINTS + 1)
    told = {name: found for name, found in ages.items() if found.total_us}
    values = [
        {"source": name, "s": float(age) / 1000.0, "share": float(share)}
        for name, found in told.items()
        for age, share in zip(found.at(shares), shares, strict=True)
    ]
    x = {"field": "s", "type": "quantitative", "title": "age of the newest visible data (s)"}
    y = {"field": "share", "type": "quantitative", "title": "share of time", "axis": {"format": ".0%"}}
    line = {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"x": x, "y": y, "color": _by_source(list(told))}}
    bounds = sorted({found.bound_us / 1e6 for found in told.values() if found.bound_us is not None})
    rules = {
        "data": {"values": [{"s": bound} for bound in bounds]},
        "mark": {"type": "rule", "stroke": "var(--bad)", "strokeDash": [3, 3]},
        "encoding": {"x": x},
    }
    return {"config": CONFIG, "width": _WIDTH, "data": {"values": values}, "layer": [line, rules]}


def attempt_spec(txns: pa.Table, names: Sequence[str]) -> Spec:
    """How many attempts txns needed, as a share of those of their source that ended."""
    sources = _sources(txns)
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
    y = {"field": "share", "type": "quantitative", "title": "share", "axis": {"format": ".2~%"}}
    scale = {"domain": list(_OUTCOMES), "range": ["var(--c0)", "var(--c1)"]}
    colour = {"field": "outcome", "type": "nominal", "scale": scale}
    row = {"field": "source", "type": "nominal", "sort": list(names), "title": None}
    return {**_spec(values, {"type": "bar"}, {"x": x, "y": y, "color": colour, "row": row}), "height": 90}


def phase_spec(by_source: Mapping[str, Mapping[str, float | None]]) -> Spec:
    """Mean time of a committed txn of each source in each phase of its commit."""
    values = [
        {"source": name, "phase": phase.replace("_", " "), "ms": ms}
        for name, phases in by_source.items()
        for phase, ms in phases.items()
        if ms and phase != "runtime"
    ]
    x = {"field": "ms", "type": "quantitative", "title": "mean time (ms)"}
    y = {"field": "source", "type": "nominal", "title": None}
    colour = {"field": "phase", "type": "nominal", "sort": None, "scale": {"range": _colours()}}
    return _spec(values, {"type": "bar"}, {"x": x, "y": y, "color": colour})


def _spec(values: list[dict[str, Any]], mark: Spec, encoding: Spec) -> Spec:
    return {"config": CONFIG, "width": _WIDTH, "data": {"values": values}, "mark": mark, "encoding": encoding}


def _by_source(names: Sequence[str]) -> Spec:
    return {"field": "source", "type": "nominal", "scale": {"domain": list(names), "range": _colours()[: len(names)]}}


def _colours() -> list[str]:
    return [f"var(--c{place})" for place in range(COLOURS)]


def apply_theme(spec: Spec) -> Spec:
    """With the colours of a picture in place of the page's variables."""
    text = json.dumps(spec)
    for name, colour in THEME.items():
        text = text.replace(f"var({name})", colour)
    return dict(json.loads(text))


def _sources(txns: pa.Table) -> Any:
    return np.asarray(txns["source"].to_pylist())
