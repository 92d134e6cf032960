"""Waiting for a condition, for as long as a busy machine takes; no test sleeps and hopes."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 300.0  # after which something is wrong, however busy the machine is
POLL_S = 0.02


def wait_until(is_so: Callable[[], object], what: str) -> None:
    """Return as soon as it is so."""
    end_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end_s, f"waited {PATIENCE_S:.0f} s in vain: {what}"
        time.sleep(POLL_S)
