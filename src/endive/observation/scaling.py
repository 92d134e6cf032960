"""This file multiplies the writers of a configuration: what ``endive replay --scale 2`` means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from endive.config import apply_overrides
from endive.errors import ConfigError


def scaled(document: Mapping[str, Any], scale: float) -> dict[str, Any]:
    """The same configuration with ``scale`` times the writers.

    Clients of a closed loop are multiplied. Of another source there are so many copies, ``name~2`` and on; a part of a
    copy submits that much less often.
    """
    if not 0.01 <= scale <= 1000.0:
        raise ConfigError(f"--scale {scale:g} is not allowed. Give a number from 0.01 to 1000.")
    changed = apply_overrides(document, {})
    changed["source"] = [part for source in changed["source"] for part in _copies(source, scale)]
    return changed


def _copies(source: dict[str, Any], scale: float) -> list[dict[str, Any]]:
    arrivals = source["arrivals"]
    if arrivals["kind"] == "closed":
        return [{**source, "arrivals": {**arrivals, "clients": max(1, round(arrivals["clients"] * scale))}}]
    whole, rest = int(scale), scale - int(scale)
    shares = [1.0] * whole + ([rest] if rest > 1e-9 else [])
    copies = []
    for number, share in enumerate(shares, start=1):
        name = source["name"] if number == 1 else f"{source['name']}~{number}"
        copies.append({**source, "name": name, "arrivals": _slower(arrivals, share, number, len(shares))})
    return copies


def _slower(arrivals: dict[str, Any], share: float, number: int, count: int) -> dict[str, Any]:
    """Gaps longer by 1/share; clocks of copies are spread over the period, as nobody starts them together."""
    found = dict(arrivals)
    for key in ("mean_ms", "period_ms", "ms", "low_ms", "high_ms", "jitter_ms"):
        if key in found:
            found[key] = found[key] / share
    if found["kind"] == "periodic" and number > 1:
        found["offset_ms"] = found.get("offset_ms", 0.0) + found["period_ms"] * (number - 1) / count
    return found
