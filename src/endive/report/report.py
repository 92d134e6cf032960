"""From an analysis to one page: which charts a study gets, in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from endive.answers.answer import Answer
from endive.pipeline.dataset.files import Place
from endive.report.cautions import Caution, cautions
from endive.report.charts.chart import Chart, Omission
from endive.report.charts.curves import curve_chart, latency_throughput
from endive.report.charts.groups import by_scope, conflicts
from endive.report.charts.heatmap import heatmap
from endive.report.charts.spread import attempts, convoy, timeline
from endive.report.charts.stacks import aborts, phases, requests
from endive.report.comparison import Comparison, compare
from endive.report.material import CONFIDENCE, FRESHNESS, LATENCIES, Material, asked_metrics, prepare
from endive.report.price import Prices, find_prices
from endive.report.reading import Analysis, Study, open_analysis, refuse_two_models
from endive.report.study_answer import study_answer
from endive.report.words import figure_words

REPORT: Final = "report.html"
UNSAID: Final = "unsaid_"  # how such warnings begin
_ANSWERING: Final = (("success_rate", "success"), ("freshness", "freshness"), ("_commit", "latency"))  # the first chart


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One study of the page."""

    material: Material
    answer: Answer
    cautions: tuple[Caution, ...]
    charts: tuple[Chart, ...]
    omissions: tuple[Omission, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything the page says."""

    title: str
    notes: tuple[str, ...]
    sections: tuple[Section, ...]
    comparison: Comparison | None
    model_version: int
    version: str

    def unsaid(self) -> tuple[str, ...]:
        """Return what decides the answer and no configuration says, each once."""
        cautions = [caution for section in self.sections for caution in section.cautions]
        return tuple(dict.fromkeys(each.text for each in cautions if each.kind.startswith(UNSAID)))


def make_report(folder: Place, compare_with: Place | None = None, bands: str = CONFIDENCE) -> Report:
    """Read one analysis, or two to compare, and decide everything the page will say."""
    analyses = [open_analysis(folder)]
    if compare_with is not None:
        analyses.append(open_analysis(compare_with))
    studies = [study for analysis in analyses for study in analysis.studies]
    refuse_two_models(studies)
    sections = tuple(make_section(study, bands=bands) for study in studies)
    return Report(
        title=_title(analyses, studies),
        notes=tuple(note for analysis in analyses for note in analysis.notes),
        sections=sections,
        comparison=compare([section.material for section in sections]),
        model_version=studies[0].model_version,
        version=str(analyses[0].index.get("version", "unknown")),
    )


def make_section(study: Study, prices: Prices | None = None, bands: str = CONFIDENCE) -> Section:
    """All charts of one study, or the reason there is none; prices come from its folder unless they are given."""
    material = prepare(study, bands)
    drawn: list[Chart | Omission] = []
    if any(material.values("configurations", "offered_per_s")):
        drawn = _draw(material, prices or find_prices(study))
    else:
        drawn.append(Omission(title="All charts", why="no run of this study succeeded and measured a transaction."))
    charts = [chart for chart in drawn if isinstance(chart, Chart)]
    question = material.question
    first = next((chart for words, chart in _ANSWERING if words in question.objective.text), "")
    if question.is_of_each_source and question.success_min is not None:
        first = "by-source"  # a curve of each: one of all hides a source at 0 %
    return Section(
        material=material,
        answer=study_answer(material),
        cautions=cautions(material),
        charts=tuple(sorted(charts, key=lambda chart: chart.id != first)),
        omissions=tuple(chart for chart in drawn if isinstance(chart, Omission)),
    )


def _draw(material: Material, prices: Prices) -> list[Chart | Omission]:
    """Return every chart, in the order of the page."""
    along = material.layout.x.name if material.layout.x else "load"
    whose = material.whose
    level = material.question.success_min
    asked_for = "" if level is None else f" The dashed line is the objective: {100 * level:g} %."
    offered = " The dotted line is what was offered." if material.layout.is_load else ""
    asked = asked_metrics(material.study)
    first = next((metric for metric in asked if metric in LATENCIES), "commit_latency_p95_ms")
    order = (first, *(figure for figure in LATENCIES if figure != first))
    timed = "From the first attempt to the last answer, of committed transactions."
    least = min(material.values("configurations", "success_rate"), default=1.0)
    if least <= 0.995:
        timed += f" In some configurations up to {100 * (1 - least):.0f} % failed, and are missing here."
    shared = f"Committed transactions as a share of those that committed or aborted.{asked_for}"
    aged = "Age of the newest visible data: it exceeds P95 in 5 % of the time."
    curves: list[tuple[str, str, Sequence[str], str]] = [
        ("success", "Success", ["success_rate"], shared),
        ("throughput", "Throughput", ["committed_per_s"], f"Commits over the length of the window.{offered}"),
        ("latency", "Commit latency", order, timed),
    ]
    if any(material.values("configurations", figure) for figure in FRESHNESS):
        is_asked = any(material.question.freshness_max(figure) is not None for figure in FRESHNESS)
        asked_age = " Dashed: the objective." if is_asked else ""
        curves.append(("freshness", "Data staleness", FRESHNESS, f"{aged}{asked_age}"))
    drawn_anyway = ("success_rate", "committed_per_s", *LATENCIES, *FRESHNESS)
    more = [metric for metric in asked if metric not in drawn_anyway]
    curves += [(f"metric-{metric}", figure_words(metric)[0].capitalize(), [metric], "") for metric in more]
    return [
        latency_throughput(material),
        *(
            curve_chart(material, chart_id, f"{title}{whose} against {along}", figures, reading)
            for chart_id, title, figures, reading in curves
        ),
        heatmap(material),
        phases(material),
        requests(material, prices.usd_per_request, prices.note),
        aborts(material),
        conflicts(material),
        by_scope(material, "operation", "By operation type"),
        by_scope(material, "source", "By source"),
        attempts(material),
        convoy(material),
        timeline(material),
    ]


def _title(analyses: Sequence[Analysis], studies: Sequence[Study]) -> str:
    if len(studies) < 3:
        return " and ".join(study.title for study in studies)
    return f"{len(studies)} studies in {analyses[0].folder.resolve().name}"
