"""Servers that answer as nobody should: without end, drop by drop, or by sending on to another."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

ENDLESS, DRIPPING, REDIRECTING, DRIPPING_HEADERS = "/endless", "/dripping", "/redirecting", "/slow-headers"


class Handler(BaseHTTPRequestHandler):
    """One that says nothing on the terminal, and sends an answer in one go."""

    def send(self, status: int, content: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


class Unkind(Handler):
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
        self.send(200, ETag='"1"')

    do_POST = do_GET  # noqa: N815
    do_DELETE = do_PUT  # noqa: N815

    def answer(self, path: str) -> None:
        body = self.answers.get(path, self.answers.get("*"))
        if path.startswith(REDIRECTING):
            self.send(307, Location=self.elsewhere)
        elif path.startswith(DRIPPING_HEADERS):
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            self.drip(b"X")
        elif body is not None:
            self.send(200, body, Content_Type="application/json")
        elif path.startswith((ENDLESS, DRIPPING)):
            self.send_response(200)
            self.end_headers()
            if path.startswith(DRIPPING):
                self.drip(b" ")
            while True:
                self.wfile.write(b" " * 65_536)
        else:
            self.send(404)

    def drip(self, byte: bytes) -> None:
        while True:
            self.wfile.write(byte)
            self.wfile.flush()
            time.sleep(0.05)


@contextmanager
def listening(server: ThreadingHTTPServer) -> Iterator[str]:
    """The address of a server while it serves."""
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serving(*, elsewhere: str = "", answers: dict[str, bytes] | None = None) -> Iterator[tuple[str, list[str]]]:
    """The address of an unkind server, and the paths it was asked for."""
    asked: list[str] = []
    handler = type("Handler", (Unkind,), {"elsewhere": elsewhere, "answers": answers or {}, "asked": asked})
    with listening(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as address:
        yield address, asked
