"""The processes a test started, and a way to lose one of them in the middle of its work.

Finds processes by descent from this one, so that nothing else can be hit.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def descendants(root: int) -> dict[int, str]:
    """Command lines of all processes below ``root``, by pid, the nearest first."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found: dict[int, str] = {}
    waiting = [root]
    while waiting:
        parent = waiting.pop(0)
        for pid, its_parent in parents.items():
            if its_parent == parent:
                waiting.append(pid)
                found[pid] = command_line(pid)
    return found


def command_line(pid: int) -> str:
    """The command line of a process; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def python_workers() -> list[int]:
    """Workers that Spark's daemon, started by this process, has forked."""
    daemons = [pid for pid, command in descendants(os.getpid()).items() if "worker_daemon" in command]
    return [pid for pid in daemons if any(pid in descendants(other) for other in daemons)]


def executors(driver: int) -> list[int]:
    """Executors of a cluster of this machine that the process ``driver`` has started."""
    return [pid for pid, command in descendants(driver).items() if "CoarseGrainedExecutorBackend" in command]


def parts_there(out: Path) -> int:
    """Parts that are there, committed or not."""
    return len(list(out.glob("transactions/**/part-*.parquet")))


@contextmanager
def killed_when(is_time: Callable[[], bool], victims: Callable[[], list[int]]) -> Iterator[list[int]]:
    """While the block runs, kill one of the victims as soon as it is time; the list tells which."""
    killed: list[int] = []
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(0.02):
            if is_time() and (found := victims()):
                with suppress(ProcessLookupError):  # it was gone before
                    os.kill(found[0], signal.SIGKILL)
                    killed.append(found[0])
                    return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield killed
    finally:
        is_over.set()
        watcher.join()
