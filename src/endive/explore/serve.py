"""Starts the server: an address of its own on this machine, a token, and a browser if one is wanted."""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
import webbrowser
from collections.abc import Callable
from typing import Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from endive.errors import OutputError
from endive.explore.app import make_app
from endive.explore.crew import start_forkserver
from endive.explore.starting_points import Starts

HOST: Final = "127.0.0.1"
PORT: Final = 8765  # tried first if none is asked for
TOKEN_BYTES: Final = 16
REQUEST_S_MAX: Final = 10.0  # for a whole request to arrive
ENDING_SIGNALS: Final = ("SIGINT", "SIGTERM", "SIGHUP")  # the last is unknown to Windows


class WaryProtocol(H11Protocol):
    """HTTP that closes a connection on which no whole request arrives in time."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Wait for the rest of a request, from its first byte on, however slowly it comes."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._forget()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_S_MAX, self.transport.close)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def serve(starts: Starts, *, port: int | None, is_opened: bool, tell: Callable[[str], None]) -> None:
    """Serve the page until interrupted; ``tell`` hears its address."""
    bound = bind(port)
    number = bound.getsockname()[1]
    token = secrets.token_urlsafe(TOKEN_BYTES)
    address = f"http://{HOST}:{number}/{token}/"
    app = make_app(starts, token=token, port=number)
    # What is worth a line, the guard says itself; uvicorn prints a traceback for every client that hangs up.
    config = uvicorn.Config(
        app,
        http=WaryProtocol,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    start_forkserver()
    tell(address)
    if is_opened:
        webbrowser.open(address)
    run_until_told(uvicorn.Server(config), bound)


def run_until_told(server: uvicorn.Server, bound: socket.socket) -> None:
    """Serve until a signal ends it: Ctrl-C, SIGTERM, or a terminal that closes.

    uvicorn hears the first two once its loop runs. One that comes a moment earlier would tear its start apart, so all
    are heard here first, and take their usual effect when the server has stopped.
    """
    heard: list[int] = []

    def stop(number: int, frame: object) -> None:
        heard.append(number)
        server.should_exit = True

    numbers = [getattr(signal, name) for name in ENDING_SIGNALS if hasattr(signal, name)]
    before = {number: signal.signal(number, stop) for number in numbers if signal.getsignal(number) != signal.SIG_IGN}
    try:
        server.run(sockets=[bound])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if heard:
        signal.raise_signal(heard[0])


def bind(port: int | None) -> socket.socket:
    """Return a socket on this machine only: the port that is asked for, or the usual one, or any if that is taken."""
    for number in (PORT, 0) if port is None else (port,):
        bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((HOST, number))
        except OSError as error:
            bound.close()
            reason = error.strerror or str(error)
        else:
            bound.listen()  # from now on a browser waits instead of being turned away
            return bound
    raise OutputError(f"--port {port}: {reason}. Leave it out to have a free port chosen.")
