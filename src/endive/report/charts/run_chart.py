"""The chart of one run: how long commits take by source, and where that time goes.

The charts of a study are elsewhere in this package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import vl_convert

from endive.report.charts.chart import CONFIG, Spec
from endive.report.charts.run_specs import apply_theme, freshness_spec, latency_spec, phase_spec
from endive.results.freshness import Ages

_WIDTH: Final = 300


@dataclass(frozen=True, slots=True)
class RunChart:
    """A Vega-Lite document that a notebook shows as a picture made here, with nothing to load."""

    document: Spec

    def to_dict(self) -> Spec:
        """The document, for other tools that draw Vega-Lite."""
        return self.document

    def _repr_mimebundle_(self, *_: Any, **__: Any) -> dict[str, str]:
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
    """One of several beside each other, which share their looks."""
    return {**{key: value for key, value in spec.items() if key != "config"}, "width": _WIDTH}
