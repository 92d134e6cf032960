"""Charts as files."""

import pytest

from endive.report.charts.chart_files import markdown, picture_spec, to_svg, write_figures
from endive.report.report import Report, make_report


@pytest.fixture(scope="module")
def small(grid) -> Report:
    """A report of three charts: curves in panels, a heatmap, a stack."""
    whole = make_report(grid)
    section = whole.sections[0]
    kept = tuple(chart for chart in section.charts if chart.id in ("success", "heatmap", "phases"))
    section = type(section)(
        material=section.material, answer=section.answer, cautions=(), charts=kept, omissions=section.omissions
    )
    return Report(
        title=whole.title,
        notes=(),
        sections=(section,),
        comparison=None,
        model_version=whole.model_version,
        version=whole.version,
    )


def test_every_chart_has_pictures_and_a_table(small, tmp_path):
    written = write_figures(small, tmp_path / "figures")
    names = sorted(path.name for path in written)

    assert names == sorted(path.name for path in (tmp_path / "figures").iterdir())
    for chart in ("success", "heatmap", "phases"):
        assert {f"grid-{chart}.png", f"grid-{chart}.svg", f"grid-{chart}.md"} <= set(names)
    assert "grid-phases-share-of-mean-commit-time.svg" in names
    assert b"\x89PNG" == (tmp_path / "figures" / "grid-success.png").read_bytes()[:4]


def test_pictures_have_colours_of_their_own_a_legend_and_a_title(small):
    section = small.sections[0]
    chart = section.charts[0]
    svg = to_svg(picture_spec(section.material, chart, chart.variants[0]))

    assert "var(" not in svg
    assert "#0072b2" in svg
    assert "Success against offered load" in svg
    assert 2 == svg.count("role-legend-label")  # one for each protocol
    assert ">iceberg</text>" in svg


def test_hatching_travels_with_the_picture(small):
    section = small.sections[0]
    chart = next(chart for chart in section.charts if chart.id == "heatmap")
    svg = to_svg(picture_spec(section.material, chart, chart.variants[0]))

    assert 1 == svg.count('<pattern id="hatch"')
    assert "url(#hatch)" in svg


def test_the_table_holds_what_is_drawn(report):
    section = report.sections[0]
    chart = next(chart for chart in section.charts if chart.id == "success")
    lines = markdown(section.material, chart).splitlines()

    assert "# Success against offered load" == lines[0]
    assert lines[4].startswith("| offered load (txns/s) | protocol | seeds | success rate (%) | 95 % from | to |")
    assert 10 == len([line for line in lines if line.startswith("| ")]) - 1
    assert "| 4 | iceberg | 3 | 75.00 % | 73.14 % | 76.86 % | success_rate >= 99 % |" in lines
