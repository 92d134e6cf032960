"""Statistics of a run, accumulated in bounded memory while rows arrive.

Owns exact integer sums per source, kind and outcome, and the latencies of the window's committed txns
(20 bytes each), from which percentiles are exact. Refuses to own what is reported and how it is named
(``endive.results.summary``) and the txns themselves (``endive.results.result``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from endive.results import schema as s
from endive.results.schema import Ints
from endive.results.window import Window

OUTCOMES: Final = (
    "committed",
    "validation_exception",
    "retries_exhausted",
    "timeout",
    "executing",
    "committing",
)
COMMITTED: Final = 0
ABORTED: Final = slice(1, 4)
EXECUTING: Final = 4
COMMITTING: Final = 5

# One tally: how many txns, what they sum to, then every row field from ROW_PHASES on.
TXNS: Final = 0
RETRIES: Final = 1
RESTARTS: Final = 2
_ROW_SUMS: Final = 3
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
    committed_in_window: int  # commits that ended in the window, whenever submitted


class Statistics:
    """Everything the summary needs; ``record`` may be called with any number of rows, in any order."""

    def __init__(self, window: Window, source_names: Sequence[str]) -> None:
        self.window = window
        self.source_names = tuple(source_names)
        groups = (len(self.source_names), len(s.KINDS))
        self._tallies = np.zeros((*groups, len(OUTCOMES), 2, _N_TALLY), np.int64)  # 2: outside, in window
        self._ended_in_window = np.zeros(groups, np.int64)
        self._latencies: list[tuple[Ints, Ints, Ints]] = []  # group, commit_us, total_us

    def record(self, rows: Ints) -> None:
        """Count these rows in."""
        if not len(rows):
            return
        status = rows[:, s.ROW_STATUS]
        end_us = rows[:, s.ROW_END_US]
        group = rows[:, s.ROW_SOURCE] * len(s.KINDS) + rows[:, s.ROW_KIND]
        is_committed = status == s.STATUS_COMMITTED
        in_window = self.window.contains(rows[:, s.ROW_SUBMIT_US])
        outcome = np.where(status <= s.STATUS_ABORTED, rows[:, s.ROW_REASON], status + 2)
        self._add_tallies((group * len(OUTCOMES) + outcome) * 2 + in_window, rows)

        ended = group[is_committed & self.window.contains(end_us)]
        counts = np.bincount(ended, minlength=self._ended_in_window.size)
        self._ended_in_window += counts.reshape(self._ended_in_window.shape)

        kept = rows[is_committed & in_window]
        self._latencies.append(
            (
                group[is_committed & in_window].astype(np.int32),
                kept[:, s.ROW_END_US] - kept[:, s.ROW_COMMIT_START_US],
                kept[:, s.ROW_END_US] - kept[:, s.ROW_SUBMIT_US],
            )
        )

    def _add_tallies(self, keys: Ints, rows: Ints) -> None:
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        sums = np.add.reduceat(_tally_rows(rows)[order], starts, axis=0)
        self._tallies.reshape(-1, _N_TALLY)[ordered[starts]] += sums

    def slice(self, *, source: int | None = None, kind: int | None = None) -> Slice:
        """The window's txns of one source, of one kind, or of all."""
        sources = slice(None) if source is None else slice(source, source + 1)
        kinds = slice(None) if kind is None else slice(kind, kind + 1)
        groups, commit_us, total_us = self._joined_latencies()
        is_chosen = np.ones(len(groups), np.bool_)
        if source is not None:
            is_chosen &= groups // len(s.KINDS) == source
        if kind is not None:
            is_chosen &= groups % len(s.KINDS) == kind
        return Slice(
            tallies=self._tallies[sources, kinds, :, 1].sum(axis=(0, 1)),
            commit_us=commit_us[is_chosen],
            total_us=total_us[is_chosen],
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
            "validation_exceptions": tallies[s.REASON_VALIDATION_EXCEPTION, TXNS],
        }
        for name, request in (
            ("manifest_list_reads", "manifest_list_read"),
            ("manifest_list_writes", "manifest_list_write"),
            ("manifest_file_reads", "manifest_read"),
            ("manifest_file_writes", "manifest_write"),
        ):
            named[name] = sums[tally_of(s.ROW_REQUESTS + s.REQUESTS.index(request))]
        for offset, name in enumerate(s.COUNTERS):
            named[name] = sums[tally_of(s.ROW_FALSE_CONFLICTS + offset)]
        return Counters(**{field.name: int(named[field.name]) for field in fields(Counters)})

    def _joined_latencies(self) -> tuple[Ints, Ints, Ints]:
        """All latencies as one chunk, which is kept so that joining happens once."""
        if len(self._latencies) != 1:
            empty = np.empty(0, np.int64)
            chunks = self._latencies or [(empty, empty, empty)]
            groups, commit_us, total_us = (np.concatenate(parts) for parts in zip(*chunks, strict=True))
            self._latencies = [(groups, commit_us, total_us)]
        return self._latencies[0]


def _tally_rows(rows: Ints) -> Ints:
    """One tally per row."""
    tallies = np.empty((len(rows), _N_TALLY), np.int64)
    tallies[:, TXNS] = 1
    tallies[:, RETRIES] = np.maximum(rows[:, s.ROW_ATTEMPTS] - 1, 0)
    tallies[:, RESTARTS] = rows[:, s.ROW_RESTARTS]
    tallies[:, _ROW_SUMS:] = rows[:, s.ROW_PHASES :]
    return tallies
