"""What a store's profile gives for what was measured when it was written: requests by size, and swaps by clients.

Requests are held against the growing median of table metadata, the only object whose size the model follows; swaps by
playing the measured loop with the profile's own latencies.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any, Final

import numpy as np

from endive.errors import ConfigError
from endive.observation.measurement.catalog_profile import Compared
from endive.observation.measurement.store_probe import Measured
from endive.observation.measurement.swap_loop import play

MIB: Final = 1024.0 * 1024.0
KEYS: Final = {"get": "read", "put": "write", "head": "head", "delete": "delete"}
_SHARES: Final = np.linspace(0.02, 0.98, 49)


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
    heads = _at(latency.get("head", latency["read"]), _SHARES)
    made = _at(latency["cas"]["success"], _SHARES)
    penalty = document.get("contention", {}).get("cas", {}).get("penalty")
    if penalty is not None and clients > 1:
        made = [ms + more for ms, more in zip(made, _at(penalty, _SHARES), strict=True)]
    refused = _at(latency["cas"].get("failure", latency["cas"]["success"]), _SHARES)
    return play(clients, float(document["legs"]["cas"]), heads, made, refused)


def _at(table: Mapping[str, Any], shares: Any) -> list[float]:
    points = table["quantiles"]
    values = np.interp(shares, [share for share, _ in points], [ms for _, ms in points])
    return [float(each) for each in values]
