"""Statistics of a run, accumulated in bounded memory while rows arrive.

This file defines exact integer sums per source, kind and outcome, and the latencies of the window's committed txns
(20 bytes each), from which percentiles are exact. Not here: what is reported and how it is named
(``endive.results.summary``) and the txns themselves (``endive.results.result``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import numpy.typing as npt

from endive.kernel import jitted
from endive.results import schema as s
from endive.results.schema import Ints
from endive.results.window import Window
from endive.vocabulary import ABORTED as STATUS_ABORTED
from endive.vocabulary import COMMITTED as STATUS_COMMITTED
from endive.vocabulary import IN_FLIGHT_EXECUTING, VALIDATION_EXCEPTION

# How a txn may have ended; an abort stands at the place of its reason.
OUTCOMES: Final = ("committed", *s.REASONS[1:], "executing", "committing")
COMMITTED: Final = 0
ABORTED: Final = slice(1, len(s.REASONS))
EXECUTING: Final = len(s.REASONS)
COMMITTING: Final = EXECUTING + 1

# One tally: how many txns, what they sum to, then every row field from ROW_PHASES on.
TXNS: Final = 0
RETRIES: Final = 1
RESTARTS: Final = 2
_ROW_SUMS: Final = 3
_N_KINDS: Final = len(s.KINDS)
_N_OUTCOMES: Final = len(OUTCOMES)
_N_TALLY: Final = _ROW_SUMS + s.N_ROW - s.ROW_PHASES


def tally_of(row_field: int) -> int:
    """Where the sum of a row's field lies in a tally."""
    assert row_field >= s.ROW_PHASES
    return _ROW_SUMS + row_field - s.ROW_PHASES


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


def joined(parts: Sequence[Slice]) -> Slice:
    """Several parts taken together: of one run, or of several."""
    assert parts, "nothing to join"
    return Slice(
        tallies=np.sum([part.tallies for part in parts], axis=0),
        commit_us=np.concatenate([part.commit_us for part in parts]),
        total_us=np.concatenate([part.total_us for part in parts]),
        is_late=np.concatenate([part.is_late for part in parts]),
        committed_in_window=sum(part.committed_in_window for part in parts),
    )


class Statistics:
    """Everything the summary needs; ``record`` may be called with any number of rows, in any order."""

    def __init__(self, window: Window, source_names: Sequence[str]) -> None:
        self.window = window
        self.source_names = tuple(source_names)
        groups = (len(self.source_names), len(s.KINDS))
        self._tallies = np.zeros((*groups, len(OUTCOMES), 2, _N_TALLY), np.int64)  # 2: outside, in window
        self._ended_in_window = np.zeros(groups, np.int64)
        self._latencies: list[tuple[Ints, Ints, Ints]] = []  # group and half, commit_us, total_us

    def record(self, rows: Ints) -> None:
        """Count these rows in."""
        if not len(rows):
            return
        kept = np.empty((3, len(rows)), np.int64)
        count = _add_up(
            np.ascontiguousarray(rows),
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
        halves, commit_us, total_us = self._joined_latencies()
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
            named[name] = sums[tally_of(s.ROW_REQUESTS + s.REQUESTS.index(request))]
        for offset, name in enumerate(s.COUNTERS):
            named[name] = sums[tally_of(s.ROW_COUNTERS + offset)]
        return Counters(**{field.name: int(named[field.name]) for field in fields(Counters)})

    def _joined_latencies(self) -> tuple[Ints, Ints, Ints]:
        """All latencies as one chunk, which is kept so that joining happens once."""
        if len(self._latencies) != 1:
            empty = np.empty(0, np.int64)
            chunks = self._latencies or [(empty, empty, empty)]
            groups, commit_us, total_us = (np.concatenate(parts) for parts in zip(*chunks, strict=True))
            self._latencies = [(groups, commit_us, total_us)]
        return self._latencies[0]


@jitted
def _add_up(rows: Ints, start_us: int, end_us: int, tallies: Ints, ended: Ints, kept: Ints) -> int:
    """Add every row to its tally; half and latencies of those committed in the window go to ``kept``: how many."""
    count = 0
    middle_us = start_us + (end_us - start_us) // 2
    for r in range(len(rows)):
        status = rows[r, s.ROW_STATUS]
        group = rows[r, s.ROW_SOURCE] * _N_KINDS + rows[r, s.ROW_KIND]
        outcome = rows[r, s.ROW_REASON] if status <= STATUS_ABORTED else EXECUTING + status - IN_FLIGHT_EXECUTING
        in_window = start_us <= rows[r, s.ROW_SUBMIT_US] < end_us
        at = (group * _N_OUTCOMES + outcome) * 2 + int(in_window)
        tallies[at, TXNS] += 1
        tallies[at, RETRIES] += max(rows[r, s.ROW_ATTEMPTS] - 1, 0)
        tallies[at, RESTARTS] += rows[r, s.ROW_RESTARTS]
        for field in range(s.ROW_PHASES, s.N_ROW):
            tallies[at, _ROW_SUMS + field - s.ROW_PHASES] += rows[r, field]
        if status == STATUS_COMMITTED:
            finish_us = rows[r, s.ROW_END_US]
            if start_us <= finish_us < end_us:
                ended[group] += 1
            if in_window:
                kept[0, count] = 2 * group + int(rows[r, s.ROW_SUBMIT_US] >= middle_us)
                kept[1, count] = finish_us - rows[r, s.ROW_COMMIT_START_US]
                kept[2, count] = finish_us - rows[r, s.ROW_SUBMIT_US]
                count += 1
    return count
