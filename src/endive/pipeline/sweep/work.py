"""A run as it travels to a worker, the notes a worker leaves on its progress, and how far they say a sweep is.

Notes are lines of a file in a folder, and empty objects in a store, where nothing can be added to. Imports neither
Spark nor the simulator, so that it costs a worker nothing to unpack. How progress looks is the command line's.
"""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from endive.pipeline.dataset.part_files import Part
    from endive.pipeline.dataset.places import DatasetPath
    from endive.pipeline.sweep.plan import Run


DEATHS_MAX: Final = 3  # of the process, during one run, before the run is given up

_BEGAN: Final = "+"
_ENDED: Final = "-"


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One run of a part."""

    run_id: str
    seed: int
    config: str  # resolved, as JSON
    config_hash: str  # what the plan says that the configuration hashes to
    keeps_transactions: bool


class ProgressNotes:
    """A note when a run begins and one when it ends, by part.

    The driver counts them for its bar. A worker finds in them the runs during which its predecessors died.
    """

    def __init__(self, folder: DatasetPath, part: str) -> None:
        self._path = folder / part

    def write(self, run_id: str, has_ended: bool) -> None:
        """Add a note. Notes are a courtesy: where they cannot be written, the work goes on."""
        note = f"{_ENDED if has_ended else _BEGAN}{run_id}"
        try:
            if isinstance(self._path, Path):
                with self._path.open("a", encoding="ascii") as stream:
                    stream.write(f"{note}\n")
            else:
                (self._path / f"{note}.{secrets.token_hex(4)}").write(b"")
        except OSError:
            pass

    def lost_runs(self) -> set[str]:
        """Runs that began ``DEATHS_MAX`` times more often than they ended."""
        balance: Counter[str] = Counter()
        for mark, run_id in _notes(self._path):
            balance[run_id] += 1 if mark == _BEGAN else -1
        return {run_id for run_id, began in balance.items() if began >= DEATHS_MAX}


def has_begun(folder: DatasetPath) -> bool:
    """Whether any worker has left a note."""
    try:
        return any(True for _ in folder.glob("*"))
    except OSError:
        return False


def ended_runs(folder: DatasetPath, parts: Iterable[str]) -> set[str]:
    """Runs that have ended, by the notes of these parts."""
    places = [folder / part for part in parts] if isinstance(folder, Path) else [folder]
    return {run_id for place in places for mark, run_id in _notes(place) if mark == _ENDED}


def _notes(path: DatasetPath) -> list[tuple[str, str]]:
    """The notes of a part; in a store, of all parts below ``path``, with one request."""
    try:
        if not isinstance(path, Path):
            return [(found.name[0], found.stem[1:]) for found in path.glob("**/*")]
        text = path.read_text(encoding="ascii")
    except OSError:
        return []
    whole = text[: text.rfind("\n") + 1]  # the last line may be half written
    return [(line[0], line[1:]) for line in whole.splitlines() if line]


# ---- how far a sweep is ------------------------------------------------------------------------------


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
def report_progress(
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
