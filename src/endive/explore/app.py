"""The server's routes: the page and its parts, and the questions it asks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from endive import __version__
from endive.errors import ConfigError, EndiveError, IntakeError
from endive.explore.controls import all_keys, controls_of
from endive.explore.crew import PATIENT, PROMPT, Crew
from endive.explore.curve import Along
from endive.explore.guard import Guard
from endive.explore.limits import BODY_BYTES_MAX, DURATION_MS_MAX, SOURCES_MAX, TABLES_MAX, TXNS_MAX
from endive.explore.page_question import Question, problems_by_key, read_question, reproduction_of
from endive.explore.starting_points import Starts
from endive.intake import parse_json
from endive.objectives import duration_text
from endive.render.html import STYLE
from endive.report.charts.chart import CONFIG
from endive.report.charts.chart_script import bundle

PAGE: Final = Path(__file__).parent / "page"
MEDIA: Final = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
EVENTS: Final = "text/event-stream"
PAGE_HEADER: Final = "x-endive-page"
PAGE_CHARACTERS_MAX: Final = 64
LIMITS: Final = (
    f"The page simulates at most {TXNS_MAX:,} txns, {duration_text(DURATION_MS_MAX)}, {TABLES_MAX:,} tables and "
    f"{SOURCES_MAX} sources at once. The command line has no such limits."
)


def make_app(starts: Starts, *, token: str, port: int, patient: int | None = None) -> Starlette:
    """Return the application; workers live as long as it does."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.crew = Crew(patient)
        try:
            yield
        finally:
            app.state.crew.close()

    routes = [
        Route("/", _asset),
        Route("/vega.js", _vega),
        Route("/api/starts", _starts),
        Route("/api/open", _open, methods=["POST"]),
        Route("/api/ask", _ask, methods=["POST"]),
        Route("/api/curve", _curve, methods=["POST"]),
        Route("/api/compare", _compare, methods=["POST"]),
        Route("/{name}", _asset),
    ]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(Guard, token=token, port=port)],
        exception_handlers={EndiveError: _refuse},
    )
    app.state.starts = starts
    return app


# --- the page -----------------------------------------------------------------------------------------


async def _asset(request: Request) -> Response:
    name = request.path_params.get("name", "index.html")
    path = next((path for path in PAGE.iterdir() if path.suffix in MEDIA and path.name == name), None)
    if path is None:
        return PlainTextResponse("Not here.", status_code=404)
    content = path.read_bytes() + (STYLE.encode() if path.suffix == ".css" else b"")
    return Response(content, media_type=MEDIA[path.suffix])


@lru_cache(maxsize=1)
def _bundle() -> bytes:
    return bundle().encode()


async def _vega(request: Request) -> Response:
    return Response(await asyncio.to_thread(_bundle), media_type=MEDIA[".js"])  # takes a second the first time


# --- server-sent events -------------------------------------------------------------------------------


def event_text(event: dict[str, Any]) -> str:
    """Return one event, as the browser receives it; numbers that JSON has no word for cannot be in it."""
    return f"data: {json.dumps(event, allow_nan=False, separators=(',', ':'))}\n\n"


def _stream(request: Request, *jobs: tuple[str, str, Any]) -> StreamingResponse:
    """The events of a page's jobs (lane, name, payload), one after another; whoever stops reading cancels them."""
    crew: Crew = request.app.state.crew
    page = request.headers.get(PAGE_HEADER, "")[:PAGE_CHARACTERS_MAX]  # which each makes up when it is loaded

    async def events_of_jobs() -> AsyncIterator[str]:
        for lane, name, payload in jobs:
            async with aclosing(crew.run(lane, name, payload, page)) as events:
                async for event in events:
                    yield event_text(event)
                    if event["type"] in ("failed", "refused"):
                        return

    return StreamingResponse(events_of_jobs(), media_type=EVENTS)


# --- questions ----------------------------------------------------------------------------------------


async def _starts(request: Request) -> Response:
    starts: Starts = request.app.state.starts
    return JSONResponse(
        {
            "version": __version__,
            "starts": [start.label for start in starts.listed.values()],
            "keys": all_keys(),
            "limits": LIMITS,
            "chart_config": CONFIG,
        }
    )


async def _open(request: Request) -> Response:
    """Return the controls of a start, and what can be taken of it as it is changed."""
    question = await _question(request)
    controls = controls_of(question.start.base)
    opening: dict[str, Any] = {"start": question.start.label, "controls": [asdict(control) for control in controls]}
    try:
        base = question.base()
    except ConfigError as error:
        return JSONResponse({**opening, "problems": _place(question, error)})
    now = {control.key: control.value for control in controls_of(base)}
    return JSONResponse({**opening, "problems": [], **reproduction_of(question, base), "now": now})


async def _ask(request: Request) -> Response:
    question = await _question(request)
    try:
        base = question.base()
    except ConfigError as error:
        refusal = event_text({"type": "refused", "problems": _place(question, error)})
        return Response(refusal, media_type=EVENTS)
    return _stream(request, (PROMPT, "first", base), (PATIENT, "refine", base))


async def _curve(request: Request) -> Response:
    return _stream(request, (PATIENT, "curve", await _along(request)))


async def _compare(request: Request) -> Response:
    body = await _body(request)
    if not isinstance(body, dict) or not {"a", "b"} <= body.keys():
        raise ConfigError("A comparison needs two questions, a and b.")
    pinned, now = (read_question(body[side], request.app.state.starts).base() for side in ("a", "b"))
    return _stream(request, (PATIENT, "compare", (pinned, now)))


async def _along(request: Request) -> Along:
    question = await _question(request)
    base = question.base()
    if question.vary is None:
        raise ConfigError("A curve needs a key to vary.")
    return Along(base, question.vary, question.start.title)


async def _question(request: Request) -> Question:
    return read_question(await _body(request), request.app.state.starts)


async def _body(request: Request) -> Any:
    try:
        return parse_json(await request.body(), name="The question", bytes_max=BODY_BYTES_MAX)
    except IntakeError as error:
        is_other = not error.reason.startswith("is not JSON")
        raise ConfigError(str(error) if is_other else "The question is not JSON.") from None


def _place(question: Question, error: ConfigError) -> list[dict[str, Any]]:
    keys = [*question.changes, *(control.key for control in controls_of(question.start.base))]
    return problems_by_key(error.problems, keys)


async def _refuse(request: Request, error: Exception) -> Response:
    problems = getattr(error, "problems", (str(error),))
    return JSONResponse({"problems": [{"text": text, "key": None} for text in problems]}, status_code=422)
