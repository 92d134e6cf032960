"""Servers that answer as nobody should: without end, drop by drop, or by sending on to another."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

ENDLESS, DRIPPING, REDIRECTING, DRIPPING_HEADERS = "/endless", "/dripping", "/redirecting", "/slow-headers"


class Unkind(BaseHTTPRequestHandler):
    """Behaves as its path says; ``elsewhere`` is where a redirect leads, ``answers`` what other paths get."""

    elsewhere = ""
    answers: ClassVar[dict[str, bytes]] = {}
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        type(self).asked.append(path)
        try:
            self.answer(path)
        except OSError:
            pass  # whoever asked has gone

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("ETag", '"1"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_GET  # noqa: N815
    do_DELETE = do_PUT  # noqa: N815

    def answer(self, path: str) -> None:
        if path.startswith(REDIRECTING):
            self.send_response(307)
            self.send_header("Location", self.elsewhere)
            self.end_headers()
            return
        if path.startswith(DRIPPING_HEADERS):
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            self.drip(b"X")
        body = self.answers.get(path, self.answers.get("*"))
        if body is None and not path.startswith((ENDLESS, DRIPPING)):
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        if body is not None:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if body is not None:
            self.wfile.write(body)
        elif path.startswith(DRIPPING):
            self.drip(b" ")
        else:
            while True:
                self.wfile.write(b" " * 65_536)

    def drip(self, byte: bytes) -> None:
        while True:
            self.wfile.write(byte)
            self.wfile.flush()
            time.sleep(0.05)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(*, elsewhere: str = "", answers: dict[str, bytes] | None = None) -> Iterator[tuple[str, list[str]]]:
    """The address of such a server, and the paths it was asked for."""
    asked: list[str] = []
    handler = type("Handler", (Unkind,), {"elsewhere": elsewhere, "answers": answers or {}, "asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
