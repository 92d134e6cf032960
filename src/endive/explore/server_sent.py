"""Server-sent events: what a job says, as the browser receives it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from starlette.responses import StreamingResponse

from endive.explore.crew import Crew

MEDIA_TYPE = "text/event-stream"


def event_text(event: dict[str, Any]) -> str:
    """One event; numbers that JSON has no word for cannot be in it."""
    return f"data: {json.dumps(event, allow_nan=False, separators=(',', ':'))}\n\n"


def stream(crew: Crew, client: str, *jobs: tuple[str, str, Any]) -> StreamingResponse:
    """The events of a page's jobs (lane, name, payload), one after another; whoever stops reading cancels them."""

    async def told() -> AsyncIterator[str]:
        for lane, name, payload in jobs:
            async with aclosing(crew.run(lane, name, payload, client)) as events:
                async for event in events:
                    yield event_text(event)
                    if event["type"] in ("failed", "refused"):
                        return

    return StreamingResponse(told(), media_type=MEDIA_TYPE)


def refused(problems: list[dict[str, Any]]) -> StreamingResponse:
    """A stream that says why there is none."""

    async def told() -> AsyncIterator[str]:
        yield event_text({"type": "refused", "problems": problems})

    return StreamingResponse(told(), media_type=MEDIA_TYPE)
