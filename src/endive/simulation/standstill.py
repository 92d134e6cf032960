"""A clock that stands still: clients of a closed loop whose txns take no time never let an instant end."""

import numpy as np

from endive.errors import EngineError
from endive.results.columns import Columns

TXNS_PER_CLIENT_MAX = 1_000  # that one client ends at one instant
TXNS_MIN = 20_000  # before anything is said: rows come in batches


class Standstill:
    """Counts the txns that closed loops ended at the latest instant."""

    def __init__(self, clients: int) -> None:
        self._txns_max = max(TXNS_MIN, TXNS_PER_CLIENT_MAX * clients)
        self._instant_us = -1
        self._txns = 0

    def add(self, columns: Columns) -> None:
        """One more batch of finished txns, in the order in which they ended."""
        ends_us = columns.us("end_ms")
        instant_us = int(ends_us[-1])
        if instant_us != self._instant_us:
            self._instant_us, self._txns = instant_us, 0
        self._txns += int(np.count_nonzero((columns.count("client") >= 0) & (ends_us == instant_us)))
        if self._txns > self._txns_max:
            raise EngineError(
                f"the clock stands still at {instant_us / 1000.0:g} ms: clients of a closed loop end one txn after "
                "another there, because neither a txn nor the time between two of them takes any. Give the source a "
                "runtime or a think time, or the storage or the catalog a latency, above 0."
            )
