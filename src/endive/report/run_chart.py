"""The chart of one run: how long commits take by source, and where that time goes.

This file defines the drawing for a notebook; the charts of a study are elsewhere in this package.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import altair as alt
import numpy as np
import pyarrow as pa

from endive.report.chart import CONFIG, THEME, Spec

POINTS: Final = 100  # of each curve
_WIDTH: Final = 300


def run_chart(transactions: pa.Table, phases_by_source: Mapping[str, Mapping[str, float | None]]) -> alt.HConcatChart:
    """Two panels: the distribution of commit latency of committed txns, and the mean time in each phase."""
    found = alt.Chart.from_dict(
        _themed({"config": CONFIG, "hconcat": [_latencies(transactions), _phases(phases_by_source)]})
    )
    assert isinstance(found, alt.HConcatChart)
    return found


def _latencies(transactions: pa.Table) -> Spec:
    values = []
    sources = np.asarray(transactions["source"].to_pylist())
    latencies = np.asarray(transactions["commit_latency_ms"].to_numpy(), np.float64)
    is_committed = np.asarray(transactions["status"].to_pylist()) == "committed"
    for source in sorted(set(sources)):
        chosen = latencies[is_committed & (sources == source)]
        if len(chosen):
            shares = np.linspace(0.0, 100.0, POINTS + 1)
            at_ms = np.percentile(chosen, shares)
            values += [
                {"source": str(source), "ms": float(max(ms, 1e-3)), "share": float(share)}
                for ms, share in zip(at_ms, shares, strict=True)
            ]
    return {
        "width": _WIDTH,
        "data": {"values": values},
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "x": {"field": "ms", "type": "quantitative", "scale": {"type": "log"}, "title": "commit latency, ms"},
            "y": {"field": "share", "type": "quantitative", "title": "committed txns that are faster, %"},
            "color": {"field": "source", "type": "nominal", "scale": {"range": _colours()}},
        },
    }


def _phases(by_source: Mapping[str, Mapping[str, float | None]]) -> Spec:
    values = [
        {"source": source, "phase": phase.replace("_", " "), "ms": ms}
        for source, phases in by_source.items()
        for phase, ms in phases.items()
        if ms and phase != "runtime"
    ]
    return {
        "width": _WIDTH,
        "data": {"values": values},
        "mark": "bar",
        "encoding": {
            "x": {"field": "ms", "type": "quantitative", "title": "mean time of a commit, ms"},
            "y": {"field": "source", "type": "nominal", "title": None},
            "color": {"field": "phase", "type": "nominal", "scale": {"range": _colours()}, "sort": None},
        },
    }


def _colours() -> list[str]:
    return [f"var(--c{place})" for place in range(8)]


def _themed(spec: Spec) -> dict[str, Any]:
    """With the colours of a picture in place of the page's variables."""
    text = json.dumps(spec)
    for name, colour in THEME.items():
        text = text.replace(f"var({name})", colour)
    themed: dict[str, Any] = json.loads(text)
    return themed
