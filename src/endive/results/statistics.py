"""Statistics of a run, accumulated in bounded memory while rows arrive.

What is reported of them, and under which name, is ``endive.results.summary``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import numpy.typing as npt

from endive.kernel import jitted
from endive.results import schema as s
from endive.results.columns import (
    COLUMNS,
    COMMIT_LATENCY,
    COUNTS,
    FIRST_COUNT,
    LONGS,
    REASON,
    STAGE,
    TIMES,
    TOTAL_LATENCY,
    Columns,
    Floats,
    Int32s,
    whole_us,
)
from endive.results.freshness import Ages, Stream, StreamTxns, join_ages
from endive.results.schema import Ints
from endive.results.window import Window
from endive.vocabulary import REASONS, VALIDATION_EXCEPTION

# How a txn may have ended; an abort stands at the place of its reason.
OUTCOMES: Final = ("committed", *REASONS[1:], "executing", "committing")
COMMITTED: Final = 0
ABORTED: Final = slice(1, len(REASONS))
EXECUTING: Final = len(REASONS)
COMMITTING: Final = len(REASONS) + 1

# One tally: how many txns, then the sums of these columns; times are summed in microseconds.
TXNS: Final = 0
_SUMMED: Final = tuple(
    name
    for name in COLUMNS
    if name.startswith(("phase_", "requests_", "bytes_"))
    or name in ("retries", "restarts", "history_lists", *s.COUNTERS)
)
_N_KINDS: Final = len(s.KINDS)
_N_OUTCOMES: Final = len(OUTCOMES)
_N_TALLY: Final = 1 + len(_SUMMED)
_PLACES: Final = {column: 1 + place for place, column in enumerate(_SUMMED)}


def tally_of(column: str) -> int:
    """Where the sum of a column lies in a tally."""
    return _PLACES[column]


def _sum_of(columns: tuple[str, ...]) -> Ints:
    """For each of these columns that is summed: its place among them, and that of its sum."""
    pairs = [(place, tally_of(name)) for place, name in enumerate(columns) if name in _SUMMED]
    return np.array(pairs, np.int64)


_TIME_SUMS: Final = _sum_of(TIMES)
_LONG_SUMS: Final = _sum_of(LONGS)
_COUNT_SUMS: Final = _sum_of(COUNTS)
_SOURCE: Final = COUNTS.index("source")
_KIND: Final = COUNTS.index("kind")
_SUBMIT: Final = TIMES.index("submit_ms")
_END: Final = TIMES.index("end_ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """The counters of the seeds, by their names: of the whole run, warm-up and cool-down included."""

    committed: int
    aborted: int
    validation_exceptions: int
    false_conflicts: int
    real_conflicts: int
    manifest_list_reads: int
    manifest_list_writes: int
    manifest_file_reads: int
    manifest_file_writes: int
    append_physical_success: int  # landed at the expected offset
    append_physical_failure: int  # the offset had moved
    append_logical_success: int  # landed, and versions matched: a commit
    append_logical_conflict: int  # landed, but lost
    append_compactions_triggered: int  # sealed by a threshold
    append_compactions_completed: int  # compacting swap that succeeded
    append_duplicates: int  # the same txn found twice in the log
    manifest_append_physical_success: int  # tentative until the catalog commits
    manifest_append_physical_failure: int
    manifest_append_sealed_rewrite: int  # manifest list was sealed: rewritten


@dataclass(frozen=True, slots=True)
class Slice:
    """The window's part of a run, or of one source or kind of it."""

    tallies: Ints  # [outcome, tally]
    commit_us: Ints  # of each committed txn
    total_us: Ints
    is_late: npt.NDArray[np.bool_]  # of each committed txn: submitted in the window's second half
    committed_in_window: int  # commits that ended in the window, whenever submitted
    ages: Ages | None = None  # of the data of its streams, if it has any


def join_slices(parts: Sequence[Slice]) -> Slice:
    """Several parts taken together: of one run, or of several."""
    assert parts, "nothing to join"
    return Slice(
        tallies=np.sum([part.tallies for part in parts], axis=0),
        commit_us=np.concatenate([part.commit_us for part in parts]),
        total_us=np.concatenate([part.total_us for part in parts]),
        is_late=np.concatenate([part.is_late for part in parts]),
        committed_in_window=sum(part.committed_in_window for part in parts),
        ages=join_ages(ages) if (ages := [part.ages for part in parts if part.ages is not None]) else None,
    )


class Statistics:
    """Everything the summary needs; batches may come in any number and order."""

    def __init__(self, window: Window, source_names: Sequence[str], streams: Sequence[Stream] = ()) -> None:
        self.streams = StreamTxns(streams)
        self.window = window
        self.source_names = tuple(source_names)
        groups = (len(self.source_names), len(s.KINDS))
        self._tallies = np.zeros((*groups, len(OUTCOMES), 2, _N_TALLY), np.int64)  # 2: outside, in window
        self._ended_in_window = np.zeros(groups, np.int64)
        self._latencies: list[tuple[Ints, Ints, Ints]] = []  # group and half, commit_us, total_us

    def record(self, columns: Columns, chosen: Ints | None = None) -> None:
        """Count a batch in, or the chosen rows of it."""
        if chosen is None:
            chosen = np.arange(columns.n_rows)
        if not len(chosen):
            return
        self.streams.record(columns, chosen)
        kept = np.empty((3, len(chosen)), np.int64)
        count = _add_up(
            columns.times,
            columns.longs,
            columns.counts,
            columns.is_used,
            chosen,
            self.window.start_us,
            self.window.end_us,
            self._tallies.reshape(-1, _N_TALLY),
            self._ended_in_window.reshape(-1),
            kept,
        )
        groups, commit_us, total_us = kept[:, :count]
        self._latencies.append((groups.astype(np.int32), commit_us.copy(), total_us.copy()))

    def slice(self, *, source: int | None = None, kind: int | None = None) -> Slice:
        """The window's txns of one source, of one kind, or of all."""
        sources = slice(None) if source is None else slice(source, source + 1)
        kinds = slice(None) if kind is None else slice(kind, kind + 1)
        halves, commit_us, total_us = self._join_latencies()
        groups = halves >> 1
        is_chosen = np.ones(len(groups), np.bool_)
        if source is not None:
            is_chosen &= groups // len(s.KINDS) == source
        if kind is not None:
            is_chosen &= groups % len(s.KINDS) == kind
        return Slice(
            tallies=self._tallies[sources, kinds, :, 1].sum(axis=(0, 1)),
            commit_us=commit_us[is_chosen],
            total_us=total_us[is_chosen],
            is_late=(halves[is_chosen] & 1).astype(np.bool_),
            committed_in_window=int(self._ended_in_window[sources, kinds].sum()),
            ages=self.streams.ages(self.window, source) if kind is None else None,
        )

    @property
    def n_txns(self) -> int:
        """Txns of the whole run."""
        return int(self._tallies[..., TXNS].sum())

    @property
    def counters(self) -> Counters:
        """Counters of the whole run."""
        tallies = self._tallies.sum(axis=(0, 1, 3))
        sums = tallies.sum(axis=0)
        named = {
            "committed": tallies[COMMITTED, TXNS],
            "aborted": tallies[ABORTED, TXNS].sum(),
            "validation_exceptions": tallies[VALIDATION_EXCEPTION, TXNS],
        }
        for name, request in (
            ("manifest_list_reads", "manifest_list_read"),
            ("manifest_list_writes", "manifest_list_write"),
            ("manifest_file_reads", "manifest_read"),
            ("manifest_file_writes", "manifest_write"),
        ):
            named[name] = sums[tally_of(f"requests_{request}")]
        for name in s.COUNTERS:
            named[name] = sums[tally_of(name)]
        return Counters(**{field.name: int(named[field.name]) for field in fields(Counters)})

    def _join_latencies(self) -> tuple[Ints, Ints, Ints]:
        """All latencies as one chunk, which is kept so that joining happens once."""
        if len(self._latencies) != 1:
            empty = np.empty(0, np.int64)
            chunks = self._latencies or [(empty, empty, empty)]
            groups, commit_us, total_us = (np.concatenate(parts) for parts in zip(*chunks, strict=True))
            self._latencies = [(groups, commit_us, total_us)]
        return self._latencies[0]


@jitted
def _add_up(
    times: Floats,
    longs: Ints,
    counts: Int32s,
    is_used: npt.NDArray[np.uint8],
    chosen: Ints,
    start_us: int,
    end_us: int,
    tallies: Ints,
    ended: Ints,
    kept: Ints,
) -> int:
    """Add rows to their tallies; half and latencies of those committed in the window go to ``kept``: how many."""
    count = 0
    middle_us = start_us + (end_us - start_us) // 2
    at = np.empty(len(chosen), np.int64)
    for i in range(len(chosen)):
        r = chosen[i]
        stage = counts[STAGE, r]
        group = counts[_SOURCE, r] * _N_KINDS + counts[_KIND, r]
        outcome = EXECUTING + stage if stage >= 0 else counts[REASON, r] + 1
        submit_us = whole_us(times[_SUBMIT, r])
        in_window = start_us <= submit_us < end_us
        at[i] = (group * _N_OUTCOMES + outcome) * 2 + int(in_window)
        tallies[at[i], TXNS] += 1
        if outcome == COMMITTED:
            if start_us <= whole_us(times[_END, r]) < end_us:
                ended[group] += 1
            if in_window:
                kept[0, count] = 2 * group + int(submit_us >= middle_us)
                kept[1, count] = whole_us(times[COMMIT_LATENCY, r])
                kept[2, count] = whole_us(times[TOTAL_LATENCY, r])
                count += 1
    for k in range(len(_TIME_SUMS)):
        column, tally = _TIME_SUMS[k]
        if is_used[column]:
            for i in range(len(chosen)):
                tallies[at[i], tally] += whole_us(times[column, chosen[i]])
    for k in range(len(_LONG_SUMS)):
        column, tally = _LONG_SUMS[k]
        for i in range(len(chosen)):
            tallies[at[i], tally] += longs[column, chosen[i]]
    for k in range(len(_COUNT_SUMS)):
        column, tally = _COUNT_SUMS[k]
        if is_used[FIRST_COUNT + column]:
            for i in range(len(chosen)):
                tallies[at[i], tally] += counts[column, chosen[i]]
    return count
