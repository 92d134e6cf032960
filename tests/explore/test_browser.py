"""The live page in a real browser: it answers, refines, refuses, compares, is restored by its link, needs no mouse.

Needs Debian's chromium, or any Chrome, and the package playwright; without them every test here is skipped and says so.
"""

import shlex

import pytest
from tests.explore.pages import CLIENTS, COMPARE_SEEDS, SEEDS, SETTLED, TOO_WIDE, link, serving, violations
from tests.report.test_browser import watch_page
from typer.testing import CliRunner

from endive.cli.main import app

pytestmark = pytest.mark.browser

SLIDER = "#key-source-writers-arrivals-clients"
RETRY = "[data-key='source.writers.retry']"
# What moves within a second of the last step is the same step back.
LONG_AGO = "performance.now() - Number(document.documentElement.dataset.answered) > 1000"


@pytest.fixture(scope="module")
def server(starts):
    with serving(starts) as crew:
        yield crew


@pytest.fixture(scope="module")
def desk(browser, server):
    return opened(browser, server.address + link())


@pytest.fixture(scope="module")
def pinned(browser, server):
    """A page that another one's link opened: 22 writers are pinned, 23 are on screen."""
    return opened(browser, server.address + link(23, pinned=22))


@pytest.fixture
def fresh(browser, server):
    page = opened(browser, server.address + link())
    yield page
    page.close()


@pytest.fixture(scope="module")
def moved(browser, server):
    """A page on which one test after another moves a slider."""
    return opened(browser, server.address + link())


def opened(browser, address, **how):
    page = watch_page(browser, address, **how)
    page.wait_for_function(SETTLED)
    return page


def enter_refused_value(page):
    page.locator(f"{RETRY} .number").fill("-3")
    page.locator(f"{RETRY} .number").press("Enter")


def take_back(page):
    page.locator(f"{RETRY} .problem button").click()
    page.wait_for_function("document.querySelectorAll('.problem').length === 0")


def remember_words(page, element):
    """From now on ``window.told`` holds all that an element of the page says, however briefly."""
    page.evaluate(
        """(selector) => {
            const box = document.querySelector(selector);
            window.told = [];
            new MutationObserver(() => told.push(box.textContent)).observe(box, { childList: true, subtree: true });
        }""",
        element,
    )


def test_the_page_answers_refines_and_draws(desk):
    assert "done" == desk.locator("#verdict").get_attribute("data-stage")
    assert desk.locator("#verdict").get_attribute("data-outcome") in ("met", "not met", "cannot tell")
    assert ["success", "latency", "throughput", "phases", "requests"] == [
        figure.get_attribute("data-chart") for figure in desk.locator("#charts figure").all()
    ][:5]
    assert desk.locator("#verdict-title").inner_text().startswith("writers: ")
    assert "writers" == desk.locator("#answer-body tbody td").first.inner_text()
    varied = desk.locator("#vary option").all_inner_texts()
    assert ("writers: Writers", "Load of all sources") == (varied[0], varied[-1])
    assert "now" in desk.locator("[data-chart=success] svg").text_content()


def test_the_command_on_the_file_gives_the_figures_of_the_screen(desk, tmp_path, monkeypatch):
    assert "endive run explored.toml" == desk.locator("#command").inner_text()
    assert "duration_ms = 120000.0" in desk.locator("#toml").inner_text()
    (tmp_path / "explored.toml").write_text(desk.locator("#toml").text_content())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("endive.answers.replicate.os.cpu_count", lambda: 1)

    command = shlex.split(desk.locator("#command").inner_text())[1:]
    printed = CliRunner().invoke(app, [*command, "--seeds", str(SEEDS[-1])])  # how many without it: test_app

    lines = printed.stdout.splitlines()
    cells = desk.locator("#answer-body .answer-table tbody tr").first.locator("td").all_inner_texts()
    assert " ".join(printed.stdout.split()).startswith(desk.locator("#verdict-title").inner_text())
    assert any(all(cell in line for cell in cells) for line in lines)


def test_command_file_and_link_are_copied_as_they_stand(desk):
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    expected = {
        "[data-copy=command]": desk.locator("#command").text_content(),
        "[data-copy=toml]": desk.locator("#toml").text_content(),
        "#copy-link": desk.evaluate("location.href"),
    }
    for button, text in expected.items():
        remember_words(desk, button)
        desk.locator(button).click()
        desk.wait_for_function("told.length > 0")
        assert "Copied" == desk.evaluate("told[0]")
        assert text == desk.evaluate("navigator.clipboard.readText()")


def test_a_move_by_keyboard_takes_the_old_question_back_and_gets_a_new_answer(moved, server):
    moved.locator(SLIDER).focus()
    before = server.jobs.count("prompt/first")
    moved.keyboard.press("ArrowRight")
    moved.keyboard.press("ArrowRight")
    moved.wait_for_function("location.hash.includes('clients%3D22')")
    moved.wait_for_function(SETTLED)

    assert server.jobs.count("prompt/first") > before
    assert "22" == moved.locator(f"[data-key='{CLIENTS}'] .number").input_value()
    assert "clients = 22" in moved.locator("#toml").inner_text()


def test_an_invalid_value_says_why_beside_its_control(desk):
    enter_refused_value(desk)

    assert desk.locator(f"{RETRY} .problem").inner_text().startswith("source.writers.retry = -3 must be")
    take_back(desk)


def test_another_key_is_found_by_what_it_means(desk):
    desk.locator("#search").fill("snapshots the metadata keeps")
    desk.locator("#found button").first.click()

    desk.locator("#added [data-key='table.snapshots_kept_max']").wait_for()
    desk.locator("[data-key='table.snapshots_kept_max'] .reset").dispatch_event("click")


def test_what_is_pinned_is_compared_with_what_follows_and_both_are_told_apart(moved, server):
    clients = int(moved.locator(f"[data-key='{CLIENTS}'] .number").input_value())
    remember_words(moved, "#compare-about")
    moved.locator("#pin").click()
    moved.locator(SLIDER).focus()
    moved.keyboard.press("ArrowRight")
    moved.wait_for_function(f"document.getElementById('compare').dataset.seeds === '{COMPARE_SEEDS[-1]}'")

    assert "Simulating both with the same seeds…" in moved.evaluate("told")
    assert f"source.writers.arrivals.clients: {clients} → {clients + 1}" in moved.locator(".keys-changed").inner_text()
    assert "now - pinned" in moved.locator("#compare-body table").inner_text()
    assert server.address + link(clients + 1, pinned=clients) == moved.evaluate("location.href")


def test_a_link_restores_what_was_on_screen(pinned):
    assert "23" == pinned.locator(f"[data-key='{CLIENTS}'] .number").input_value()
    assert pinned.locator("#compare").is_visible()
    assert "source.writers.arrivals.clients: 22 → 23" in pinned.locator(".keys-changed").inner_text()


def test_back_goes_back_a_refused_value_does_not_survive_a_reload_and_glue_is_found(fresh):
    page = fresh
    page.wait_for_function(LONG_AGO)
    page.locator(SLIDER).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("location.hash.includes('clients%3D21')")

    page.go_back()
    page.wait_for_function(f"document.querySelector(\"[data-key='{CLIENTS}'] .number\").value === '20'")
    page.wait_for_function(SETTLED)

    enter_refused_value(page)
    page.wait_for_selector(f"{RETRY} .problem")
    page.reload()
    page.wait_for_function(SETTLED)
    assert 0 == page.locator(".problem").count()
    assert "-3" != page.locator(f"{RETRY} .number").input_value()

    page.locator("#search").fill("glue")
    assert "catalog.profile" in page.locator("#found").inner_text()


def test_an_answer_that_arrives_after_a_refused_value_does_not_keep_that_value(browser, server):
    page = watch_page(browser, "about:blank")
    # The page waits 25 ms before it asks again: here that moment lasts until the answer under way has arrived.
    page.add_init_script("const real = setTimeout; window.setTimeout = (f, ms) => (ms === 25 ? 0 : real(f, ms));")
    held = []
    page.route("**/api/ask", lambda route: held.append(route))
    page.goto(server.address + link())
    enter_refused_value(page)
    while not held:
        page.wait_for_timeout(20)
    held.pop().continue_()
    page.wait_for_function(SETTLED)

    assert "clients" in page.evaluate("location.hash")
    assert "-3" not in page.evaluate("decodeURIComponent(location.hash)")
    page.close()


def test_no_title_is_cut(desk):
    """Titles of charts and names of controls are as wide as they need to be, or wrap."""
    cut = """() => [...document.querySelectorAll('#charts h3, #charts figcaption, label')]
        .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflow !== 'visible')
        .map((one) => one.textContent)"""

    assert [] == desk.evaluate(cut)


def test_a_phone_has_room_for_everything(browser, server):
    phone = opened(browser, server.address + link(), width=390, color_scheme="dark", reduced_motion="reduce")

    assert "dark" == phone.evaluate("document.documentElement.dataset.theme")
    assert phone.evaluate(TOO_WIDE) is False
    assert [] == phone.complaints
    phone.close()


def test_nothing_was_asked_of_another_host_and_nothing_complained(desk, server):
    assert [] == [url for url in desk.asked if not url.startswith((server.address, "blob:"))]
    assert [] == desk.complaints


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_with_a_pin_and_a_problem_on_screen(pinned, theme):
    desk = pinned
    enter_refused_value(desk)
    desk.wait_for_selector(f"{RETRY} .problem")

    assert desk.locator("#compare table").is_visible()
    assert {} == violations(desk, theme)
    take_back(desk)
