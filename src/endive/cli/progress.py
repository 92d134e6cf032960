"""A progress bar over simulated time, on a terminal and nowhere else.

How often it moves is up to the engine that reports.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from endive.cli.console import stderr

ReportProgress = Callable[[int, int], None]  # simulated_us, txns so far

_REFRESH_S: Final = 0.1


@contextlib.contextmanager
def shown_step(is_quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Yield the step that is being done, on a terminal and nowhere else."""
    console = stderr()
    if is_quiet or not console.is_terminal:
        yield lambda step: None
        return
    with console.status("") as status:
        yield lambda step: status.update(step)


@contextlib.contextmanager
def bar(
    title: str, begin: str = "", total: float = 1.0, *, is_quiet: bool = False, console: Console | None = None
) -> Iterator[Callable[..., None] | None]:
    """A bar: a callable that takes what is ``completed`` and its ``description``; None where nobody would see it."""
    console = console or stderr()
    if is_quiet or not console.is_terminal:
        yield None
        return
    columns = (TextColumn(title), BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as progress:
        yield partial(progress.update, progress.add_task(begin, total=total))


@contextlib.contextmanager
def run_progress(duration_ms: float, console: Console | None = None) -> Iterator[ReportProgress | None]:
    """Yield a callable to report to while the block runs; None where nobody would see the bar."""
    with bar("simulating", total=duration_ms * 1000.0, console=console) as update:
        start_s = last_s = time.monotonic()

        def report(simulated_us: int, txns: int) -> None:
            nonlocal last_s
            now_s = time.monotonic()
            if update is None or now_s - last_s < _REFRESH_S:
                return
            last_s = now_s
            text = progress_text(simulated_us / 1e6, duration_ms / 1e3, txns, now_s - start_s)
            update(completed=simulated_us, description=text)

        yield None if update is None else report


def progress_text(simulated_s: float, duration_s: float, txns: int, elapsed_s: float) -> str:
    """Return what stands beside the bar."""
    return (
        f"{simulated_s:,.0f} of {duration_s:,.0f} simulated s, "
        f"{txns / elapsed_s:,.0f} txns/s, {simulated_s / elapsed_s:,.0f} simulated s/s"
    )


@contextlib.contextmanager
def counted_progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a bar over a count of steps; a callable that does nothing where nobody would see it."""
    with bar(title, "0 of 1") as update:

        def report(done: int, total: int) -> None:
            if update is not None:
                update(completed=done, total=total, description=f"{done:,.0f} of {total:,.0f}")

        yield report
