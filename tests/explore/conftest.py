"""What the tests of the live page share: starts, an application without processes, and the events of a stream."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")

from starlette.testclient import TestClient
from tests.report.test_browser import browser

from endive.explore.app import make_app
from endive.explore.jobs import JOBS
from endive.explore.process import answer_events
from endive.explore.starting_points import BUILT_IN, Starts, start_of

__all__ = ["browser"]

TOKEN = "secret"
PORT = 8765
ORIGIN = f"http://127.0.0.1:{PORT}"
WRITERS = "built-in/twenty_writers"
SHORT = {"simulation.duration_ms": "2min", "simulation.warmup_ms": "10s", "simulation.cooldown_ms": "10s"}


class CrewHere:
    """Runs jobs in threads of this process, however many; remembers which, and which were cancelled."""

    def __init__(self) -> None:
        self.jobs: list[str] = []
        self.cancelled: list[str] = []

    async def run(self, lane: str, name: str, payload: Any, client: str = "") -> AsyncGenerator[dict[str, Any], None]:
        self.jobs.append(f"{lane}/{name}")
        stop = threading.Event()
        events = answer_events(JOBS[name], payload, stop.is_set)
        try:
            while (event := await asyncio.to_thread(next, events, None)) is not None:
                yield event
        except BaseException:
            self.cancelled.append(name)
            raise
        finally:
            stop.set()

    def close(self) -> None:
        pass


def events_in(text: str) -> list[dict[str, Any]]:
    """The events of a stream that has ended."""
    return [json.loads(part.removeprefix("data: ")) for part in text.split("\n\n") if part]


@pytest.fixture(scope="session")
def starts() -> Starts:
    found = start_of(BUILT_IN / "twenty_writers.toml", group="To begin with", prefix="built-in/")
    return Starts({found.id: found})


@pytest.fixture
def client(starts, monkeypatch) -> Iterator[TestClient]:
    monkeypatch.setattr("endive.explore.app.Crew", lambda patient: CrewHere())
    with TestClient(make_app(starts, token=TOKEN, port=PORT), base_url=ORIGIN) as made:
        made.headers["Origin"] = ORIGIN
        yield made


@pytest.fixture
def experiments() -> Path:
    return Path(__file__).parents[2] / "experiments"
