"""A finished study in a real browser: pick axes, filter, click a point, see its configuration and move it on.

Needs a browser and playwright, as ``test_browser`` does.
"""

from contextlib import suppress

import pytest
from tests.explore.grid import write_grid
from tests.explore.pages import SETTLED, TOO_WIDE, serving, violations
from tests.report.test_browser import watch_page

from endive.explore.finished import finished_in, start_of_point
from endive.explore.starting_points import Starts

pytestmark = pytest.mark.browser

SUCCESS = "#study-charts [data-chart=success]"
THROUGHPUT = "#study-charts [data-chart=throughput]"
CLICKS_MAX = 12
CLICK_WAIT_MS = 15_000


@pytest.fixture(scope="module")
def address(starts, tmp_path_factory):
    studies = finished_in(write_grid(tmp_path_factory.mktemp("study")))
    with serving(Starts(starts.listed, lambda id: start_of_point(studies, id)), studies) as crew:
        yield crew.address


@pytest.fixture(scope="module")
def page(browser, address):
    opened = watch_page(browser, address)
    opened.wait_for_function(SETTLED)
    return opened


def marks(page, chart=SUCCESS):
    """What the marks of a chart stand for."""
    return page.locator(f"{chart} .mark-symbol path").evaluate_all("(all) => all.map((one) => one.__data__.datum)")


def drawn(page, act):
    """Do something that draws the study's charts again, and wait until all of them are there."""
    before = page.evaluate("Number(document.getElementById('study-charts').dataset.drawn)")
    act()
    page.wait_for_function(f"Number(document.getElementById('study-charts').dataset.drawn) > {before}")
    page.wait_for_function(SETTLED)


def choose(page, label, value):
    page.get_by_label(label, exact=True).focus()
    drawn(page, lambda: page.get_by_label(label, exact=True).select_option(label=value))


def click_until(page, mark, text):
    """Click a mark until its configuration is there: a chart that is drawn late moves it from under the pointer."""
    from playwright.sync_api import TimeoutError as NotYet

    for _ in range(CLICKS_MAX):
        mark.click(force=True)  # a wider target lies above it
        with suppress(NotYet):
            page.wait_for_function(
                "(text) => document.getElementById('toml').textContent.includes(text)", arg=text, timeout=CLICK_WAIT_MS
            )
            return
    raise AssertionError(f"no click on the mark has opened a configuration with {text}")


def test_a_study_opens_with_its_answer_its_charts_and_its_points(page):
    assert "Grid" == page.locator("#study-title").inner_text()
    assert page.locator("#study-answer b").inner_text()
    assert 1 + 12 == page.locator("#study-point option").count()
    assert {"0.5", "1", "2"} == {row["xl"] for row in marks(page)}


def test_a_filter_leaves_one_value_and_takes_itself_back(page):
    choose(page, "Only protocol", "pyiceberg")
    assert {"pyiceberg"} == {row["s"] for row in marks(page)}

    choose(page, "Only protocol", "all")
    assert {"iceberg", "pyiceberg"} == {row["s"] for row in marks(page)}


def test_any_axis_goes_along_the_page_and_another_into_colours(page):
    choose(page, "Along", "tables")
    assert {"1", "2"} == {row["xl"] for row in marks(page)}
    assert "Success against tables" == page.locator(f"{SUCCESS} h3").inner_text()

    choose(page, "Colours", "offered load (txns/s)")
    assert {"0.5", "1", "2"} == {row["s"] for row in marks(page)}
    assert "Colours" == page.evaluate("document.activeElement.getAttribute('aria-label')")


def test_all_charts_of_the_report_are_there_on_demand(page):
    charts = page.locator("#study-charts figure", has=page.locator(".plot svg"))
    assert 4 == charts.count()

    drawn(page, page.locator("#study-more").click)
    assert 6 < charts.count()
    assert "Fewer charts" == page.locator("#study-more").inner_text()
    drawn(page, page.locator("#study-more").click)
    assert 4 == charts.count()


def test_a_point_is_opened_by_its_mark_and_run_again_with_other_values(page):
    choose(page, "Along", "tables")
    choose(page, "Colours", "offered load (txns/s)")
    rows = marks(page, THROUGHPUT)
    place = next(place for place, row in enumerate(rows) if (row["xl"], row["s"]) == ("2", "1"))
    protocol = rows[place]["f"]
    click_until(page, page.locator(f"{THROUGHPUT} .mark-symbol path").nth(place), "num_tables = 2")

    told = page.locator("#toml").text_content()
    assert f"Grid: offered load 1, protocol {protocol}, tables 2" == page.locator("#start-title").inner_text()
    assert f'protocol = "{protocol}"' in told
    assert "mean_ms = 1000.0" in told

    page.wait_for_function(SETTLED)
    page.locator("#key-catalog-num_tables").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.getElementById('toml').textContent.includes('num_tables = 3')")
    page.wait_for_function(SETTLED)

    told = page.evaluate("location.hash")
    assert "endive run explored.toml" == page.locator("#command").inner_text()
    assert "set=catalog.num_tables%3D3" in told
    assert told.startswith("#start=point%2Fgrid%2F")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(page, theme):
    assert {} == violations(page, theme)


def test_nothing_complained_and_nothing_was_asked_of_another_host(page, address):
    assert [] == page.complaints
    assert [] == [url for url in page.asked if not url.startswith((address, "blob:"))]


def test_a_phone_has_room_for_it(page):
    page.set_viewport_size({"width": 390, "height": 844})

    page.wait_for_function(f"!({TOO_WIDE})")
