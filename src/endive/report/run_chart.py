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
from endive.report.run_specs import freshness_spec, latency_spec, phase_spec, themed
from endive.results.freshness import Ages

_WIDTH: Final = 300


class RunChart(alt.HConcatChart):
    """A chart that a notebook shows as a picture made here, where Altair's own would load its drawing code."""

    def _repr_mimebundle_(self, *_: Any, **__: Any) -> dict[str, str]:
        return {
            "image/svg+xml": vl_convert.vegalite_to_svg(self.to_dict()),
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
    found = alt.Chart.from_dict(themed({"config": CONFIG, "hconcat": [_narrow(spec) for spec in specs]}))
    assert isinstance(found, alt.HConcatChart)
    return RunChart(hconcat=found.hconcat, config=found.config)


def _narrow(spec: Spec) -> Spec:
    """One of several beside each other, which share their looks."""
    return {**{key: value for key, value in spec.items() if key != "config"}, "width": _WIDTH}
