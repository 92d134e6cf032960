"""The model's side of a story that a die threw: one client that keeps its table, and its rivals, call by call.

Every call is its own operation, so the txns of the reference engine are given theirs here: what they do, the partitions
they write and the places of the files they touch. Rivals come one every hundred seconds, in the story's order; the
client waits for them where the story says.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple

from endive.catalog import Catalog, CatalogState
from endive.config import parse_config
from endive.formats import rules
from endive.formats.file_history import TouchedFiles
from endive.formats.nesting import Plan
from endive.formats.operation import Operation
from endive.record import copied
from endive.rng import POINTER_READ, REFRESH
from endive.simulation import Simulation
from endive.simulation.build import build_catalog
from endive.simulation.build_source import build_terms
from endive.storage import StorageProvider
from endive.storage.client import Client, TracedRequest
from endive.transaction import Transaction, TransactionDraft
from endive.vocabulary import KINDS
from endive.workload import Source, Workload
from verification.suites.beset import RIVAL_GAP_MS, TWO_PARTITIONS, VICTIM, BesetCatalog, beset_document, sent_by
from verification.suites.delta.delta_pairs import OPERATIONS as PAIRED
from verification.suites.delta.delta_pairs import Does, source_of
from verification.suites.delta.delta_recording import RS
from verification.suites.delta.modelled_story import DATA_FILES, REQUEST_MS, Played, played

CHECKPOINT: Final = "checkpoint"
APPEND: Final = "append, p = 9"  # of whoever comes when the story is over
HALF: Final = DATA_FILES // 2
RETENTION_MS: Final = 1.0
# Where files lie: A and B in partition 3, E in partition 9, whatever was appended behind them.
PLACES: Final = {"A": 0, "B": 1, "3": 2, "E": HALF, "9": HALF + 1}
BOTH: Final = 2  # partitions
OPERATIONS_OF_RS: Final = {
    **PAIRED[RS],
    "append, both": Does("blind_append", BOTH),
    "append, over A": Does("blind_append", 0, "A"),
    "delete, all of p = 3": Does("merge", 0, "AB3", "partitions", adds_rows=False),
    "delete, everything": Does("merge", BOTH, "AB3E9", "nothing", adds_rows=False),
    "update, everything": Does("merge", BOTH, "AB3E9", "table"),
    "merge, upsert by id alone": Does("merge", 0, "A", "table"),
    "merge, upsert p = 3": Does("merge", 0, "A", "partitions"),
    "merge, insert by id alone": Does("append_after_read", 0, "", "table"),
    "merge, insert p = 3": Does("append_after_read", 0, "", "partitions"),
    "merge, delete p = 9": Does("merge", 1, "E9", "partitions", adds_rows=False),
    "compact, all": Does("optimize", BOTH, "AB3E9"),
    "compact, p = 3": Does("optimize", 0, "AB3"),
    "z-order, p = 3": Does("optimize", 0, "AB3"),
    "delete, all of p = 9": Does("merge", 1, "E9", "partitions", adds_rows=False),
    "overwrite, p = 9": Does("merge", 1, "E9", "partitions"),
    "overwrite, all": Does("merge", BOTH, "AB3E9", "nothing"),
}


class Call(NamedTuple):
    """One call of the client, and the rivals that commit before it and before each of its attempts."""

    operation: str
    behind: tuple[str, ...]
    lost: tuple[tuple[str, ...], ...] = ()


def calls_of(story: Mapping[str, Any]) -> list[Call]:
    """Every call of a story, those before the last one included, with the rivals that committed.

    A call that had nothing to change is none; its rivals are the next one's.
    """
    calls: list[Call] = []
    waiting: tuple[str, ...] = ()
    for each in story["earlier"]:
        waiting += _committed(each["rivals"])
        if each["outcome"] != "nothing":
            calls.append(Call(each["operation"], waiting))
            waiting = ()
    lost = tuple(_committed(each) for each in story["lost"])
    return [*calls, Call(story["operation"], waiting + _committed(story["behind"]), lost)]


def _committed(rivals: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(name for name, outcome in rivals if outcome == "committed")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldDraft(TransactionDraft):
    """A draft that says what its txn does, and to which files."""

    operation: Operation
    places: tuple[int, ...]


class ToldTransaction(Transaction):
    """A txn that does what its draft says."""

    def __init__(self, txn_id: int, submit_us: int, client: Client, draft: TransactionDraft, terms: Any) -> None:
        super().__init__(txn_id, submit_us, client, draft, terms)
        assert isinstance(draft, ToldDraft)
        self.operation = copied(draft.operation)
        self._places = draft.places

    def touched_files(self, position: int) -> TouchedFiles:
        return super().touched_files(position)._replace(places=self._places)


class ToldWorkload(Workload):
    """The client's calls and its rivals, in the order of the story."""

    def __init__(self, config: Any, calls: Sequence[str], rivals: Sequence[str], operations: dict[str, Operation]):
        super().__init__(config)
        self._names = {VICTIM: calls, "rival": rivals}
        self._operations = operations
        self.turns: dict[int, int] = {}  # of the client's calls, by the txn's key

    def create_transaction(self, source: Source, index: int, key: int) -> TransactionDraft:
        draft = super().create_transaction(source, index, key)
        names, turn = self._names[source.name], index & 0xFFFF
        if source.name == VICTIM:
            turn = len(self.turns)
            self.turns[source.transaction_key(index)] = turn
        name = names[min(turn, len(names) - 1)]
        does, operation = OPERATIONS_OF_RS[name], self._operations[name]
        given = {field.name: getattr(draft, field.name) for field in fields(TransactionDraft)}
        written = (0, 1) if does.partition == BOTH else (does.partition,)
        given |= {"kind": KINDS.index(does.kind), "partitions": ((written, len(written)),)}
        return ToldDraft(**given, operation=operation, places=tuple(PLACES[each] for each in does.files))


class WaitingCatalog(BesetCatalog):
    """A catalog whose requests the client sends when its rivals are through."""

    def __init__(self, catalog: Catalog, calls: Sequence[Call], turns: Mapping[int, int]) -> None:
        super().__init__(catalog, {})
        self._calls, self._turns = calls, turns
        self._passed: set[tuple[int, int, int]] = set()

    def let_pass(self, client: Client | None, step: int) -> Generator[int, None, None]:
        turn = -1 if client is None else self._turns.get(client.key, -1)
        if client is None or not 0 <= turn < len(self._calls) or (turn, client.attempt, step) in self._passed:
            return
        self._passed.add((turn, client.attempt, step))
        for rival in self._rivals(self._calls[turn], client.attempt, step):
            if rival == CHECKPOINT:
                self._checkpoint()
            else:
                yield from self.wait_for(1)

    @staticmethod
    def _rivals(call: Call, attempt: int, step: int) -> tuple[str, ...]:
        if step == REFRESH and attempt == 1:
            return call.behind
        return call.lost[attempt - 1] if step == POINTER_READ and attempt <= len(call.lost) else ()

    def _checkpoint(self) -> None:
        """Somebody makes one of the newest version by hand."""
        tables: Any = self.state.content
        made = Plan()
        made.delta.version, made.delta.is_checkpointed = tables.states[0].version, 1
        if tables.format.delta.protocol.cleans_log:
            made.delta.clean_to = made.delta.version - 1
        rules.publish(tables, tables.states[0], made)
        self.state.refresh_tables((0,))


def tell(story: Mapping[str, Any]) -> Played:
    """The last call of a story, as the model has it."""
    calls = calls_of(story)
    rivals = [name for call in calls for name in (*call.behind, *(each for lost in call.lost for each in lost))]
    rivals = [name for name in rivals if name != CHECKPOINT]
    config = parse_config(configuration(story, len(rivals)))
    operations = {name: _operation(story, name) for name in {APPEND, *rivals, *(call.operation for call in calls)}}
    trace: list[TracedRequest] = []
    turns: dict[int, int] = {}

    def make(storage: StorageProvider, state: CatalogState) -> Catalog:
        return WaitingCatalog(build_catalog(config, storage, state), calls, turns)

    def work(workload: Any) -> Workload:
        made = ToldWorkload(workload, [call.operation for call in calls], [*rivals, APPEND], operations)
        made.turns = turns
        return made

    kinds = dict.fromkeys(KINDS, ToldTransaction)
    simulation = Simulation(config, catalog=make, workload=work, transaction_types=kinds)
    rows = simulation.run(trace=trace).transactions.to_pylist()
    own = [row for row in rows if row["source"] == VICTIM]
    row = own[len(calls) - 1]
    return played(row, sent_by(row["txn_id"], trace))


def _operation(story: Mapping[str, Any], name: str) -> Operation:
    """What a txn of that name does, by the configuration's own rules."""
    document = configuration(story, 0)
    does = OPERATIONS_OF_RS[name]
    plain = {"name": name, "arrivals": {"kind": "periodic", "period_ms": RIVAL_GAP_MS}}
    document["source"] = [{**plain, **source_of(does, 1, {})}]
    config = parse_config(document)
    operation = copied(build_terms(config, config.sources[0]).operation)
    operation.kind = KINDS.index(does.kind)
    return operation


def configuration(story: Mapping[str, Any], rivals: int) -> dict[str, Any]:
    """One table of two partitions, a client that keeps it, and a rival every hundred seconds."""
    delta: dict[str, Any] = {"client": "delta_rs", "initial_version": story["commits"]}
    if story["interval"]:
        delta["checkpoint_interval"] = story["interval"]
    if story["is_cleaned"]:
        delta["log_retention_ms"] = RETENTION_MS
    merging = {"operation_types": {"merge": 1.0}, "read": "files", "touched_files": 1}
    return beset_document(
        {"arrivals": {"kind": "closed", "clients": 1}, "keeps_table": True, **merging},
        merging,
        turns=rivals + 1.5,
        storage={"provider": "constant", "latency_ms": REQUEST_MS, "max_parallel": 64},
        catalog={"partitions": TWO_PARTITIONS},
        table={"format": "delta", "data_files": DATA_FILES},
        delta=delta,
    )
