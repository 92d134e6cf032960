"""How late the data of a source are: the age of what a reader sees, over time, and what became of every batch.

Data of a *stream* arrive all the time. A txn carries what arrived until it was submitted; when it has committed, a
reader sees all of that. The age of the newest visible data then falls to how long the txn took, and grows by a second
per second until the next commit. What a failed txn carried is lost, or goes with the stream's next commit. Computed
from the times of the txns, after the run: docs/model/freshness.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from endive.kernel import jitted
from endive.results.columns import Columns
from endive.results.schema import Ints
from endive.results.window import Window
from endive.vocabulary import ABORTED, COMMIT_STATE_UNKNOWN, COMMITTED, VALIDATION_EXCEPTION

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

POINTS: Final = 1_000  # by which the ages of a run are told where a sample of them is asked for

# What became of a txn, as its data see it.
_VISIBLE, _FAILED, _UNTOLD, _UNDER_WAY = range(4)  # untold: it committed, and its writer does not know


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """A source whose data arrive all the time, and what it does about a txn that failed."""

    source: int  # its place among the sources
    clients: int  # each with data of its own; 0: one stream
    start_us: int  # everything older is visible from the start
    is_carried: bool  # what a failed txn carried goes with the next commit; else it is lost
    is_written_again: bool  # even if that txn had committed without knowing
    bound_us: int | None = None  # how old data may be


@dataclass(frozen=True, slots=True)
class Ages:
    """Ages of the newest visible data over time, as ramps from ``low_us`` to ``high_us``, and all batches."""

    low_us: Ints
    high_us: Ints
    batches: int = 0  # one per txn submitted in the window
    lost: int = 0
    waiting: int = 0  # not visible when the run ended
    twice: int = 0  # visible two times
    stale_us: int = 0  # time with data older than the bound
    bound_us: int | None = None

    @property
    def visible(self) -> int:
        """Batches that a reader sees, once at least."""
        return self.batches - self.lost - self.waiting

    @property
    def total_us(self) -> int:
        """Time that was looked at, of all streams together."""
        return int((self.high_us - self.low_us).sum())

    def at(self, shares: Sequence[float] | Floats) -> Floats:
        """Ages in milliseconds that are not exceeded for these shares of the time."""
        edges = np.concatenate([self.low_us, self.high_us])
        slopes = np.concatenate([np.ones(len(self.low_us), np.int64), -np.ones(len(self.high_us), np.int64)])
        order = np.argsort(edges, kind="stable")
        edges = edges[order]
        below = np.concatenate([[0], np.cumsum(np.cumsum(slopes[order])[:-1] * np.diff(edges))])
        ages: Floats = np.interp(np.asarray(shares) * below[-1], below, edges) / 1000.0
        return ages

    def points_ms(self) -> Floats:
        """The ages as so many equally likely values; empty if nothing was looked at."""
        if not len(self.low_us):
            return np.empty(0)
        return self.at((np.arange(POINTS) + 0.5) / POINTS)

    @property
    def mean_ms(self) -> float:
        """Mean over time."""
        low, high = self.low_us.astype(np.float64), self.high_us.astype(np.float64)
        return float(((high - low) * (high + low) / 2.0).sum() / self.total_us) / 1000.0


_SUMMED: Final = ("batches", "lost", "waiting", "twice", "stale_us")


def join_ages(parts: Sequence[Ages]) -> Ages:
    """Several streams, or runs, taken together."""
    bounds = {part.bound_us for part in parts}
    return Ages(
        np.concatenate([part.low_us for part in parts]),
        np.concatenate([part.high_us for part in parts]),
        **{name: sum(getattr(part, name) for part in parts) for name in _SUMMED},
        bound_us=bounds.pop() if len(bounds) == 1 else None,
    )


class StreamTxns:
    """The txns of the streams of a run: 28 bytes each, kept until the run has ended."""

    def __init__(self, streams: Sequence[Stream]) -> None:
        self.streams = {stream.source: stream for stream in streams}
        self._chunks: list[tuple[Ints, Ints, Ints, Ints, Ints]] = []

    def record(self, columns: Columns, chosen: Ints) -> None:
        """Keep what belongs to a stream."""
        if not self.streams:
            return
        sources = columns.count("source")[chosen]
        kept = chosen[np.isin(sources, list(self.streams))]
        if not len(kept):
            return
        status, reason = columns.count("status")[kept], columns.count("reason")[kept] + VALIDATION_EXCEPTION
        is_untold = (reason == COMMIT_STATE_UNKNOWN) & (columns.count("commits_untold")[kept] > 0)
        self._chunks.append(
            (
                columns.count("source")[kept].astype(np.int64),
                np.maximum(columns.count("client")[kept], 0).astype(np.int64),
                columns.us("submit_ms")[kept],
                columns.us("end_ms")[kept],
                _fates(status == COMMITTED, status == ABORTED, is_untold),
            )
        )

    def ages(self, window: Window, source: int | None = None) -> Ages | None:
        """Of one source, or of all streams together; None if there is no stream."""
        streams = [stream for at, stream in self.streams.items() if source in (None, at)]
        if not streams or not window.length_us:
            return None
        empty = np.empty(0, np.int64)
        chunks = self._chunks or [(empty,) * 5]
        of, client, submit, end, fate = (np.concatenate(parts) for parts in zip(*chunks, strict=True))
        return join_ages(
            [
                _of_stream(stream, window, *(column[of == stream.source] for column in (client, submit, end, fate)))
                for stream in streams
            ]
        )


def ages_of(stream: Stream, window: Window, txns: pa.Table) -> Ages:
    """The same from the rows of a run: ``txns`` are those of the stream's source."""
    return _of_stream(stream, window, *_columns_of(txns))


def ages_at(stream: Stream, txns: pa.Table, moments_us: Ints) -> Ints:
    """How old the newest visible data of each client are at these moments, a row for each, from the same rows."""
    client, submit, end, fate = _columns_of(txns)
    rows = []
    for number in range(max(1, stream.clients)):
        chosen = (client == number) & ((fate == _VISIBLE) | (fate == _UNTOLD))
        order = np.argsort(end[chosen], kind="stable")
        cut = np.maximum.accumulate(np.concatenate([[stream.start_us], submit[chosen][order]]))
        rows.append(moments_us - cut[np.searchsorted(end[chosen][order], moments_us, side="right")])
    return np.array(rows, np.int64)


def _columns_of(txns: pa.Table) -> tuple[Ints, Ints, Ints, Ints]:
    """Client, beginning, end and fate of each txn."""
    status, reason = (np.asarray(txns[name].to_pylist(), object) for name in ("status", "reason"))
    is_untold = (reason == "commit_state_unknown") & (txns["commits_untold"].to_numpy() > 0)
    client = np.asarray(txns["client"].fill_null(0).to_numpy(), np.int64)
    submit, end = (
        np.floor(txns[name].fill_null(-0.001).to_numpy() * 1000.0 + 0.5).astype(np.int64)
        for name in ("submit_ms", "end_ms")
    )
    return client, submit, end, _fates(status == "committed", status == "aborted", is_untold)


def _fates(is_committed: Bools, is_aborted: Bools, is_untold: Bools) -> Ints:
    """What became of each txn, as its data see it."""
    fates = [_VISIBLE, _UNTOLD, _FAILED]
    return np.select([is_committed, is_aborted & is_untold, is_aborted], fates, _UNDER_WAY).astype(np.int64)


def _of_stream(stream: Stream, window: Window, client: Ints, submit: Ints, end: Ints, fate: Ints) -> Ages:
    """The ages of one source: of each of its clients for itself."""
    order = np.argsort(client, kind="stable")
    client, submit, end, fate = (column[order] for column in (client, submit, end, fate))
    clients = max(1, stream.clients)
    edges = np.searchsorted(client, np.arange(clients + 1))
    ages = []
    for first, last in pairwise(edges):
        part = slice(first, last)
        ages.append(_of_client(stream, window, submit[part], end[part], fate[part]))
    return join_ages(ages)


def _of_client(stream: Stream, window: Window, submit: Ints, end: Ints, fate: Ints) -> Ages:
    low, high = _ramps(stream, window, submit, end, fate)
    stale_us = 0
    if stream.bound_us is not None:
        stale_us = int((np.maximum(high, stream.bound_us) - np.maximum(low, stream.bound_us)).sum())
    counted = window.contains(submit)
    batches = int(counted.sum())
    visible, lost, twice = (int(count) for count in _count_batches(stream, counted, submit, end, fate))
    return Ages(low, high, batches, lost, batches - visible - lost, twice, stale_us, stream.bound_us)


def _ramps(stream: Stream, window: Window, submit: Ints, end: Ints, fate: Ints) -> tuple[Ints, Ints]:
    """From one commit to the next: how old the newest visible data are at first and at last."""
    is_visible = (fate == _VISIBLE) | (fate == _UNTOLD)
    order = np.argsort(end[is_visible], kind="stable")
    since = np.concatenate([[min(stream.start_us, window.start_us)], end[is_visible][order]])
    cut = np.maximum.accumulate(np.concatenate([[stream.start_us], submit[is_visible][order]]))
    begin = np.clip(since, max(window.start_us, stream.start_us), window.end_us)
    until = np.append(begin[1:], window.end_us)
    is_there = until > begin
    return (begin - cut)[is_there], (until - cut)[is_there]


def _count_batches(stream: Stream, counted: Bools, submit: Ints, end: Ints, fate: Ints) -> Ints:
    """How many of the counted batches are visible, lost, and visible twice."""
    has_ended = np.flatnonzero(fate != _UNDER_WAY)
    txns = np.concatenate([has_ended, np.arange(len(submit))])
    times = np.concatenate([end[has_ended], submit])
    is_begin = np.arange(len(txns)) >= len(has_ended)
    order = np.lexsort((is_begin, times))  # at one instant, what ends comes before what begins
    return _hand_over(txns[order], is_begin[order], fate, counted, stream.is_carried, stream.is_written_again)


@jitted
def _hand_over(
    txns: Ints,
    is_begin: Bools,
    fate: Ints,
    counted: Bools,
    is_carried: bool,
    is_again: bool,
) -> Ints:
    """Go through the beginnings and ends of one stream: every batch waits until a txn takes it along."""
    taken = np.zeros((len(fate), 2), np.int64)  # by each txn: batches not visible yet, and those visible once
    waiting = np.zeros(2, np.int64)
    visible, lost, twice = 0, 0, 0
    for event in range(len(txns)):
        txn = txns[event]
        if is_begin[event]:
            taken[txn] = waiting
            taken[txn, 0] += int(counted[txn])
            waiting[:] = 0
            continue
        new, old = taken[txn]
        if fate[txn] == _FAILED:
            if is_carried:
                waiting += taken[txn]
            else:
                lost += new
        else:
            visible += new
            twice += old
            if fate[txn] == _UNTOLD and is_carried and is_again:
                waiting[1] += new
    return np.array([visible, lost, twice], np.int64)
