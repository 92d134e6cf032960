"""The report in a real browser: charts are drawn, controls work, nothing is asked of a network, the layout holds.

Needs Debian's chromium, or any Chrome, and the package playwright; without them every test here is skipped and says so.
``python -m tests.report.test_browser`` draws the baseline of the layout anew.
"""

import base64
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.report.synthetic import SyntheticStudy, write_synthetic

from endive.report.page import write_report
from endive.report.report import make_report

pytestmark = pytest.mark.browser

BASELINE = Path(__file__).parent / "layout"
WIDTHS = (1280, 390)
PICTURED = ("latency-throughput", "success", "phases", "attempts", "timeline")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-device-scale-factor=1",
    "--hide-scrollbars",
]
PATIENCE_MS = 180_000  # a machine may be busy
DIFFERENCE_MAX = 2.5  # of 255: another font makes at most 1.9, bars that are gone 37

BOXES = """() => [...document.querySelectorAll('header, .answer, .cautions, figure, .left-out')].map((element) => {
  const box = element.getBoundingClientRect();
  return {name: element.id || element.className || element.tagName.toLowerCase(),
          x: Math.round(box.x), width: Math.round(box.width), height: Math.round(box.height)};
})"""
# Shrinks a picture so far that single letters vanish; a baseline is such a picture.
SHRUNK = """async (data) => {
  const picture = await createImageBitmap(await (await fetch('data:image/png;base64,' + data)).blob());
  const canvas = new OffscreenCanvas(96, 48);
  const context = canvas.getContext('2d');
  context.imageSmoothingQuality = 'high';
  context.drawImage(picture, 0, 0, 96, 48);
  const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}"""
# Mean difference of two such pictures in grey, 0 to 255.
DIFFERENCE = """async ([one, other]) => {
  const grey = async (data) => {
    const picture = await createImageBitmap(await (await fetch('data:image/png;base64,' + data)).blob());
    const context = new OffscreenCanvas(96, 48).getContext('2d');
    context.drawImage(picture, 0, 0);
    const pixels = context.getImageData(0, 0, 96, 48).data;
    return Array.from({length: 96 * 48}, (_, i) => (pixels[4 * i] + pixels[4 * i + 1] + pixels[4 * i + 2]) / 3);
  };
  const [a, b] = [await grey(one), await grey(other)];
  return a.reduce((sum, value, i) => sum + Math.abs(value - b[i]), 0) / a.length;
}"""


def find_browser() -> str | None:
    """The first browser on this machine that playwright can drive."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def write_page(folder: Path) -> Path:
    """A report with every chart but the heatmap, which has panels of its own in the second study."""
    axes = {"load_per_s": (0.5, 1, 2, 4, 8), "commit.protocol": ("iceberg", "merge")}
    write_synthetic(folder, SyntheticStudy("two_protocols", axes))
    write_report(make_report(folder), folder / "report.html")
    return folder / "report.html"


def watch_page(browser: Any, address: str, width: int = 1440, **options: Any) -> Any:
    """A page that remembers what it asked for (``page.asked``) and complained about (``page.complaints``)."""
    page = browser.new_page(viewport={"width": width, "height": 900}, **options)
    page.set_default_timeout(PATIENCE_MS)
    page.asked, page.complaints = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("console", lambda message: page.complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: page.complaints.append(f"error: {error}"))
    page.goto(address)
    return page


def open_page(browser: Any, path: Path, width: int, **options: Any) -> Any:
    """A page that has drawn everything; ``boxes`` and ``pictures`` are how it looked before a test touched it."""
    page = watch_page(browser, path.as_uri(), width, **options)
    page.wait_for_function("document.documentElement.dataset.ready === 'yes'")
    page.evaluate("for (const more of document.querySelectorAll('details.more')) more.open = true")
    page.wait_for_function("[...document.querySelectorAll('figure[data-chart]')].every((one) => one.dataset.drawn)")
    page.boxes = page.evaluate(BOXES)
    page.pictures = {name: picture_of(page, name) for name in PICTURED}
    return page


def picture_of(page: Any, chart: str) -> bytes:
    """What a chart looks like; the words around it may change."""
    return bytes(page.locator(f"#chart-0-{chart} .plot").screenshot())


def difference(browser: Any, picture: bytes, baseline: Path) -> float:
    """How far a picture is from the one that was looked at."""
    blank = browser.new_page()
    shrunk = blank.evaluate(SHRUNK, base64.b64encode(picture).decode())
    found = float(blank.evaluate(DIFFERENCE, [shrunk, base64.b64encode(baseline.read_bytes()).decode()]))
    blank.close()
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = find_browser()
    if path is None:
        pytest.skip(f"no browser on this machine (looked for {', '.join(BROWSERS)}); Debian: apt install chromium")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def html(tmp_path_factory) -> Path:
    return write_page(tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="module")
def desk(browser, html):
    return open_page(browser, html, 1280)


@pytest.fixture(scope="module")
def phone(browser, html):
    return open_page(browser, html, 390)


MARKS = "document.querySelectorAll('#chart-0-{} .mark-symbol path:not([opacity=\"0\"])').length === {}"


def test_every_chart_is_drawn(desk):
    sizes = desk.evaluate(
        """() => [...document.querySelectorAll('figure')].map((figure) => {
             const svg = figure.querySelector('.plot svg');
             const box = svg.getBoundingClientRect();
             const parts = svg.querySelectorAll('path, rect, text').length;
             return [figure.id, box.width > 300 && box.height > 150, parts > 20];
           })"""
    )

    assert 13 == len(sizes)
    assert [] == [size for size in sizes if size[1:] != [True, True]]


def test_nothing_leaves_the_page_and_nothing_is_complained_about(desk, phone, html):
    for page in (desk, phone):
        assert [html.as_uri()] == [url for url in page.asked if not url.startswith(("data:", "blob:"))]
        assert [] == page.complaints


def test_a_point_tells_what_it_is(desk):
    point = desk.locator("#chart-0-success .mark-symbol").last.locator("path").nth(6)
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    desk.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tooltip = desk.locator("#vg-tooltip-element.visible")
    tooltip.wait_for(timeout=PATIENCE_MS)
    text = tooltip.inner_text()
    desk.mouse.move(0, 0)

    for expected in ("protocol", "offered load (txns/s)", "success rate", "95 % from", "seeds"):
        assert expected in text


def test_the_legend_filters_every_chart_of_its_series_by_pointer_and_by_keyboard(desk):
    desk.wait_for_function(MARKS.format("success", 10))

    desk.locator("#chart-0-success button[data-entry=merge]").click()
    desk.wait_for_function(
        "document.querySelector('#chart-0-throughput button[data-entry=merge]').ariaPressed === 'false'"
    )
    for chart in ("latency", "success", "throughput"):
        desk.wait_for_function(MARKS.format(chart, 5))

    desk.locator("#chart-0-latency button[data-entry=merge]").focus()
    desk.keyboard.press("Enter")
    desk.wait_for_function("document.querySelectorAll('#chart-0-timeline .mark-line path').length === 2")
    for chart in ("success", "latency"):
        desk.wait_for_function(MARKS.format(chart, 10))


def test_another_figure_can_be_shown(desk):
    chart = desk.locator("#chart-0-latency")
    chart.locator("select[data-variant]").select_option(label="commit latency P99 (ms)")

    chart.locator("svg text", has_text="commit latency P99 (ms)").wait_for(state="attached")


def test_another_load_can_be_selected_for_all_charts_that_need_one(desk):
    first = desk.locator("#chart-0-attempts select[data-axis]")
    assert "4" == first.input_value()
    first.select_option("1")
    desk.wait_for_function(
        "document.querySelector('#chart-0-attempts .plot').ariaLabel.includes('Drawn for offered load (txns/s) 1.')"
    )

    assert "1" == desk.locator("#chart-0-timeline select[data-axis]").input_value()


def test_the_data_of_a_chart_can_be_read_and_downloaded(desk):
    chart = desk.locator("#chart-0-success")
    chart.locator("summary").click()
    desk.wait_for_function("document.querySelectorAll('#chart-0-success tbody tr').length === 10")
    assert "75.0 %" in chart.locator("tbody").inner_text()

    with desk.expect_download() as download:
        chart.locator("button[data-csv]").click()
    lines = Path(download.value.path()).read_text().splitlines()
    chart.locator("summary").click()

    assert (
        "load_per_s,commit.protocol,seeds,success_rate,success_rate_ci95_low,success_rate_ci95_high,misses" == lines[0]
    )
    assert "4,iceberg,3,0.75,0.73137,0.76863,success_rate >= 99 %" in lines
    assert 11 == len(lines)


def test_the_first_stop_of_the_keyboard_is_visible_and_leads_to_the_answer(phone):
    phone.evaluate("document.activeElement.blur()")
    phone.keyboard.press("Tab")
    phone.wait_for_function("document.activeElement.className === 'skip'")
    box = phone.locator(".skip").bounding_box()

    assert 0 == box["x"]
    phone.keyboard.press("Enter")
    phone.wait_for_function("document.activeElement.id === 'main'")


def test_light_and_dark_follow_the_system_and_the_button(phone):
    background = "getComputedStyle(document.body).backgroundColor"
    dark, light = "rgb(15, 18, 22)", "rgb(246, 248, 250)"

    phone.emulate_media(color_scheme="dark")
    phone.wait_for_function(f"{background} === '{dark}'")
    phone.locator("#theme").click()
    phone.wait_for_function(f"{background} === '{light}'")
    phone.emulate_media(color_scheme="light")


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window(request, width):
    page = request.getfixturevalue("desk" if width == 1280 else "phone")

    assert width == page.evaluate("document.documentElement.scrollWidth")
    assert [] == [box for box in page.evaluate(BOXES) if box["x"] < 0 or box["x"] + box["width"] > width]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_layout_is_the_one_that_was_looked_at(browser, request, width):
    page = request.getfixturevalue("desk" if width == 1280 else "phone")
    expected = json.loads((BASELINE / f"{width}.json").read_text())

    assert [box["name"] for box in expected] == [box["name"] for box in page.boxes]
    for was, now in zip(expected, page.boxes, strict=True):
        assert abs(was["x"] - now["x"]) <= 4, now
        assert abs(was["width"] - now["width"]) <= 4, now
        assert abs(was["height"] - now["height"]) <= 0.2 * was["height"] + 10, now  # other fonts, other line breaks
    far = {name: difference(browser, page.pictures[name], BASELINE / f"{width}-{name}.png") for name in PICTURED}
    assert {} == {name: value for name, value in far.items() if value > DIFFERENCE_MAX}


def test_a_chart_that_lost_its_marks_would_be_noticed(browser, phone):
    style = phone.add_style_tag(content=".plot svg .role-mark { visibility: hidden }")

    far = {name: difference(browser, picture_of(phone, name), BASELINE / f"390-{name}.png") for name in PICTURED}
    style.evaluate("(element) => element.remove()")

    noticed = {name for name, value in far.items() if value > DIFFERENCE_MAX}
    assert {"phases", "attempts", "timeline"} <= noticed  # thin lines alone are counted, not weighed: see above


def draw_baseline() -> None:
    """Boxes and a small picture of the page, for both widths."""
    from playwright.sync_api import sync_playwright

    BASELINE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = write_page(Path(folder))
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        for width in WIDTHS:
            page = open_page(browser, path, width)
            lines = ",\n".join(f" {json.dumps(box)}" for box in page.boxes)
            (BASELINE / f"{width}.json").write_text(f"[\n{lines}\n]\n")
            for name, picture in page.pictures.items():
                data = browser.new_page().evaluate(SHRUNK, base64.b64encode(picture).decode())
                (BASELINE / f"{width}-{name}.png").write_bytes(base64.b64decode(data))
        browser.close()


if __name__ == "__main__":
    sys.exit(draw_baseline())
