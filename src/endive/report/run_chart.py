"""The chart of one run: how long commits take by source, and where that time goes.

The charts of a study are elsewhere in this package.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import altair as alt
import pyarrow as pa
import vl_convert

from endive.report.chart import CONFIG, Spec
from endive.report.run_specs import latency_spec, phase_spec, themed

_WIDTH: Final = 300


class RunChart(alt.HConcatChart):
    """A chart that a notebook shows as a picture made here, where Altair's own would load its drawing code."""

    def _repr_mimebundle_(self, *_: Any, **__: Any) -> dict[str, str]:
        return {
            "image/svg+xml": vl_convert.vegalite_to_svg(self.to_dict()),
            "text/plain": "a chart of latencies and phases",
        }


def run_chart(transactions: pa.Table, phases_by_source: Mapping[str, Mapping[str, float | None]]) -> RunChart:
    """Two panels: the distribution of commit latency of committed txns, and the mean time in each phase."""
    specs = (latency_spec(transactions, list(phases_by_source)), phase_spec(phases_by_source))
    found = alt.Chart.from_dict(themed({"config": CONFIG, "hconcat": [_narrow(spec) for spec in specs]}))
    assert isinstance(found, alt.HConcatChart)
    return RunChart(hconcat=found.hconcat, config=found.config)


def _narrow(spec: Spec) -> Spec:
    """One of several beside each other, which share their looks."""
    return {**{key: value for key, value in spec.items() if key != "config"}, "width": _WIDTH}
