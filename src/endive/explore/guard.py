"""Who is answered: only pages that this server served, on this machine.

Every request is checked before any route sees it: the Host header names this server (so a foreign name that resolves to
127.0.0.1 is turned away), the Origin, where there is one, is this server, the address begins with the token that was
printed at the start, and a body is small.
"""

from __future__ import annotations

import asyncio
import logging
from hmac import compare_digest
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from endive.explore.limits import BODY_BYTES_MAX

LOG: Final = logging.getLogger("endive.explore")
MISTAKE: Final = "This is a mistake in Endive, not in what you asked for: please report it, with what you did."
HOSTS: Final = ("127.0.0.1", "localhost", "[::1]")
SAFE_SITES: Final = ("same-origin", "none")
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Turns away what does not come from the page; takes the token off the path of what does."""

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self._app = app
        self._prefix = f"/{token}/"
        self._hosts = {f"{host}:{port}" for host in HOSTS}
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refused = self.refusal(scope)
        if refused is not None:
            await PlainTextResponse(refused[1], status_code=refused[0], headers=HEADERS)(scope, receive, send)
            return
        is_begun = False
        inner = {**scope, "path": scope["path"][len(self._prefix) - 1 :], "raw_path": None, "root_path": ""}

        async def send_with_headers(message: Message) -> None:
            nonlocal is_begun
            if message["type"] == "http.response.start":
                is_begun = True
                added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        try:
            await self._app(inner, receive, send_with_headers)
        except asyncio.CancelledError:  # the server ends while it waits for a body
            if is_begun:
                raise
            await PlainTextResponse("The server ends.", status_code=503, headers=HEADERS)(scope, receive, send)
        except Exception as error:
            if is_begun:
                raise
            LOG.error("%s: %s", type(error).__name__, " ".join(str(error).split())[:300])
            await PlainTextResponse(MISTAKE, status_code=500, headers=HEADERS)(scope, receive, send)

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Status and words, if the request is turned away."""
        if scope["type"] != "http":
            return 404, "Not here."
        headers = Headers(scope=scope)
        if headers.get("host") not in self._hosts:
            return 421, "This server answers to 127.0.0.1 only; the Host header names another one."
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            return 403, "This server answers its own page only; the Origin header names another one."
        if headers.get("sec-fetch-site", "none") not in SAFE_SITES:
            return 403, "This server answers its own page only; the request comes from another site."
        if scope["method"] not in ("GET", "HEAD") and origin is None:
            return 403, "A question needs the Origin header, which every browser sends."
        path = scope["path"]
        if not compare_digest(path[: len(self._prefix)].encode(), self._prefix.encode()):
            return 404, "Not here. Open the whole address that endive explore printed, with its token."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > BODY_BYTES_MAX or "transfer-encoding" in headers:
            return 413, f"A question has at most {BODY_BYTES_MAX:,} bytes."
        return None
