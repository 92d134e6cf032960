"""How far a sweep is, told while Spark works.

How it looks is the command line's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from endive.pipeline.dataset.part_files import Part
from endive.pipeline.dataset.places import DatasetPath
from endive.pipeline.sweep.plan import Run
from endive.pipeline.sweep.work import ended_runs, has_begun

POLL_S: Final = 0.3
POLL_STORE_S: Final = 3.0  # each time is a request that costs money


@dataclass(frozen=True, slots=True)
class Standing:
    """Of the whole study, with what was there when the sweep began."""

    runs_done: int
    runs_total: int
    share_done: float  # of the expected work
    has_begun: bool = True  # whether a worker has begun with a run; before that, Spark gets ready
    runs_before: int = 0  # that were there
    share_before: float = 0.0  # of the work, that was done


Progress = Callable[[Standing], None]


@contextmanager
def watched(
    notes: DatasetPath, parts: Sequence[Part], runs: Mapping[str, Run], progress: Progress | None
) -> Iterator[None]:
    """Report to ``progress`` now and then while the block runs, and once at its end."""
    if progress is None:
        yield
        return
    names = [part.name for part in parts]
    wanted = {run_id: runs[run_id].cost for part in parts for run_id in part.run_ids}
    before = {run_id: run.cost for run_id, run in runs.items() if run_id not in wanted}
    total = sum(wanted.values()) + sum(before.values())
    share_before = sum(before.values()) / total

    def report() -> None:
        done = ended_runs(notes, names) & wanted.keys()
        progress(
            Standing(
                len(before) + len(done),
                len(before) + len(wanted),
                share_before + sum(wanted[run_id] for run_id in done) / total,
                has_begun=has_begun(notes),
                runs_before=len(before),
                share_before=share_before,
            )
        )

    has_ended = threading.Event()

    def watch() -> None:
        while not has_ended.wait(POLL_S if isinstance(notes, Path) else POLL_STORE_S):
            report()

    report()
    watcher = threading.Thread(target=watch, daemon=True, name="endive-progress")
    watcher.start()
    try:
        yield
    finally:
        has_ended.set()
        watcher.join()
        report()
