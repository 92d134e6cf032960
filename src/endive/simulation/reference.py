"""The reference engine: a small event loop that drives the objects of the model, one latency at a time.

It knows no rule of the model: a txn is a generator of delays, and this loop sleeps for it. The compiled engine is held
to what happens here.

Events are ordered by (time, order). A txn's order is its id, given at submission. What waits to submit has a
negative order, so that at one instant arrivals come before everything else, in the order of the sources; a
client of a closed loop that thinks keeps the order of the txn it just ended.
"""

from collections.abc import Callable, Generator, Iterator
from heapq import heapify, heappop, heappush, heapreplace

import numpy as np

from endive.catalog import CatalogSnapshot
from endive.results.columns import columns_of
from endive.results.history import HistoryCheck
from endive.results.read_sets import ReadSet
from endive.results.result import RowSink
from endive.simulation.build import Parts
from endive.simulation.observer import ObservedCatalog
from endive.simulation.standstill import Standstill
from endive.storage.client import Client, TracedRequest
from endive.transaction import Transaction, TransactionStatus, World
from endive.transaction.aftermath import restarted_us, restarts_client
from endive.transaction.ordering import PARKED_US, CommitQueue
from endive.vocabulary import (
    ABORTED,
    COMMIT_STATE_UNKNOWN,
    COMMITTED,
    IN_FLIGHT_COMMITTING,
    IN_FLIGHT_EXECUTING,
    NONE,
    Row,
    values_of,
)
from endive.workload import NO_MORE, Source, client_of, closed_index

ROWS_PER_BATCH = 8_192
WHO_IT_IS = ("txn_id", "source", "client", "source_index", "kind", "submit_us", "n_tables_read", "n_tables_written")
Progress = Callable[[int, int], None]
Process = Generator[int, None, None]
_Event = tuple[int, int, Process]


class ReferenceEngine:
    """Runs one simulation from its parts into a sink."""

    def __init__(
        self,
        parts: Parts,
        sink: RowSink,
        *,
        progress: Progress | None = None,
        trace: list[TracedRequest] | None = None,
        read_sets: list[ReadSet] | None = None,
        is_observed: bool = True,
    ) -> None:
        self.now_us = 0
        self.steps = 0  # latency steps taken
        self.txns = 0  # txns submitted
        self._parts = parts
        self._sink = sink
        self._progress = progress
        self._trace = trace
        self._read_sets = read_sets
        self._events: list[_Event] = []
        self._rows: list[list[int]] = []
        self._table_ids: list[int] = []
        self._reported = 0  # commits in the rows handed over
        self._woken: list[int] = []  # txns that go on once what happens now is over
        self._standstill = Standstill(parts.workload.clients)
        self._observed = ObservedCatalog(parts.catalog) if is_observed else None
        catalog = self._observed or parts.catalog
        parts.storage.attach(self)
        catalog.attach(self)
        self._world = World(
            clock=self,
            storage=parts.client_storage,
            catalog=catalog,
            detector=parts.detector,
            tables=parts.tables,
            format=parts.format,
            failures=parts.failures,
            is_pointer_checked=parts.is_pointer_checked,
            is_partition_scoped=parts.is_partition_scoped,
            lock=parts.lock,
            queues=tuple(CommitQueue(every_us) for every_us in parts.queues),
            wake=self._woken.append,
        )
        self._running: dict[int, tuple[Transaction, Source, int]] = {}
        self._parked: dict[int, Process] = {}  # in a queue, until their turn to commit
        self._kept: dict[tuple[int, int], CatalogSnapshot | None] = {}  # by source and client

    def run(self) -> HistoryCheck | None:
        """Until the clock reaches the configured duration; what happens at that very instant does not.

        Returns what the observer found; None for a run that a benchmark wants unobserved.
        """
        self._start_sources()
        events, end_us = self._events, self._parts.duration_us
        steps = 0
        while events:
            now_us, order, process = events[0]
            if now_us >= end_us:
                break
            self.now_us = now_us
            try:
                delay_us = process.send(None)
            except StopIteration:
                heappop(events)
                if order in self._running:
                    self._finish(order)
            else:
                if delay_us == PARKED_US:
                    heappop(events)
                    self._parked[order] = process
                else:
                    heapreplace(events, (now_us + delay_us, order, process))
                steps += 1
            while self._woken:
                txn_id = self._woken.pop()
                heappush(events, (now_us, txn_id, self._parked.pop(txn_id)))
        self.steps = steps
        self._record_in_flight()
        self._flush()
        if self._progress is not None:
            self._progress(end_us, self.txns)
        return None if self._observed is None else self._observed.close(self._reported)

    # --- submitting -----------------------------------------------------------------------------------

    def _start_sources(self) -> None:
        """Put the first submission of every source, or of every client of a closed loop, into the queue."""
        waiting = sum(max(1, source.arrivals.clients) for source in self._parts.workload.sources)
        order = -waiting
        for source in self._parts.workload.sources:
            for client in range(max(1, source.arrivals.clients)):
                index = closed_index(client, 0) if source.arrivals.clients else 0
                first_us = source.next_arrival_us(index, 0)
                if first_us != NO_MORE:
                    process = (
                        self._submit_one(source, index)
                        if source.arrivals.clients
                        else self._submit_all(source, first_us)
                    )
                    self._events.append((first_us, order, process))
                order += 1
        heapify(self._events)

    def _submit_all(self, source: Source, first_us: int) -> Process:
        """An open source: submit, then wait for its next arrival, whatever becomes of the txns."""
        index, arrival_us = 0, first_us
        while True:
            self._submit(source, index)
            index += 1
            next_us = source.next_arrival_us(index, arrival_us)
            if next_us == NO_MORE:
                return
            yield next_us - arrival_us
            arrival_us = next_us

    def _submit_one(self, source: Source, index: int) -> Process:
        """One turn of a client of a closed loop."""
        self._submit(source, index)
        return
        yield  # a generator, though it never waits

    def _submit(self, source: Source, index: int) -> None:
        """A txn begins; its first step comes at this very instant, after all arrivals."""
        workload = self._parts.workload
        draft = workload.draft(source, index)
        txn_id = self.txns
        self.txns += 1
        client = Client(source.transaction_key(index), txn_id, self, trace=self._trace)
        make = self._parts.transaction_types[draft.kind]
        txn = make(txn_id, self.now_us, client, draft, source.terms)
        state = self._parts.catalog.state
        txn.catalog_bytes = state.size_bytes
        txn.files_per_partition = self._parts.tables.data_files // max(1, state.num_partitions)
        txn.notes_files = self._parts.tables.notes_files
        if source.terms.keeps_table:
            txn.kept = self._kept.get((source.index, client_of(index)))
            if self._observed is not None:
                self._observed.recall(txn_id, txn.kept)
        self._running[txn_id] = (txn, source, index)
        heappush(self._events, (self.now_us, txn_id, txn.execute(self._world)))

    # --- finishing ------------------------------------------------------------------------------------

    def _finish(self, txn_id: int) -> None:
        """Record a finished txn; a closed loop's client submits its next one after thinking."""
        txn, source, index = self._running.pop(txn_id)
        is_committed = txn.status == TransactionStatus.COMMITTED
        aftermath = source.terms.aftermath
        is_down = restarts_client(aftermath, is_committed)
        if source.terms.keeps_table:
            known = None if is_down else txn.known
            self._kept[source.index, client_of(index)] = known
            if self._observed is not None:
                self._observed.keep(txn_id, known)
        if self._observed is not None:
            if txn.carrier is None:
                is_unknown = txn.row.reason == COMMIT_STATE_UNKNOWN
                self._observed.end(txn_id, is_committed, is_unknown=is_unknown, carries=txn.row.gathered)
            else:
                self._observed.end_carried(txn_id, txn.carrier, is_committed)
        self._record(txn, source, index, COMMITTED if is_committed else ABORTED)
        if source.arrivals.clients:
            next_index = index + 1
            if is_down:
                next_us = restarted_us(aftermath, self.now_us, source.arrivals.stop_us, NO_MORE)
            else:
                next_us = source.next_arrival_us(next_index, self.now_us, txn.row.submit_us)
            if next_us != NO_MORE:
                heappush(self._events, (next_us, txn_id, self._submit_one(source, next_index)))

    def _record(self, txn: Transaction, source: Source, index: int, status: int) -> None:
        row = txn.row
        row.source, row.source_index, row.status = source.index, index, status
        if source.arrivals.clients:
            row.client = client_of(index)
        if status not in (COMMITTED, ABORTED):
            row = without_bill(row)
        if self._read_sets is not None:
            self._read_sets.extend(read_sets_of(txn))
        self._rows.append(values_of(row))
        self._reported += status == COMMITTED and txn.carrier is None
        self._table_ids.extend(txn.tables)
        if len(self._rows) >= ROWS_PER_BATCH:
            self._flush()

    def _record_in_flight(self) -> None:
        """Txns still running when the simulation ended: who they are and where they stood. Their bill is not closed."""
        for txn, source, index in sorted(self._running.values(), key=lambda entry: entry[0].id):
            is_committing = txn.row.commit_start_us != NONE
            status = IN_FLIGHT_COMMITTING if is_committing else IN_FLIGHT_EXECUTING
            self._record(txn, source, index, status)
        self._running.clear()

    def _flush(self) -> None:
        if self._rows:
            rows, table_ids = np.array(self._rows, dtype=np.int64), np.array(self._table_ids, dtype=np.int64)
            columns = columns_of(rows, table_ids)
            self._standstill.add(columns)
            self._sink.add(columns)
            self._rows.clear()
            self._table_ids.clear()
        if self._progress is not None:
            self._progress(self.now_us, self.txns)


def read_sets_of(txn: Transaction) -> Iterator[ReadSet]:
    """What the txn read and wrote of each table; nothing if it has not begun."""
    if txn.start is None:
        return
    for position, table in enumerate(txn.tables):
        seen = txn.start.tables[table]
        read, n_written = txn.partitions[position] if txn.partitions else ((), 0)
        yield ReadSet(
            txn_id=txn.id,
            catalog_seq=txn.start.seq,
            table=table,
            is_written=position < txn.n_written,
            version_read=seen.version,
            partitions_read=read,
            partitions_written=read[:n_written],
            partition_versions_read=tuple(seen.partition_versions[partition] for partition in read),
        )


def without_bill(row: Row) -> Row:
    """Who a txn in flight is and where it stands. How much it had done when the simulation ended is not recorded,
    because a request under way is neither done nor undone.
    """
    return Row(**{name: getattr(row, name) for name in (*WHO_IT_IS, "status", "commit_start_us")})
