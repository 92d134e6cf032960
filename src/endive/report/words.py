"""Names, units and numbers as a reader says them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from endive.objectives.verdict_text import PER_HOUR_BELOW

_PARTS: Final = {"p50": " P50", "p95": " P95", "p99": " P99", "mean": ", mean"}
FIGURE_NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "success_rate": ("success rate", "%"),
    "committed_per_s": ("commits", "txns/s"),
    "committed_in_window_per_s": ("commits inside the window", "txns/s"),
    "offered_per_s": ("offered load", "txns/s"),
    **{f"commit_latency_{part}_ms": (f"commit latency{words}", "ms") for part, words in _PARTS.items()},
    **{f"total_latency_{part}_ms": (f"total latency{words}", "ms") for part, words in _PARTS.items()},
    **{f"freshness_{part}_ms": (f"age of the newest visible data{words}", "ms") for part, words in _PARTS.items()},
    "freshness_max_ms": ("age of the newest visible data, most", "ms"),
    "stale_share": ("time with data older than the bound", "%"),
    "lost_share": ("data lost", "%"),
    "retries_mean": ("retries", "per txn"),
    "requests_per_txn": ("requests", "per txn that ended"),
    "requests_per_committed_txn": ("requests", "per committed txn"),
    "in_flight_committing_share": ("still committing at the end", "%"),
}
PERCENT_FIGURES: Final = frozenset({"success_rate", "in_flight_committing_share", "share", "stale_share", "lost_share"})

_AXIS_NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "transaction.inter_arrival.scale": ("time between arrivals, mean", "ms"),
    "load_per_s": ("offered load", "txns/s"),
    "catalog.num_tables": ("tables", ""),
    "catalog.num_groups": ("groups of tables", ""),
    "catalog.partitions.num_partitions": ("partitions", ""),
    "catalog.type": ("catalog", ""),
    "catalog.scope": ("conflict scope", ""),
    "catalog.table_metadata_inlined": ("table metadata inlined", ""),
    "storage.provider": ("storage", ""),
    "storage.max_parallel": ("parallel requests, at most", ""),
    "commit.protocol": ("protocol", ""),
    "table.format": ("table format", ""),
    "delta.client": ("client", ""),
    "transaction.retry": ("retries, at most", ""),
    "transaction.retry_backoff.policy": ("retry policy", ""),
    "transaction.manifest_list_mode": ("manifest lists", ""),
    "transaction.operation_types": ("mix of operations", ""),
    "transaction.isolation": ("isolation", ""),
    "transaction.real_conflict_probability": ("real-conflict probability", ""),
    "table.snapshots_kept_max": ("snapshots kept", ""),
}
STORE_NAMES: Final[Mapping[str, str]] = {
    "s3": "S3",
    "s3x": "S3 Express",
    "azure": "Azure",
    "azurex": "Azure Premium",
    "gcp": "Google Cloud",
}
_VALUE_NAMES: Final[Mapping[str, Mapping[str, str]]] = {  # where a value does not say by itself what it means
    "storage.provider": STORE_NAMES,
    "table.format": {"iceberg": "Iceberg", "delta": "Delta Lake"},
    "delta.client": {"spark": "Delta Spark", "delta_rs": "delta-rs"},
    "catalog.scope": {
        "catalog": "conflicts by catalog",
        "group": "conflicts by group",
        "table": "conflicts by table",
        "partition": "conflicts by partition",
    },
    "transaction.retry_backoff.policy": {
        "none": "no pause",
        "full_jitter": "full jitter",
        "decorrelated_jitter": "decorrelated jitter",
        "iceberg": "Iceberg's pauses",
    },
}
_THOUSANDS_FROM: Final = 10_000
S_PER_H: Final = 3_600.0
_UNIT_ENDINGS: Final = {"_per_s": "1/s", "per_s": "1/s", "_ms": "ms", "_bytes": "bytes", "_mib": "MiB", "_s": "s"}

PHASE_NAMES: Final[Mapping[str, str]] = {
    "catalog_read": "newest version looked up",  # in a catalog, or by a listing of the log
    "metadata": "table metadata",
    "history": "history (lists of rivals)",
    "manifests": "manifests",
    "manifest_list": "manifest list",
    "winners": "commits of winners",
    "log_update": "table brought up to date",
    "checkpoint": "checkpoint",
    "commit": "commit request",
    "backoff": "backoff",
}
KIND_NAMES: Final[Mapping[str, str]] = {
    "fast_append": "fast appends",
    "merge_append": "merge appends",
    "validated_overwrite": "validated overwrites",
    "rewrite_files": "compactions",
    "expire_snapshots": "expiries of snapshots",
    "rewrite_manifests": "rewrites of manifests",
    "blind_append": "blind appends",
    "append_after_read": "appends after reading",
    "merge": "merges",
    "optimize": "optimizes",
}
REASON_NAMES: Final[Mapping[str, str]] = {
    "aborted_retries_exhausted": "retries exhausted",
    "aborted_validation_exception": "validation failed (real conflict)",
    "aborted_timeout": "timeout",
    "aborted_commit_state_unknown": "commit state unknown (answer lost)",
    "aborted_history_expired": "history expired meanwhile",
    "aborted_storage_failed": "storage failed (throttled)",
    "aborted_concurrent_append": "concurrent append",
    "aborted_concurrent_delete_read": "concurrent delete of what was read",
    "aborted_concurrent_delete_delete": "concurrent delete of what it deletes",
    "aborted_log_cleaned_up": "log cleaned up meanwhile",
}
WARNING_NAMES: Final[Mapping[str, str]] = {
    "still_committing": "Still committing at the end",
    "nothing_measured": "Nothing measured",
    "none_ended": "None ended",
    "unsteady_window": "Unsteady window",
    "single_seed": "Too few seeds",
    "few_seeds": "Few seeds of txns that retry",
    "assumed_figures": "Assumed figures",
    "unsaid_catalog_latency": "Catalog latency not given",
    "unsaid_overlap": "Overlap not given",
    "unsaid_partitions": "Partitions left to chance",
    "unsaid_reading": "What was read not given",
    "borrowed_latency": "Latency of another catalog",
    "hypothetical_catalog": "Hypothetical catalog",
    "missing_log_store": "No such LogStore",
    "uncharged_answers": "Long answers not charged",
    "failed_run": "Failed runs",
    "unfinished_sweep": "Unfinished sweep",
}


def figure_label(figure: str) -> str:
    """Return a figure as the title of an axis: name and unit."""
    return add_unit(*figure_words(figure))


def figure_words(figure: str) -> tuple[str, str]:
    """Return a figure's name in words and its unit."""
    if figure in FIGURE_NAMES:
        return FIGURE_NAMES[figure]
    return _split_unit(figure)


def axis_words(key: str) -> tuple[str, str]:
    """Return an axis's name in words and its unit."""
    if key in _AXIS_NAMES:
        return _AXIS_NAMES[key]
    parts = key.split(".")
    if parts[0] == "source" and parts[2:] == ["arrivals", "jobs"]:
        return f"{parts[1]} jobs", ""
    if parts[0] == "source" and parts[2:] == ["arrivals", "clients"] and parts[1].endswith("s"):
        return parts[1], ""
    if parts[0] == "source" and len(parts) > 2:
        name, unit = axis_words(".".join(("transaction", *parts[2:])))
        return f"{name} of {parts[1]}", unit
    if parts[-2:-1] == ["arrivals"]:
        if parts[-1] == "per_s":
            return "arrivals", "txns/s"
        if parts[-1] == "clients":
            return "clients", ""
    if parts[-1] == "ms" and len(parts) > 1:
        return parts[-2].replace("_", " "), "ms"
    name, unit = _split_unit(parts[-1])
    return (f"{parts[-2].replace('_', ' ')}: {name}" if len(parts) > 2 else name), unit


def _split_unit(name: str) -> tuple[str, str]:
    for ending, unit in _UNIT_ENDINGS.items():
        if name.endswith(ending) and name != ending:
            return name.removesuffix(ending).replace("_", " "), unit
    return name.replace("_", " "), ""


def add_unit(name: str, unit: str) -> str:
    """Return name and unit as one title."""
    return f"{name} ({unit})" if unit else name


def number(value: float | None, digits: int = 3) -> str:
    """So many digits that matter, thousands separated; a dash for nothing."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")  # 9.999 is 10.0, not 10.00
    places = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{value:,.{places}f}" if places <= 6 else f"{value:.{digits - 1}e}"


def percent(value: float | None) -> str:
    """Return a share with one decimal, or as many as tell it from 100 %."""
    if value is None:
        return "-"
    return "100 %" if value == 1 else f"{_points(value)} %"


def _points(share: float) -> str:
    """Return a share in percentage points; 100 only if it is."""
    texts = [f"{100 * share:.{decimals}f}" for decimals in (1, 2, 3)]
    return next((text for text in texts if share >= 1 or not text.startswith("100")), "> 99.99")


def show(figure: str, value: float | None) -> str:
    """Return a figure's value in a sentence, with its unit."""
    if figure in PERCENT_FIGURES:
        return percent(value)
    unit = figure_words(figure)[1]
    if unit == "txns/s" and value is not None and is_per_hour(value):
        return f"{number(S_PER_H * value)} per hour"
    return f"{number(value)} {unit}".strip() if unit in ("ms", "txns/s") else number(value)


def is_per_hour(rate_per_s: float) -> bool:
    """Return whether people would count it by the hour."""
    return rate_per_s < PER_HOUR_BELOW


def with_interval(row: Mapping[str, Any], figure: str) -> str:
    """Return a mean with its 95 % interval in brackets, if it has one."""
    low, high = row.get(f"{figure}_ci95_low"), row.get(f"{figure}_ci95_high")
    text = show(figure, row[figure])
    if low is None or high is None or row[figure] is None or low == high:
        return text
    if figure in PERCENT_FIGURES:
        return f"{text} [{_points(low)}, {_points(high)}]"
    if text.endswith("per hour"):
        return f"{text} [{number(S_PER_H * low)}, {number(S_PER_H * high)}]"
    return f"{text} [{number(low)}, {number(high)}]"


def value_text(value: Any, key: str = "") -> str:
    """Return the value of an axis: in words if it has any, else as the study writes it."""
    if isinstance(value, str):
        return _VALUE_NAMES.get(key, {}).get(value, value)
    if isinstance(value, int) and value >= _THOUSANDS_FROM:
        return f"{value:,}"
    if value is None:
        return "as in the base"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        text = f"{value:g}"
        return text if len(text) <= 5 or value == int(value) else f"{value:.3g}"
    return str(value)


def clock_unit(most_us: float) -> tuple[float, str]:
    """Microseconds per unit, and the unit, in which people say times and ages of that size."""
    if most_us >= 5 * 3600e6:
        return 3600e6, "h"
    return (60e6, "min") if most_us >= 300e6 else (1e6, "s")


def round_ticks(most: float) -> list[float]:
    """Ticks from zero up to a number, at most seven: multiples of 1, 2 or 5 of a power of ten."""
    power = 10.0 ** math.floor(math.log10(most / 6)) if most > 0 else 1.0
    step = next(step * power for step in (1, 2, 5, 10) if step * power * 6 >= most)
    return [index * step for index in range(math.floor(most / step * 1.0001) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Ticks of a logarithmic axis: 1, 2 and 5 of each power of ten, fewer if powers are many, more if there is one."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 3 else (1, 3) if last - first <= 4 else (1,)
    choices = [_within(low, high, one, range(first, last + 1)) for one in (steps, (1, 1.2, 1.5, 2, 3, 5, 7))]
    ticks = choices[0] if len(choices[0]) > 3 else choices[1]
    return ticks if len(ticks) > 1 else [float(f"{low:.3g}"), float(f"{high:.3g}")]


def _within(low: float, high: float, steps: Sequence[float], powers: range) -> list[float]:
    ticks = [float(f"{step * 10.0**power:.6g}") for power in powers for step in steps]
    return [tick for tick in ticks if low * 0.99 <= tick <= high * 1.01]


def join_words(items: list[str]) -> str:
    """Items as part of a sentence."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def quote(label: str) -> str:
    """Return a label that can stand in a list: in quotes if it holds a comma itself."""
    return f'"{label}"' if ", " in label and "(" not in label else label


def count_words(count: int, noun: str) -> str:
    """Return a number of things."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
