"""When a store decides about a conditional put: which share of its latency lies before the decision.

The measured experiment (``store_probe``) is played with numbers drawn from its own latencies, for several shares; the
one whose refusals and rates are nearest to the measured ones wins.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from endive.observation.measurement.store_probe import SwapStep

SHARES: Final = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
SHARE_UNKNOWN: Final = 0.5
PUTS: Final = 1200
_SMALL: Final = 0.02  # a share of refusals below this is not worth a ratio


def fit_share(steps: Mapping[int, SwapStep]) -> float:
    """The share, or one half where nobody was refused."""
    contended = {
        clients: step for clients, step in steps.items() if clients > 1 and step.refused_ms and step.success_ms
    }
    if not contended or not steps.get(1) or not steps[1].success_ms:
        return SHARE_UNKNOWN
    return min(SHARES, key=lambda share: sum(_error(step, clients, share) for clients, step in contended.items()))


def _error(step: SwapStep, clients: int, share: float) -> float:
    per_s, refused = play(clients, share, step.head_ms, step.success_ms, step.refused_ms)
    off = math.log((refused + _SMALL) / (step.refused_share + _SMALL))
    return off * off + math.log(per_s / step.per_s) ** 2


def play(
    clients: int, share: float, head_ms: Sequence[float], success_ms: Sequence[float], refused_ms: Sequence[float]
) -> tuple[float, float]:
    """Successes per second and the share refused, of so many clients that read the version and then put."""
    draws = iter(np.random.Generator(np.random.PCG64(7)).random(4 * PUTS + 4 * clients).tolist())

    def drawn(values: Sequence[float]) -> float:
        return values[int(next(draws) * len(values))]

    version = succeeded = refused = 0
    now_ms = 0.0
    # (time, client, what happens: 0 the head is evaluated, 1 the put is evaluated, the version the client knows)
    events = [(drawn(head_ms) / 2.0, client, 0, 0) for client in range(clients)]
    heapq.heapify(events)
    while succeeded + refused < PUTS:
        now_ms, client, kind, known = heapq.heappop(events)
        if kind == 0:
            put_ms = share * drawn(success_ms)
            heapq.heappush(events, (now_ms + drawn(head_ms) / 2.0 + put_ms, client, 1, version))
            continue
        is_won = known == version
        version += is_won
        succeeded, refused = succeeded + is_won, refused + (not is_won)
        rest_ms = (1.0 - share) * drawn(success_ms if is_won else refused_ms)
        heapq.heappush(events, (now_ms + rest_ms + drawn(head_ms) / 2.0, client, 0, 0))
    return 1000.0 * max(1, succeeded) / now_ms, refused / (succeeded + refused)
