"""A configuration of what was seen of a Delta table: the fitted sources, its client, its log.

Which client commits is what most commits say; what a statement has read, and how long it worked, no log tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from endive.config.sections.simulation import LOG_REPLAY_MS
from endive.observation.fitting.configuration import (
    are_files_known,
    assumed_provider,
    duration_ms,
    partitions_section,
    read_of,
)
from endive.observation.fitting.sources import FittedSource
from endive.observation.history import TableHistory
from endive.observation.tables.delta_log import DELTA, INTERVAL, ISOLATION, READING

DELTA_RS: Final = "delta-rs"
ISOLATIONS: Final = {"serializable": "serializable", "writeserializable": "write_serializable"}
INTERVAL_MAX: Final = 1_000_000
VERSION_MAX: Final = 1_000_000  # that a configuration can begin with


def delta_configuration(history: TableHistory, sources: Sequence[FittedSource]) -> tuple[dict[str, Any], list[str]]:
    """The document of a configuration file, and what in it is assumed."""
    provider, assumed = assumed_provider(history.location)
    client, others = _client(sources)
    if others:
        told = ", ".join(f"{count:,} of {engine}" for engine, count in others.items())
        assumed.append(f'delta.client = "{client}": the model has one client, and there are commits {told}')
    if work_ms := LOG_REPLAY_MS[client]:
        assumed.append(f"delta.log_replay_ms = {work_ms:g}: no log tells how long Spark works each time it reads one")
    settings = history.shape.settings
    versions = history.shape.snapshots
    if versions > VERSION_MAX:  # as far from a checkpoint, for whatever interval divides half of it
        versions = VERSION_MAX // 2 + versions % (VERSION_MAX // 2)
        assumed.append(
            f"delta.initial_version = {versions:,} instead of {history.shape.snapshots:,}, the most there is"
        )
    delta: dict[str, Any] = {"client": client, "initial_version": versions}
    interval = settings.get(INTERVAL, "")
    if interval.isascii() and interval.isdecimal() and 0 < int(interval) <= INTERVAL_MAX:
        delta["checkpoint_interval"] = int(interval)
    level = ISOLATIONS.get(settings.get(ISOLATION, "").lower())
    for source in sources:
        if source.is_work_assumed:
            work = f"source.{source.name}.runtime = {source.work['ms']:g} ms"
            assumed.append(f"{work}: no log of a table tells how long a statement works before it commits")
        if source.kind in READING and not source.logged_read:
            assumed.append(f'source.{source.name}.read = "{read_of(source, history.shape)}": no log tells the filter')
    files = {"data_files": history.shape.data_files} if are_files_known(history.shape) else {}
    document: dict[str, Any] = {
        "simulation": {"duration_ms": round(duration_ms(history, sources), 3)},
        "experiment": {"label": history.name},
        "storage": {"provider": provider},
        "catalog": partitions_section(history.shape),
        "table": {"format": DELTA, **files},
        "delta": delta,
        "source": [_source(source, history, client, level) for source in sources],
    }
    return {key: value for key, value in document.items() if value}, assumed


def _client(sources: Sequence[FittedSource]) -> tuple[str, dict[str, int]]:
    """The client of most commits, and the commits of others by engine."""
    counted = Counter(source.engine for source in sources for _ in source.commits)
    is_rs = 2 * counted[DELTA_RS] > sum(counted.values())
    others = {name: count for name, count in counted.items() if (name == DELTA_RS) != is_rs}
    return ("delta_rs" if is_rs else "spark"), others


def _source(source: FittedSource, history: TableHistory, client: str, level: str | None) -> dict[str, Any]:
    """``[[source]]``, with the files and partitions that its commits touched."""
    shape = history.shape
    table: dict[str, Any] = {
        "name": source.name,
        "arrivals": source.arrivals.table,
        "operation_types": {source.kind: 1.0},
        "runtime": source.work,
    }
    table |= {"keeps_table": True} if source.arrivals.table["kind"] == "closed" else {}
    table |= {key: value for key, value in (("start_ms", source.start_ms), ("stop_ms", source.stop_ms)) if value}
    if source.kind in READING:
        table["read"] = read_of(source, shape)
        if level is not None and client == "spark":
            table["isolation"] = level
    if source.kind == "merge" and not any(commit.added_files for commit in source.commits):
        table["adds_rows"] = False
    if are_files_known(shape) and source.touched_files and source.kind in ("merge", "optimize"):
        table["touched_files"] = min(source.touched_files, shape.data_files or 1)
    if partitions_section(shape) and source.partitions:
        table["partitions"] = {"count": min(source.partitions, shape.partitions or 1)}
    return table
