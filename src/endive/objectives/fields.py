"""The fields an objective can speak of: the figures of a run's summary, with their units and short names.

The figures themselves are computed by ``endive.results.summary``, and a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from endive.vocabulary import COUNTERS, PHASES, REASONS

SHARE: Final = "share"
DURATION: Final = "ms"
RATE: Final = "per s"
NUMBER: Final = ""

_PERCENTILES: Final = ("p50", "p95", "p99", "mean")
_COUNTED: Final = ("restarts", "history_lists", *COUNTERS)


@dataclass(frozen=True, slots=True)
class Field:
    """One figure: where it stands in the summary, its unit, and the other names it goes by."""

    path: tuple[str, ...]
    unit: str
    short_names: tuple[str, ...] = ()
    is_of_data: bool = False  # of the data that a stream brings, which no kind and no table has by itself

    @property
    def name(self) -> str:
        """Return the name people use: the first short one, else the place in the summary."""
        return self.short_names[0] if self.short_names else ".".join(self.path)


def _fields() -> Iterator[Field]:
    yield Field(("success_rate",), SHARE)
    for rate in ("offered_per_s", "committed_per_s", "committed_in_window_per_s"):
        yield Field((rate,), RATE)
    for latency in ("commit", "total"):
        for part in _PERCENTILES:
            short = (f"{part}_{latency}", f"{latency}_latency_{part}_ms")
            yield Field((f"{latency}_latency_ms", part), DURATION, short)
    yield Field(("retries_mean",), NUMBER)
    for part in (*_PERCENTILES, "max"):
        yield Field(("freshness_ms", part), DURATION, (f"{part}_freshness",), is_of_data=True)
    for share in ("stale_share", "lost_share"):
        yield Field((share,), SHARE, is_of_data=True)
    for fate in ("batches", "visible", "lost", "waiting", "twice"):
        yield Field(("data", fate), NUMBER, is_of_data=True)
    yield Field(("requests", "per_committed_txn"), NUMBER, ("requests_per_commit", "requests_per_committed_txn"))
    yield Field(("requests", "total"), NUMBER)
    yield Field(("requests", "bytes_read"), NUMBER, ("bytes_read",))
    yield Field(("requests", "bytes_written"), NUMBER, ("bytes_written",))
    yield Field(("txns", "submitted"), NUMBER, ("submitted",))
    yield Field(("txns", "committed"), NUMBER, ("committed",))
    for reason in REASONS[1:]:
        yield Field(("txns", "aborted", reason), NUMBER, (reason,))
    for stage in ("executing", "committing"):
        yield Field(("txns", "in_flight", stage), NUMBER)
    for phase in PHASES:
        yield Field(("phases_ms", phase), DURATION)
    for counter in _COUNTED:
        yield Field(("counters", counter), NUMBER, (counter,))


FIELDS: Final = tuple(_fields())
_BY_NAME: Final = {name: field for field in FIELDS for name in (".".join(field.path), *field.short_names)}


def field_at(name: str) -> Field | None:
    """Return the field with a name: its place in the summary, dotted, or a short name."""
    return _BY_NAME.get(name)


def field_names() -> tuple[str, ...]:
    return tuple(_BY_NAME)
