"""Charts as files."""

from dataclasses import replace

import pytest

from endive.report.charts.chart_files import markdown, write_figures
from endive.report.report import make_report


@pytest.fixture(scope="module")
def written(grid, tmp_path_factory):
    """The files of three charts: curves in panels, one way to draw a heatmap, both of a stack."""
    whole = make_report(grid)
    charts = {chart.id: chart for chart in whole.sections[0].charts}
    charts["heatmap"] = replace(charts["heatmap"], variants=charts["heatmap"].variants[:1])
    kept = tuple(charts[name] for name in ("success", "heatmap", "phases"))
    folder = tmp_path_factory.mktemp("figures") / "new"
    return write_figures(replace(whole, sections=(replace(whole.sections[0], charts=kept),)), folder)


def test_every_chart_has_pictures_and_a_table(written):
    pictures = ("success", "heatmap", "phases", "phases-share-of-mean-commit-time")
    expected = {f"grid-{name}.{kind}" for name in pictures for kind in ("png", "svg")}

    assert sorted(written) == sorted(written[0].parent.iterdir())
    assert expected | {f"grid-{name}.md" for name in pictures[:3]} == {path.name for path in written}
    assert {b"\x89PNG"} == {path.read_bytes()[:4] for path in written if path.suffix == ".png"}


def test_pictures_have_colours_of_their_own_a_legend_a_title_and_the_hatching(written):
    curves, heatmap = (written[0].with_name(f"grid-{name}.svg").read_text() for name in ("success", "heatmap"))

    assert "var(" not in curves
    assert "#0072b2" in curves
    assert "Success against offered load" in curves
    assert 2 == curves.count("role-legend-label")  # one for each protocol
    assert ">iceberg</text>" in curves
    assert 1 == heatmap.count('<pattern id="hatch"')
    assert "url(#hatch)" in heatmap


def test_the_table_holds_what_is_drawn(report):
    section = report.sections[0]
    chart = next(chart for chart in section.charts if chart.id == "success")
    lines = markdown(section.material, chart).splitlines()

    assert "# Success against offered load" == lines[0]
    assert lines[4].startswith("| offered load (txns/s) | protocol | seeds | success rate (%) | 95 % from | to |")
    assert 10 == len([line for line in lines if line.startswith("| ")]) - 1
    assert "| 4 | iceberg | 3 | 75.00 % | 73.14 % | 76.86 % | success_rate >= 99 % |" in lines
