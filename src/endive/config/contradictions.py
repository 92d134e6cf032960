"""Keys that contradict each other, and combinations that cannot be simulated: one table of (key, refused when, says).

``{key}`` is the key at fault as it was written, ``{value}`` what was written there; other names in braces are keys, and
stand for what they hold. Rows about one source are in ``endive.config.source_contradictions``, keys without effect in
``endive.config.key_effects``, what a storage provider must be able to do in ``endive.config.provider_needs``, what
sizes add up to in ``endive.config.sizes``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from endive.config.catalog import DELTA_LOGS
from endive.config.catalog_profile import DELTA_CATALOGS
from endive.config.conditions import (
    Contradiction,
    Scene,
    all_of,
    is_,
    is_above,
    is_more,
    is_not,
    is_so,
    is_written,
)
from endive.config.keys import SOURCE
from endive.config.problems import Path, Problem, dotted, shown, value_at
from endive.config.provider_needs import provider_problems
from endive.config.simulation_config import SimulationConfig
from endive.config.sizes import size_problems
from endive.config.slo import objective_of
from endive.config.source_contradictions import SOURCE_ROWS, words_of_source
from endive.errors import ObjectiveError

PARTITION_COUNTERS_MAX: Final = 10_000_000
FILE_PLACES_MAX: Final = 100_000_000


APPEND: Final = is_("catalog.type", "append")
SERVER: Final = is_("catalog.type", "instant", "service")
BY_FILES: Final = is_("conflict.detector", "files")
PARTITIONED: Final = is_("catalog.partitions.enabled", True)
NOT_PARTITIONED: Final = is_("catalog.partitions.enabled", False)
GROUPED: Final = is_("catalog.scope", "group")
DELTA: Final = is_("table.format", "delta")
DELTA_COMMIT_POINTS: Final = (*DELTA_LOGS, "service")


LOCKED: Final = is_so("catalog.service.lock", lambda s: s.value("catalog.service.lock") is not None)
BATCHED: Final = is_so("catalog.service.batch_ms", lambda s: s.value("catalog.service.batch_ms") is not None)
MULTI_TABLE: Final = is_so(
    "catalog.num_tables",
    lambda s: (
        s.config.catalog.num_tables > 1
        and any(
            each.tables.count > 1 or each.tables.count_zipf is not None or each.tables.count_distribution is not None
            for each in s.config.sources
        )
    ),
)
ORDER_ROWS: Final = (
    Contradiction(
        "catalog.service.lock",
        all_of(LOCKED, is_("catalog.service.flavour", "rest")),
        "{key} is not available with catalog.service.flavour = 'rest', whose server decides alone. Locks are taken by "
        "clients of a pointer: Hive, and Glue with a lock manager. Set catalog.service.flavour = 'pointer'.",
    ),
    Contradiction(
        "catalog.service.lock",
        all_of(LOCKED, MULTI_TABLE),
        "{key} is held on one table, and a source commits to several at once. Set tables.count = 1, or leave out the "
        "lock.",
    ),
    Contradiction(
        "catalog.service.lock",
        all_of(LOCKED, is_("commit.metadata", "if_current")),
        "{key} is simulated for clients that write the metadata before they ask for it, and commit.metadata is "
        "'if_current'. Choose commit.protocol = 'iceberg'.",
    ),
    Contradiction(
        "catalog.service.lock",
        all_of(LOCKED, is_above("failures.lost_answer_rate", 0)),
        "{key} is not simulated together with failures.lost_answer_rate = {failures.lost_answer_rate}: who holds the "
        "lock after a lost answer is not known. Keep one of them.",
    ),
    Contradiction(
        "catalog.service.batch_ms",
        all_of(BATCHED, is_("catalog.service.flavour", "pointer")),
        "{key} = {value} needs catalog.service.flavour = 'rest': behind a pointer every client writes its own "
        "metadata.",
    ),
    Contradiction(
        "catalog.service.batch_ms",
        all_of(BATCHED, is_above("catalog.service.server_retries", 0)),
        "{key} = {value} installs every append whatever its base, so catalog.service.server_retries = "
        "{catalog.service.server_retries} has nothing to do. Keep one of them.",
    ),
    Contradiction(
        "catalog.service.batch_ms",
        all_of(BATCHED, MULTI_TABLE),
        "{key} = {value} gathers commits to one table, and a source commits to several at once. Set tables.count = 1.",
    ),
)

SECTION_ROWS: Final = (
    Contradiction(
        "simulation.warmup_ms",
        is_so(
            "simulation.warmup_ms simulation.cooldown_ms simulation.duration_ms",
            lambda s: (
                s.config.simulation.warmup_ms + s.config.simulation.cooldown_ms >= s.config.simulation.duration_ms
            ),
        ),
        "simulation.warmup_ms = {simulation.warmup_ms} and simulation.cooldown_ms = {simulation.cooldown_ms} leave "
        "nothing of simulation.duration_ms = {simulation.duration_ms} to measure. Shorten them.",
    ),
    Contradiction(
        "catalog.type",
        all_of(DELTA, is_not("catalog.type", *DELTA_COMMIT_POINTS)),
        "catalog.type = {catalog.type!q} is where Iceberg commits, and table.format is 'delta', whose commits go to "
        f"the log of the table. Choose one of: {', '.join(DELTA_COMMIT_POINTS)}; or leave it out.",
    ),
    Contradiction(
        "catalog.type",
        all_of(is_("table.format", "iceberg"), is_("catalog.type", *DELTA_LOGS)),
        "catalog.type = {catalog.type!q} is where Delta Lake commits, and table.format is 'iceberg'. Choose one of: "
        "cas, append, instant, service; or set table.format = 'delta'.",
    ),
    Contradiction(
        "catalog.type",
        all_of(DELTA, is_("catalog.type", "single_driver"), is_("delta.client", "delta_rs")),
        "catalog.type = 'single_driver' is a LogStore of Delta Spark, and delta.client is 'delta_rs'. Choose one of: "
        "put_if_absent, dynamodb.",
    ),
    Contradiction(
        "catalog.profile",
        all_of(DELTA, is_so("catalog.profile", lambda s: s.value("catalog.profile") not in (None, *DELTA_CATALOGS))),
        "catalog.profile = {catalog.profile!q} is a catalog of Iceberg's, and table.format is 'delta'. Choose one of: "
        f"{', '.join(DELTA_CATALOGS)}; or leave it out: commits then go to the log of the table.",
    ),
    Contradiction(
        "catalog.num_groups",
        all_of(GROUPED, is_so("catalog.type catalog.num_tables", lambda s: s.written("catalog.num_groups") is None)),
        "catalog.num_groups is missing. catalog.scope = 'group' needs it: give a whole number from 1 to "
        "catalog.num_tables = {catalog.num_tables}.",
    ),
    Contradiction(
        "catalog.num_groups",
        all_of(GROUPED, is_written("catalog.num_groups"), is_more("catalog.num_groups", "catalog.num_tables")),
        "catalog.num_groups = {catalog.num_groups} must not exceed catalog.num_tables = {catalog.num_tables}.",
    ),
    Contradiction(
        "catalog.service.calls_per_s",
        all_of(
            is_so("catalog.service.calls_per_s", lambda s: s.value("catalog.service.calls_per_s") is not None),
            is_so(
                "catalog.service.workers catalog.service.time",
                lambda s: bool(s.value("catalog.service.workers")) or s.value("catalog.service.time") is not None,
            ),
        ),
        "catalog.service.calls_per_s = {value} says how many calls are taken, and so do workers and time. Keep one.",
    ),
    *ORDER_ROWS,
    Contradiction(
        "catalog.table_names",
        is_so(
            "catalog.table_names catalog.num_tables",
            lambda s: len(s.value("catalog.table_names") or ()) not in (0, s.value("catalog.num_tables")),
        ),
        "catalog.table_names = {value} must hold catalog.num_tables = {catalog.num_tables} names, one for each table. "
        "Leave catalog.num_tables out, and there are as many tables as names.",
    ),
    Contradiction(
        "catalog.scope",
        all_of(is_("catalog.type", "append", "service", *DELTA_LOGS), is_not("catalog.scope", "table")),
        "catalog.scope = {catalog.scope!q} is not available with catalog.type = {catalog.type!q}, whose scope is "
        "'table'. Remove catalog.scope, or choose catalog.type from: cas, instant.",
    ),
    Contradiction(
        "catalog.scope",
        all_of(is_("catalog.type", "cas", "instant"), is_("catalog.scope", "partition"), NOT_PARTITIONED),
        "catalog.scope = 'partition' needs partitions. Set catalog.partitions.enabled = true and "
        "catalog.partitions.num_partitions.",
    ),
    Contradiction(
        "catalog.latency_ms",
        all_of(SERVER, is_written("catalog.latency"), is_written("catalog.latency_ms")),
        "catalog.latency_ms = {value} and catalog.latency are both given. Keep one of them.",
    ),
    Contradiction(
        "catalog.refusal_returns_snapshot",
        all_of(is_("catalog.type", "cas"), is_("catalog.refusal_returns_snapshot", True)),
        "catalog.refusal_returns_snapshot = true is not available with catalog.type = 'cas': a refused swap of an "
        "object carries no state. Choose catalog.type from: append, instant, service.",
    ),
    Contradiction(
        "catalog.refusal_returns_snapshot",
        all_of(APPEND, is_("catalog.refusal_returns_snapshot", False)),
        "catalog.refusal_returns_snapshot = false is not available with catalog.type = 'append': the committer reads "
        "the catalog back to learn that it was refused. Choose catalog.type from: cas, instant, service.",
    ),
    Contradiction(
        "catalog.table_metadata_inlined",
        all_of(
            is_("catalog.type", "service"),
            is_("catalog.service.flavour", "pointer"),
            is_("catalog.table_metadata_inlined", True),
        ),
        "catalog.table_metadata_inlined = true is not available with catalog.service.flavour = 'pointer': the client "
        "writes the metadata to storage. Choose catalog.service.flavour = 'rest', or set it to false.",
    ),
    Contradiction(
        "conflict.detector",
        all_of(is_("conflict.detector", "partition_overlap"), NOT_PARTITIONED),
        "conflict.detector = 'partition_overlap' needs partitions. Set catalog.partitions.enabled = true and "
        "catalog.partitions.num_partitions.",
    ),
    Contradiction(
        "catalog.partitions.num_partitions",
        all_of(PARTITIONED, is_more("catalog.num_tables catalog.partitions.num_partitions", PARTITION_COUNTERS_MAX)),
        "catalog.num_tables = {catalog.num_tables} times catalog.partitions.num_partitions = "
        f"{{catalog.partitions.num_partitions}} must not exceed {PARTITION_COUNTERS_MAX}.",
    ),
    Contradiction(
        "catalog.partitions.per_table",
        all_of(
            PARTITIONED,
            is_so(
                "catalog.partitions.per_table catalog.num_tables",
                lambda s: len(s.value("catalog.partitions.per_table") or ()) not in (0, s.value("catalog.num_tables")),
            ),
        ),
        "catalog.partitions.per_table = {value} must hold catalog.num_tables = {catalog.num_tables} numbers, one for "
        "each table.",
    ),
    Contradiction(
        "catalog.partitions.per_table",
        all_of(
            BY_FILES,
            PARTITIONED,
            is_so(
                "catalog.partitions.per_table",
                lambda s: len(set(s.value("catalog.partitions.per_table") or ())) > 1,
            ),
        ),
        "catalog.partitions.per_table = {value} differs from table to table, and table.data_files are spread evenly "
        "over the partitions of every table. Give catalog.partitions.num_partitions, or leave out table.data_files.",
    ),
    Contradiction(
        "conflict.detector",
        all_of(BY_FILES, is_("table.data_files", 0)),
        "conflict.detector = 'files' needs table.data_files: give the number of data files of a table.",
    ),
    Contradiction(
        "table.data_files",
        all_of(
            BY_FILES,
            is_not("table.data_files", 0),
            PARTITIONED,
            is_more("catalog.partitions.num_partitions", "table.data_files"),
        ),
        "table.data_files = {table.data_files} must be at least catalog.partitions.num_partitions = "
        "{catalog.partitions.num_partitions}: the files are spread evenly over the partitions.",
    ),
    Contradiction(
        "table.data_files",
        all_of(BY_FILES, is_more("table.data_files catalog.num_tables", FILE_PLACES_MAX)),
        "table.data_files = {table.data_files} times catalog.num_tables = {catalog.num_tables} must not exceed "
        f"{FILE_PLACES_MAX}.",
    ),
    Contradiction(
        "failures.lost_answer_rate",
        all_of(APPEND, is_above("failures.lost_answer_rate", 0)),
        "failures.lost_answer_rate = {failures.lost_answer_rate} cannot be combined with catalog.type = 'append': its "
        "commits read the log back, and what a lost answer means there is not modelled. Choose catalog.type 'cas', "
        "'instant' or 'service', or set the rate to 0.",
    ),
    Contradiction(
        "failures.throttle_rate",
        all_of(APPEND, is_above("failures.throttle_rate", 0)),
        "failures.throttle_rate = {failures.throttle_rate} cannot be combined with catalog.type = 'append': what its "
        "clients do about a throttled request to the log is not modelled. Choose catalog.type 'cas', 'instant' or "
        "'service', or set the rate to 0.",
    ),
    Contradiction(
        "failures.throttle_rate",
        all_of(is_("failures.throttle_rate", 1.0), is_("storage.latency_ms", 0.0)),
        "failures.throttle_rate = {failures.throttle_rate} and storage.latency_ms = {storage.latency_ms}: every txn "
        "would fail without taking any time, one after another for ever. Lower the rate, or give the store a latency.",
    ),
    *(
        Contradiction(
            f"failures.{what}_wait_max_ms",
            is_more(f"failures.{what}_wait_ms", f"failures.{what}_wait_max_ms"),
            f"failures.{what}_wait_max_ms = {{failures.{what}_wait_max_ms}} is less than failures.{what}_wait_ms = "
            f"{{failures.{what}_wait_ms}}. Raise the first or lower the second.",
        )
        for what in ("status_check", "throttle")
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
        if row.when.holds(scene):
            path = scene.path(row.key)
            yield Problem(scene.say(row.says, **_words(path, scene)), path, tuple(map(scene.place, row.when.about)))


def _words(path: Path, scene: Scene) -> dict[str, Any]:
    """What a sentence may name beside keys."""
    words: dict[str, Any] = {"key": dotted(path, scene.document), "value": shown(value_at(scene.document, path))}
    if scene.source is not None:
        words |= words_of_source(scene)
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
