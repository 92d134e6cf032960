"""Durations as people write them: ``5s``, ``30min``, ``1h30min``, ``250 ms``."""

from __future__ import annotations

import re
from typing import Final

MS_PER_UNIT: Final = {
    "us": 0.001,
    "ms": 1.0,
    "s": 1_000.0,
    "sec": 1_000.0,
    "min": 60_000.0,
    "m": 60_000.0,
    "h": 3_600_000.0,
    "d": 86_400_000.0,
}
DURATION_EXAMPLES: Final = "'250ms', '90s', '5min' or '1h30min'"

_PART: Final = re.compile(r"\s*(\d[\d_]*(?:\.\d+)?)\s*([A-Za-z]+)")


def parse_duration_ms(text: str) -> float | None:
    """Return milliseconds that a text such as ``1h30min`` means; None if it is not a duration."""
    position, total_ms = 0, 0.0
    while position < len(text.rstrip()):
        part = _PART.match(text, position)
        if part is None or part.group(2).lower() not in MS_PER_UNIT:
            return None
        total_ms += float(part.group(1).replace("_", "")) * MS_PER_UNIT[part.group(2).lower()]
        position = part.end()
    return total_ms if position else None


def duration_text(ms: float) -> str:
    """Return a duration with three digits that matter, in the unit people would choose."""
    size = abs(ms)
    for unit, above_ms in (("d", 604_800_000.0), ("h", 7_200_000.0), ("min", 120_000.0), ("s", 1_000.0)):
        if size >= above_ms:
            return f"{_three_digits(ms / MS_PER_UNIT[unit])} {unit}"
    return f"{_three_digits(ms)} ms"


def _three_digits(value: float) -> str:
    size = abs(value)
    if size >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}"
