"""What requests cost, by the list prices in the profile of the store.

This file defines which requests are on the store's bill. A profile without prices has none, and a catalog that is a
server of its own is not on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from endive.config import SimulationConfig
from endive.storage import OPERATIONS, Profile, load_profile
from endive.vocabulary import OBJECTS

ON_STORE: Final = ("cas", "append")  # catalogs that are objects of the store


def usd_by_request(profile: Profile, catalog_type: str) -> dict[str, float]:
    """USD for one request, by ``object.operation``; empty if the profile states no price."""
    objects = [name for name in OBJECTS if name not in ("catalog", "log") or catalog_type in ON_STORE]
    return {
        f"{name}.{OPERATIONS[op]}": price.usd_per_1000 / 1000
        for op, price in (profile.prices or {}).items()
        for name in objects
    }


def usd_per_commit(config: SimulationConfig, figures: Mapping[str, Any]) -> float | None:
    """USD of the requests that one committed txn costs, lost attempts included; None without prices or commits."""
    prices = usd_by_request(load_profile(config.storage.provider, config.storage.vintage), config.catalog.type)
    committed = figures["txns"]["committed"]
    if not prices or not committed:
        return None
    total = sum(
        count * prices.get(f"{name}.{operation}", 0.0)
        for name, by_operation in figures["requests"]["counts"].items()
        for operation, count in by_operation.items()
    )
    return float(total) / int(committed)
