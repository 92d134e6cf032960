"""What was assumed of a table, each time with one thing that is another: the candidates of ``cause_search``.

Values are coarse, a few factors each; of work there is one more, the time by which statements took longer than in the
model.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from endive.config import apply_overrides, parse_config, read_toml
from endive.config.capabilities import is_profile_path
from endive.config.reading.format_switch import DELTA, ICEBERG, format_of
from endive.config.toml_text import value_text
from endive.distributions import from_table
from endive.observation.fitting.sources import NO_WORK
from endive.observation.measurement.store_profile import profile_text
from endive.observation.replay.trace import CLIENTS
from endive.storage import profile_file

FACTORS: Final = (0.35, 0.5, 0.7, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 11.0)  # so near that one is within a fifth of any other
WORKERS: Final = (1, 2, 4)
WORK_FACTORS: Final = (1.0, 1.4, 2.0, 2.8, 4.0)  # of a worker's time, in latencies; as near to each other
RETRIES: Final = (0, 1, 10)
WORKS: Final = (0.2, 0.5, 2.0, 5.0)
READS: Final = ("table", "partitions", "files")
STORE, CATALOG, WORKERS_KEY, PACE = "storage", "catalog", "catalog.service.workers", "pace"  # what may be changed
_STORE: Final = "Measure the store from where your writers run, while they run: endive measure store."
_CATALOG: Final = "Measure the catalog from where your writers run: endive measure catalog; endive measure --check."
_MEASURED: Final = (
    "What was measured is not what the writers saw: measure again beside them, and look whether they share a machine, "
    "a connection pool or a lock."
)
_READ: Final = "Look at the statement: which predicates on the target can its engine push down? docs/model/conflicts.md"
_FILES: Final = {
    ICEBERG: "Count the files a statement touches: deleted-data-files and added-delete-files of its summaries.",
    DELTA: "Count the files a statement touches: the remove actions of its commits.",
}
_WORK: Final = "Log when the statement began and when it committed: the column runtime_ms of a log."
_AGAIN: Final = "at how often the scheduler starts a failed statement again."
_RETRY: Final = {
    ICEBERG: f"Look at commit.retry.* of the table, and {_AGAIN}",
    DELTA: f"Look at max_commit_retries of the writer, and {_AGAIN}",
}
_KEPT: Final = "Look whether the job loads its table for every commit or keeps it."
_LEVEL: Final = {
    ICEBERG: "Look at write.*.isolation-level of the table, and of the writer's options.",
    DELTA: "Look at delta.isolationLevel of the table.",
}
OTHER_LEVEL: Final = {ICEBERG: "snapshot", DELTA: "write_serializable"}
READERS: Final = {"validated_overwrite", "merge", "append_after_read"}  # kinds that fail by what they have read


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One assumption that is another."""

    key: str  # which
    words: str
    document: Mapping[str, Any]
    look: str  # what to measure, or to look at, next


def changes_of(
    document: Mapping[str, Any], scratch: Path, *, is_measured: bool, late_ms: Mapping[str, float]
) -> Iterator[Change]:
    """Every change; ``late_ms`` is by how much longer than in the model the statements of some sources took."""
    for factor in FACTORS:
        words = _describe_speed("a store", factor)
        slower = scale_store(document, factor, scratch)
        if slower is not None:
            yield Change(key=STORE, words=words, document=slower, look=_MEASURED if is_measured else _STORE)
    if format_of(document) == ICEBERG:  # a log of Delta needs no catalog
        yield from _catalog_changes(document, is_measured=is_measured)
    resolved = parse_config(document).to_dict()["source"]
    for source, whole in zip(document["source"], resolved, strict=True):
        name = source["name"]
        candidates = _of_source(source, whole.get("runtime", NO_WORK), late_ms.get(name, 0.0), format_of(document))
        for keys, look in candidates:
            words = ", ".join(f"source.{name}.{key} = {value_text(value)}" for key, value in keys.items())
            changed = apply_overrides(document, {f'source."{name}".{key}': value for key, value in keys.items()})
            yield Change(key=f"source.{name}.{next(iter(keys))}", words=words, document=changed, look=look)


def _describe_speed(what: str, factor: float) -> str:
    return f"{what} {factor:g} times as slow" if factor > 1.0 else f"{what} {1 / factor:.2g} times as fast"


def _catalog_changes(document: Mapping[str, Any], *, is_measured: bool) -> Iterator[Change]:
    for factor in FACTORS:
        words = _describe_speed("a catalog", factor)
        look = _MEASURED if is_measured else _CATALOG
        given = {key: value for key, value in document["catalog"].items() if key != "latency_ms"}
        slower = {**document, "catalog": {**given, "latency": _catalog_latency(document, factor)}}
        yield Change(key=CATALOG, words=words, document=slower, look=look)
    for workers, factor in itertools.product(WORKERS, WORK_FACTORS):
        words = f"a catalog that serves {workers} at a time"
        words += f", each for {factor:g} times its latency" if factor != 1.0 else ""
        # Each is busy for so many times the catalog's latency, which itself becomes the way there.
        busy = {"workers": workers, "time": _catalog_latency(document, factor)}
        service = {**document["catalog"].get("service", {}), **busy}
        changed = {**document, "catalog": {**document["catalog"], "service": service}}
        yield Change(key=WORKERS_KEY, words=words, document=changed, look=_CATALOG)


def _of_source(
    source: Mapping[str, Any], runtime: Mapping[str, Any], late_ms: float, format: str
) -> Iterator[tuple[dict[str, Any], str]]:
    """Other values of what one source is taken to do."""
    if READERS & source.get("operation_types", {}).keys() and source.get("overwrite") != "replace_partitions":
        yield from (({"read": read}, _READ) for read in READS if read != source.get("read"))
        is_default = source.get("isolation", "serializable") == "serializable"
        yield {"isolation": OTHER_LEVEL[format] if is_default else "serializable"}, _LEVEL[format]
    touched = source.get("touched_files")
    if isinstance(touched, int):
        yield from (({"touched_files": max(1, round(touched * by))}, _FILES[format]) for by in (0.2, 5.0, 20.0))
    yield from (({"runtime": other}, _WORK) for other in _other_work(runtime, late_ms))
    yield from (({"retry": retries}, _RETRY[format]) for retries in RETRIES if retries != source.get("retry"))
    if source["arrivals"]["kind"] in CLIENTS:
        yield {"keeps_table": not source.get("keeps_table", False)}, _KEPT


def _other_work(runtime: Mapping[str, Any], late_ms: float) -> Iterator[dict[str, Any]]:
    """Work that takes some times as long, and as much longer as statements took longer than in the model."""
    mean_ms = from_table(runtime, "runtime").mean()
    if mean_ms > 0.0:
        by_late = float(f"{(mean_ms + late_ms) / mean_ms:.2g}")
        factors = dict.fromkeys((*WORKS, by_late))
        yield from (scale_times(runtime, factor) for factor in factors if factor > 0.0 and factor != 1.0)
    elif late_ms > 0.0:
        yield {"distribution": "fixed", "ms": float(f"{late_ms:.2g}")}


def scale_times(table: Any, factor: float) -> Any:
    """A distribution, or a table of them, with every time multiplied."""
    if isinstance(table, (list, tuple)):  # the components of a mixture
        return [scale_times(each, factor) for each in table]
    if not isinstance(table, Mapping):
        return table
    scaled: dict[str, Any] = {}
    for key, value in table.items():
        if key == "quantiles":
            scaled[key] = [[share, round(ms * factor, 6)] for share, ms in value]
        elif not isinstance(value, (int, float)) or isinstance(value, bool):
            scaled[key] = scale_times(value, factor)
        elif key == "ms" or key.endswith("_ms"):
            scaled[key] = round(value * factor, 6)
        else:
            scaled[key] = value + math.log(factor) if key == "mu" else value
    return scaled


def scale_store(document: Mapping[str, Any], factor: float, scratch: Path) -> dict[str, Any] | None:
    """The configuration on a store whose requests take ``factor`` times as long; its profile is written to scratch."""
    storage = document["storage"]
    if storage["provider"] == "constant":
        return apply_overrides(document, {"storage.latency_ms": storage["latency_ms"] * factor})
    built_in = Path(profile_file.__file__).parent / "profiles" / f"{storage['provider']}.toml"
    place = Path(storage["provider"]) if is_profile_path(storage["provider"]) else built_in
    if not place.is_file():
        return None
    profile = read_toml(place)
    for part in ("latency", "objects", "floor"):
        if part in profile:
            profile[part] = scale_times(profile[part], factor)
    file = scratch / f"store-{factor:g}.toml"
    file.write_text(profile_text(profile, ()), encoding="utf-8")
    return apply_overrides(document, {"storage.provider": str(file)})


def _catalog_latency(document: Mapping[str, Any], factor: float) -> Any:
    """What one request to the catalog takes, so many times over."""
    catalog = parse_config(document).to_dict()["catalog"]
    latency = catalog.get("latency", {"distribution": "fixed", "ms": catalog.get("latency_ms", 1.0)})
    return scale_times(latency, factor)
