"""How well a simulation's figures are known: every request it can send, with the source of its latency.

This file gathers them from the store's profile and the catalog's. The words, and the share of the commit latency that
rests on assumed figures, live in ``endive.results.knowledge``.
"""

from endive.catalog import Catalog, ServiceCatalog
from endive.config import SimulationConfig
from endive.config.catalog_profile import latency_note
from endive.results.knowledge import KnownFigure
from endive.results.schema import OBJECTS, OPERATIONS
from endive.simulation.build import build_catalog, build_format, build_state, build_storage, build_tables
from endive.storage import CAS, CATALOG, READ, ObjectStore, StorageProvider
from endive.vocabulary import COMMIT_FILE, LIST, MANIFEST, MANIFEST_LIST, METADATA, N_OPERATIONS, PHASE_OF, WRITE

_PHASES = {OBJECTS.index(name): frozenset({phase}) for name, phase in PHASE_OF.items()}


def figures_of_config(config: SimulationConfig) -> tuple[KnownFigure, ...]:
    """The figures that a run of the configuration will use."""
    storage = build_storage(config)
    return known_figures(
        config,
        storage,
        build_catalog(config, storage, build_state(config, build_tables(config, build_format(config, storage)))),
    )


def known_figures(config: SimulationConfig, storage: StorageProvider, catalog: Catalog) -> tuple[KnownFigure, ...]:
    """A figure per kind of request; parts of the user's own say nothing about theirs."""
    figures: list[KnownFigure] = []
    if isinstance(catalog, ServiceCatalog):
        operations = (READ, WRITE, CAS) if config.catalog.type == "dynamodb" else (READ, CAS)
        figures += [_server_figure(config, catalog, op) for op in operations]
    if isinstance(storage, ObjectStore):
        figures += [
            storage.profile.known_figure(object, op, _phases(config, object, op))
            for object in range(len(OBJECTS))
            for op in range(N_OPERATIONS)
            if storage.profile.supports(op) and not (object == CATALOG and isinstance(catalog, ServiceCatalog))
        ]
    return tuple(figures)


def _server_figure(config: SimulationConfig, catalog: ServiceCatalog, op: int) -> KnownFigure:
    """The latency of a catalog that is a server, for a read or a swap, and its time of service."""
    served_ms = 0.0 if catalog.service_time is None else catalog.service_time.mean()
    note = latency_note(config.catalog)
    return KnownFigure(
        of=note.of,
        object=OBJECTS[CATALOG],
        operation=OPERATIONS[op],
        mean_ms=(catalog.latency if op == READ else catalog.commit_latency).mean() + served_ms,
        known=note.known,
        source=note.source,
        phases=_phases(config, CATALOG, op),
    )


def _phases(config: SimulationConfig, object: int, op: int) -> frozenset[str]:
    """In which phases of its commit a txn waits for such a request."""
    section = config.catalog
    phases = _PHASES[object]
    if object == CATALOG and op != CAS:
        is_read_in_commit = section.type == "append" or (
            section.type == "service" and section.service.flavour == "pointer"
        )
        phases = frozenset({"catalog_read"}) | (phases if is_read_in_commit else frozenset())
    if object == METADATA and op == WRITE and section.type == "service" and section.service.flavour == "rest":
        phases = frozenset({"commit"})  # the server writes it before it swaps
    if object == COMMIT_FILE and op in (READ, LIST):
        phases = frozenset({"catalog_read", "winners", "log_update"})
    if object in (MANIFEST, MANIFEST_LIST) and op != WRITE:
        phases |= {"history"}
    return phases
