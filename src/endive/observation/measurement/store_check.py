"""What a store's profile gives for what was measured when it was written: requests by size, and swaps by clients.

Requests are held against the growing median of table metadata, the only object whose size the model follows; swaps by
playing the measured loop with the profile's own latencies. So a profile's share of a swap's latency that lies before
the store decides is found too: the loop is played with several, and the one nearest to what was measured wins.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Final

import numpy as np

from endive.errors import ConfigError
from endive.observation.measurement.catalog_profile import Compared
from endive.observation.measurement.store_probe import Measured, SwapStep

MIB: Final = 1024.0 * 1024.0
KEYS: Final = {"get": "read", "put": "write", "head": "head", "delete": "delete"}
_LEVELS: Final = np.linspace(0.02, 0.98, 49)
SHARES: Final = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
SHARE_UNKNOWN: Final = 0.5
PUTS: Final = 1200
_SMALL: Final = 0.02  # a share of refusals below this is not worth a ratio


def measured_table(measured: Measured) -> dict[str, Any]:
    """``[measured]`` of a profile: medians by request and size, and what clients made of one object."""
    table: dict[str, Any] = {
        "requests": [
            [operation, size, round(median(values), 3)] for (operation, size), values in measured.latencies_ms.items()
        ]
    }
    swaps = [
        [clients, round(step.per_s, 3), round(100.0 * step.refused_share, 1)]
        for clients, step in measured.swaps.items()
        if step.seconds and step.success_ms
    ]
    return {**table, "swaps": swaps} if swaps else table


def check_store(document: Mapping[str, Any], name: str) -> list[Compared]:
    """Every figure that was measured beside the profile's own."""
    try:
        told = document["measured"]
        rows = [
            Compared(
                f"{operation.upper()} of {int(size) // 1024} KiB", float(ms), _request_ms(document, operation, size)
            )
            for operation, size, ms in told["requests"]
        ]
        for clients, per_s, refused in told.get("swaps", []):
            given_per_s, given_refused = _swaps(document, int(clients))
            who = f"{clients} client{'s' * (clients > 1)}"
            rows.append(Compared(f"swaps per second, {who}", float(per_s), given_per_s))
            if refused:
                rows.append(Compared(f"swaps refused in %, {who}", float(refused), 100.0 * given_refused))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise ConfigError(
            f"'{name}' does not say what was measured. Give a file that endive measure store has written, of this "
            "version: measure again if it is older."
        ) from None
    return rows


def _request_ms(document: Mapping[str, Any], operation: str, size: float) -> float:
    key = KEYS[operation]
    growing = document.get("objects", {}).get("metadata", {}).get(key)
    if growing is not None:
        return float(growing["median_ms"] + growing["latency_per_mib_ms"] * size / MIB)
    return _at(document["latency"][key], [0.5])[0]


def _swaps(document: Mapping[str, Any], clients: int) -> tuple[float, float]:
    """The measured loop, with latencies of the profile; beside others a swap pays for contention."""
    latency = document["latency"]
    heads = _at(latency.get("head", latency["read"]), _LEVELS)
    made = _at(latency["cas"]["success"], _LEVELS)
    penalty = document.get("contention", {}).get("cas", {}).get("penalty")
    if penalty is not None and clients > 1:
        made = [ms + more for ms, more in zip(made, _at(penalty, _LEVELS), strict=True)]
    refused = _at(latency["cas"].get("failure", latency["cas"]["success"]), _LEVELS)
    return play(clients, float(document["legs"]["cas"]), heads, made, refused)


def _at(table: Mapping[str, Any], shares: Any) -> list[float]:
    points = table["quantiles"]
    values = np.interp(shares, [share for share, _ in points], [ms for _, ms in points])
    return [float(each) for each in values]


# ---- swaps played again ---------------------------------------------------------------------------------


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
