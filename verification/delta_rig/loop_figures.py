"""What the closed loops of both clients have in common: delays, endings, and what is kept of a kind of request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

WRITERS: Final = (1, 2, 4, 8, 16)
DELAYS_MS: Final = {"GET": 20.0, "LIST": 20.0, "PUT": 30.0, "HEAD": 10.0, "DELETE": 20.0, "POST": 20.0}
SHARES: Final = (*(step / 50 for step in range(50)), 0.985, 0.99, 0.995, 0.998, 1.0)
COMMITTED: Final = "committed"
EXHAUSTED: Final = "retries exhausted"
CLEANED: Final = "log cleaned up"
OTHER: Final = "other"
ENDINGS: Final = (COMMITTED, EXHAUSTED, CLEANED, OTHER)


def quantiles(values: Iterable[float]) -> list[float]:
    """At ``SHARES``, by straight lines."""
    ordered = sorted(values)
    found = []
    for share in SHARES:
        place = share * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        found.append(round(ordered[low] + (place - low) * (ordered[high] - ordered[low]), 2))
    return found


def describe(values: Sequence[float]) -> dict[str, Any]:
    """What is kept of a kind of request."""
    mean_ms = round(sum(values) / len(values), 3)
    return {"count": len(values), "mean_ms": mean_ms, "quantiles_ms": quantiles(values)}


def replaced(cell: dict[str, Any] | None, date: str) -> list[dict[str, Any]]:
    """What stays of a cell that is recorded again: its runs, behind those that it replaced itself."""
    if cell is None:
        return []
    return [*cell.get("earlier", ()), {"date": date, "seconds": cell["seconds"], "runs": cell["runs"]}]
