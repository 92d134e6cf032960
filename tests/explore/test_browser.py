"""The live page in a real browser: it answers, refines, refuses, compares, is restored by its link, needs no mouse.

Needs Debian's chromium, or any Chrome, and the package playwright; without them every test here is skipped and says so.
The server is real, its jobs run in threads of this process instead of processes of their own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from tests.explore.conftest import SHORT, TOKEN, WRITERS, CrewHere
from tests.report.test_browser import BROWSERS, FLAGS, PATIENCE_MS, find_browser

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
import uvicorn

from endive.explore.app import make_app
from endive.explore.serve import bind

pytestmark = pytest.mark.browser

CLIENTS = "source.writers.arrivals.clients"
SLIDER = "#key-source-writers-arrivals-clients"
ANSWERED = "document.getElementById('seeds').textContent === '16'"
CURVE_DONE = "document.getElementById('along').dataset.stage === 'done' && document.querySelector('[data-chart] svg')"
LANES = "Number(document.getElementById('watch').dataset.lanes) > 0"
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def link(**changes: str) -> str:
    """The part of an address that holds a short configuration of twenty writers with these changes."""
    sets = [("set", f"{key}={text}") for key, text in {**SHORT, **changes}.items()]
    return "#" + urlencode([("start", WRITERS), *sets, ("vary", CLIENTS)])


@pytest.fixture(scope="module")
def server(starts) -> Iterator[Any]:
    """An address, and the crew behind it."""
    bound = bind(0)
    port = bound.getsockname()[1]
    crew = CrewHere()
    patch = pytest.MonkeyPatch()
    patch.setattr("endive.explore.app.Crew", lambda patient: crew)
    patch.setattr("endive.explore.curve.SEEDS", (1, 2))
    patch.setattr("endive.explore.curve.LIMIT_SIMULATIONS_MAX", 20)
    patch.setattr("endive.explore.jobs.COMPARE_SEEDS", (2, 4))
    served = uvicorn.Server(uvicorn.Config(make_app(starts, token=TOKEN, port=port), log_level="warning"))
    thread = threading.Thread(target=served.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not served.started:
        time.sleep(0.05)
    crew.address = f"http://127.0.0.1:{port}/{TOKEN}/"
    yield crew
    served.should_exit = True
    thread.join(timeout=10)
    patch.undo()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = find_browser()
    if path is None:
        pytest.skip(f"no browser on this machine (looked for {', '.join(BROWSERS)}); Debian: apt install chromium")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield launched
        launched.close()


def open_page(browser: Any, server: Any, fragment: str, width: int = 1440, **options: Any) -> Any:
    """A page with what it asked for and complained about."""
    page = browser.new_page(viewport={"width": width, "height": 900}, **options)
    page.set_default_timeout(PATIENCE_MS)
    page.asked, page.complaints = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("console", lambda message: page.complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: page.complaints.append(f"error: {error}"))
    page.goto(server.address + fragment)
    return page


@pytest.fixture(scope="module")
def desk(browser, server):
    page = open_page(browser, server, link())
    page.wait_for_function(CURVE_DONE)
    page.wait_for_function(LANES)
    page.wait_for_function(ANSWERED)
    return page


def test_the_page_answers_refines_draws_and_shows_a_stretch(desk):
    assert "done" == desk.locator("#verdict").get_attribute("data-stage")
    assert desk.locator("#verdict").get_attribute("data-outcome") in ("met", "not met", "cannot tell")
    assert ["success", "latency", "throughput", "phases", "requests"] == [
        figure.get_attribute("data-chart") for figure in desk.locator("#charts figure").all()
    ][:5]
    assert 1 == desk.locator(".source[data-source=writers]").count()
    assert "now" in desk.locator("[data-chart=success] svg").text_content()


def test_a_click_on_a_lane_tells_the_story_of_its_txn(desk):
    desk.locator(".lane .bed").first.click()

    assert "loads the table and works for" in desk.locator("#story pre").inner_text()


def test_the_command_and_the_file_are_those_of_the_screen(desk):
    assert "endive run explored.toml --seeds 16" == desk.locator("#command").inner_text()
    assert "duration_ms = 120000.0" in desk.locator("#toml").inner_text()


def test_a_move_by_keyboard_takes_the_old_question_back_and_gets_a_new_answer(desk, server):
    desk.locator(SLIDER).focus()
    before = len([job for job in server.jobs if job == "prompt/first"])
    desk.keyboard.press("ArrowRight")
    desk.keyboard.press("ArrowRight")
    desk.wait_for_function("location.hash.includes('clients%3D22')")
    desk.wait_for_function("document.getElementById('toml').textContent.includes('clients = 22')")
    desk.wait_for_function(ANSWERED)

    assert len([job for job in server.jobs if job == "prompt/first"]) > before
    assert "22" == desk.locator(f"[data-key='{CLIENTS}'] .number").input_value()


def test_an_invalid_value_says_why_beside_its_control(desk):
    number = desk.locator("[data-key='source.writers.retry'] .number")
    number.fill("-3")
    number.press("Enter")

    told = desk.locator("[data-key='source.writers.retry'] .problem").inner_text()
    assert told.startswith("source.writers.retry = -3 must be")
    desk.locator("[data-key='source.writers.retry'] .problem button").click()
    desk.wait_for_function("document.querySelectorAll('.problem').length === 0")


def test_another_key_is_found_by_what_it_means(desk):
    desk.locator("#search").fill("snapshots the metadata keeps")
    desk.locator("#found button").first.click()

    assert 1 == desk.locator("#added [data-key='table.snapshots_kept_max']").count()
    desk.locator("[data-key='table.snapshots_kept_max'] .reset").dispatch_event("click")


def test_what_is_pinned_is_compared_with_what_follows(desk):
    desk.locator("#pin").click()
    desk.locator(SLIDER).focus()
    desk.keyboard.press("ArrowRight")
    desk.wait_for_function("Number(document.getElementById('compare').dataset.seeds) >= 4")

    assert "source.writers.arrivals.clients: 22 → 23" in desk.locator(".keys-changed").inner_text()
    assert "now less pinned" in desk.locator("#compare-body table").inner_text()


def test_the_link_restores_what_is_on_screen(browser, server, desk):
    address = desk.evaluate("location.href")
    again = open_page(browser, server, "#" + address.split("#")[1])
    again.wait_for_function("Number(document.getElementById('compare').dataset.seeds) >= 2")

    assert "23" == again.locator(f"[data-key='{CLIENTS}'] .number").input_value()
    assert again.locator("#compare").is_visible()
    again.close()


def test_a_phone_has_room_for_everything(browser, server):
    phone = open_page(browser, server, link(), width=390, color_scheme="dark", reduced_motion="reduce")
    phone.wait_for_function(CURVE_DONE)

    assert "dark" == phone.evaluate("document.documentElement.dataset.theme")
    assert phone.evaluate(TOO_WIDE) is False
    assert [] == phone.complaints
    phone.close()


def test_nothing_was_asked_of_another_host_and_nothing_complained(desk, server):
    assert [] == [url for url in desk.asked if not url.startswith((server.address, "blob:"))]
    assert [] == desk.complaints


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(desk, theme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    desk.evaluate("(name) => { document.documentElement.dataset.theme = name; }", theme)
    desk.wait_for_timeout(400)  # colours fade

    found = axe.Axe().run(desk).response["violations"]

    assert {} == {one["id"]: [node["html"][:200] for node in one["nodes"]][:3] for one in found}
