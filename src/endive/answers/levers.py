"""The levers people have: what they can change, and what each change gives up.

This file is a registry. A lever looks at a configuration and names the keys it would set, in one or several strengths;
a lever that makes no sense there names none, and one that the configuration refuses is left out. To add one, write a
function and a line in ``LEVERS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from endive.answers.variation import Base
from endive.config import SimulationConfig
from endive.config.transaction import SourceConfig

Values = Mapping[str, Any]
Offer = tuple[str, Values]  # words, and the keys it sets

RETRIES: Final = (10, 20)
PARTITIONS: Final = 8
STAYING: Final = ("closed", "jobs")  # arrivals with clients that can keep something
REGULAR: Final = ("poisson", "fixed", "periodic")
STORES: Final = {"s3x": "S3 Express", "azurex": "Azure Premium"}


@dataclass(frozen=True, slots=True)
class Lever:
    """Something that can be changed."""

    name: str
    gives_up: str
    offers: Callable[[Base], Iterator[Offer]]


def _named(source: SourceConfig, key: str) -> str:
    return f'source."{source.name}".{key}'


def _does(source: SourceConfig, *kinds: str) -> bool:
    return any(getattr(source.operation_types, kind) > 0 for kind in kinds)


def _retries(base: Base) -> Iterator[Offer]:
    most = min(source.retry for source in base.config.sources)
    yield from ((f"{count} retries", {"source.*.retry": count}) for count in RETRIES if count > most)


def _backoff(base: Base) -> Iterator[Offer]:
    yield "pauses with full jitter", {"source.*.retry_backoff": {"policy": "full_jitter"}}
    yield (
        "first pause of 1 s",
        {"source.*.retry_backoff": {"policy": "iceberg", "base_ms": 1_000.0, "multiplier": 2.0, "max_ms": 60_000.0}},
    )


def _batching(base: Base) -> Iterator[Offer]:
    """Appends of an open source are collected, and every k-th commits for all of them."""
    for source in base.config.sources:
        if _does(source, "fast_append", "merge_append") and source.arrivals.kind in REGULAR:
            for k in (2, 10):
                yield f"{source.name}: {k} commits batched into one", {f'source."{source.name}".load': 1.0 / k}


def _fewer_writers(base: Base) -> Iterator[Offer]:
    for source in base.config.sources:
        clients = getattr(source.arrivals, "clients", 1)
        if clients > 1:
            yield f"{source.name}: half the writers", {_named(source, "arrivals.clients"): clients // 2}
        if clients > 2:
            yield f"{source.name}: one committer", {_named(source, "arrivals.clients"): 1}


def _fewer_threads(base: Base) -> Iterator[Offer]:
    """A job whose own commits get into each other's way."""
    for source in base.config.sources:
        progress = source.partial_progress
        if progress is None:
            continue
        if progress.threads > 1:
            yield f"{source.name}: one thread", {_named(source, "partial_progress.threads"): 1}
        if progress.commits > 1:
            yield (
                f"{source.name}: all groups in one commit",
                {_named(source, "partial_progress"): {"commits": 1, "threads": 1}},
            )


def _schedule(base: Base) -> Iterator[Offer]:
    """Maintenance that runs less often is in the way of fewer."""
    for source in base.config.sources:
        if _does(source, "rewrite_files", "rewrite_manifests") and source.arrivals.kind in REGULAR:
            yield f"{source.name}: a quarter as often", {f'source."{source.name}".load': 0.25}


def _shorter(base: Base) -> Iterator[Offer]:
    """A job that others can make fail is overtaken by fewer of them while it works."""
    for source in base.config.sources:
        table = source.runtime.model_dump(exclude_none=True)
        if _does(source, "validated_overwrite") and not {"components", "quantiles"} & table.keys():
            half = {key: value / 2 if key.endswith("ms") else value for key, value in table.items()}
            yield f"{source.name}: works half as long", {_named(source, "runtime"): half}


def _restarts(base: Base) -> Iterator[Offer]:
    for source in base.config.sources:
        if _does(source, "validated_overwrite") and source.application_retries == 0:
            yield f"{source.name}: the job runs again, up to 3 times", {_named(source, "application_retries"): 3}


def _isolation(base: Base) -> Iterator[Offer]:
    for source in base.config.sources:
        if _does(source, "validated_overwrite") and source.isolation == "serializable":
            yield f"{source.name}: snapshot isolation", {_named(source, "isolation"): "snapshot"}


def _merging(base: Base) -> Iterator[Offer]:
    if base.config.commit.merging != "off":
        yield "manifests are not merged", {"commit.merging": "off"}


def _expiry(base: Base) -> Iterator[Offer]:
    kept = base.config.table.snapshots_kept_max
    if kept == 0 or kept > 100:
        yield "100 snapshots kept", {"table.snapshots_kept_max": 100}


def _tables(base: Base) -> Iterator[Offer]:
    yield "the table split in two", {"catalog.num_tables": 2 * base.config.catalog.num_tables}


def _partitions(base: Base) -> Iterator[Offer]:
    """Versions by partition, which no catalog of Iceberg keeps; and finer partitions where there are some."""
    partitions = base.config.catalog.partitions
    count = 2 * partitions.num_partitions if partitions.enabled else PARTITIONS
    split = {"catalog.partitions.enabled": True, "catalog.partitions.num_partitions": count}
    if partitions.enabled:
        yield f"{count} partitions instead of {partitions.num_partitions}", split
    if base.config.catalog.scope != "partition":
        yield f"{count} partitions with a version each", {**split, "catalog.scope": "partition"}


def _kept(base: Base) -> Iterator[Offer]:
    """A writer that stays and keeps its table; a batch job would have to become a service for that."""
    staying = [each for each in base.config.sources if each.arrivals.kind in STAYING and not each.keeps_table]
    for source in staying:
        yield f"{source.name}: the table is kept", {_named(source, "keeps_table"): True}


def _inlined(base: Base) -> Iterator[Offer]:
    if not base.config.catalog.table_metadata_inlined:
        yield "metadata inlined in the catalog", {"catalog.table_metadata_inlined": True}


def _appended_lists(base: Base) -> Iterator[Offer]:
    if base.config.transaction.manifest_list_mode == "rewrite":
        yield "manifest lists appended to (ML+)", {"transaction.manifest_list_mode": "append"}


def _stores(base: Base) -> Iterator[Offer]:
    for provider, title in STORES.items():
        if provider != base.config.storage.provider:
            yield f"{title} as the store", {"storage.provider": provider}


def _catalogs(base: Base) -> Iterator[Offer]:
    catalog = base.config.catalog
    if catalog.type != "service":
        yield "a REST catalog of 5 ms", {"catalog.type": "service", "catalog.latency_ms": 5.0, **_REST}
        return
    if catalog.service.flavour != "rest":
        yield "a REST catalog", _REST
    if catalog.service.server_retries == 0:
        yield "a REST catalog that rebases appends", {**_REST, "catalog.service.server_retries": 5}
    if catalog.latency_ms:
        yield "a catalog twice as fast", {"catalog.latency_ms": catalog.latency_ms / 2}


_REST: Final = {"catalog.service.flavour": "rest"}


LEVERS: Final = (
    Lever("retries", "a loser keeps trying, so the tail grows", _retries),
    Lever("backoff", "a loser waits longer before it tries again", _backoff),
    Lever("batching", "data arrive later, in fewer and larger commits", _batching),
    Lever("writers", "fewer jobs at once; what they did must be queued", _fewer_writers),
    Lever("threads", "a job takes longer, or loses all it did if its one commit fails", _fewer_threads),
    Lever("schedule", "small files pile up from one run to the next", _schedule),
    Lever("shorter", "more machines for the job, or less work in each", _shorter),
    Lever("restarts", "the work is done again, and paid again", _restarts),
    Lever("isolation", "snapshot isolation: a concurrent append is not seen by the overwrite", _isolation),
    Lever("merging", "manifests pile up, and readers plan slower", _merging),
    Lever("expiry", "older snapshots cannot be read any more", _expiry),
    Lever("tables", "readers must read two tables", _tables),
    Lever("partitions", "small files; for a version each, a catalog that keeps versions by partition", _partitions),
    Lever("kept", "jobs that stay; they see a new schema or setting only at their next refresh", _kept),
    Lever("inlined", "a catalog that stores metadata itself", _inlined),
    Lever("ml+", "a store with conditional append, and readers that know the format", _appended_lists),
    Lever("store", "another store, at its price", _stores),
    Lever("catalog", "another catalog to run", _catalogs),
)


def offers_of(base: Base, names: tuple[str, ...] | None = None) -> list[tuple[Lever, str, Values, SimulationConfig]]:
    """Every offer that the configuration allows: lever, words, keys, and the configuration with them."""
    from endive.errors import ConfigError, ObjectiveError

    known = tuple(lever.name for lever in LEVERS)
    for name in names or ():
        if name not in known:
            raise ObjectiveError(f"--levers: '{name}' is not known. Levers are: {', '.join(known)}.")
    found = []
    for lever in LEVERS:
        if names is not None and lever.name not in names:
            continue
        for words, values in lever.offers(base):
            try:
                config = base.with_values(values)
            except ConfigError:
                continue  # the catalog or the store cannot do that
            if config.config_hash() != base.config.config_hash():
                found.append((lever, words, values, config))
    return found
