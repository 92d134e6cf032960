"""A measurement of a store as a profile that ``storage.provider = "./mine.toml"`` takes.

Small objects get the quantiles that were measured; table metadata, which grows, a median that grows with its size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from endive.config.toml_text import key_text, value_text
from endive.observation.fitting.arrivals import quantile_table
from endive.observation.measurement.probe_plan import SIZES_BYTES
from endive.observation.measurement.store_check import check_store, fit_share, measured_table
from endive.observation.measurement.store_probe import Measured
from endive.storage import OBJECTS, load_profile

MEASURED: Final = "measured"
SMALL_BYTES: Final = SIZES_BYTES[1]
SLOWER_BY: Final = 1.25  # a swap beside others takes this much longer than alone: contention
SMALL: Final = 1.0  # swaps per second, or percent refused, below which a ratio says nothing
_MIB: Final = 1024.0 * 1024.0


def profile_document(
    measured: Measured, *, name: str, title: str, date: str, provider: str | None = None
) -> dict[str, Any]:
    """The tables of a profile file; what a client of such a store does besides is taken from ``provider``'s profile."""
    said_by = f"endive measure store, {date}:"

    def law(values: Sequence[float], what: str) -> dict[str, Any]:
        return {**quantile_table(values), "source": f"{said_by} {len(values)} {what}"}

    capabilities = ["read", "write"]
    latency: dict[str, Any] = {}
    for operation, key in (("get", "read"), ("put", "write"), ("head", "head"), ("delete", "delete")):
        values = measured.latencies_ms.get((operation, SMALL_BYTES), [])
        if values:
            latency[key] = law(values, f"{operation.upper()} requests of {SMALL_BYTES // 1024} KiB, one after another")
    document: dict[str, Any] = {"name": name, "title": title, "vintage": MEASURED}
    alone = measured.swaps.get(1)
    if alone is not None and alone.success_ms:
        capabilities.append("cas")
        latency["cas"] = {"success": law(alone.success_ms, "swaps by one client")}
        refused = [ms for step in measured.swaps.values() for ms in step.refused_ms]
        if refused:
            latency["cas"]["failure"] = law(refused, "refused swaps")
    document |= {"capabilities": capabilities, "latency": latency}
    growing = {key: _growing(measured, operation, date) for operation, key in (("get", "read"), ("put", "write"))}
    objects = {key: table for key, table in growing.items() if table is not None}
    if objects:
        document["objects"] = {"metadata": objects}
    clients = load_profile(provider) if provider is not None else None
    if clients is not None and clients.head_before_read:
        asked = [OBJECTS[code] for code in sorted(clients.head_before_read)]
        note = clients.notes["head_before_read"]
        document["head_before_read"] = {"objects": asked, "known": note.known, "source": note.source}
    if "cas" in capabilities:
        share = fit_share(measured.swaps)
        puts = sum(step.puts for step in measured.swaps.values())
        document["legs"] = {"cas": share, "source": f"{said_by} {puts} swaps by 1 to 16 clients, played again"}
        tried = [document, *({**document, "contention": {"cas": each}} for each in _contentions(measured, date))]
        document = min(tried, key=lambda each: _misfit(each, measured))
    _mark_measured(document)
    return document


def _mark_measured(table: dict[str, Any]) -> None:
    """Every table that names its source says how well its figures are known."""
    if "source" in table:
        table.setdefault("known", MEASURED)
    for value in table.values():
        if isinstance(value, dict):
            _mark_measured(value)


def profile_text(document: dict[str, Any], comments: Sequence[str]) -> str:
    """As a TOML file, comments first."""
    return "".join(f"# {comment}\n" for comment in comments) + "\n\n".join(_blocks(document, "")) + "\n"


def _blocks(table: dict[str, Any], path: str) -> Iterator[str]:
    """Values first, then tables; the innermost tables, which hold a distribution, as tables of their own."""
    tables = {key: value for key, value in table.items() if isinstance(value, dict) and key not in ("penalty", "delay")}
    lines = [f"{key_text(key)} = {value_text(value)}" for key, value in table.items() if key not in tables]
    if lines:
        yield "\n".join([f"[{path}]", *lines] if path else lines)
    for key, value in tables.items():
        yield from _blocks(value, f"{path}.{key_text(key)}" if path else key_text(key))


def _growing(measured: Measured, operation: str, date: str) -> dict[str, Any] | None:
    """A median that grows with the size, if it does; the spread is that of the smallest size."""
    by_size = {size: measured.latencies_ms.get((operation, size), []) for size in SIZES_BYTES}
    if not all(by_size.values()):
        return None
    medians = {size: float(np.median(values)) for size, values in by_size.items()}
    small, large = SIZES_BYTES[0], SIZES_BYTES[-1]
    per_mib = (medians[large] - medians[small]) / ((large - small) / _MIB)
    if per_mib <= 0.0:
        return None
    logs = np.log(np.maximum(1e-3, np.asarray(by_size[small])))
    sizes = ", ".join(f"{size // 1024} KiB" for size in SIZES_BYTES)
    return {
        "distribution": "lognormal",
        "median_ms": round(max(1e-3, medians[small] - per_mib * small / _MIB), 3),
        "sigma": round(min(8.0, float(np.std(logs))), 4),
        "latency_per_mib_ms": round(per_mib, 3),
        "source": f"endive measure store, {date}: medians of {operation.upper()} at {sizes}",
    }


def _contentions(measured: Measured, date: str) -> list[dict[str, Any]]:
    """What a swap beside so many others takes beyond one alone, of every number of clients that was tried."""
    alone = float(np.median(measured.swaps[1].success_ms))
    return [
        {
            "window_ms": round(max(1.0, alone), 3),
            "penalty": quantile_table([max(0.0, ms - alone) for ms in step.success_ms]),
            "source": f"endive measure store, {date}: {len(step.success_ms)} swaps by {clients} clients beside one",
        }
        for clients, step in measured.swaps.items()
        if clients > 1 and len(step.success_ms) >= 5 and float(np.median(step.success_ms)) >= SLOWER_BY * alone
    ]


def _misfit(document: dict[str, Any], measured: Measured) -> float:
    """How far the profile's swaps are from those measured, over all numbers of clients: squares of logarithms."""
    rows = check_store({**document, "measured": measured_table(measured)}, "the profile")
    pairs = [(row.profile_ms, row.measured_ms) for row in rows if row.what.startswith("swaps")]
    return sum(math.log((given + SMALL) / (real + SMALL)) ** 2 for given, real in pairs)
