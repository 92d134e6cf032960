"""The chart of one run: how long commits take by source, and where that time goes.

This file defines the drawing for a notebook; the charts of a study are elsewhere in this package.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import altair as alt
import pyarrow as pa

from endive.report.chart import CONFIG, Spec
from endive.report.run_specs import latency_spec, phase_spec, themed

_WIDTH: Final = 300


def run_chart(transactions: pa.Table, phases_by_source: Mapping[str, Mapping[str, float | None]]) -> alt.HConcatChart:
    """Two panels: the distribution of commit latency of committed txns, and the mean time in each phase."""
    specs = (latency_spec(transactions, list(phases_by_source)), phase_spec(phases_by_source))
    found = alt.Chart.from_dict(themed({"config": CONFIG, "hconcat": [_narrow(spec) for spec in specs]}))
    assert isinstance(found, alt.HConcatChart)
    return found


def _narrow(spec: Spec) -> Spec:
    """One of several beside each other, which share their looks."""
    return {**{key: value for key, value in spec.items() if key != "config"}, "width": _WIDTH}
