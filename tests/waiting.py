"""Waiting for a condition, for as long as a busy machine takes, and for a port; no test sleeps and hopes."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import suppress

PATIENCE_S = 300.0  # after which something is wrong, however busy the machine is
POLL_S = 0.02


def wait_until(is_so: Callable[[], object], what: str) -> None:
    """Return as soon as it is so."""
    end_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end_s, f"waited {PATIENCE_S:.0f} s in vain: {what}"
        time.sleep(POLL_S)


def free_port() -> int:
    """A port on which nobody listens now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def is_answered(port: int) -> bool:
    """Whether somebody listens there."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1.0):
        return True
    return False
