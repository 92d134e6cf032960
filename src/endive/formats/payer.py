"""How an engine pays for requests nobody else can see.

A format says which requests there are and in which order. The compiled engine's payer adds their latencies up
(``endive.simulation.compiled.bill``), the reference engine's writes them down and the txn waits for one after another
(``endive.transaction.settling``).
"""

from collections.abc import Callable
from typing import NamedTuple


class Payer(NamedTuple):
    """How an engine pays. Requests between ``fork`` and ``switch`` run beside those up to ``join``."""

    many: Callable[..., None]  # (world, txn, phase, counter, object, op, size_bytes, count, parallel); may be 0 of them
    fork: Callable[..., None]  # (txn)
    switch: Callable[..., None]  # (txn)
    join: Callable[..., None]  # (txn, phase): both are done; the phase they were billed to
    wait: Callable[..., None]  # (txn, phase, wait_us): until all of an answer is there; never beside others
