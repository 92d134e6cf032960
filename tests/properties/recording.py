"""A run that writes down what its server saw: every snapshot it gave out, every decision it took, in order.

The catalog under observation is the one the configuration names; a wrapper notes what passes through its two calls, and
the server's own decisions are noted where they are taken.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from endive import Simulation, SimulationConfig
from endive.catalog import Catalog, CatalogSnapshot, CommitResult, IntentionRecord
from endive.config import parse_config
from endive.config.sections.source import SourceConfig
from endive.formats.iceberg.effects import class_of, thins_list
from endive.formats.operation import CLASS_NONE
from endive.results.columns import COUNTS, LONGS, Columns
from endive.rng import BASE_READ, POINTER_READ, REFRESH, START_READ
from endive.simulation.build import build_catalog, build_failures
from endive.storage.client import Client, Clock, TracedRequest
from endive.transaction import TransactionDraft
from endive.transaction.failures import Failures, loses_answer
from endive.vocabulary import ABORTED, ROW_FIELDS, STORAGE_FAILED
from endive.workload import Source, Workload, WorkloadConfig
from endive.workload.arrivals import client_of

Row = dict[str, int]


class Effect(NamedTuple):
    """What a commit did to one table, as its message says."""

    effect_class: int
    expired: int
    is_thinning: bool


@dataclass(frozen=True)
class Decision:
    """The server decided about an intention at this instant; ``seq`` is the sequence number afterwards."""

    at_us: int
    intention: IntentionRecord
    is_applied: bool
    seq: int
    undone: int = 0  # compactions that it took back

    @property
    def written(self) -> Iterator[tuple[int, Effect, tuple[int, ...]]]:
        """Tables it wrote, what it did there, and to which partitions: none if it changed the metadata only."""
        intention = self.intention
        for position, table in enumerate(intention.tables[: intention.n_written]):
            operation, plan, partitions = intention.operation, intention.plans[position].iceberg, ()
            effect = Effect(class_of(operation), plan.expired, thins_list(operation, plan))
            if intention.partitions and effect.effect_class != CLASS_NONE:  # whatever the message says
                touched, n_written = intention.partitions[position]
                partitions = touched[:n_written]
            yield table, effect, partitions


@dataclass(frozen=True)
class Seen:
    """A snapshot, and how many commits had been applied when it was made."""

    snapshot: CatalogSnapshot
    applied: int


@dataclass
class Attempt:
    """One attempt of a txn as its messages show it."""

    refreshed: CatalogSnapshot | None = None
    reread: CatalogSnapshot | None = None  # what it swaps on, where it repairs before it refreshes
    checked: CatalogSnapshot | None = None
    intention: IntentionRecord | None = None
    result: CommitResult | None = None
    is_lost: bool = False  # the answer to its commit
    has_asked: bool = False  # for the lock of its table, which comes right before the swap

    @property
    def has_reached_the_swap(self) -> bool:
        return self.checked is not None or self.intention is not None or self.has_asked

    @property
    def is_locked_out(self) -> bool:
        return self.has_asked and self.intention is None and self.checked is None


class Situation(NamedTuple):
    """An attempt, its number, its number since the txn last started, and the three snapshots it is judged by."""

    number: int
    nth: int
    attempt: Attempt
    start: CatalogSnapshot
    previous: CatalogSnapshot
    base: CatalogSnapshot


@dataclass
class Life:
    """The messages of one txn: by attempt, the snapshots it started from and its attempts."""

    starts: dict[int, CatalogSnapshot] = field(default_factory=dict)  # key: attempts made before
    asked_us: dict[int, int] = field(default_factory=dict)  # when it asked for that snapshot
    attempts: dict[int, Attempt] = field(default_factory=dict)

    def situations(self, attempts: int) -> list[Situation]:
        """Each of the attempts, in order; one that sent nothing had its base from the refusal before."""
        found: list[Situation] = []
        start = previous = base = self.starts[0]
        first, known = 1, None
        for number in range(1, attempts + 1):
            if number - 1 in self.starts:
                start = previous = base = self.starts[number - 1]
                first, known = number, None
            attempt = self.attempts.get(number, Attempt())
            if attempt.refreshed is not None:
                base = attempt.refreshed
            elif known is not None:
                base = known
            found.append(Situation(number, number - first + 1, attempt, start, previous, base))
            is_heard = attempt.result is not None and not attempt.is_lost
            known = attempt.result.snapshot if is_heard else None
            previous = base if attempt.reread is None else attempt.reread  # also if a look at the pointer ended it
        return found


class Record:
    """All that was observed of one run."""

    def __init__(self) -> None:
        self.decisions: list[Decision] = []
        self.applied: list[Decision] = []
        self.snapshots: list[Seen] = []
        self.lives: dict[int, Life] = {}
        self.partitions: list[tuple[tuple[tuple[int, ...], int], ...]] = []  # by txn, by table it reads
        self.clients: list[tuple[int, int]] = []  # by txn: its source, and its client there
        self.told: dict[tuple[int, int], CatalogSnapshot] = {}  # by client: the newest state it has heard of

    def note(self, decision: Decision) -> None:
        self.decisions.append(decision)
        if decision.is_applied:
            self.applied.append(decision)

    def life(self, txn_id: int) -> Life:
        return self.lives.setdefault(txn_id, Life())

    def submit(self, source: Source, index: int, draft: TransactionDraft) -> None:
        """A txn begins; one whose client keeps its table starts from the newest state that client has heard of."""
        client = (source.index, client_of(index))
        if source.terms.keeps_table and client in self.told:
            self.life(len(self.clients)).starts[0] = self.told[client]
        self.partitions.append(draft.partitions)
        self.clients.append(client)

    def tell(self, txn_id: int, snapshot: CatalogSnapshot | None) -> None:
        if snapshot is not None:
            self.told[self.clients[txn_id]] = snapshot


class RecordingCatalog(Catalog):
    """Passes both calls on to the catalog it wraps, and notes what they say."""

    def __init__(self, catalog: Catalog, record: Record, failures: Failures, *, is_refusal_believed: bool) -> None:
        super().__init__(catalog.state, refusal_returns_snapshot=catalog.refusal_returns_snapshot)
        self._catalog = catalog
        self.undoes_compactions = getattr(catalog, "undoes_compactions", False)
        self._failures = failures
        self._is_refusal_believed = is_refusal_believed  # else the next attempt asks anyway
        self._record = record
        self._watch_decisions()
        self._watch_snapshots()

    def _watch_decisions(self) -> None:
        catalog, record, decide = self._catalog, self._record, self._catalog._decide

        def noted(intention: IntentionRecord) -> bool:
            is_applied = decide(intention)
            undone = getattr(catalog, "_undone", 0) if is_applied else 0
            record.note(Decision(catalog._clock.now_us, intention, is_applied, catalog.state.seq, undone))
            return is_applied

        catalog._decide = noted  # type: ignore[method-assign]

    def _watch_snapshots(self) -> None:
        catalog, record, snap = self._catalog, self._record, self._catalog._snapshot

        def noted() -> CatalogSnapshot:
            snapshot = snap()
            record.snapshots.append(Seen(snapshot, len(record.applied)))
            return snapshot

        catalog._snapshot = noted  # type: ignore[method-assign]

    def attach(self, clock: Clock) -> None:
        super().attach(clock)
        self._catalog.attach(clock)

    def read(self, *, client: Client, step: int, **size: Any) -> Generator[int, None, CatalogSnapshot]:  # type: ignore[override]
        life = self._record.life(client.txn_id)
        if step == START_READ:
            life.asked_us[client.attempt] = client.clock.now_us
        snapshot = yield from self._catalog.read(client=client, step=step, **size)
        if step != POINTER_READ:  # which only compares
            self._record.tell(client.txn_id, snapshot)
        if step == START_READ:
            life.starts[client.attempt] = snapshot
        else:
            attempt = life.attempts.setdefault(client.attempt, Attempt())
            if step == REFRESH:
                attempt.refreshed = snapshot
            elif step == BASE_READ:
                attempt.reread = snapshot
            elif step == POINTER_READ:
                attempt.checked = snapshot
        return snapshot

    def ask_for_lock(self, client: Client, *asked: Any, **how: Any) -> Generator[int, None, bool]:
        self._record.life(client.txn_id).attempts.setdefault(client.attempt, Attempt()).has_asked = True
        return (yield from self._catalog.ask_for_lock(client, *asked, **how))  # type: ignore[attr-defined, no-any-return]

    def release_lock(self, client: Client, table: int) -> Generator[int, None, None]:
        yield from self._catalog.release_lock(client, table)  # type: ignore[attr-defined]

    def commit(  # type: ignore[override]
        self, intention: IntentionRecord, *, client: Client
    ) -> Generator[int, None, CommitResult]:
        attempt = self._record.life(client.txn_id).attempts.setdefault(client.attempt, Attempt())
        attempt.intention = intention
        attempt.is_lost = loses_answer(self._failures, client.key, client.attempt)
        attempt.result = yield from self._catalog.commit(intention, client=client)
        self._record.tell(client.txn_id, attempt.result.installed)
        if self._is_refusal_believed:
            self._record.tell(client.txn_id, attempt.result.snapshot)
        return attempt.result


class RecordingWorkload(Workload):
    """Notes whose each txn is and which partitions it is about, in the order of submission: that of their ids."""

    record: Record

    def draft(self, source: Source, index: int) -> TransactionDraft:
        drawn = super().draft(source, index)
        self.record.submit(source, index, drawn)
        return drawn


def _numbers(columns: Columns, field: str) -> Any:
    """A field of every row, read back from the columns."""
    n = columns.n_rows
    if field.endswith("_us"):
        return columns.us(field.removesuffix("_us") + "_ms")
    if field == "status":
        return columns.count("status") + np.maximum(columns.count("in_flight_stage"), 0)
    if field == "reason":
        return columns.count("reason") + 1
    if field in ("n_tables_read", "n_tables_written"):
        ends = columns.read_ends if field == "n_tables_read" else columns.written_ends
        return np.diff(ends[: n + 1])
    return columns.count(field) if field in COUNTS else columns.longs[LONGS.index(field), :n]


class RawRows:
    """A sink that keeps the engine's own rows: integers, in microseconds."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.tables: list[tuple[int, ...]] = []

    def start(self, provenance: Any) -> None:
        pass

    def add(self, columns: Columns) -> None:
        n = columns.n_rows
        ends = columns.read_ends[: n + 1].tolist()
        ids = columns.read_ids[: ends[-1]].tolist()
        told = [_numbers(columns, field).tolist() for field in ROW_FIELDS]
        self.rows.extend(dict(zip(ROW_FIELDS, values, strict=True)) for values in zip(*told, strict=True))
        self.tables.extend(tuple(ids[first:end]) for first, end in pairwise(ends))

    def finish(self, history: Any) -> RawRows:
        return self


@dataclass(frozen=True)
class Run:
    """One simulation, observed."""

    config: SimulationConfig
    rows: list[Row]
    tables: dict[int, tuple[int, ...]]
    record: Record
    trace: list[TracedRequest]
    catalog: Catalog

    @property
    def ended(self) -> list[Row]:
        return [row for row in self.rows if row["status"] <= ABORTED]

    @property
    def own(self) -> list[Row]:
        """Those that ended by a commit of their own, and not with the commit of another that carried their files."""
        return [row for row in self.ended if row["attempts"] or self.source(row).gather_every_ms is None]

    @property
    def whole(self) -> list[Row]:
        """Of those, whoever did not end in the middle of an attempt or of its load, nor ever broke off there."""
        return [row for row in self.own if row["reason"] != STORAGE_FAILED and not self.may_have_broken_off(row)]

    def may_have_broken_off(self, row: Row) -> bool:
        """Whether a run before its last may have ended because storage failed: a rerun hides that it did."""
        if not row["restarts"] or not self.reruns_most(row):
            return False
        return self.config.failures.throttle_tries <= self.throttled(row)

    def throttled(self, row: Row) -> int:
        return sum(request[5] for request in self.requests[row["txn_id"]] if request[6])

    def reruns_most(self, row: Row) -> int:
        """How often whoever scheduled the txn runs it again at most, whatever it failed of."""
        aftermath = self.source(row).after_failure
        return aftermath.times if aftermath.kind == "rerun" else 0

    def retries_most(self, row: Row) -> int:
        """How often the txn may try again: never where a refusal is final."""
        return 0 if self.config.catalog.service.refusal == "final" else self.source(row).retry

    def last_began_us(self, row: Row) -> int:
        """When the commit of the txn's last start began, after any queue: what it sends first, it sends at once."""
        last = self.situations(row)[-1]
        first = last.number - last.nth + 1
        return next(request[0] for request in self.requests[row["txn_id"]] if request[2] == first)

    def situations(self, row: Row) -> list[Situation]:
        """The attempts of a txn that ended."""
        return self.record.life(row["txn_id"]).situations(row["attempts"])

    def tables_written(self, row: Row) -> tuple[int, ...]:
        return self.tables[row["txn_id"]][: row["n_tables_written"]]

    def source(self, row: Row) -> SourceConfig:
        return self.config.sources[row["source"]]

    @cached_property
    def effects(self) -> dict[int, list[tuple[Decision, Effect]]]:
        """What was done to every table, in order, and by which decision."""
        found: dict[int, list[tuple[Decision, Effect]]] = {n: [] for n in range(self.config.catalog.num_tables)}
        for decision in self.record.applied:
            for table, effect, _ in decision.written:
                found[table].append((decision, effect))
        return found

    @cached_property
    def requests(self) -> dict[int, list[TracedRequest]]:
        """Every txn's requests, in the order it sent them."""
        found: dict[int, list[TracedRequest]] = {row["txn_id"]: [] for row in self.rows}
        for request in self.trace:
            found[request[1]].append(request)
        return found


def observe(mapping: Mapping[str, Any]) -> Run:
    """Run a configuration on the reference engine and keep everything; the same one is run once."""
    return _observe(json.dumps(mapping, sort_keys=True))


@lru_cache(maxsize=1_000)
def _observe(text: str) -> Run:
    config = parse_config(json.loads(text))
    record = Record()
    catalogs: list[Catalog] = []

    def make(storage: Any, state: Any) -> Catalog:
        catalog = build_catalog(config, storage, state)
        is_believed, failures = config.commit.base == "start", build_failures(config)
        catalogs.append(RecordingCatalog(catalog, record, failures, is_refusal_believed=is_believed))
        return catalogs[0]

    def make_workload(workload_config: WorkloadConfig) -> Workload:
        workload = RecordingWorkload(workload_config)
        workload.record = record
        return workload

    trace: list[TracedRequest] = []
    sink = RawRows()
    Simulation(config, catalog=make, workload=make_workload).run(sink=sink, trace=trace)  # type: ignore[arg-type]
    tables = {row["txn_id"]: ids for row, ids in zip(sink.rows, sink.tables, strict=True)}
    rows = sorted(sink.rows, key=lambda row: row["txn_id"])
    return Run(config, rows, tables, record, trace, catalogs[0])
