"""The trace that a replay runs: every txn is submitted so that its commit begins when it was seen to.

A history knows when commits began, the model wants to know when txns were submitted: before they loaded the table and
did their work. How long that takes is the model's own, so a first run tells it. A log of statements knows when those
began, and perhaps how long each worked.

Clients that keep their table are sources of their own (``name``, ``name~2``, ...): each goes on from what it knew.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from endive.config import apply_overrides, parse_config
from endive.observation.fitting.sources import NO_WORK
from endive.observation.history import APPEND
from endive.observation.replay.pace import EVEN, Pace
from endive.simulation import Simulation
from endive.workload import ICEBERG_OPERATIONS
from endive.workload.trace import epoch_us
from endive.workload.trace_file import is_empty

APPEND_KINDS = ("merge_append", "fast_append")
MARGIN_MS = 60_000.0  # after the last commit, for it to end

Columns = Mapping[str, list[Any]]
BySource = Mapping[str, float]
NOTHING: BySource = {}
RELOAD = "reload"
CLOCK_US = 50_000  # by which a client's clock may be off from its own stop watch
_COPY: Final = re.compile(r"~\d+$")
CLIENTS: Final = {"closed": "clients", "jobs": "jobs"}  # arrivals of clients that stay, and how many


class Trace(NamedTuple):
    """A configuration whose sources go by a trace, and when that begins on the even clock of its pace."""

    document: dict[str, Any]
    begin_ms: float


def as_observed(
    document: Mapping[str, Any],
    columns: Columns,
    path: Path,
    *,
    statements: AbstractSet[str] = frozenset(),
    timed: AbstractSet[str] = frozenset(),
    pace: Pace = EVEN,
) -> Trace:
    """Every source begins to commit when it did, and commits what it did; traces for that are written beside ``path``.

    Sources in ``statements`` begin their work at the times of the history, not their commits; their work has the
    loading of the table in it, and that of those in ``timed`` also its reading back, which is after Iceberg's timer.
    """
    first = _trace(document, columns, pace, path).document
    leads_ms = _before_commit_ms(first)
    spared_ms = loading_ms(first) if statements else {}
    if reads_back(first):
        spared_ms |= {name: 2.0 * spared_ms[name] for name in timed if name in spared_ms}
    return _trace(
        document,
        columns,
        pace,
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
    columns: Columns,
    pace: Pace,
    path: Path,
    leads_ms: BySource = NOTHING,
    spared_ms: BySource = NOTHING,
) -> Trace:
    """The sources with their trace, each row by ``leads_ms`` before its time, with ``spared_ms`` less of work."""
    observed = apply_overrides(document, {})
    weights = {source["name"]: source.get("operation_types", {}) for source in observed["source"]}
    serial = one_at_a_time(columns)
    staying = _staying_clients(observed["source"], serial)
    rows = []
    blank = [""] * len(columns["source"])
    cells = zip(
        columns["timestamp"],
        columns["operation"],
        columns["source"],
        columns.get("runtime_ms", blank),
        client_numbers(columns, staying),
        strict=True,
    )
    for row, (when, operation, name, work, client) in enumerate(cells, start=1):
        seen_ms = epoch_us(path, row, "timestamp", when) / 1000.0
        even_ms = float(pace.to_even(seen_ms))
        left = ""
        if not is_empty(work):
            worked_ms = float(pace.to_even(seen_ms + float(work))) - even_ms
            left = f"{max(0.0, worked_ms - spared_ms.get(name, 0.0)):.3f}"
        submit_us = round(1000.0 * (even_ms - leads_ms.get(name, 0.0)))
        rows.append((submit_us, name, client, _kind(operation, weights[name]), left))
    rows.sort()
    first_us = rows[0][0]
    lines: dict[str, list[str]] = {}
    for when_us, name, client, kind, work in rows:
        lines.setdefault(_copy_name(name, client), ["submit_ms,kind,runtime_ms"]).append(
            f"{(when_us - first_us) / 1000.0:.3f},{kind},{work}"
        )
    observed["simulation"]["duration_ms"] = (rows[-1][0] - first_us) / 1000.0 + max(leads_ms.values(), default=0.0)
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


def one_at_a_time(columns: Columns) -> set[str]:
    """Sources of which no statement began before the one before it had ended: one client, that waits."""
    ends_us: dict[str, int] = {}
    overlapping = set()
    cells = zip(columns["timestamp"], columns["source"], columns["duration_ms"], strict=True)
    begun = [
        (epoch_us(Path("trace.csv"), row, "timestamp", when), str(name), duration)
        for row, (when, name, duration) in enumerate(cells, start=1)
    ]
    for begin_us, name, duration in sorted(begun, key=lambda each: each[0]):
        if is_empty(duration) or begin_us < ends_us.get(name, begin_us) - CLOCK_US:
            overlapping.add(name)
            continue
        ends_us[name] = begin_us + round(1000.0 * float(duration))
    return set(ends_us) - overlapping


def _staying_clients(sources: Any, serial: AbstractSet[str]) -> dict[str, int]:
    """The clients of each source whose clients keep their table, if it has several that do not wait for each other."""
    return {
        source["name"]: int(source["arrivals"][CLIENTS[source["arrivals"]["kind"]]])
        for source in sources
        if source.get("keeps_table") and source["arrivals"]["kind"] in CLIENTS and source["name"] not in serial
    }


def client_numbers(columns: Columns, clients: Mapping[str, int]) -> list[int]:
    """Which client of its source each row is taken to be of, from 0: the one that has waited longest.

    Who it really was, no history tells. If all are busy, it is the one that is free first.
    """
    numbers = [0] * len(columns["source"])
    free_us = {name: [(0, number) for number in range(count)] for name, count in clients.items()}
    begun = [
        (epoch_us(Path("trace.csv"), row, "timestamp", when), row)
        for row, when in enumerate(columns["timestamp"], start=1)
        if columns["source"][row - 1] in clients
    ]
    for begin_us, row in sorted(begun):
        duration = columns["duration_ms"][row - 1]
        waiting = free_us[columns["source"][row - 1]]
        _, numbers[row - 1] = waiting[0]
        end_us = begin_us + (0 if is_empty(duration) else round(1000.0 * float(duration)))
        heapq.heapreplace(waiting, (end_us, numbers[row - 1]))
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
