"""A catalog of each kind, and the calls tests make of it."""

from typing import Any

from tests.clock import HandClock, Started

from endive.catalog import (
    AppendCatalog,
    CASCatalog,
    Catalog,
    CatalogState,
    InstantCatalog,
    IntentionRecord,
    ServiceCatalog,
)
from endive.catalog.rules import SCOPE_TABLE
from endive.distributions import FixedLatency
from endive.storage import ConstantStorageProvider
from endive.storage.client import Client

LATENCY_MS, LATENCY_US = 10.0, 10_000


def make_catalog(
    kind: str, clock: Any, state: CatalogState | None = None, *, num_tables: int = 2, **options: Any
) -> Catalog:
    is_append = kind.startswith("append")
    if state is None:
        state = CatalogState(num_tables=num_tables, scope=SCOPE_TABLE, has_log=is_append)
    storage = ConstantStorageProvider(LATENCY_MS)
    storage.attach(clock)
    catalog: Catalog
    if kind == "cas":
        catalog = CASCatalog(storage, state)
    elif is_append:
        catalog = AppendCatalog(storage, state, preset=kind.split()[1], **options)
    elif kind == "instant":
        catalog = InstantCatalog(state, FixedLatency(LATENCY_MS), **options)
    else:
        catalog = ServiceCatalog(state, FixedLatency(LATENCY_MS), flavour=kind, storage=storage, **options)
    catalog.attach(clock)
    return catalog


def intend(txn_id: int, base: Any, *tables: int, n_written: int | None = None, **more: Any) -> IntentionRecord:
    n_written = len(tables) if n_written is None else n_written
    return IntentionRecord(txn_id=txn_id, base=base, tables=tables, n_written=n_written, **({"server_bytes": 0} | more))


def commit(catalog: Catalog, clock: HandClock, record: IntentionRecord) -> Any:
    client = Client(record.txn_id, record.txn_id, clock)
    return catalog.commit(record, client=client)


def finished(clock: HandClock, call: Any) -> Started:
    """The call, once it has returned."""
    started = clock.start(call)
    clock.run()
    return started
