"""What rigs share that record: how a recording is written, what it says of itself, quantiles, threads
at once, and a Spark session.

Nothing but the standard library: some rigs run under a Python of their own that has no Endive.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

QUANTILES: Final = (*(step / 50 for step in range(50)), 0.985, 0.99, 0.995, 0.998, 1.0)


def today() -> str:
    """The date of a recording."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def machine() -> str:
    """What it was made on."""
    return f"{os.cpu_count()} CPUs, {platform.system()} {platform.machine()}"


def read_entries(path: Path) -> Any:
    """What was recorded so far; nothing if there is no file."""
    return json.loads(path.read_text(encoding="utf-8"))["entries"] if path.is_file() else {}


def write_entries(
    path: Path, head: Mapping[str, Any], entries: Mapping[str, Any] | Sequence[Any], name: str = "entries"
) -> None:
    """One line per entry; the file is whole at every moment, so that a recorder which is stopped may go on."""
    if isinstance(entries, Mapping):
        opening, closing = "{}"
        lines = [f"{json.dumps(key)}: {json.dumps(entry)}" for key, entry in entries.items()]
    else:
        opening, closing = "[]"
        lines = [json.dumps(entry) for entry in entries]
    body = ",\n".join(lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    text = f"{json.dumps(head)[:-1]}, {json.dumps(name)}: {opening}\n{body}\n{closing}}}\n"
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def quantile(ordered: Sequence[float], share: float) -> float:
    """By straight lines between the values, of which there is one at least."""
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def quantiles(values: Iterable[float], shares: Sequence[float] = QUANTILES, decimals: int = 2) -> list[float]:
    """At each of the shares."""
    ordered = sorted(values)
    return [round(quantile(ordered, share), decimals) for share in shares]


def pool(pooled: dict[str, list[float]], noted: Mapping[str, Sequence[float]]) -> None:
    """Add to every kind what one run noted of it."""
    for name, values in noted.items():
        pooled.setdefault(name, []).extend(values)


def run_together(tasks: Sequence[Callable[[], None]]) -> None:
    """Run every task in a thread of its own, and pass on what one of them raised."""
    raised: list[BaseException] = []

    def guard(task: Callable[[], None]) -> None:
        try:
            task()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=guard, args=(task,), daemon=True) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def start_spark(cores: int, settings: Mapping[str, str]) -> Any:
    """A session on this machine without a page, with the Python that runs here as its workers'."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{cores}]")
    own = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    for key, value in {**own, **settings}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
