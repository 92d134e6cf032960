"""The writers of a configuration multiplied: what ``endive replay --scale 2`` means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from endive.answers.variation import scale_source
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
    if source["arrivals"]["kind"] == "closed":
        return [scale_source(source, scale)]
    whole, rest = int(scale), scale - int(scale)
    shares = [1.0] * whole + ([rest] if rest > 1e-9 else [])
    copies = []
    for number, share in enumerate(shares, start=1):
        copy = scale_source(source, share)
        copy["name"] = source["name"] if number == 1 else f"{source['name']}~{number}"
        if copy["arrivals"]["kind"] == "periodic" and number > 1:  # nobody starts clocks together
            late_ms = copy["arrivals"]["period_ms"] * (number - 1) / len(shares)
            copy["arrivals"]["offset_ms"] = copy["arrivals"].get("offset_ms", 0.0) + late_ms
        copies.append(copy)
    return copies
