"""What was written becomes what is meant: every default filled in, every short form spelt out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from endive.config.capabilities import is_profile_path
from endive.config.catalog_profile import catalog_profile
from endive.config.effects import idle_keys
from endive.config.sections.arrivals import Poisson, Trace
from endive.config.sections.catalog import CatalogConfig
from endive.config.sections.distribution import SEED_FLOOR_MS, Fixed, Spec
from endive.config.sections.retries import BACKOFFS, FIGURES, RetryBackoff
from endive.config.sections.simulation import RETRIES
from endive.config.sections.source import SourceConfig
from endive.config.sections.storage import OBJECTS, ObjectsConfig, StorageConfig
from endive.config.simulation_config import SimulationConfig

SEED_PROTOCOLS = ("spec", "merge")
SEED_RETRY = 10
APPENDABLE_PROVIDER = "s3x"


def resolve(written: SimulationConfig, folder: Path | None) -> SimulationConfig:
    """What is meant by sections that are each valid by themselves; relative paths start at ``folder``."""
    conflict = written.conflict
    if written.table.data_files and "detector" not in conflict.model_fields_set:
        conflict = conflict.model_copy(update={"detector": "files"})
    config = written.model_copy(
        update={
            "storage": _resolve_storage(written, folder),
            "catalog": _resolve_catalog(written),
            "conflict": conflict,
            "sources": tuple(_resolve_source(source, written, folder) for source in written.sources),
        }
    )
    return config.model_copy(update={"storage": _without_idle_latencies(config)})


def _without_idle_latencies(config: SimulationConfig) -> StorageConfig:
    """The latencies of requests that may be sent: one ``T_`` key speaks of several, and not all of them are."""
    idle = idle_keys(config).keys()
    kept: dict[str, Any] = {}
    for name in OBJECTS:
        latencies = getattr(config.storage.objects, name)
        if latencies is None or f"storage.objects.{name}" in idle:
            continue
        unused = {key: None for key in type(latencies).model_fields if f"storage.objects.{name}.{key}" in idle}
        latencies = latencies.model_copy(update=unused)
        if latencies != type(latencies)():
            kept[name] = latencies
    update: dict[str, Any] = {"objects": ObjectsConfig(**kept)}
    if "storage.T_LOG_ENTRY_READ" in idle:
        update["T_LOG_ENTRY_READ"] = None
    return config.storage.model_copy(update=update)


def _resolve_storage(written: SimulationConfig, folder: Path | None) -> StorageConfig:
    storage = written.storage
    if written.simulation.model == "documents" and storage.min_latency_ms is None:
        storage = storage.model_copy(update={"min_latency_ms": SEED_FLOOR_MS})
    is_append_needed = "append" in (written.catalog.type, written.transaction.manifest_list_mode)
    if "provider" not in written.storage.model_fields_set and is_append_needed:
        return storage.model_copy(update={"provider": APPENDABLE_PROVIDER})
    if is_profile_path(storage.provider):
        return storage.model_copy(update={"provider": _locate(storage.provider, folder)})
    return storage


def _resolve_catalog(written: SimulationConfig) -> CatalogConfig:
    """Make ``latency_ms`` and ``latency`` agree, whichever was given; fill in what the profile says."""
    catalog = written.catalog
    if catalog.type == "cas" and "refusal_returns_snapshot" not in catalog.model_fields_set:
        catalog = catalog.model_copy(update={"refusal_returns_snapshot": written.commit.refusals_return_state})
    if written.simulation.model == "documents":
        catalog = catalog.model_copy(update={"latency": _floored(catalog.latency)})
    latency, service = catalog.latency, catalog.service
    latency_ms = latency.ms if isinstance(latency, Fixed) and latency.min_latency_ms is None else None
    if catalog.profile is not None:
        profile, given = catalog_profile(catalog.profile), service.model_fields_set
        flavour = service.flavour if "flavour" in given else profile.flavour
        has_file = flavour == "rest" and not catalog.table_metadata_inlined
        reads = profile.reads_metadata if "reads_metadata" not in given and has_file else service.reads_metadata
        service = service.model_copy(update={"flavour": flavour, "reads_metadata": reads})
    return catalog.model_copy(update={"latency_ms": latency_ms, "service": service})


def _floored(latency: Spec) -> Spec:
    """Return a latency of at least 1 ms (refactoring specification, 8.6)."""
    if isinstance(latency, Fixed):
        return latency if latency.ms >= SEED_FLOOR_MS else Fixed(ms=SEED_FLOOR_MS)
    is_free = getattr(latency, "min_latency_ms", None) is None
    return latency.model_copy(update={"min_latency_ms": SEED_FLOOR_MS}) if is_free else latency


def _resolve_source(source: SourceConfig, written: SimulationConfig, folder: Path | None) -> SourceConfig:
    values: dict[str, Any] = {}
    is_delta = written.table.format == "delta"
    has_no_pause = is_delta or written.commit.protocol in SEED_PROTOCOLS
    if has_no_pause:
        retry = RETRIES[written.delta.client] if is_delta else SEED_RETRY
        defaults = {"retry": retry, "total_timeout_ms": 0.0}
        values = {key: value for key, value in defaults.items() if key not in source.model_fields_set}
    values["retry_backoff"] = resolve_backoff(source.retry_backoff, has_no_pause)
    arrivals = source.arrivals
    if isinstance(arrivals, Poisson):
        values["arrivals"] = Poisson(mean_ms=arrivals.mean_ms)
    if isinstance(arrivals, Trace):
        values["arrivals"] = arrivals.model_copy(update={"path": _locate(arrivals.path, folder)})
    return source.model_copy(update=values)


def resolve_backoff(written: RetryBackoff, has_no_pause: bool) -> RetryBackoff:
    """The policy that is meant and all its figures; no pause is the policy ``none``, and the default of some."""
    given = written.model_fields_set
    if "policy" in given:
        is_off = "enabled" in given and not written.enabled
        policy = "none" if is_off else written.policy
    elif not (written.enabled if "enabled" in given else not has_no_pause):
        policy = "none"
    else:
        is_exponential = bool(given & set(FIGURES)) or has_no_pause
        policy = "exponential" if is_exponential else "iceberg"
    figures = {key: getattr(BACKOFFS[policy], key) for key in FIGURES}
    figures |= {key: getattr(written, key) for key in given & set(FIGURES)}
    if policy == "fixed":
        figures["max_ms"] = figures["base_ms"]
    return RetryBackoff.model_validate({"enabled": policy != "none", "policy": policy, **figures})


def _locate(path: str, folder: Path | None) -> str:
    """Absolute, so that the resolved configuration means the same wherever it is loaded again."""
    return str(((folder or Path()) / path).absolute())
