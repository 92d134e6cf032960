"""The compiled engine: the same simulation as the reference engine's, bit for bit, hundreds of times faster.

Places for txns in flight grow as they are needed, rows leave in batches. The loop is in ``loop``; nothing here knows a
rule of the model.
"""

import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from endive.catalog import ledger as books
from endive.catalog.ledger import Ledger
from endive.distributions.code import IntArray
from endive.errors import EngineError
from endive.kernel import fill, layout_of, records, value_of
from endive.record import names_of
from endive.results.columns import Columns, columns_of
from endive.results.history import HistoryCheck
from endive.results.result import RowSink
from endive.simulation.build import Parts
from endive.simulation.compiled import heap, moments
from endive.simulation.compiled import records as at
from endive.simulation.compiled.heap import push
from endive.simulation.compiled.loop import advance, next_submission_us
from endive.simulation.compiled.pack import pack, point_to
from endive.simulation.compiled.records import NOT_THERE, Event, TouchedTable, TxnRecord
from endive.simulation.observer import history_error
from endive.simulation.reference import WHO_IT_IS, Progress
from endive.simulation.standstill import Standstill
from endive.vocabulary import COMMITTED, IN_FLIGHT_COMMITTING, IN_FLIGHT_EXECUTING, NONE, Row
from endive.workload import NO_MORE

Array = npt.NDArray[Any]
ROWS_PER_BATCH = 8_168  # an odd number of cache lines to a column: columns a power of two apart evict each other
EVENTS_PER_TURN = 2_000_000  # a fraction of a second: then progress is shown
PLACES_AT_FIRST = 16_384  # memory is given to those that are taken
BYTES_AT_FIRST = 1 << 26
PLACES_MIN = 1_024
BYTES_MAX = 1 << 36  # of places: beyond this a simulation is refused rather than swapped out


class CompiledEngine:
    """Runs one simulation from its parts into a sink."""

    def __init__(self, parts: Parts, sink: RowSink, *, progress: Progress | None = None) -> None:
        self._sink = sink
        self._progress = progress
        self._reported = 0  # commits in the rows handed over
        self._standstill = Standstill(parts.workload.clients)
        packed = pack(parts)
        self._left_out = parts.format.left_out
        self._world = packed.world[0]  # what compiled code takes
        self._arrays = packed.arrays  # kept alive here: the world knows their addresses only
        self._tables_max = int(self._world["flight"]["tables_max"])
        self._seats = len(packed.arrays["workload.seats"])
        self._keep({"flight.txns": records(TxnRecord, 0, without=self._left_out), "loop.heap": records(Event, 0)})
        self._take_batch()

    def _keep(self, arrays: dict[str, Array]) -> None:
        """Keep arrays, and tell the world where they are."""
        for name, array in arrays.items():
            self._arrays[name] = array
            point_to(self._world, name, array)

    def _take_batch(self) -> None:
        """A new batch for finished txns."""
        self._columns = Columns(ROWS_PER_BATCH, ROWS_PER_BATCH * self._tables_max)
        fill(self._world["output"], self._columns.batch)
        self._world["loop"]["n_rows"] = 0

    @property
    def events(self) -> int:
        """Events handled so far."""
        return int(self._world["loop"]["events"])

    @property
    def txns(self) -> int:
        """Txns submitted so far."""
        return int(self._world["flight"]["next_id"])

    @property
    def in_flight_max(self) -> int:
        """Most txns in flight at once."""
        return int(self._world["flight"]["active_max"])

    def run(self) -> HistoryCheck:
        """Until the clock reaches the configured duration."""
        self._grow()
        self._start_sources()
        while True:
            why = self._turn()
            if why == at.PLACES_SHORT:
                self._grow()
            elif why == at.TIMES_SHORT:
                self._make_room_for_times()
            else:
                self._flush()
            self._raise_astray()
            self._raise_violation(value_of(Ledger, self._world["books"]["ledger"]))
            if why == at.DONE:
                break
        end_us = int(self._world["loop"]["end_us"])
        unanswered = self._record_in_flight(end_us)
        if self._progress is not None:
            self._progress(end_us, self.txns)
        ledger = value_of(Ledger, self._world["books"]["ledger"])
        books.check_counts(ledger, self._reported, unanswered, end_us)
        self._raise_violation(ledger)
        return HistoryCheck(
            commits_applied=ledger.commits,
            commits_reported=self._reported,
            commits_unanswered=unanswered,
            commits_untold=ledger.untold,
        )

    def _turn(self) -> int:
        """As many events as one turn has. The thread that hears Ctrl-C waits meanwhile instead of computing.

        A turn may take long, when each of its events does: an interrupt leaves it to itself and does not wait.
        """
        if threading.current_thread() is not threading.main_thread():
            return int(advance(self._world, EVENTS_PER_TURN))
        ended: list[int | BaseException] = []

        def compute() -> None:
            try:
                ended.append(int(advance(self._world, EVENTS_PER_TURN)))
            except BaseException as error:
                ended.append(error)

        thread = threading.Thread(target=compute, daemon=True, name="endive-turn")
        thread.start()
        thread.join()
        if isinstance(ended[0], BaseException):
            raise ended[0]
        return ended[0]

    def _raise_violation(self, ledger: Ledger) -> None:
        """Whatever the observer has written down."""
        if ledger.violation.wrong != books.NOTHING:
            counts = (int(self._world["catalog"][name]) for name in ("num_groups", "num_tables", "num_partitions"))
            raise history_error(ledger.violation, *counts)

    def _raise_astray(self) -> None:
        """A txn that went where no transition leads."""
        loop = self._world["loop"]
        if loop["strayed_from"] != at.NOT_THERE:
            left, reached = (moments.NAMES[int(loop[name])] for name in ("strayed_from", "strayed_to"))
            raise EngineError(
                f"a txn went from {left} to {reached}, where its table of transitions does not lead. The result would "
                "be wrong, so there is none. This is a bug of the simulator."
            )

    def _start_sources(self) -> None:
        """The first submission of every seat; seats wait with negative orders, in the order of the sources."""
        for number, seat in enumerate(self._arrays["workload.seats"]):
            first_us = next_submission_us(self._world, int(seat["source"]), int(seat["index"]), 0, 0)
            if first_us != NO_MORE:
                push(self._world, first_us, -1 - number)

    def _grow(self) -> None:
        """Twice as many places for txns in flight."""
        before = len(self._arrays["flight.txns"])
        lengths = self._lengths()
        place_bytes = sum(length * layout.itemsize for layout, length in lengths.values())
        after = 2 * before or min(PLACES_AT_FIRST, max(PLACES_MIN, BYTES_AT_FIRST // place_bytes))
        needed = after * place_bytes
        if needed > BYTES_MAX:
            raise EngineError(
                f"{before:,} txns are in flight at once and more are coming: {needed / 2**30:.0f} GiB would be "
                "needed. The workload outruns the catalog; lower its rate, its retries or the duration."
            )
        try:
            for name, (layout, length) in lengths.items():
                more = heap.BEYOND + self._seats if name == "loop.heap" else 0
                self._keep({name: _grown(self._arrays.get(name), after * length + more, layout)})
        except MemoryError:
            raise EngineError(
                f"no memory for {after:,} txns in flight ({needed / 2**30:.1f} GiB). Lower the rate of the "
                "workload or its retries, or use a machine with more memory."
            ) from None
        self._arrays["loop.heap"]["time_us"][heap.BEYOND + before + self._seats if before else 0 :] = heap.NEVER
        self._world["flight"]["n_places"] = after

    def _make_room_for_times(self) -> None:
        """Twice as many times of snapshots for every table."""
        before, tables = int(self._world["server"]["times_max"]), int(self._world["catalog"]["num_tables"])
        longer = np.zeros((tables, 2 * before), dtype=np.int64)
        longer[:, :before] = self._arrays["server.snapshot_times"].reshape(tables, before)
        self._keep({"server.snapshot_times": longer.reshape(-1)})
        self._world["server"]["times_max"] = 2 * before
        self._world["server"]["is_times_full"] = 0

    def _lengths(self) -> dict[str, tuple[np.dtype[Any], int]]:
        """What a txn in flight needs: by array, the type and how many of it."""
        flight = self._world["flight"]
        tables, watched = self._tables_max, int(flight["watched_max"])
        partitions = tables * int(flight["partitions_max"])
        number: np.dtype[Any] = np.dtype(np.int64)
        return {
            "flight.txns": (layout_of(TxnRecord, self._left_out), 1),
            "loop.heap": (layout_of(Event), 1),
            "flight.touched": (layout_of(TouchedTable, self._left_out), tables),
            "flight.table_ids": (number, tables),
            "flight.watched": (number, watched),
            "flight.expected": (number, watched),
            "flight.partitions": (number, partitions),
            "flight.partition_versions": (number, 3 * partitions),
        }

    def _flush(self) -> None:
        columns = self._columns
        columns.n_rows = int(self._world["loop"]["n_rows"])
        if columns.n_rows:
            is_own = (columns.count("status") == COMMITTED) & (columns.count("attempts") > 0)  # not another's
            self._reported += int(np.count_nonzero(is_own))
            self._standstill.add(columns)
            self._sink.add(columns)
            self._take_batch()
        if self._progress is not None:
            self._progress(int(self._world["loop"]["now_us"]), self.txns)

    def _record_in_flight(self, end_us: int) -> int:
        """Txns still running at the end: who they are and where they stood. Their bill is not closed.

        Returns how many of them the catalog had applied.
        """
        who = self._arrays["loop.heap"]["who"][heap.ROOT : heap.ROOT + int(self._world["loop"]["heap_size"])]
        places = np.concatenate([who[who >= 0], self._waiting_places()])
        if not len(places):
            return 0
        txns = self._arrays["flight.txns"]
        places = places[np.argsort(txns["row"]["txn_id"][places])]
        rows = without_bills(txns["row"], places, end_us)
        tables = self._arrays["flight.table_ids"].reshape(-1, self._tables_max)[places]
        table_ids = tables[np.arange(self._tables_max)[None, :] < rows["n_tables_read"][:, None]]
        self._sink.add(columns_of(_numbers(rows), table_ids))
        return int(txns["times_applied"][places].sum())

    def _waiting_places(self) -> IntArray:
        """Of txns that wait in a queue for their turn to commit."""
        places, txns = [], self._arrays["flight.txns"]
        queues = self._arrays["workload.queues"]
        for place in (*queues["first"], *queues["carried"]):
            while place != NOT_THERE:
                places.append(place)
                place = txns["next_free"][place]
        return np.array(places, np.int64)


def without_bills(rows: Array, places: Array, end_us: int) -> Array:
    """Rows of txns in flight: blank but for who they are, as the reference engine's (``reference.without_bill``)."""
    blank = records(Row, len(places))
    for name in WHO_IT_IS:
        blank[name] = rows[name][places]
    starts = rows["commit_start_us"][places]
    is_committing = (starts != NONE) & (starts < end_us)
    blank["status"] = np.where(is_committing, IN_FLIGHT_COMMITTING, IN_FLIGHT_EXECUTING)
    blank["commit_start_us"] = np.where(is_committing, starts, NONE)
    return blank


def _numbers(rows: Array) -> IntArray:
    """Rows as the numbers of ``ROW_FIELDS``."""
    fields = [rows[name].reshape(len(rows), -1) for name in names_of(Row)]
    return np.concatenate(fields, axis=1, dtype=np.int64)


def _grown(array: Array | None, length: int, layout: np.dtype[Any]) -> Array:
    grown = np.zeros(length, dtype=layout)
    if array is not None:
        grown[: len(array)].view(np.uint8)[:] = array.view(np.uint8)  # NumPy copies records field by field
    return grown
