"""Keys that contradict each other, and combinations that cannot be simulated: one table of (key, refused when, says).

``{key}`` is the key at fault as it was written, ``{value}`` what was written there; other names in braces are keys, and
stand for what they hold. Which keys have no effect is in ``endive.config.reading``; what a storage provider must be
able to do is in ``endive.config.provider_needs``, what sizes add up to in ``endive.config.sizes``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Final

from endive.config.arrivals import Closed, Jobs, Trace
from endive.config.conditions import Scene
from endive.config.keys import SOURCE
from endive.config.problems import Path, Problem, dotted, shown, value_at
from endive.config.provider_needs import provider_problems
from endive.config.sections import FORMATS_AVAILABLE
from endive.config.simulation_config import SimulationConfig
from endive.config.sizes import size_problems
from endive.config.slo import objective_of
from endive.config.transaction import BACKOFF_KEYS, TABLES_PER_TXN_MAX, FixedCount, ShareOfFiles
from endive.errors import ObjectiveError
from endive.vocabulary import KINDS

PARTITION_COUNTERS_MAX: Final = 10_000_000
KEPT_TABLES_MAX: Final = 10_000_000
FILE_PLACES_MAX: Final = 100_000_000
OF_WHOLE_TABLES: Final = ("rewrite_manifests", "expire_snapshots")


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A combination that is refused, in words; ``about`` are the other keys it rests on."""

    key: str
    about: tuple[str, ...]
    when: Callable[[Scene], bool]
    says: str


def _row(key: str, about: str, when: Callable[[Scene], bool], says: str) -> Contradiction:
    return Contradiction(key, tuple(about.split()), when, says)


def _is_append(scene: Scene) -> bool:
    return scene.config.catalog.type == "append"


def _has_files(scene: Scene) -> bool:
    return scene.config.conflict.detector == "files" and scene.config.table.data_files > 0


def _longest_is_short(what: str) -> Callable[[Scene], bool]:
    return lambda scene: scene.value(f"failures.{what}_wait_max_ms") < scene.value(f"failures.{what}_wait_ms")


SECTION_ROWS: Final = (
    _row(
        "simulation.warmup_ms",
        "simulation.cooldown_ms simulation.duration_ms",
        lambda s: s.config.simulation.warmup_ms + s.config.simulation.cooldown_ms >= s.config.simulation.duration_ms,
        "simulation.warmup_ms = {simulation.warmup_ms} and simulation.cooldown_ms = {simulation.cooldown_ms} leave "
        "nothing of simulation.duration_ms = {simulation.duration_ms} to measure. Shorten them.",
    ),
    _row(
        "table.format",
        "",
        lambda s: s.config.table.format not in FORMATS_AVAILABLE,
        f"table.format = {{table.format!q}} is not available yet. Choose one of: {', '.join(FORMATS_AVAILABLE)}.",
    ),
    _row(
        "catalog.num_groups",
        "catalog.scope catalog.num_tables catalog.type",
        lambda s: s.config.catalog.scope == "group" and s.written("catalog.num_groups") is None,
        "catalog.num_groups is missing. catalog.scope = 'group' needs it: give a whole number from 1 to "
        "catalog.num_tables = {catalog.num_tables}.",
    ),
    _row(
        "catalog.num_groups",
        "catalog.scope catalog.num_tables catalog.type",
        lambda s: (
            s.config.catalog.scope == "group"
            and s.written("catalog.num_groups") is not None
            and s.config.catalog.num_groups > s.config.catalog.num_tables
        ),
        "catalog.num_groups = {catalog.num_groups} must not exceed catalog.num_tables = {catalog.num_tables}.",
    ),
    _row(
        "catalog.scope",
        "catalog.type",
        lambda s: s.config.catalog.type in ("append", "service") and s.config.catalog.scope != "table",
        "catalog.scope = {catalog.scope!q} is not available with catalog.type = {catalog.type!q}, whose scope is "
        "'table'. Remove catalog.scope, or choose catalog.type from: cas, instant.",
    ),
    _row(
        "catalog.scope",
        "catalog.partitions.enabled catalog.type",
        lambda s: (
            s.config.catalog.type in ("cas", "instant")
            and s.config.catalog.scope == "partition"
            and not s.config.catalog.partitions.enabled
        ),
        "catalog.scope = 'partition' needs partitions. Set catalog.partitions.enabled = true and "
        "catalog.partitions.num_partitions.",
    ),
    _row(
        "catalog.latency_ms",
        "catalog.latency",
        lambda s: (
            s.config.catalog.type in ("instant", "service")
            and s.written("catalog.latency") is not None
            and s.written("catalog.latency_ms") is not None
        ),
        "catalog.latency_ms = {value} and catalog.latency are both given. Keep one of them.",
    ),
    _row(
        "catalog.refusal_returns_snapshot",
        "catalog.type",
        lambda s: s.config.catalog.type == "cas" and s.config.catalog.refusal_returns_snapshot,
        "catalog.refusal_returns_snapshot = true is not available with catalog.type = 'cas': a refused swap of an "
        "object carries no state. Choose catalog.type from: append, instant, service.",
    ),
    _row(
        "catalog.refusal_returns_snapshot",
        "catalog.type",
        lambda s: _is_append(s) and not s.config.catalog.refusal_returns_snapshot,
        "catalog.refusal_returns_snapshot = false is not available with catalog.type = 'append': the committer reads "
        "the catalog back to learn that it was refused. Choose catalog.type from: cas, instant, service.",
    ),
    _row(
        "catalog.table_metadata_inlined",
        "catalog.type catalog.service.flavour",
        lambda s: (
            s.config.catalog.type == "service"
            and s.config.catalog.service.flavour == "pointer"
            and s.config.catalog.table_metadata_inlined
        ),
        "catalog.table_metadata_inlined = true is not available with catalog.service.flavour = 'pointer': the client "
        "writes the metadata to storage. Choose catalog.service.flavour = 'rest', or set it to false.",
    ),
    _row(
        "conflict.detector",
        "catalog.partitions.enabled",
        lambda s: s.config.conflict.detector == "partition_overlap" and not s.config.catalog.partitions.enabled,
        "conflict.detector = 'partition_overlap' needs partitions. Set catalog.partitions.enabled = true and "
        "catalog.partitions.num_partitions.",
    ),
    _row(
        "catalog.partitions.num_partitions",
        "catalog.num_tables",
        lambda s: (
            s.config.catalog.partitions.enabled
            and s.config.catalog.num_tables * s.config.catalog.partitions.num_partitions > PARTITION_COUNTERS_MAX
        ),
        "catalog.num_tables = {catalog.num_tables} times catalog.partitions.num_partitions = "
        f"{{catalog.partitions.num_partitions}} must not exceed {PARTITION_COUNTERS_MAX}.",
    ),
    _row(
        "conflict.detector",
        "table.data_files",
        lambda s: s.config.conflict.detector == "files" and not s.config.table.data_files,
        "conflict.detector = 'files' needs table.data_files: give the number of data files of a table.",
    ),
    _row(
        "table.data_files",
        "catalog.partitions",
        lambda s: (
            _has_files(s)
            and s.config.catalog.partitions.enabled
            and s.config.table.data_files < s.config.catalog.partitions.num_partitions
        ),
        "table.data_files = {table.data_files} must be at least catalog.partitions.num_partitions = "
        "{catalog.partitions.num_partitions}: the files are spread evenly over the partitions.",
    ),
    _row(
        "table.data_files",
        "catalog.num_tables",
        lambda s: _has_files(s) and s.config.table.data_files * s.config.catalog.num_tables > FILE_PLACES_MAX,
        "table.data_files = {table.data_files} times catalog.num_tables = {catalog.num_tables} must not exceed "
        f"{FILE_PLACES_MAX}.",
    ),
    _row(
        "failures.lost_answer_rate",
        "catalog.type",
        lambda s: _is_append(s) and s.config.failures.lost_answer_rate > 0.0,
        "failures.lost_answer_rate = {failures.lost_answer_rate} cannot be combined with catalog.type = 'append': its "
        "commits read the log back, and what a lost answer means there is not modelled. Choose catalog.type 'cas', "
        "'instant' or 'service', or set the rate to 0.",
    ),
    _row(
        "failures.throttle_rate",
        "catalog.type",
        lambda s: _is_append(s) and s.config.failures.throttle_rate > 0.0,
        "failures.throttle_rate = {failures.throttle_rate} cannot be combined with catalog.type = 'append': what its "
        "clients do about a throttled request to the log is not modelled. Choose catalog.type 'cas', 'instant' or "
        "'service', or set the rate to 0.",
    ),
    _row(
        "failures.throttle_rate",
        "storage.latency_ms",
        lambda s: s.config.failures.throttle_rate == 1.0 and s.config.storage.latency_ms == 0.0,
        "failures.throttle_rate = {failures.throttle_rate} and storage.latency_ms = {storage.latency_ms}: every txn "
        "would fail without taking any time, one after another for ever. Lower the rate, or give the store a latency.",
    ),
    *(
        _row(
            f"failures.{what}_wait_max_ms",
            f"failures.{what}_wait_ms",
            _longest_is_short(what),
            f"failures.{what}_wait_max_ms = {{failures.{what}_wait_max_ms}} is less than failures.{what}_wait_ms = "
            f"{{failures.{what}_wait_ms}}. Raise the first or lower the second.",
        )
        for what in ("status_check", "throttle")
    ),
)


def _clients(scene: Scene) -> int:
    arrivals = scene.value("arrivals")
    return arrivals.clients if isinstance(arrivals, Closed) else arrivals.jobs if isinstance(arrivals, Jobs) else 0


def _kept_per_client(scene: Scene) -> int:
    return int(scene.config.catalog.num_tables * (1 + scene.config.catalog.partitions.num_partitions))


def _most_touched(scene: Scene) -> int:
    counts = scene.value("touched_files")
    if counts is None or isinstance(counts, ShareOfFiles):
        return 0
    return int(counts.value if isinstance(counts, FixedCount) else counts.max)


def _others(scene: Scene) -> list[str]:
    weights = scene.value("operation_types")
    return [kind for kind in KINDS if kind != "rewrite_files" and getattr(weights, kind)]


def _weighs(scene: Scene, kind: str) -> bool:
    return bool(getattr(scene.value("operation_types"), kind))


def _has_contrary_backoff(scene: Scene) -> bool:
    table = scene.written("retry_backoff")
    written = table if isinstance(table, Mapping) else {}
    return {"enabled", "policy"} <= written.keys() and written["enabled"] is (written["policy"] == "none")


def _stays(scene: Scene) -> bool:
    return isinstance(scene.value("arrivals"), (Closed, Jobs))


def _is_appended(scene: Scene, key: str) -> bool:
    return bool(scene.value("keeps_table")) and _stays(scene) and bool(scene.value(key) == "append")


SOURCE_ROWS: Final = (
    _row(
        "keeps_table",
        "arrivals",
        lambda s: bool(s.value("keeps_table")) and not _stays(s),
        "{key} = true needs clients that stay, and arrivals of kind {arrivals.kind!q} have none. Choose arrivals from: "
        '{{kind = "closed", clients = 4}}, {{kind = "jobs", jobs = 30, period_ms = 30000}}; or set keeps_table to '
        "false.",
    ),
    _row(
        "keeps_table",
        "catalog.type",
        lambda s: _is_appended(s, "catalog.type"),
        "{key} = true is not available with catalog.type = 'append'. Set keeps_table to false, or choose another "
        "catalog.type.",
    ),
    _row(
        "keeps_table",
        "transaction.manifest_list_mode catalog.type",
        lambda s: _is_appended(s, "transaction.manifest_list_mode") and not _is_append(s),
        "{key} = true is not available with transaction.manifest_list_mode = 'append'. Set keeps_table to false, or "
        "choose another transaction.manifest_list_mode.",
    ),
    _row(
        "keeps_table",
        "arrivals catalog.num_tables catalog.partitions",
        lambda s: bool(s.value("keeps_table")) and _clients(s) * _kept_per_client(s) > KEPT_TABLES_MAX,
        "{key} = true with {clients} clients and {kept} tables and partitions must not make more than "
        f"{KEPT_TABLES_MAX} kept states. Lower one of them.",
    ),
    _row(
        "partial_progress",
        "operation_types",
        lambda s: s.value("partial_progress") is not None and bool(_others(s)),
        "{key} is how a compaction commits, and operation_types has {others}. Make a source of rewrite_files alone, or "
        "leave partial_progress out.",
    ),
    _row(
        "partial_progress",
        "arrivals",
        lambda s: s.value("partial_progress") is not None and isinstance(s.value("arrivals"), (Closed, Jobs, Trace)),
        "{key} makes a job of every arrival, and arrivals of kind {arrivals.kind!q} are single txns. "
        'Choose arrivals such as {{kind = "periodic", period_ms = 600000}}.',
    ),
    _row(
        "partial_progress.threads",
        "partial_progress",
        lambda s: (
            s.value("partial_progress") is not None
            and s.value("partial_progress.threads") > s.value("partial_progress.commits")
        ),
        "{key} = {partial_progress.threads} must not exceed partial_progress.commits = {partial_progress.commits}: a "
        "thread makes at least one of the commits. Lower threads.",
    ),
    _row(
        "operation_types.expire_snapshots",
        "retain_last expire_older_than_ms",
        lambda s: (
            _weighs(s, "expire_snapshots")
            and s.value("retain_last") is None
            and s.value("expire_older_than_ms") is None
        ),
        "{key} needs to know which snapshots are kept. Give retain_last = 10 (the newest ten), expire_older_than_ms = "
        "3600000 (the last hour), or both.",
    ),
    *(
        _row(
            f"operation_types.{kind}",
            "catalog.scope",
            lambda s, kind=kind: _weighs(s, kind) and s.config.catalog.scope == "partition",  # type: ignore[misc]
            "{key} changes whole tables, and catalog.scope = 'partition' checks partitions one by one. Choose "
            "catalog.scope from: catalog, group, table.",
        )
        for kind in OF_WHOLE_TABLES
    ),
    _row(
        "operation_types.rewrite_manifests",
        "transaction.manifest_list_mode",
        lambda s: _weighs(s, "rewrite_manifests") and s.config.transaction.manifest_list_mode == "append",
        "{key} writes a new manifest list, and transaction.manifest_list_mode = 'append' only adds to the old one. Set "
        "it to 'rewrite', or leave the kind out.",
    ),
    _row(
        "touched_files",
        "table.data_files",
        lambda s: s.config.conflict.detector == "files" and _most_touched(s) > s.config.table.data_files,
        "{key} = {value} must not exceed table.data_files = {table.data_files}: an operation cannot touch more files "
        "than a table has. Lower it, or give a share such as '5%'.",
    ),
    _row(
        "start_ms",
        "simulation.duration_ms",
        lambda s: bool(s.value("start_ms") >= s.config.simulation.duration_ms),
        "{key} = {start_ms} must be less than simulation.duration_ms = {simulation.duration_ms}, or the source never "
        "submits.",
    ),
    _row(
        "stop_ms",
        "start_ms",
        lambda s: s.value("stop_ms") is not None and s.value("stop_ms") <= s.value("start_ms"),
        "{key} = {stop_ms} must be greater than start_ms = {start_ms}.",
    ),
    _row(
        "retry_backoff.enabled",
        "retry_backoff",
        _has_contrary_backoff,
        "{key} = {value} contradicts policy = {retry_backoff.policy_written}. Keep one of them.",
    ),
    _row(
        "retry_backoff.base_ms",
        "retry_backoff",
        lambda s: (
            "max_ms" in BACKOFF_KEYS[s.value("retry_backoff.policy")]
            and s.value("retry_backoff.base_ms") > s.value("retry_backoff.max_ms")
        ),
        "{key} = {retry_backoff.base_ms} must not exceed max_ms = {retry_backoff.max_ms}.",
    ),
    _row(
        "tables.count_zipf",
        "catalog.num_tables",
        lambda s: s.value("tables.count_zipf") is not None and s.config.catalog.num_tables > TABLES_PER_TXN_MAX,
        "{key} = {tables.count_zipf} may draw as many tables as there are, catalog.num_tables = {catalog.num_tables}, "
        f"and a txn has at most {TABLES_PER_TXN_MAX}. Lower catalog.num_tables, or give tables.count.",
    ),
    _row(
        "tables.count",
        "catalog.num_tables",
        lambda s: bool(s.value("tables.count") > s.config.catalog.num_tables),
        "{key} = {tables.count} must not exceed catalog.num_tables = {catalog.num_tables}.",
    ),
    _row(
        "partitions.count",
        "catalog.partitions",
        lambda s: (
            s.config.catalog.partitions.enabled
            and s.value("partitions.count") > s.config.catalog.partitions.num_partitions
        ),
        "{key} = {partitions.count} must not exceed catalog.partitions.num_partitions = "
        "{catalog.partitions.num_partitions}.",
    ),
    _row(
        "arrivals.path",
        "",
        lambda s: isinstance(s.value("arrivals"), Trace) and not FilePath(s.value("arrivals.path")).is_file(),
        "{key} = {value} does not exist. Give the path of a trace file.",
    ),
)


def contradictions(config: SimulationConfig, document: Mapping[str, Any]) -> list[Problem]:
    """Every contradiction of a resolved configuration; ``document`` is what was written."""
    scenes = [Scene(config, source, document, index) for index, source in enumerate(config.sources)]
    return [
        *provider_problems(config, document),
        *_found(SECTION_ROWS, Scene(config, document=document)),
        *_objective(config),
        *_source_names(config),
        *size_problems(config),
        *(problem for scene in scenes for problem in _found(SOURCE_ROWS, scene)),
    ]


def _found(rows: tuple[Contradiction, ...], scene: Scene) -> Iterator[Problem]:
    for row in rows:
        if row.when(scene):
            path = scene.path(row.key)
            yield Problem(scene.say(row.says, **_words(path, scene)), path, tuple(map(scene.place, row.about)))


def _words(path: Path, scene: Scene) -> dict[str, Any]:
    """What a sentence may name beside keys."""
    words: dict[str, Any] = {"key": dotted(path, scene.document), "value": shown(value_at(scene.document, path))}
    if scene.source is not None:
        words |= {"clients": _clients(scene), "kept": _kept_per_client(scene), "others": ", ".join(_others(scene))}
        words["retry_backoff.policy_written"] = shown(scene.written("retry_backoff.policy"))
    return words


def _objective(config: SimulationConfig) -> Iterator[Problem]:
    """A name in the objective that stands for nothing in this configuration."""
    try:
        objective_of(config)
    except ObjectiveError as error:
        told = str(error).partition("': ")[2]
        yield Problem(f"slo.objective = {shown(config.slo.objective)}: {told}", ("slo", "objective"), (SOURCE,))


def _source_names(config: SimulationConfig) -> Iterator[Problem]:
    names = [source.name for source in config.sources]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield Problem(
                f"source.{index}.name = {shown(name)} is already the name of source.{names.index(name)}. "
                "Give each source a name of its own.",
                (SOURCE, index, "name"),
            )
