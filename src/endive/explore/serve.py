"""Starts the server: an address of its own on this machine, a token, and a browser if one is wanted."""

from __future__ import annotations

import secrets
import signal
import socket
import webbrowser
from collections.abc import Callable
from typing import Final

import uvicorn

from endive.errors import OutputError
from endive.explore.app import make_app
from endive.explore.crew import start_forkserver
from endive.explore.starting_points import Starts

HOST: Final = "127.0.0.1"
PORT: Final = 8765  # tried first if none is asked for
TOKEN_BYTES: Final = 16
ENDING_SIGNALS: Final = ("SIGINT", "SIGTERM", "SIGHUP")  # the last is unknown to Windows


def serve(starts: Starts, *, port: int | None, is_opened: bool, tell: Callable[[str], None]) -> None:
    """Serve the page until interrupted; ``tell`` hears its address."""
    bound = bind(port)
    number = bound.getsockname()[1]
    token = secrets.token_urlsafe(TOKEN_BYTES)
    address = f"http://{HOST}:{number}/{token}/"
    app = make_app(starts, token=token, port=number)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=1
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
    """A socket on this machine only: the port that is asked for, or the usual one, or any if that is taken."""
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
