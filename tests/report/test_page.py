"""The page as a file: whole, self-contained, safe."""

import json
import re
import tomllib
from html.parser import HTMLParser

import pytest
from tests.report.synthetic import SIMULATED, SyntheticStudy, write_synthetic

from endive.report import page
from endive.report.page import write_report
from endive.report.report import make_report
from endive.report.simulated import configuration_text, simulated_lines

VOID = {"meta", "br", "img", "input", "hr", "link"}


class Outline(HTMLParser):
    """Every element with its attributes; fails on markup that does not nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
def render(monkeypatch):
    """The page without Vega, which takes seconds to bundle and is not ours to test here."""
    monkeypatch.setattr(page, "bundle", lambda: "window.vegaEmbed = null;")
    return page.render


def outline(text: str) -> Outline:
    parser = Outline()
    parser.feed(text)
    assert [] == parser.open
    return parser


def data(text: str):
    found = re.search(r'<script id="report-data" type="application/json">(.*?)</script>', text, re.S)
    assert found is not None
    return json.loads(found[1])


def test_nothing_of_the_page_is_fetched(render, report):
    """And it forbids requests itself."""
    elements = outline(render(report)).elements
    policies = [each["content"] for _, each in elements if each.get("http-equiv") == "Content-Security-Policy"]

    for tag, attributes in elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert "src" not in attributes
        assert not (attributes.get("href") or "#").startswith(("http", "//"))
    assert 1 == len(policies)
    assert policies[0].startswith("default-src 'none';")
    assert "connect-src" not in policies[0]


def test_identifiers_are_unique_and_the_first_thing_a_keyboard_reaches_is_the_way_to_the_answer(render, report):
    elements = outline(render(report)).elements
    names = [attributes["id"] for _, attributes in elements if "id" in attributes]
    reachable = [attributes for tag, attributes in elements if tag in ("a", "button", "select", "summary")]

    assert len(names) == len(set(names))
    assert ("skip", "#main") == (reachable[0]["class"], reachable[0]["href"])


def test_every_chart_has_a_name_a_table_and_a_download(render, report):
    elements = outline(render(report)).elements
    figures = [attributes for tag, attributes in elements if tag == "figure"]
    plots = [attributes for _, attributes in elements if attributes.get("class") == "plot"]

    assert len(report.sections[0].charts) == len(figures) == len(plots)
    assert all(plot["role"] == "img" and plot["aria-label"] for plot in plots)
    assert len(figures) == sum("data-csv" in attributes for _, attributes in elements)
    assert len(figures) == sum(
        (attributes.get("aria-label") or "").startswith("Data of ") for _, attributes in elements
    )


def test_warnings_stand_before_the_charts_in_words(render, report):
    text = render(report)
    kinds = re.findall(r'data-warning="(\w+)"', text)

    assert ["still_committing", "unsteady_window", "single_seed"] == kinds
    assert text.index("data-warning") < text.index("<figure")
    assert "2 of 10 configurations. The first: It changed by 30 %." in text
    assert "Too few seeds.</b> 1 of 10 has a single seed." in text


def test_names_from_a_study_cannot_become_markup(render, tmp_path):
    nasty = "</script><script>alert(1)</script>"
    study = SyntheticStudy("nasty", {"load_per_s": (1, 2), "storage.provider": (nasty, "b&b")})
    text = render(make_report(write_synthetic(tmp_path, study)))

    assert "<script>alert" not in text
    assert "\\u003cscript>alert" in text
    assert 3 == text.count("</script>")
    assert [nasty, "b&b"] == data(text)["studies"][0]["axes"][1]["labels"]


def test_data_travels_as_columns_with_five_digits(render, report):
    study = data(render(report))["studies"][0]
    column = study["datasets"]["configurations"]["commit_latency_p95_ms"]

    assert 10 == len(column)
    assert 175 == column[0]  # 1.5 * 100 * (1 + 0.5 / 3)
    assert 700 == column[6]  # 3 * 100 * (1 + 4 / 3)
    assert {"levels", "codes"} == set(study["datasets"]["phases"]["phase_name"])


def test_axes_that_find_no_place_have_a_selector_in_the_page(render, grid):
    elements = outline(render(make_report(grid))).elements
    bars = [attributes for _, attributes in elements if attributes.get("class") == "bar"]

    assert 1 == len(bars)
    selectors = [
        attributes["aria-label"] for tag, attributes in elements if tag == "select" and "data-axis" in attributes
    ]
    assert ["tables, page"] == [name for name in selectors if name.endswith(", page")]


def test_a_single_series_has_no_legend(render, tmp_path):
    study = SyntheticStudy("alone", {"load_per_s": (1, 2, 4)}, has_groups=False)
    drawn = data(render(make_report(write_synthetic(tmp_path, study))))["studies"][0]["charts"]

    assert {"null"} == set(re.findall(r'"legend": (\w+|\{)', json.dumps([chart["variants"] for chart in drawn])))


def test_the_bundle_of_vega_is_inlined_once(report, tmp_path):
    size = write_report(report, tmp_path / "deep" / "report.html")
    text = (tmp_path / "deep" / "report.html").read_text()

    assert size == len(text.encode())
    assert 1 == text.count("window.vegaEmbed=")


def test_what_was_simulated_says_what_varied_what_did_not_and_how_to_make_it_again(report):
    material = report.sections[0].material
    lines = dict(simulated_lines(material.study, material.layout))

    assert "0.5, 1, 2, 4, 8" == lines["varied: offered load (txns/s)"]
    assert "iceberg, merge" == lines["varied: protocol"]
    assert "success_rate >= 99 %" == lines["objective"]
    assert 'iceberg (merging "off")' == lines["protocol"]
    assert (
        "measured: s3 any read (34.0 ms); assumed: catalog catalog cas (5.00 ms)"
        == (lines["how well its figures are known"])
    )
    assert 'arrivals { kind = "poisson", per_s = 2.0 }, retry 4' == lines["source appends"]
    assert "60 min; txns submitted from 15 min to 45 min count" == lines["simulated time"]
    assert "3 seeds: 42, 43, 44" == lines["seeds"]
    assert lines["command"].endswith("/studies/two_protocols.toml")


def test_the_configuration_in_full_reads_back(report):
    text = configuration_text(report.sections[0].material.study)

    assert SIMULATED["configuration"] == tomllib.loads(text)


def test_what_was_simulated_is_on_the_page_closed_and_opens_for_paper(render, report):
    text = render(report)

    assert 1 == text.count('<details class="simulated"><summary>What was simulated</summary>')
    assert 'addEventListener("beforeprint"' in text
