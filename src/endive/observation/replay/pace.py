"""How the pace of store and machine changed while a table was watched: minutes in which every request was slow.

Requests that take twice as long for a minute are the same requests on a clock that goes half as fast for a minute.
So a replay may run on such an *even clock*: what was seen is put on it, the model runs with one law for all requests,
and what comes out is put back. Pauses between attempts are stretched with the rest, though in truth they are not.

The pace is estimated from how long attempts took, and from nothing else: not from failures, which it may explain.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from endive.objectives import duration_text
from endive.observation.exact_intervals import chi_square_95
from endive.observation.fitting.findings import iso
from endive.observation.folder import TraceRow

WINDOW_MS: Final = 60_000.0  # at least: much longer than a statement, which must not set the pace of its own window
ROWS_PER_WINDOW: Final = 8  # on average, at least
WINDOWS_MIN: Final = 3
PASSES: Final = 20
SHOWN_FACTOR: Final = 1.5  # between the quickest window and the slowest, from which on it is worth a sentence

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How many times its usual time a request took, window by window; without windows, always its usual time."""

    begin_ms: float = 0.0  # since 1970
    window_ms: float = WINDOW_MS
    factors: tuple[float, ...] = ()

    @property
    def _clocks(self) -> tuple[Floats, Floats]:
        """The edges of the windows, as they were and on the even clock."""
        real = self.begin_ms + self.window_ms * np.arange(len(self.factors) + 1, dtype=np.float64)
        even = self.begin_ms + np.concatenate([[0.0], np.cumsum(self.window_ms / np.asarray(self.factors))])
        return real, even

    def to_even(self, times_ms: Any) -> Any:
        """Times of the world on the even clock."""
        return _translate(times_ms, *self._clocks) if self.factors else times_ms

    def to_real(self, times_ms: Any) -> Any:
        """Times of the even clock in the world."""
        real, even = self._clocks if self.factors else (None, None)
        return times_ms if real is None or even is None else _translate(times_ms, even, real)

    @property
    def windows(self) -> list[tuple[str, float]]:
        """When each window began, and its factor."""
        return [
            (iso(round(1000.0 * (self.begin_ms + number * self.window_ms))), round(factor, 3))
            for number, factor in enumerate(self.factors)
        ]

    @property
    def text(self) -> str:
        """What must be known of it; nothing of a pace that hardly changed."""
        if not self.factors or max(self.factors) < SHOWN_FACTOR * min(self.factors):
            return ""
        slowest, _ = max(self.windows, key=lambda window: window[1])
        return (
            f"Requests took {min(self.factors):.2g} to {max(self.factors):.2g} times as long as usual, by windows of "
            f"{duration_text(self.window_ms)}; longest from {slowest} on."
        )


EVEN: Final = Pace()


def _translate(times_ms: Any, known: Floats, other: Floats) -> Any:
    """By the edges, and beyond the first and the last of them as they go."""
    inside = np.interp(times_ms, known, other)
    return inside + np.minimum(0.0, times_ms - known[0]) + np.maximum(0.0, times_ms - known[-1])


def find_pace(rows: Sequence[TraceRow]) -> Pace:
    """The pace by how long attempts took; even if windows differ by no more than chance (95 %)."""
    known = list(_attempts_of(rows))
    if len(known) < WINDOWS_MIN * ROWS_PER_WINDOW:
        return EVEN
    times_ms, values = (np.array([each[at] for each in known]) for at in (0, 2))
    names = {name: number for number, name in enumerate(dict.fromkeys(group for _, group, _ in known))}
    group = np.array([names[each] for _, each, _ in known])
    begin_ms, span_ms = float(times_ms.min()), float(np.ptp(times_ms))
    window_ms = max(WINDOW_MS, span_ms * ROWS_PER_WINDOW / len(known))
    effects = window_effects(values, group, ((times_ms - begin_ms) // window_ms).astype(np.int64))
    if effects is None:
        return EVEN
    return Pace(begin_ms=begin_ms, window_ms=window_ms, factors=tuple(np.exp(effects).tolist()))


def _attempts_of(rows: Sequence[TraceRow]) -> Iterator[tuple[float, tuple[Any, ...], float]]:
    """When each txn committed, whose it was and with how many attempts, and the logarithm of what one of them took."""
    for row in rows:
        worked_ms = row.runtime_ms or 0.0
        took_ms = (row.duration_ms or 0.0) - worked_ms
        if row.attempts and took_ms > 0.0:
            group = (row.source, row.runtime_ms is None, row.is_committed, row.attempts)
            yield row.begin_ms + worked_ms + took_ms / 2.0, group, math.log(took_ms / row.attempts)


def window_effects(values: Floats, group: Any, window: Any) -> Floats | None:
    """What windows add to the values of every group; None if that is no more than chance.

    Groups and windows are two effects that add up (least squares, by turns). Those of windows are random effects: each
    is shrunk by the share of its variance that is noise (DerSimonian and Laird's estimate of the rest).
    """
    groups, windows = (np.bincount(each) for each in (group, window))
    counts = np.maximum(1, windows)
    effect = np.zeros(len(windows))
    for _ in range(PASSES):
        level = np.bincount(group, values - effect[window]) / groups
        effect = np.bincount(window, values - level[group], len(windows)) / counts
        effect -= effect[window].mean()
    used = int((windows > 0).sum())
    free = len(values) - len(groups) - used + 1
    if used < WINDOWS_MIN or free < 1:
        return None
    noise = float(np.sum((values - level[group] - effect[window]) ** 2)) / free
    between = float(np.sum(windows * effect**2)) / max(noise, 1e-12)
    if between <= chi_square_95(used - 1):
        return None
    spread = (between - (used - 1)) * noise / (len(values) - float(np.sum(windows**2)) / len(values))
    shrunk: Floats = np.where(windows > 0, effect * spread / (spread + noise / counts), 0.0)
    return shrunk - float(np.median(shrunk[window]))  # the usual pace is 1
