"""The compiled engine: the same simulation as the reference engine's, bit for bit, hundreds of times faster.

Owns memory: places for txns in flight grow as they are needed, rows leave in batches. The loop is in ``loop``;
nothing here knows a rule of the model.
"""

import numpy as np

from endive.catalog import ledger as books
from endive.distributions.code import IntArray
from endive.errors import EngineError
from endive.results.history import HistoryCheck
from endive.results.result import RowSink
from endive.results.schema import (
    N_ROW,
    NONE,
    REASON_NONE,
    ROW_ATTEMPTS,
    ROW_BYTES_READ,
    ROW_COMMIT_START_US,
    ROW_END_US,
    ROW_HAZARD_US,
    ROW_N_BEHIND_FIRST,
    ROW_N_TABLES_READ,
    ROW_PHASES,
    ROW_REASON,
    ROW_RESTARTS,
    ROW_STATUS,
    ROW_TXN_ID,
    STATUS_COMMITTED,
    STATUS_IN_FLIGHT_COMMITTING,
    STATUS_IN_FLIGHT_EXECUTING,
)
from endive.simulation.build import Parts
from endive.simulation.compiled import layout as at
from endive.simulation.compiled.heap import push
from endive.simulation.compiled.loop import advance, next_submission_us
from endive.simulation.compiled.pack import pack
from endive.simulation.observer import violation
from endive.simulation.reference import Progress
from endive.workload import NO_MORE

ROWS_PER_BATCH = 8_192
EVENTS_PER_TURN = 2_000_000  # a fraction of a second: then Ctrl-C is heard and progress shown
PLACES_AT_FIRST = 1_024
BYTES_MAX = 1 << 36  # of places: beyond this a simulation is refused rather than swapped out


class CompiledEngine:
    """Runs one simulation from its parts into a sink."""

    def __init__(self, parts: Parts, sink: RowSink, *, progress: Progress | None = None) -> None:
        self._sink = sink
        self._progress = progress
        self._reported = 0  # commits in the rows handed over
        self._end_us = parts.duration_us
        packed = pack(parts)
        self._m, self._f = packed.m, packed.f
        self._seats = packed.seats
        self._record_places = packed.record_places
        self._tables_max = int(packed.m[at.C_TABLES_MAX])
        self._x = np.zeros((0, packed.record_places), dtype=np.int64)
        self._h = np.full(at.H_BEYOND + packed.seats * at.N_H, at.NEVER, dtype=np.int64)
        self._rows = np.zeros((ROWS_PER_BATCH, N_ROW), dtype=np.int64)
        self._row_tables = np.zeros(ROWS_PER_BATCH * self._tables_max, dtype=np.int64)

    @property
    def events(self) -> int:
        """Events handled so far."""
        return int(self._m[at.G + at.G_EVENTS])

    @property
    def txns(self) -> int:
        """Txns submitted so far."""
        return int(self._m[at.G + at.G_NEXT_ID])

    @property
    def in_flight_max(self) -> int:
        """Most txns in flight at once."""
        return int(self._m[at.G + at.G_ACTIVE_MAX])

    def run(self) -> HistoryCheck:
        """Until the clock reaches the configured duration."""
        self._grow()
        self._start_sources()
        while True:
            x = self._x.reshape(-1)
            why = advance(self._m, self._f, x, self._h, self._rows, self._row_tables, EVENTS_PER_TURN)
            if why == at.PLACES_SHORT:
                self._grow()
            else:
                self._flush()
            self._raise_violation()
            if why == at.DONE:
                break
        unanswered = self._record_in_flight()
        if self._progress is not None:
            self._progress(self._end_us, self.txns)
        ledger = int(self._m[at.C_LEDGER])
        books.check_counts(self._m, ledger, self._reported, unanswered, self._end_us)
        self._raise_violation()
        return HistoryCheck(
            commits_applied=int(self._m[ledger + books.COMMITS]),
            commits_reported=self._reported,
            commits_unanswered=unanswered,
        )

    def _raise_violation(self) -> None:
        """Whatever the observer has written down since it was last asked."""
        m, ledger = self._m, int(self._m[at.C_LEDGER])
        if m[ledger + books.WRONG] != books.NOTHING:
            raise violation(m, ledger, int(m[at.C_GROUPS]), int(m[at.C_TABLES]), int(m[at.C_PARTITIONS]))

    def _start_sources(self) -> None:
        """The first submission of every seat; seats wait with negative orders, in the order of the sources."""
        m = self._m
        first = int(m[at.C_SEATS])
        for seat in range(self._seats):
            source, index, _ = m[first + seat * at.N_SEAT : first + (seat + 1) * at.N_SEAT]
            first_us = next_submission_us(m, self._f, source, index, 0)
            if first_us != NO_MORE:
                push(self._h, m, self._x.reshape(-1), first_us, -1 - seat)

    def _grow(self) -> None:
        """Twice as many places for txns in flight."""
        before = len(self._x)
        after = max(PLACES_AT_FIRST, 2 * before)
        needed = after * 8 * (self._record_places + at.N_H)
        if needed > BYTES_MAX:
            raise EngineError(
                f"{before:,} txns are in flight at once and more are coming: {needed / 2**30:.0f} GiB would be "
                "needed. The workload outruns the catalog; lower its rate, its retries or the duration."
            )
        try:
            self._x = _grown(self._x, after)
            self._h = _longer(self._h, at.H_BEYOND + (after + self._seats) * at.N_H)
        except MemoryError:
            raise EngineError(
                f"no memory for {after:,} txns in flight ({needed / 2**30:.1f} GiB). Lower the rate of the "
                "workload or its retries, or use a machine with more memory."
            ) from None
        self._x[before:after, at.X_NEXT_FREE] = np.arange(before + 1, after + 1) * self._record_places
        self._x[after - 1, at.X_NEXT_FREE] = self._m[at.G + at.G_FREE_HEAD]
        self._m[at.G + at.G_FREE_HEAD] = before * self._record_places

    def _flush(self) -> None:
        m = self._m
        n_rows, n_tables = int(m[at.G + at.G_ROWS]), int(m[at.G + at.G_ROW_TABLES])
        if n_rows:
            self._reported += int(np.count_nonzero(self._rows[:n_rows, ROW_STATUS] == STATUS_COMMITTED))
            self._sink.add(self._rows[:n_rows], self._row_tables[:n_tables])
            m[at.G + at.G_ROWS] = m[at.G + at.G_ROW_TABLES] = 0
        if self._progress is not None:
            self._progress(int(m[at.G + at.G_NOW_US]), self.txns)

    def _record_in_flight(self) -> int:
        """Txns the clock stopped under: who they are and where they stood. Their bill is not closed.

        Returns how many of them the catalog had applied.
        """
        size = int(self._m[at.G + at.G_HEAP_SIZE])
        who = self._h[at.H_ROOT : at.H_ROOT + size * at.N_H].reshape(size, at.N_H)[:, at.H_WHO]
        records = self._x[who[who >= 0] // self._record_places]
        if not len(records):
            return 0
        records = records[np.argsort(records[:, at.R + ROW_TXN_ID])]
        rows = np.ascontiguousarray(records[:, at.R : at.B])
        clear_bills(rows, self._end_us)
        tables = records[:, at.B : at.B + self._tables_max]
        table_ids = tables[np.arange(self._tables_max)[None, :] < rows[:, [ROW_N_TABLES_READ]]]
        self._sink.add(rows, table_ids)
        return int(records[:, at.X_TIMES_APPLIED].sum())


def clear_bills(rows: IntArray, end_us: int) -> None:
    """Blank what txns in flight have done so far, as the reference engine does (``reference.clear_bill``)."""
    starts = rows[:, ROW_COMMIT_START_US]
    is_committing = (starts != NONE) & (starts < end_us)
    rows[:, ROW_STATUS] = np.where(is_committing, STATUS_IN_FLIGHT_COMMITTING, STATUS_IN_FLIGHT_EXECUTING)
    rows[:, ROW_COMMIT_START_US] = np.where(is_committing, starts, NONE)
    rows[:, ROW_REASON] = REASON_NONE
    rows[:, [ROW_END_US, ROW_N_BEHIND_FIRST, ROW_HAZARD_US]] = NONE
    rows[:, [ROW_ATTEMPTS, ROW_RESTARTS]] = 0
    rows[:, ROW_PHASES:ROW_BYTES_READ] = 0
    rows[:, ROW_BYTES_READ:ROW_N_TABLES_READ] = 0


def _grown(array: IntArray, length: int) -> IntArray:
    grown = np.zeros((length, array.shape[1]), dtype=np.int64)
    grown[: len(array)] = array
    return grown


def _longer(heap: IntArray, words: int) -> IntArray:
    longer = np.full(words, at.NEVER, dtype=np.int64)
    longer[: len(heap)] = heap
    return longer
