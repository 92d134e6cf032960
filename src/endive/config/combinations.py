"""Checks across keys and sections: contradictions, and combinations no provider or catalog can carry.

This file defines those sentences. What one key may hold is its model's; which keys nothing reads is
``endive.config.unread``'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from endive.config.arrivals import Closed, Jobs, Trace
from endive.config.capabilities import (
    BUILT_IN,
    HAVE_NO_VINTAGES,
    IN_ORIGINAL_VINTAGE,
    is_profile_path,
    profile_capabilities,
    providers_with,
)
from endive.config.keys import SOURCE
from endive.config.maintenance import maintenance_problems
from endive.config.problems import Path, Problem, dotted, shown, source_path, value_at
from endive.config.simulation_config import SimulationConfig
from endive.config.sizes import size_problems
from endive.config.slo import objective_of
from endive.config.transaction import BACKOFF_KEYS, TABLES_PER_TXN_MAX, FixedCount, ShareOfFiles, SourceConfig
from endive.config.values import unknown_name
from endive.errors import ObjectiveError

PARTITION_COUNTERS_MAX = 10_000_000
KEPT_TABLES_MAX = 10_000_000
FILE_PLACES_MAX = 100_000_000


def combination_problems(config: SimulationConfig, document: Mapping[str, Any]) -> list[Problem]:
    """Every contradiction of a resolved configuration; ``document`` says which keys were given."""
    return [
        *_measured_window(config),
        *_objective(config),
        *_provider(config, document),
        *_groups(config, document),
        *_scope(config),
        *_catalog_answers(config, document),
        *_partitions(config),
        *_files(config),
        *_failures(config),
        *_source_names(config, document),
        *_arrivals(config, document),
        *size_problems(config),
        *(problem for index in range(len(config.sources)) for problem in _source(index, config, document)),
    ]


def _measured_window(config: SimulationConfig) -> Iterator[Problem]:
    times = config.simulation
    if times.warmup_ms + times.cooldown_ms >= times.duration_ms:
        yield Problem(
            f"simulation.warmup_ms = {times.warmup_ms} and simulation.cooldown_ms = {times.cooldown_ms} "
            f"leave nothing of simulation.duration_ms = {times.duration_ms} to measure. Shorten them.",
            ("simulation", "warmup_ms"),
            ("simulation.cooldown_ms", "simulation.duration_ms"),
        )


def _objective(config: SimulationConfig) -> Iterator[Problem]:
    """A name in the objective that stands for nothing in this configuration."""
    try:
        objective_of(config)
    except ObjectiveError as error:
        told = str(error).partition("': ")[2]
        yield Problem(f"slo.objective = {shown(config.slo.objective)}: {told}", ("slo", "objective"), (SOURCE,))


def _provider(config: SimulationConfig, document: Mapping[str, Any]) -> Iterator[Problem]:
    provider = config.storage.provider
    path: Path = ("storage", "provider")
    written = value_at(document, path) or provider
    if is_profile_path(provider):
        found = profile_capabilities(provider)
        if isinstance(found, str):
            yield Problem(f"storage.provider = {shown(written)} {found}", path)
            return
        capabilities = found
    elif provider in BUILT_IN:
        capabilities = BUILT_IN[provider]
    else:
        known = tuple(BUILT_IN)
        text = unknown_name(provider, known, also=", or the path of a profile (.toml)")
        yield Problem(f"storage.provider = {shown(provider)} {text}", path)
        return
    if provider == "constant" and config.storage.latency_ms is None:
        yield Problem(
            "storage.latency_ms is missing. storage.provider = 'constant' needs it: give a number of milliseconds.",
            ("storage", "latency_ms"),
            ("storage.provider",),
        )
    has_vintage = provider in (*IN_ORIGINAL_VINTAGE, *HAVE_NO_VINTAGES) or is_profile_path(provider)
    if config.storage.vintage == "original" and not has_vintage:
        yield Problem(
            f"storage.vintage = 'original' has no figures for storage.provider = {shown(provider)}. "
            f"Choose a provider from: {', '.join(IN_ORIGINAL_VINTAGE)}; or vintage 'measured'.",
            ("storage", "vintage"),
            ("storage.provider",),
        )
    yield from _capabilities(config, shown(written), capabilities)


def _capabilities(config: SimulationConfig, provider: str, has: frozenset[str]) -> Iterator[Problem]:
    path: Path = ("storage", "provider")
    if not has >= {"read", "write"}:
        yield Problem(
            f"storage.provider = {provider} cannot be simulated: it cannot write, and every commit writes a "
            "manifest list. It is there for programs that call tail_append on the provider itself. "
            f"Choose one of: {', '.join(providers_with('read', 'write'))}.",
            path,
        )
        return
    if config.catalog.type == "cas" and "cas" not in has:
        yield Problem(
            f"catalog.type = 'cas' needs a storage provider with compare-and-swap; {provider} has none. "
            f"Choose one of: {', '.join(providers_with('write', 'cas'))}.",
            ("catalog", "type"),
            ("storage.provider",),
        )
    if config.catalog.type == "append":
        for operation, name in (("append", "conditional append"), ("cas", "compare-and-swap (to compact)")):
            if operation not in has:
                yield Problem(
                    f"catalog.type = 'append' needs a storage provider with {name}; {provider} has none. "
                    f"Choose one of: {', '.join(providers_with('write', 'cas', 'append'))}.",
                    ("catalog", "type"),
                    ("storage.provider",),
                )
    if config.transaction.manifest_list_mode == "append" and "append" not in has:
        yield Problem(
            "transaction.manifest_list_mode = 'append' needs a storage provider with conditional append; "
            f"{provider} has none. Choose one of: {', '.join(providers_with('write', 'append'))}.",
            ("transaction", "manifest_list_mode"),
            ("storage.provider",),
        )


def _groups(config: SimulationConfig, document: Mapping[str, Any]) -> Iterator[Problem]:
    catalog = config.catalog
    path: Path = ("catalog", "num_groups")
    about = ("catalog.scope", "catalog.num_tables", "catalog.type")
    if catalog.scope != "group":
        return
    if value_at(document, path) is None:
        yield Problem(
            "catalog.num_groups is missing. catalog.scope = 'group' needs it: give a whole number from 1 to "
            f"catalog.num_tables = {catalog.num_tables}.",
            path,
            about,
        )
    elif catalog.num_groups > catalog.num_tables:
        yield Problem(
            f"catalog.num_groups = {catalog.num_groups} must not exceed catalog.num_tables = {catalog.num_tables}.",
            path,
            about,
        )


def _scope(config: SimulationConfig) -> Iterator[Problem]:
    catalog = config.catalog
    path: Path = ("catalog", "scope")
    if catalog.type in ("append", "service") and catalog.scope != "table":
        yield Problem(
            f"catalog.scope = '{catalog.scope}' cannot be had with catalog.type = '{catalog.type}', whose "
            "scope is 'table'. Remove catalog.scope, or choose catalog.type from: cas, instant.",
            path,
            ("catalog.type",),
        )
    elif catalog.scope == "partition" and not catalog.partitions.enabled:
        yield Problem(
            "catalog.scope = 'partition' needs partitions. Set catalog.partitions.enabled = true and "
            "catalog.partitions.num_partitions.",
            path,
            ("catalog.partitions.enabled",),
        )


def _catalog_answers(config: SimulationConfig, document: Mapping[str, Any]) -> Iterator[Problem]:
    catalog = config.catalog
    written: Mapping[str, Any] = document.get("catalog", {})
    if "latency_ms" in written and "latency" in written and catalog.type in ("instant", "service"):
        yield Problem(
            f"catalog.latency_ms = {shown(written['latency_ms'])} and catalog.latency are both given. "
            "Keep one of them.",
            ("catalog", "latency_ms"),
            ("catalog.latency",),
        )
    if catalog.type == "cas" and catalog.refusal_returns_snapshot:
        yield Problem(
            "catalog.refusal_returns_snapshot = true cannot be had with catalog.type = 'cas': a refused "
            "swap of an object carries no state. Choose catalog.type from: append, instant, service.",
            ("catalog", "refusal_returns_snapshot"),
            ("catalog.type",),
        )
    if catalog.type == "append" and not catalog.refusal_returns_snapshot:
        yield Problem(
            "catalog.refusal_returns_snapshot = false cannot be had with catalog.type = 'append': the committer reads "
            "the catalog back to learn that it was refused. Choose catalog.type from: cas, instant, service.",
            ("catalog", "refusal_returns_snapshot"),
            ("catalog.type",),
        )
    if catalog.type == "service" and catalog.service.flavour == "pointer" and catalog.table_metadata_inlined:
        yield Problem(
            "catalog.table_metadata_inlined = true cannot be had with catalog.service.flavour = 'pointer': "
            "the client writes the metadata to storage. Choose catalog.service.flavour = 'rest', "
            "or set it to false.",
            ("catalog", "table_metadata_inlined"),
            ("catalog.type", "catalog.service.flavour"),
        )


def _partitions(config: SimulationConfig) -> Iterator[Problem]:
    catalog = config.catalog
    if config.conflict.detector == "partition_overlap" and not catalog.partitions.enabled:
        yield Problem(
            "conflict.detector = 'partition_overlap' needs partitions. Set catalog.partitions.enabled = true "
            "and catalog.partitions.num_partitions.",
            ("conflict", "detector"),
            ("catalog.partitions.enabled",),
        )
    counters = catalog.num_tables * catalog.partitions.num_partitions
    if catalog.partitions.enabled and counters > PARTITION_COUNTERS_MAX:
        yield Problem(
            f"catalog.num_tables = {catalog.num_tables} times catalog.partitions.num_partitions = "
            f"{catalog.partitions.num_partitions} must not exceed {PARTITION_COUNTERS_MAX}.",
            ("catalog", "partitions", "num_partitions"),
            ("catalog.num_tables",),
        )


def _files(config: SimulationConfig) -> Iterator[Problem]:
    """Files decide only where there are some, and no fewer than partitions."""
    table, catalog = config.table, config.catalog
    if config.conflict.detector != "files":
        return
    if not table.data_files:
        yield Problem(
            "conflict.detector = 'files' needs table.data_files: give the number of data files of a table.",
            ("conflict", "detector"),
            ("table.data_files",),
        )
    elif catalog.partitions.enabled and table.data_files < catalog.partitions.num_partitions:
        yield Problem(
            f"table.data_files = {table.data_files} must be at least catalog.partitions.num_partitions = "
            f"{catalog.partitions.num_partitions}: the files are spread evenly over the partitions.",
            ("table", "data_files"),
            ("catalog.partitions",),
        )
    if table.data_files * catalog.num_tables > FILE_PLACES_MAX:
        yield Problem(
            f"table.data_files = {table.data_files} times catalog.num_tables = {catalog.num_tables} must not exceed "
            f"{FILE_PLACES_MAX}.",
            ("table", "data_files"),
            ("catalog.num_tables",),
        )


def _failures(config: SimulationConfig) -> Iterator[Problem]:
    failures = config.failures
    path: Path = ("failures", "lost_answer_rate")
    if failures.lost_answer_rate > 0.0 and config.catalog.type == "append":
        yield Problem(
            f"failures.lost_answer_rate = {failures.lost_answer_rate} cannot be combined with catalog.type = 'append': "
            "its commits read the log back, and what a lost answer means there is not modelled. Choose catalog.type "
            "'cas', 'instant' or 'service', or set the rate to 0.",
            path,
            ("catalog.type",),
        )
    if failures.throttle_rate > 0.0 and config.catalog.type == "append":
        yield Problem(
            f"failures.throttle_rate = {failures.throttle_rate} cannot be combined with catalog.type = 'append': what "
            "its clients do about a throttled request to the log is not modelled. Choose catalog.type 'cas', 'instant' "
            "or 'service', or set the rate to 0.",
            ("failures", "throttle_rate"),
            ("catalog.type",),
        )
    if failures.throttle_rate == 1.0 and config.storage.latency_ms == 0.0:
        yield Problem(
            f"failures.throttle_rate = {failures.throttle_rate} and storage.latency_ms = {config.storage.latency_ms}: "
            "every txn would fail without taking any time, one after another for ever. Lower the rate, or give "
            "the store a latency.",
            ("failures", "throttle_rate"),
            ("storage.latency_ms",),
        )
    for what in ("status_check", "throttle"):
        first_ms, longest_ms = getattr(failures, f"{what}_wait_ms"), getattr(failures, f"{what}_wait_max_ms")
        if longest_ms < first_ms:
            yield Problem(
                f"failures.{what}_wait_max_ms = {longest_ms} is less than failures.{what}_wait_ms = {first_ms}. Raise "
                "the first or lower the second.",
                ("failures", f"{what}_wait_max_ms"),
                (f"failures.{what}_wait_ms",),
            )


def _source_names(config: SimulationConfig, document: Mapping[str, Any]) -> Iterator[Problem]:
    names = [source.name for source in config.sources]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield Problem(
                f"source.{index}.name = {shown(name)} is already the name of source.{names.index(name)}. "
                "Give each source a name of its own.",
                (SOURCE, index, "name"),
            )


def _arrivals(config: SimulationConfig, document: Mapping[str, Any]) -> Iterator[Problem]:
    path: Path = ("transaction", "inter_arrival")
    if value_at(document, path) is not None and document.get(SOURCE):
        yield Problem(
            "transaction.inter_arrival and [[source]] are both given. Each source has its own arrivals: "
            "remove transaction.inter_arrival.",
            path,
        )
    for index, source in enumerate(config.sources):
        if isinstance(source.arrivals, Trace) and not FilePath(source.arrivals.path).is_file():
            path = (SOURCE, index, "arrivals", "path")
            yield Problem(
                f"{dotted(path, document)} = {shown(value_at(document, path))} does not exist. "
                "Give the path of a trace file.",
                path,
            )


def _source(index: int, config: SimulationConfig, document: Mapping[str, Any]) -> Iterator[Problem]:
    source, catalog = config.sources[index], config.catalog
    yield from _source_keeps(index, source, config, document)
    yield from maintenance_problems(index, source, config, document)
    yield from _source_files(index, source, config, document)
    yield from _source_times(index, source, config, document)
    yield from _source_backoff(index, source, document)
    if source.tables.count_zipf is not None and catalog.num_tables > TABLES_PER_TXN_MAX:
        path = source_path(index, ("tables", "count_zipf"), document)
        yield Problem(
            f"{dotted(path, document)} = {source.tables.count_zipf} may draw as many tables as there are, "
            f"catalog.num_tables = {catalog.num_tables}, and a txn has at most {TABLES_PER_TXN_MAX}. Lower "
            "catalog.num_tables, or give tables.count.",
            path,
            ("catalog.num_tables",),
        )
    if source.tables.count > catalog.num_tables:
        path = source_path(index, ("tables", "count"), document)
        yield Problem(
            f"{dotted(path, document)} = {source.tables.count} must not exceed catalog.num_tables = "
            f"{catalog.num_tables}.",
            path,
            ("catalog.num_tables",),
        )
    if catalog.partitions.enabled and source.partitions.count > catalog.partitions.num_partitions:
        path = source_path(index, ("partitions", "count"), document)
        yield Problem(
            f"{dotted(path, document)} = {source.partitions.count} must not exceed "
            f"catalog.partitions.num_partitions = {catalog.partitions.num_partitions}.",
            path,
            ("catalog.partitions",),
        )


def _source_files(
    index: int, source: SourceConfig, config: SimulationConfig, document: Mapping[str, Any]
) -> Iterator[Problem]:
    """An operation cannot touch more files than there are."""
    counts, files = source.touched_files, config.table.data_files
    if counts is None or config.conflict.detector != "files" or isinstance(counts, ShareOfFiles):
        return
    most = counts.value if isinstance(counts, FixedCount) else counts.max
    if most > files:
        path = source_path(index, ("touched_files",), document)
        yield Problem(
            f"{dotted(path, document)} = {shown(value_at(document, path))} must not exceed table.data_files = {files}: "
            "an operation cannot touch more files than a table has. Lower it, or give a share such as '5%'.",
            path,
            ("table.data_files",),
        )


def _source_keeps(
    index: int, source: SourceConfig, config: SimulationConfig, document: Mapping[str, Any]
) -> Iterator[Problem]:
    """A kept table needs somebody who keeps it, and a protocol that says what he then knows."""
    if not source.keeps_table:
        return
    path = source_path(index, ("keeps_table",), document)
    given = f"{dotted(path, document)} = true"
    arrivals = source.arrivals
    if not isinstance(arrivals, (Closed, Jobs)):
        yield Problem(
            f"{given} needs clients that stay, and arrivals of kind {shown(arrivals.kind)} have none. Choose arrivals "
            'from: {kind = "closed", clients = 4}, {kind = "jobs", jobs = 30, period_ms = 30000}; or set keeps_table '
            "to false.",
            path,
            (f"{SOURCE}.{index}.arrivals",),
        )
        return
    if config.catalog.type == "append" or config.transaction.manifest_list_mode == "append":
        key = "catalog.type" if config.catalog.type == "append" else "transaction.manifest_list_mode"
        yield Problem(
            f"{given} cannot be had with {key} = 'append'. Set keeps_table to false, or choose another {key}.",
            path,
            (key,),
        )
    clients = arrivals.clients if isinstance(arrivals, Closed) else arrivals.jobs
    tables = config.catalog.num_tables * (1 + config.catalog.partitions.num_partitions)
    if clients * tables > KEPT_TABLES_MAX:
        yield Problem(
            f"{given} with {clients} clients and {tables} tables and partitions must not make more than "
            f"{KEPT_TABLES_MAX} kept states. Lower one of them.",
            path,
            (f"{SOURCE}.{index}.arrivals", "catalog.num_tables", "catalog.partitions"),
        )


def _source_times(
    index: int, source: SourceConfig, config: SimulationConfig, document: Mapping[str, Any]
) -> Iterator[Problem]:
    start: Path = (SOURCE, index, "start_ms")
    stop: Path = (SOURCE, index, "stop_ms")
    if source.start_ms >= config.simulation.duration_ms:
        yield Problem(
            f"{dotted(start, document)} = {source.start_ms} must be less than simulation.duration_ms = "
            f"{config.simulation.duration_ms}, or the source never submits.",
            start,
            ("simulation.duration_ms",),
        )
    if source.stop_ms is not None and source.stop_ms <= source.start_ms:
        yield Problem(
            f"{dotted(stop, document)} = {source.stop_ms} must be greater than start_ms = {source.start_ms}.",
            stop,
            (f"{SOURCE}.{index}.start_ms",),
        )


def _source_backoff(index: int, source: SourceConfig, document: Mapping[str, Any]) -> Iterator[Problem]:
    backoff = source.retry_backoff
    path = source_path(index, ("retry_backoff", "enabled"), document)
    table = value_at(document, path[:-1])
    written = table if isinstance(table, Mapping) else {}
    if "enabled" in written and "policy" in written and written["enabled"] is (written["policy"] == "none"):
        yield Problem(
            f"{dotted(path, document)} = {shown(written['enabled'])} contradicts policy = "
            f"{shown(written['policy'])}. Keep one of them.",
            path,
            (f"{SOURCE}.{index}.retry_backoff", "transaction.retry_backoff"),
        )
    if "max_ms" in BACKOFF_KEYS[backoff.policy] and backoff.base_ms > backoff.max_ms:
        path = (*path[:-1], "base_ms")
        yield Problem(
            f"{dotted(path, document)} = {backoff.base_ms} must not exceed max_ms = {backoff.max_ms}.",
            path,
            (f"{SOURCE}.{index}.retry_backoff", "transaction.retry_backoff"),
        )
