"""A stage for one txn: rivals commit at exact moments, and every request it sends is written down.

Rivals are not simulated: at their moment the server's state moves as their commit would move it, so the txn under test
is the only one that asks storage for anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from endive import Simulation
from endive.catalog import Catalog, CatalogSnapshot, CatalogState, CommitResult, IntentionRecord
from endive.config import parse_config
from endive.formats.iceberg.attempt import AttemptCost
from endive.formats.nesting import Plan
from endive.formats.operation import Operation
from endive.results.provenance import Provenance
from endive.results.schema import KINDS, OBJECTS, OPERATIONS
from endive.rng import LOOK_READ, POINTER_READ, REFRESH
from endive.simulation.build import OwnParts, build_catalog, build_parts
from endive.simulation.reference import ReferenceEngine
from endive.storage import StorageProvider
from endive.storage.client import Client, Clock
from endive.vocabulary import (
    EXPIRE_SNAPSHOTS,
    FAST_APPEND,
    REWRITE_FILES,
    REWRITE_MANIFESTS,
    ROW_DELTA,
    VALIDATED_OVERWRITE,
)

Bill = Counter[str]  # "manifest_list.read" -> requests

# What a rival does, and how many manifests its commit adds to the list.
RIVALS = {
    "append": (Operation(kind=FAST_APPEND), 1),
    "row_delta": (Operation(kind=VALIDATED_OVERWRITE, form=ROW_DELTA), 2),
    "rewrite": (Operation(kind=REWRITE_FILES, rewritten=1), 1),
    "rewrite_manifests": (Operation(kind=REWRITE_MANIFESTS), 0),
    "expiry": (Operation(kind=EXPIRE_SNAPSHOTS), 0),
}
REFRESHING = "refresh"  # after the txn loaded its tables (or lost), before the server sees it read again
SWAPPING = "swap"  # when all is built, before the server sees the conditional write (or the last look before it)
LOOKING = "look"  # while the txn works, before the server sees it look at its table once more
MOMENTS = {REFRESH: REFRESHING, POINTER_READ: SWAPPING, LOOK_READ: LOOKING}


@dataclass(frozen=True)
class Rival:
    """One rival commit: what it is, which tables it writes, and which partition of each."""

    name: str
    tables: tuple[int, ...] = (0,)
    partition: int = 0
    expired: int = 0  # snapshots


Script = Mapping[tuple[int, str], list[Rival]]  # (attempt, moment) -> who commits then


def append(count: int = 1, **where: Any) -> list[Rival]:
    return [Rival("append", **where)] * count


def row_delta(count: int = 1, **where: Any) -> list[Rival]:
    return [Rival("row_delta", **where)] * count


def rewrite(count: int = 1, **where: Any) -> list[Rival]:
    return [Rival("rewrite", **where)] * count


def expiry(snapshots: int) -> list[Rival]:
    """The oldest so many snapshots are expired."""
    return [Rival("expiry", expired=snapshots)]


class BesetCatalog(Catalog):
    """A catalog beside which rivals commit when the script says, whichever txn comes by."""

    def __init__(self, catalog: Catalog, script: Script) -> None:
        super().__init__(catalog.state, refusal_returns_snapshot=catalog.refusal_returns_snapshot)
        self._catalog = catalog
        self._script = script

    def attach(self, clock: Clock) -> None:
        super().attach(clock)
        self._catalog.attach(clock)

    def read(self, *, client: Client, step: int, **size: Any) -> Generator[int, None, CatalogSnapshot]:  # type: ignore[override]
        self._let_rivals_commit(client.attempt, MOMENTS.get(step, ""))
        return self._catalog.read(client=client, step=step, **size)

    def commit(self, *intent: Any, client: Client) -> Generator[int, None, CommitResult]:  # type: ignore[override]
        self._let_rivals_commit(client.attempt, SWAPPING)
        return self._catalog.commit(*intent, client=client)

    def _let_rivals_commit(self, attempt: int, moment: str) -> None:
        for rival in self._script.get((attempt, moment), ()):
            commit_rival(self, rival)


def commit_rival(catalog: Catalog, rival: Rival) -> None:
    state = catalog.state
    operation, manifests_added = RIVALS[rival.name]
    plan = Plan(iceberg=AttemptCost(manifests_added=manifests_added, expired=rival.expired))
    partitions = (((rival.partition,), 1),) * len(rival.tables) if state.num_partitions else ()
    intention = IntentionRecord(
        txn_id=-1,
        base=state.snapshot(0),
        tables=rival.tables,
        n_written=len(rival.tables),
        operation=operation,
        plans=(plan,) * len(rival.tables),
        partitions=partitions,
    )
    state.apply(intention)


@dataclass(frozen=True)
class Played:
    """What became of the one txn: its row, its requests in order, and the catalog afterwards."""

    row: dict[str, Any]
    trace: list[tuple[int, int, int, int, int, int]]
    catalog: Catalog
    is_read_back: bool = False  # a commit is followed by a catalog read

    def told(self, *columns: str) -> tuple[Any, ...]:
        """What the row says in these columns."""
        return tuple(self.row[column] for column in columns)

    def attempt(self, attempt: int) -> Bill:
        """Requests of an attempt up to its last word with the catalog; what follows is ``after``."""
        return bill_of(self._split(attempt)[0])

    def after(self) -> Bill:
        """Requests after the last attempt's last word with the catalog: reloading and cleaning up."""
        return Counter(without_catalog(bill_of(self._split(self.row["attempts"])[1])))

    def _split(self, attempt: int) -> tuple[list[Any], list[Any]]:
        requests = [request for request in self.trace if request[2] == attempt]
        words = [i for i, request in enumerate(requests) if OBJECTS[request[3]] in ("catalog", "log")]
        if self.is_read_back and self.row["status"] == "committed" and attempt == self.row["attempts"]:
            words.pop()
        last = words[-1] if words else -1
        return requests[: last + 1], requests[last + 1 :]


def bill_of(requests: Any) -> Bill:
    bill: Bill = Counter()
    for _, _, _, obj, op, count, _ in requests:
        bill[f"{OBJECTS[obj]}.{OPERATIONS[op]}"] += count
    return bill


def without_catalog(bill: Bill) -> dict[str, int]:
    """The bill of the table's own objects; requests nobody sent are left out."""
    return {name: count for name, count in bill.items() if count and not name.startswith(("catalog.", "log."))}


def merged(defaults: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Two configurations as one, section by section; one that names its provider or type stands for itself."""
    out = dict(defaults)
    for section, values in changes.items():
        is_whole = section not in out or {"provider", "type"} & values.keys()
        out[section] = values if is_whole else {**out[section], **values}
    return out


# Every request takes 10 ms, the catalog answers in 2 ms, metadata is an object of its own; one txn.
STAGE: dict[str, Any] = {
    "simulation": {"duration_ms": 10_000_000, "warmup_ms": 0, "cooldown_ms": 0},
    "storage": {"provider": "constant", "latency_ms": 10.0},
    "catalog": {"type": "instant", "latency_ms": 2.0, "scope": "table", "table_metadata_inlined": False},
    "transaction": {"runtime": {"distribution": "fixed", "ms": 1000.0}},
}


def play(kind: str, script: Script | None = None, seed: int = 1, **sections: Any) -> Played:
    """Run one txn of ``kind`` while the rivals of ``script`` commit; ``sections`` are of the configuration."""
    config = merged(STAGE, sections)
    config["transaction"] = config["transaction"] | {"operation_types": {name: float(name == kind) for name in KINDS}}
    if config["transaction"].get("overwrite", "row_delta") == "row_delta":
        config["transaction"].setdefault("referenced_files", False)  # what the tables of requests are about
    config["source"] = [{"name": "txn", "arrivals": {"kind": "periodic", "period_ms": 10_000_000.0}}]
    played = list(play_all(config, script or {}, seed))
    assert len(played) == 1
    return played[0]


def play_all(config: Mapping[str, Any], script: Script, seed: int) -> Iterator[Played]:
    """Every txn of a configuration whose catalog is beset.

    Rivals change the catalog's state behind everybody's back, so the run is not observed.
    """
    resolved = parse_config(config)
    catalogs: list[Catalog] = []

    def make(storage: StorageProvider, state: CatalogState) -> Catalog:
        catalog = BesetCatalog(build_catalog(resolved, storage, state), script)
        catalogs.append(catalog)
        return catalog

    trace: list[Any] = []
    sink = Simulation(resolved).new_sink()
    sink.start(Provenance(config_hash=resolved.config_hash(), seed=seed, engine="reference"))
    parts = build_parts(resolved, seed, OwnParts(catalog=make))
    ReferenceEngine(parts, sink, trace=trace, is_observed=False).run()
    result = sink.finish()
    by_txn: dict[int, list[Any]] = {}
    for request in trace:
        by_txn.setdefault(request[1], []).append(request)
    for row in result.transactions.to_pylist():
        is_told = resolved.catalog.type == "service" and resolved.catalog.service.flavour == "rest"
        is_read_back = resolved.commit.after_success == "reload" and not (is_told and row["kind"] == "fast_append")
        yield Played(row, by_txn[row["txn_id"]], catalogs[0], is_read_back)
