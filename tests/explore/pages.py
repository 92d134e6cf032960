"""A server for the tests in a browser: the real application, its jobs in threads of this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

import pytest
from tests.explore.conftest import SHORT, TOKEN, WRITERS, CrewHere
from tests.report.test_browser import PATIENCE_MS

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
import uvicorn

from endive.explore.app import make_app
from endive.explore.serve import bind
from endive.explore.starting_points import Starts

SEEDS = (1, 2)
COMPARE_SEEDS = (1, 2)
CLIENTS = "source.writers.arrivals.clients"
# Everything that belongs to the last move is on screen, and no chart is being drawn.
SETTLED = """document.documentElement.dataset.state === 'settled'
    && [...document.querySelectorAll('[data-pending]')].every((box) => box.dataset.pending === '0')"""
STILL = "document.getAnimations().length === 0"  # colours fade
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def link(clients: int = 20, pinned: int | None = None) -> str:
    """The part of an address that holds a short configuration of so many writers, and how many are pinned."""

    def question(count: int) -> list[tuple[str, str]]:
        changes = SHORT if count == 20 else {**SHORT, CLIENTS: str(count)}
        return [("start", WRITERS), *(("set", f"{key}={text}") for key, text in changes.items())]

    pin = [] if pinned is None else [("pin", urlencode(question(pinned)))]
    return "#" + urlencode([*question(clients), ("vary", CLIENTS), *pin])


@contextmanager
def serving(starts: Starts) -> Iterator[Any]:
    """A crew with the address of the server that it works for; few seeds, so that it is quick."""
    bound = bind(0)
    port = bound.getsockname()[1]
    crew = CrewHere()
    patch = pytest.MonkeyPatch()
    patch.setattr("endive.explore.app.Crew", lambda patient: crew)
    patch.setattr("endive.explore.jobs.SEEDS", SEEDS)
    patch.setattr("endive.explore.jobs.wants_more", lambda *_: False)
    patch.setattr("endive.explore.curve.SEEDS", (1, 2))
    patch.setattr("endive.explore.curve.LIMIT_SIMULATIONS_MAX", 20)
    patch.setattr("endive.explore.jobs.COMPARE_SEEDS", COMPARE_SEEDS)
    app = make_app(starts, token=TOKEN, port=port)
    served = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=served.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not served.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.05)
    crew.address = f"http://127.0.0.1:{port}/{TOKEN}/"
    try:
        yield crew
    finally:
        served.should_exit = True
        thread.join(PATIENCE_MS / 1_000)
        patch.undo()


def violations(page: Any, theme: str) -> dict[str, list[str]]:
    """What axe finds on a page, rule by rule."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page.evaluate("(name) => { document.documentElement.dataset.theme = name; }", theme)
    page.wait_for_function(SETTLED)
    page.wait_for_function(STILL)
    found = axe.Axe().run(page).response["violations"]
    return {one["id"]: [node["html"][:200] for node in one["nodes"]][:3] for one in found}
