"""The trace that a replay runs: every txn is submitted so that its commit begins when it was seen to.

A history knows when commits began, the model wants to know when txns were submitted: before they loaded the table and
did their work. How long that takes is the model's own, so a first run tells it. A log of statements knows when those
began, and perhaps how long each worked.

Clients that keep their table are sources of their own (``name``, ``name~2``, ...): each goes on from what it knew.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from endive.config import apply_overrides, parse_config
from endive.observation.fitting.sources import NO_WORK
from endive.observation.folder import TraceRow
from endive.observation.history import APPEND
from endive.simulation import Simulation
from endive.workload import ICEBERG_OPERATIONS

APPEND_KINDS = ("merge_append", "fast_append")
MARGIN_MS = 60_000.0  # after the last commit, for it to end

BySource = Mapping[str, float]
NOTHING: BySource = {}
RELOAD = "reload"
CLOCK_US = 50_000  # by which a client's clock may be off from its own stop watch
_COPY: Final = re.compile(r"~\d+$")
CLIENTS: Final = {"closed": "clients", "jobs": "jobs"}  # arrivals of clients that stay, and how many


class Trace(NamedTuple):
    """A configuration whose sources go by a trace, and when that begins."""

    document: dict[str, Any]
    begin_ms: float


def as_observed(
    document: Mapping[str, Any],
    rows: Sequence[TraceRow],
    path: Path,
    *,
    statements: AbstractSet[str] = frozenset(),
    timed: AbstractSet[str] = frozenset(),
) -> Trace:
    """Every source begins to commit when it did, and commits what it did; traces for that are written beside ``path``.

    Sources in ``statements`` begin their work at the times of the history, not their commits; their work has the
    loading of the table in it, and that of those in ``timed`` also its reading back, which is after Iceberg's timer.
    """
    first = _trace(document, rows, path).document
    leads_ms = _before_commit_ms(first)
    spared_ms = loading_ms(first) if statements else {}
    if reads_back(first):
        spared_ms |= {name: 2.0 * spared_ms[name] for name in timed if name in spared_ms}
    return _trace(
        document,
        rows,
        path,
        {name: ms for name, ms in leads_ms.items() if name not in statements},
        {name: ms for name, ms in spared_ms.items() if name in statements},
    )


def reads_back(document: Mapping[str, Any]) -> bool:
    """Whether a txn reads the table once more when it has committed (``SnapshotProducer.notifyListeners``)."""
    return bool(parse_config(document).commit.after_success == RELOAD)


def loading_ms(observed: Mapping[str, Any]) -> dict[str, float]:
    """How long a txn of each source of a trace takes to load its table: from submission to commit, without work."""
    idle = apply_overrides(observed, {})
    for source in idle["source"]:
        source["runtime"] = NO_WORK
        source["arrivals"] = {**source["arrivals"], "path": str(_without_work(Path(source["arrivals"]["path"])))}
    return _before_commit_ms(idle)


def _without_work(trace: Path) -> Path:
    """The same trace beside it, with nothing said of work: what a row says goes before what its source does."""
    head, *rows = trace.read_text(encoding="utf-8").splitlines()
    idle = trace.with_name(f"idle-{trace.name}")
    idle.write_text("\n".join([head, *(f"{row.rpartition(',')[0]}," for row in rows)]) + "\n", encoding="utf-8")
    return idle


def _before_commit_ms(document: Mapping[str, Any]) -> dict[str, float]:
    """The usual time from submission to the beginning of the commit, by source."""
    table = Simulation(parse_config(document)).run(0).transactions
    names = np.asarray([plain_name(name) for name in table["source"].to_pylist()], dtype=object)
    began_ms, submitted_ms = (table[key].to_numpy(zero_copy_only=False) for key in ("commit_start_ms", "submit_ms"))
    took_ms = began_ms.astype(np.float64) - submitted_ms
    known = np.isfinite(took_ms)
    return {
        str(name): float(np.median(took_ms[known & (names == name)])) for name in dict.fromkeys(names[known].tolist())
    }


def _trace(
    document: Mapping[str, Any],
    rows: Sequence[TraceRow],
    path: Path,
    leads_ms: BySource = NOTHING,
    spared_ms: BySource = NOTHING,
) -> Trace:
    """The sources with their trace, each row by ``leads_ms`` before its time, with ``spared_ms`` less of work."""
    observed = apply_overrides(document, {})
    weights = {source["name"]: source.get("operation_types", {}) for source in observed["source"]}
    serial = one_at_a_time(rows)
    staying = _staying_clients(observed["source"], serial)
    submitted = []
    for row, client in zip(rows, client_numbers(rows, staying), strict=True):
        left = ""
        if row.runtime_ms is not None:
            left = f"{max(0.0, row.runtime_ms - spared_ms.get(row.source, 0.0)):.3f}"
        submit_us = round(1000.0 * (row.begin_ms - leads_ms.get(row.source, 0.0)))
        submitted.append((submit_us, row.source, client, _kind(row.operation, weights[row.source]), left))
    submitted.sort()
    first_us = submitted[0][0]
    lines: dict[str, list[str]] = {}
    for when_us, name, client, kind, work in submitted:
        lines.setdefault(_copy_name(name, client), ["submit_ms,kind,runtime_ms"]).append(
            f"{(when_us - first_us) / 1000.0:.3f},{kind},{work}"
        )
    observed["simulation"]["duration_ms"] = (submitted[-1][0] - first_us) / 1000.0 + max(leads_ms.values(), default=0.0)
    observed["simulation"]["duration_ms"] += MARGIN_MS
    copies = [
        {**source, "name": _copy_name(source["name"], client)}
        for source in observed["source"]
        for client in range(staying.get(source["name"], 1))
    ]
    observed["source"] = [source for source in copies if source["name"] in lines]  # a part may lack some
    for number, source in enumerate(observed["source"]):
        for key in ("start_ms", "stop_ms"):
            source.pop(key, None)
        own = path.with_name(f"{path.stem}-{number}{path.suffix}")  # each its own: everyone reads the whole of a file
        own.write_text("\n".join(lines[source["name"]]) + "\n", encoding="utf-8")
        is_serial = plain_name(source["name"]) in serial | staying.keys()
        source["arrivals"] = {"kind": "trace", "path": str(own), "one_at_a_time": is_serial}
    return Trace(observed, first_us / 1000.0)


def one_at_a_time(rows: Sequence[TraceRow]) -> set[str]:
    """Sources of which no statement began before the one before it had ended: one client, that waits."""
    ends_us: dict[str, int] = {}
    overlapping = set()
    for row in sorted(rows, key=lambda each: each.begin_us):
        if row.duration_ms is None or row.begin_us < ends_us.get(row.source, row.begin_us) - CLOCK_US:
            overlapping.add(row.source)
        else:
            ends_us[row.source] = row.end_us
    return set(ends_us) - overlapping


def _staying_clients(sources: Any, serial: AbstractSet[str]) -> dict[str, int]:
    """The clients of each source whose clients keep their table, if it has several that do not wait for each other."""
    return {
        source["name"]: int(source["arrivals"][CLIENTS[source["arrivals"]["kind"]]])
        for source in sources
        if source.get("keeps_table") and source["arrivals"]["kind"] in CLIENTS and source["name"] not in serial
    }


def client_numbers(rows: Sequence[TraceRow], clients: Mapping[str, int]) -> list[int]:
    """Which client of its source each row is taken to be of, from 0: the one that has waited longest.

    Who it really was, no history tells. If all are busy, it is the one that is free first.
    """
    numbers = [0] * len(rows)
    free_us = {name: [(0, number) for number in range(count)] for name, count in clients.items()}
    for place, row in sorted(enumerate(rows), key=lambda each: each[1].begin_us):
        if row.source in clients:
            waiting = free_us[row.source]
            numbers[place] = waiting[0][1]
            heapq.heapreplace(waiting, (row.end_us, numbers[place]))
    return numbers


def _copy_name(name: str, client: int) -> str:
    return f"{name}~{client + 1}" if client else name


def plain_name(copy: str) -> str:
    """The source that is meant by the name of one of its copies."""
    return _COPY.sub("", copy)


def _kind(operation: str, weights: Mapping[str, float]) -> str:
    """What the source is said to make; of one that makes several kinds, what the operation is called."""
    if len(weights) == 1:
        return next(iter(weights))
    if operation == APPEND:
        return max(APPEND_KINDS, key=lambda kind: weights.get(kind, 0.0))
    return ICEBERG_OPERATIONS[operation]
