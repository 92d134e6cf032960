"""An interrupt is heard while compiled code computes, however long it does."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap

import pytest
from tests.waiting import PATIENCE_S

ENDLESS = textwrap.dedent(
    """
    import signal
    signal.signal(signal.SIGINT, signal.default_int_handler)
    import numba
    from endive.simulation.compiled import engine

    @numba.njit(nogil=True)
    def burn(n):
        x = 1
        while x != n:
            x = (x * 3) % 1_000_003
        return x

    burn(1)

    class Engine(engine.CompiledEngine):
        def __init__(self):
            self._world = None

    def advance(world, events):
        print("computing", flush=True)
        return burn(-1)

    engine.advance = advance
    try:
        Engine()._turn()
    except KeyboardInterrupt:
        print("heard", flush=True)
    """
)


@pytest.mark.lengthy
def test_an_interrupt_does_not_wait_for_compiled_code_that_never_ends() -> None:
    process = subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert "computing\n" == process.stdout.readline()

    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE_S)

    assert "heard\n" == out
    assert 0 == process.returncode
