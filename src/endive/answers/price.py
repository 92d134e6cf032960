"""What requests and bytes cost, by the list prices in the profiles of store and catalog, per commit and per month.

A store without prices has no bill. A catalog that is a server of its own is on the bill if its calls have a published
price. What a month writes is kept for a month: nobody knows how long a table is kept, and a year is twelve times that.
Prices, their source and their date are in the profiles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from endive.answers.estimates import pooled_figures, pooled_window
from endive.answers.sample import Sample
from endive.config import SimulationConfig
from endive.config.catalog_profile import catalog_profile
from endive.objectives.names import ALL
from endive.storage import OPERATIONS, Profile, load_profile
from endive.storage.profile import BytePrices
from endive.vocabulary import OBJECTS

MONTH_S: Final = 30 * 24 * 3600.0
GIB: Final = float(1 << 30)
ON_STORE: Final = ("cas", "append")  # catalogs that are objects of the store


def usd_by_request(profile: Profile, catalog_type: str) -> dict[str, float]:
    """Return USD for one request, by ``object.operation``; empty if the profile states no price."""
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


@dataclass(frozen=True, slots=True)
class BillLine:
    """One kind of request, or GiB: how many a month, and what that costs."""

    what: str
    per_month: float
    usd: float
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """USD per month of 30 days at the simulated load, by list price."""

    lines: tuple[BillLine, ...]
    metadata_bytes: float  # written per month
    notes: tuple[str, ...]

    @property
    def usd(self) -> float:
        """Return the total."""
        return sum(line.usd for line in self.lines)

    def to_json_dict(self) -> dict[str, Any]:
        """Return as plain values."""
        told = {"usd_per_month": self.usd, "metadata_bytes_per_month": self.metadata_bytes}
        return {**told, "lines": [asdict(line) for line in self.lines], "notes": list(self.notes)}


def bill_of(config: SimulationConfig, samples: Sequence[Sample]) -> Bill | None:
    """Return what a month of this load costs; None if the store states no price."""
    profile = load_profile(config.storage.provider, config.storage.vintage)
    prices = usd_by_request(profile, config.catalog.type)
    length_us = pooled_window([sample.window for sample in samples]).length_us
    if not prices or not length_us:
        return None
    figures = pooled_figures(samples, ALL, "")
    months = length_us / 1e6 / MONTH_S
    sources = {OPERATIONS[op]: f"{price.source}, {price.date}" for op, price in (profile.prices or {}).items()}
    counts = {
        (name, operation): count / months
        for name, by_operation in figures["requests"]["counts"].items()
        for operation, count in by_operation.items()
        if count
    }
    lines = [
        BillLine(f"{name.replace('_', ' ')} {operation}", count, count * usd, sources[operation])
        for (name, operation), count in counts.items()
        if (usd := prices.get(f"{name}.{operation}")) is not None
    ]
    written, read = (figures["requests"][what] / months for what in ("bytes_written", "bytes_read"))
    of_bytes, note = _byte_lines(profile.byte_prices, written / GIB, read / GIB)
    of_calls, notes = _catalog_line(config, counts)
    return Bill(lines=(*lines, *of_bytes, *of_calls), metadata_bytes=written, notes=(note, *notes))


def _byte_lines(prices: BytePrices | None, written: float, read: float) -> tuple[list[BillLine], str]:
    """Return what the GiB of a month cost that have a price, and what is to be said about keeping them."""
    if prices is None:
        return [], f"{written:,.1f} GiB of metadata are written a month; no list price for keeping them is known."
    rows = (
        ("GiB kept for a month", written, prices.usd_per_gib_kept),
        ("GiB written", written, prices.usd_per_gib_written),
        ("GiB read", read, prices.usd_per_gib_read),
    )
    source = f"{prices.source}, {prices.date}"
    lines = [BillLine(what, gib, gib * usd, source) for what, gib, usd in rows if usd]
    return lines, (
        f"{written:,.1f} GiB of metadata are written a month, and stay until something deletes them (expiry of "
        "snapshots, write.metadata.delete-after-commit.enabled, a retention of the log): one month of keeping them is "
        "on the bill."
    )


def _catalog_line(
    config: SimulationConfig, counts: Mapping[tuple[str, str], float]
) -> tuple[list[BillLine], list[str]]:
    """Return the calls to a catalog that is a service, if they have a price; else a note."""
    calls = sum(count for (name, _), count in counts.items() if name in ("catalog", "log"))
    if config.catalog.type in ON_STORE or not calls:
        return [], []
    lock = config.catalog.service.lock
    if lock is not None and lock.kind == "dynamodb":
        tries, releases = (counts.get(("catalog", operation), 0.0) for operation in ("create", "delete"))
        asked = 2 * tries + releases  # whoever tries has looked
        lines, notes = _call_line(config, calls - asked)
        return lines, [*notes, f"{asked:,.0f} requests a month to the lock's table in DynamoDB are not on the bill."]
    return _call_line(config, calls)


def _call_line(config: SimulationConfig, calls: float) -> tuple[list[BillLine], list[str]]:
    price = None if config.catalog.profile is None else catalog_profile(config.catalog.profile).price
    if price is None:
        whose = config.catalog.profile or "the catalog"
        return [], [f"{calls:,.0f} calls a month to {whose} are not on the bill: no list price per call is known."]
    paid = max(0.0, calls - price.free_per_month)
    usd = paid * price.usd_per_1000 / 1000.0
    return [BillLine("catalog calls", calls, usd, f"{price.source}, {price.date}")], []
