"""A configuration of what was seen of a table: the fitted sources, the table's sizes, its settings.

What was not seen is assumed, and every assumption is a line that is told: the store, the catalog's latency, how long an
operation works before it commits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from endive.config.sections.simulation import DATA_FILES_MAX
from endive.observation.fitting.sources import MERGE_LEVEL, SERIALIZABLE, FittedSource
from endive.observation.history import OVERWRITE, TableHistory, TableShape
from endive.observation.tables.snapshots import PYICEBERG

PROVIDERS: Final = {
    "s3": "s3",
    "s3a": "s3",
    "s3n": "s3",
    "gs": "gcp",
    "abfs": "azure",
    "abfss": "azure",
    "wasb": "azure",
    "wasbs": "azure",
}
CATALOG_PROFILES: Final = {"glue": "glue", "hive": "hive", "sql": "jdbc"}
PROVIDER_ASSUMED: Final = "s3"
CATALOG_LATENCY_ASSUMED_MS: Final = 10.0
DURATION_MIN_MS: Final = 60_000.0
DURATION_MAX_MS: Final = 30 * 86_400_000.0
TXNS_MAX: Final = 100_000  # in the time simulated; of a busier table less than the time it was watched
MAX_WAIT_DEFAULT_MS: Final = 60_000.0  # TableProperties.COMMIT_MAX_RETRY_WAIT_MS_DEFAULT
NARROW_SHARE: Final = 0.25  # of the partitions: who changes no more than that is taken to have asked for them
MERGE_COUNT: Final = "commit.manifest.min-count-to-merge"
MERGE_COUNT_DEFAULT: Final = "100"  # TableProperties.MANIFEST_MIN_MERGE_COUNT_DEFAULT
UPDATE_LEVEL: Final = "write.update.isolation-level"
_LIST_BASE_BYTES: Final = 2_000


def configuration(history: TableHistory, sources: Sequence[FittedSource]) -> tuple[dict[str, Any], list[str]]:
    """The document of a configuration file, and what in it is assumed."""
    provider, assumed = assumed_provider(history.location)
    catalog = {**_catalog(history.catalog_kind), **partitions_section(history.shape)}
    given = catalog.get("profile") or catalog["latency_ms"]
    key = "catalog.profile" if "profile" in catalog else "catalog.latency_ms"
    assumed.append(f"{key} = {given}: no history tells how fast a catalog answers; see endive measure catalog")
    settings = history.shape.settings
    assumed += [line for source in sources for line in _assumed_of(source, settings, history.duration_ms)]
    unmerged = _never_merges(history, sources)
    assumed += [f'commit.merging = "off": {unmerged}'] if unmerged else []
    document: dict[str, Any] = {
        "simulation": {"duration_ms": round(duration_ms(history, sources), 3)},
        "experiment": {"label": history.name},
        "storage": {"provider": provider},
        "catalog": catalog,
        "table": table_section(history.shape, is_expired=history.expired > 0),
        "commit": _commit(sources, settings) | ({"merging": "off"} if unmerged else {}),
        "transaction": _retries(settings),
        "source": [_source(source, history.shape) for source in sources],
    }
    if document["commit"].get("protocol") == PYICEBERG:
        for source in document["source"]:
            source.pop("commit_path", None)  # it is everybody's
    return {key: value for key, value in document.items() if value}, assumed


def duration_ms(history: TableHistory, sources: Sequence[FittedSource]) -> float:
    """As long as the table was watched, if that is affordable; longer than the latest start of a source."""
    affordable = history.duration_ms * TXNS_MAX / max(1, len(history.commits))
    latest_ms = max((2.0 * (source.start_ms or 0.0) for source in sources), default=0.0)
    return min(DURATION_MAX_MS, max(DURATION_MIN_MS, latest_ms, min(history.duration_ms, affordable)))


def _assumed_of(source: FittedSource, settings: dict[str, str], window_ms: float) -> list[str]:
    """What is taken for granted of one source."""
    assumed = []
    if source.is_work_assumed:
        work = f"source.{source.name}.runtime = {source.work['ms']:g} ms"
        assumed.append(f"{work}: no history tells how long a statement works before it commits")
    if source.never_rewrote:
        why = "none of it was committed, so no snapshot tells which files it takes"
        assumed.append(f"source.{source.name}.touched_files = all of the table's: {why}")
    rate = source.rate_text(window_ms)
    if rate is not None:
        assumed.append(f"source.{source.name}.arrivals: {rate}")
    levels = {settings.get(key, SERIALIZABLE) for key in (MERGE_LEVEL, UPDATE_LEVEL)}
    if source.validates and source.commits[0].operation == OVERWRITE and len(levels) > 1:
        told = f'source.{source.name}.isolation = "{source.isolation(settings)}"'
        assumed.append(
            f"{told}: as of MERGE; the table has another level for UPDATE, and no summary tells which it was"
        )
    return assumed


def assumed_provider(location: str) -> tuple[str, list[str]]:
    provider = PROVIDERS.get(location, PROVIDER_ASSUMED)
    key = f'storage.provider = "{provider}"'
    if location in PROVIDERS:
        return provider, [f"{key}: the profile that comes with Endive, not your own store; see endive measure store"]
    where = location or "unknown"
    return provider, [f"{key}: the table's location ({where}) names no store with a profile; see endive measure store"]


def _catalog(kind: str) -> dict[str, Any]:
    """The named service of that kind, if there is one; of a REST catalog nothing tells which server answers."""
    if kind in CATALOG_PROFILES:
        return {"profile": CATALOG_PROFILES[kind]}
    section: dict[str, Any] = {"type": "service", "latency_ms": CATALOG_LATENCY_ASSUMED_MS}
    if kind == "rest":
        section["service"] = {"flavour": "rest"}
    return section


def are_files_known(shape: TableShape) -> bool:
    """Whether the table's files can decide who meets whom."""
    return shape.data_files is not None and 0 < shape.data_files <= DATA_FILES_MAX


def partitions_section(shape: TableShape) -> dict[str, Any]:
    """``[catalog.partitions]``; files are spread evenly over partitions, so that each has to have one."""
    count = shape.partitions or 0
    if count < 2 or not are_files_known(shape) or count > (shape.data_files or 0):
        return {}
    return {"partitions": {"enabled": True, "num_partitions": count}}


def _source(source: FittedSource, shape: TableShape) -> dict[str, Any]:
    """``[[source]]``, with the files and partitions that its commits touched."""
    table = source.table(shape.settings)
    if source.validates:
        table["read"] = read_of(source, shape)
    if are_files_known(shape) and source.touched_files:
        table["touched_files"] = min(source.touched_files, shape.data_files or 1)
    elif are_files_known(shape) and source.never_rewrote:
        table["touched_files"] = shape.data_files
        table |= {"partitions": {"count": shape.partitions}} if partitions_section(shape) else {}
    if partitions_section(shape) and source.partitions:
        table["partitions"] = {"count": min(source.partitions, shape.partitions or 1)}
        if source.weights and sum(each > 0.0 for each in source.weights) >= table["partitions"]["count"]:
            table["partitions"]["weights"] = list(source.weights)
    return table


def read_of(source: FittedSource, shape: TableShape) -> str:
    """What a statement has read: as its exceptions say, else its partitions if it changes few, else the table."""
    if source.logged_read and (source.logged_read != "partitions" or partitions_section(shape)):
        return source.logged_read
    changed = source.partitions or shape.partitions or 1
    is_narrow = bool(partitions_section(shape)) and changed <= NARROW_SHARE * (shape.partitions or 1)
    return "partitions" if is_narrow else "table"


def table_section(shape: TableShape, *, is_expired: bool) -> dict[str, Any]:
    """``[table]``: only what was seen; the rest stays at its default."""
    section: dict[str, Any] = {}
    if shape.format_version == 3:
        section["format_version"] = 3
    if shape.snapshots:
        section["initial_snapshots"] = shape.snapshots
    if is_expired:
        section["snapshots_kept_max"] = shape.snapshots
    if shape.metadata_bytes is not None and shape.bytes_per_snapshot is not None:
        per_snapshot = round(shape.bytes_per_snapshot)
        section["metadata_bytes_per_snapshot"] = per_snapshot
        section["metadata_base_bytes"] = max(0, shape.metadata_bytes - per_snapshot * shape.snapshots)
    if shape.manifests is not None:
        section["initial_manifests"] = shape.manifests
    if shape.manifest_bytes is not None:
        section["manifest_bytes"] = round(shape.manifest_bytes)
    if are_files_known(shape):
        section["data_files"] = shape.data_files
    if shape.manifest_list_bytes is not None and shape.manifests:
        beyond = max(0, shape.manifest_list_bytes - _LIST_BASE_BYTES)
        section["manifest_list_bytes_per_manifest"] = round(beyond / shape.manifests)
    return section


def _commit(sources: Sequence[FittedSource], settings: dict[str, str]) -> dict[str, Any]:
    engines = {source.engine for source in sources}
    section: dict[str, Any] = {"protocol": PYICEBERG} if engines == {PYICEBERG} else {}
    if settings.get("commit.manifest-merge.enabled") == "false" and not section:
        section["merging"] = "off"
    elif MERGE_COUNT in settings and not section:
        section["min_count_to_merge"] = max(2, int(settings[MERGE_COUNT]))
    return section


def _never_merges(history: TableHistory, sources: Sequence[FittedSource]) -> str:
    """Why appends never merge manifests, if they do not: compaction empties manifests, and a list leaves those out.

    The model's compaction leaves them (``formats.iceberg.effects``), so that its appends would merge a hundred of them.
    """
    if not any(source.kind == "rewrite_files" for source in sources):
        return ""
    least = int(history.shape.settings.get(MERGE_COUNT, MERGE_COUNT_DEFAULT))
    lists = [each.manifests for each in history.commits if each.manifests is not None]
    files = [each.total_files for each in history.commits if each.total_files is not None]
    most = max(lists or files, default=least)
    of = "manifests" if lists else "files"
    return (
        f"compaction keeps the table at {most:,} {of} or fewer, and {least:,} manifests merge" if most < least else ""
    )


def _retries(settings: dict[str, str]) -> dict[str, Any]:
    """Iceberg's table properties as ``[transaction]``."""
    section: dict[str, Any] = {}
    if "commit.retry.num-retries" in settings:
        section["retry"] = int(settings["commit.retry.num-retries"])
    if "commit.retry.total-timeout-ms" in settings:
        section["total_timeout_ms"] = float(settings["commit.retry.total-timeout-ms"])
    backoff = {
        key: float(settings[name])
        for key, name in (("base_ms", "commit.retry.min-wait-ms"), ("max_ms", "commit.retry.max-wait-ms"))
        if name in settings
    }
    if backoff:
        longest_ms = backoff.get("max_ms", MAX_WAIT_DEFAULT_MS)  # Iceberg waits no longer (Tasks.runTaskWithRetry)
        if backoff.get("base_ms", 0.0) > longest_ms:
            backoff["base_ms"] = longest_ms
        section["retry_backoff"] = {"policy": "iceberg", **backoff}
    return section
