"""Combinations of keys that cannot be simulated, each reported with the key at fault and the way out.

A check yields a problem, or nothing. ``about`` names the keys it rests on: if one of them has a problem of its own, the
check is not reported, because it might not fail once that key is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Final

from endive.config.capabilities import (
    BUILT_IN,
    HAVE_NO_VINTAGES,
    IN_ORIGINAL_VINTAGE,
    is_profile_path,
    profile_capabilities,
    providers_with,
)
from endive.config.keys import SECTIONS, SOURCE
from endive.config.problems import Path, Problem, join_path, show, value_at
from endive.config.sections.arrivals import Closed, Jobs, Trace
from endive.config.sections.choices import FixedCount, ShareOfFiles, unknown_tables
from endive.config.sections.retries import BACKOFFS
from endive.config.sections.source import SourceConfig
from endive.config.sections.stream import stream_problem
from endive.config.simulation_config import SimulationConfig
from endive.config.slo import objective_of
from endive.config.values import unknown_name
from endive.errors import ObjectiveError
from endive.vocabulary import KINDS, KINDS_OF

OBJECT_BYTES_MAX: Final = 2**50  # more than a million of the largest entries, and exact as a float
TXN_BYTES_MAX: Final = 2**60  # leaves room for what rivals add while the transaction runs
STATES_MAX: Final = 10_000_000  # of partitions in all tables, and of tables that clients keep
FILES_MAX: Final = 100_000_000
TABLES_PER_TXN_MAX: Final = 256
PROVIDER: Final[Path] = ("storage", "provider")
DELTA_TYPES: Final = ("put_if_absent", "single_driver", "dynamodb")
EQUALITY: Final = ("equality", "equality_and_position", "equality_and_vector")

# Section, key and value -> the operation it needs, in words, and all that a provider must have then.
NEEDS: Final = (
    ("catalog", "type", "cas", "cas", "compare-and-swap", ("write", "cas")),
    ("catalog", "type", "append", "append", "conditional append", ("write", "cas", "append")),
    ("catalog", "type", "append", "cas", "compare-and-swap (to compact)", ("write", "cas", "append")),
    ("catalog", "type", "put_if_absent", "create", "creation of an object if it is absent", ("write", "create")),
    ("transaction", "manifest_list_mode", "append", "append", "conditional append", ("write", "append")),
)
INSTEAD: Final = {"put_if_absent": "; or choose catalog.type = 'dynamodb' or, with one process alone, 'single_driver'"}


@dataclass(frozen=True, slots=True)
class Written:
    """A configuration as it was written, seen from one of its sources or from none."""

    document: Mapping[str, Any]
    index: int = 0

    def path(self, key: str) -> Path:
        """Return the path of a dotted key; one without a section is the source's."""
        parts = tuple(key.split("."))
        return parts if parts[0] in SECTIONS else (SOURCE, self.index, *parts)

    def value(self, key: str) -> Any:
        """Return what was written for a key, or None."""
        return value_at(self.document, self.path(key))

    def problem(self, key: str, text: str, about: str = "") -> Problem:
        """Describe a problem; ``{key}`` and ``{value}`` in the text are the key and its value as they were written."""
        text = text.replace("{key}", join_path(self.path(key), self.document)).replace("{value}", show(self.value(key)))
        return Problem(text, self.path(key), tuple(".".join(map(str, self.path(each))) for each in about.split()))


def check_combinations(config: SimulationConfig, document: Mapping[str, Any]) -> list[Problem]:
    """Return every problem between the keys of a resolved configuration; ``document`` is what was written."""
    written = Written(document)
    problems = [
        *_check_provider(config, written),
        *_check_simulation(config, written),
        *_check_catalog_type(config, written),
        *_check_service(config, written),
        *_check_scope(config, written),
        *_check_partitions(config, written),
        *_check_failures(config, written),
        *_check_objective(config, written),
        *_check_names(config, written),
        *_check_sizes(config, written),
    ]
    for index, source in enumerate(config.sources):
        seen = Written(document, index)
        for check in (*_SOURCE_CHECKS, _check_queue, _check_tables):
            problems += check(config, source, seen)
    return problems


# ---- storage -----------------------------------------------------------------------------------------------------


def _check_provider(config: SimulationConfig, written: Written) -> Iterator[Problem]:
    """Check that the provider is known, has figures, and can do what is asked of it."""
    provider = config.storage.provider
    named = show(value_at(written.document, PROVIDER) or provider)
    if is_profile_path(provider):
        claimed = profile_capabilities(provider)
        if isinstance(claimed, str):
            yield Problem(f"storage.provider = {named} {claimed}", PROVIDER)
            return
        capabilities = claimed
    elif provider in BUILT_IN:
        capabilities = BUILT_IN[provider]
    else:
        text = unknown_name(provider, tuple(BUILT_IN), also=", or the path of a profile (.toml)")
        yield Problem(f"storage.provider = {show(provider)} {text}", PROVIDER)
        return
    if provider == "constant" and config.storage.latency_ms is None:
        text = "{key} is missing. storage.provider = 'constant' needs it: give a number of milliseconds."
        yield written.problem("storage.latency_ms", text, "storage.provider")
    has_vintage = provider in (*IN_ORIGINAL_VINTAGE, *HAVE_NO_VINTAGES) or is_profile_path(provider)
    if config.storage.vintage == "original" and not has_vintage:
        text = (
            f"{{key}} = 'original' has no figures for storage.provider = {show(provider)}. "
            f"Choose a provider from: {', '.join(IN_ORIGINAL_VINTAGE)}; or vintage 'measured'."
        )
        yield written.problem("storage.vintage", text, "storage.provider")
    if not capabilities >= {"read", "write"}:
        yield Problem(
            f"storage.provider = {named} cannot be simulated: it cannot write, and every commit does. "
            "It is there for programs that call tail_append on the provider itself. "
            f"Choose one of: {', '.join(providers_with('read', 'write'))}.",
            PROVIDER,
        )
        return
    for section, key, value, operation, words, needed in NEEDS:
        if getattr(getattr(config, section), key) == value and operation not in capabilities:
            text = (
                f"{section}.{key} = '{value}' needs a storage provider with {words}; {named} has none. "
                f"Choose one of: {', '.join(providers_with(*needed))}{INSTEAD.get(value, '')}."
            )
            yield Problem(text, (section, key), ("storage.provider",))


# ---- sections ----------------------------------------------------------------------------------------------------


def _check_simulation(config: SimulationConfig, written: Written) -> Iterator[Problem]:
    run = config.simulation
    if run.warmup_ms + run.cooldown_ms >= run.duration_ms:
        yield written.problem(
            "simulation.warmup_ms",
            f"simulation.warmup_ms = {run.warmup_ms} and simulation.cooldown_ms = {run.cooldown_ms} leave nothing of "
            f"simulation.duration_ms = {run.duration_ms} to measure. Shorten them.",
            "simulation.cooldown_ms simulation.duration_ms",
        )


def _check_catalog_type(config: SimulationConfig, written: Written) -> Iterator[Problem]:
    catalog, is_delta = config.catalog, config.table.format == "delta"
    kind = show(catalog.type)
    about = "table.format"
    if is_delta and catalog.type not in (*DELTA_TYPES, "service"):
        yield written.problem(
            "catalog.type",
            f"catalog.type = {kind} is where Iceberg commits, and table.format is 'delta', whose commits go to the "
            f"log of the table. Choose one of: {', '.join(DELTA_TYPES)}, service; or leave it out.",
            about,
        )
    if not is_delta and catalog.type in DELTA_TYPES:
        yield written.problem(
            "catalog.type",
            f"catalog.type = {kind} is where Delta Lake commits, and table.format is 'iceberg'. Choose one of: cas, "
            "append, instant, service; or set table.format = 'delta'.",
            about,
        )
    if is_delta and catalog.type == "single_driver" and config.delta.client == "delta_rs":
        yield written.problem(
            "catalog.type",
            "catalog.type = 'single_driver' is a LogStore of Delta Spark, and delta.client is 'delta_rs'. Choose one "
            "of: put_if_absent, dynamodb.",
            "table.format delta.client",
        )
    if is_delta and "profile" in catalog.model_fields_set and catalog.profile not in (None, "unity"):
        yield written.problem(
            "catalog.profile",
            f"catalog.profile = {show(catalog.profile)} is a catalog of Iceberg's, and table.format is 'delta'. Choose "
            "one of: unity; or leave it out: commits then go to the log of the table.",
            about,
        )
    if (
        catalog.type in ("instant", "service")
        and written.value("catalog.latency")
        and written.value("catalog.latency_ms")
    ):
        yield written.problem(
            "catalog.latency_ms",
            "{key} = {value} and catalog.latency are both given. Keep one of them.",
            "catalog.type catalog.latency",
        )
    if catalog.type == "append" and not catalog.refusal_returns_snapshot:
        yield written.problem(
            "catalog.refusal_returns_snapshot",
            "{key} = false is not available with catalog.type = 'append': the committer reads the catalog back to "
            "learn that it was refused. Choose catalog.type from: cas, instant, service.",
            "catalog.type",
        )


def _check_service(config: SimulationConfig, written: Written) -> Iterator[Problem]:
    service = config.catalog.service
    many = "tables.count catalog.num_tables"
    if service.calls_per_s and (service.workers or service.time):
        text = "{key} = {value} says how many calls are taken, and so do workers and time. Keep one."
        yield written.problem("catalog.service.calls_per_s", text, "catalog.service.workers catalog.service.time")
    if service.lock and service.flavour == "rest":
        yield written.problem(
            "catalog.service.lock",
            "{key} is not available with catalog.service.flavour = 'rest', whose server decides alone. Locks are taken "
            "by clients of a pointer: Hive, and Glue with a lock manager. Set catalog.service.flavour = 'pointer'.",
            "catalog.service.flavour",
        )
    if service.lock and _writes_several_tables(config):
        text = (
            "{key} is held on one table, and a source commits to several at once. Set tables.count = 1, or leave out "
            "the lock."
        )
        yield written.problem("catalog.service.lock", text, many)
    if service.lock and config.commit.metadata == "if_current":
        yield written.problem(
            "catalog.service.lock",
            "{key} is simulated for clients that write the metadata before they ask for it, and commit.metadata is "
            "'if_current'. Choose commit.protocol = 'iceberg'.",
            "commit.metadata commit.protocol",
        )
    if service.lock and config.failures.lost_answer_rate > 0:
        yield written.problem(
            "catalog.service.lock",
            "{key} is not simulated together with failures.lost_answer_rate = "
            f"{config.failures.lost_answer_rate}: who holds the lock after a lost answer is not known. Keep one of "
            f"them.",
            "failures.lost_answer_rate",
        )
    if service.batch_ms and service.flavour == "pointer":
        text = (
            "{key} = {value} needs catalog.service.flavour = 'rest': behind a pointer every client writes its own "
            "metadata."
        )
        yield written.problem("catalog.service.batch_ms", text, "catalog.service.flavour")
    if service.batch_ms and service.server_retries > 0:
        text = (
            "{key} = {value} installs every append whatever its base, so catalog.service.server_retries = "
            f"{service.server_retries} has nothing to do. Keep one of them."
        )
        yield written.problem("catalog.service.batch_ms", text, "catalog.service.server_retries")
    if service.batch_ms and _writes_several_tables(config):
        text = (
            "{key} = {value} gathers commits to one table, and a source commits to several at once. Set tables.count = "
            "1."
        )
        yield written.problem("catalog.service.batch_ms", text, many)
    if service.rolls_back_compactions and (
        config.catalog.scope != "table" or service.server_retries > 0 or service.batch_ms
    ):
        yield written.problem(
            "catalog.service.rolls_back_compactions",
            "{key} = true looks at the snapshots of one table and rebases nothing: it needs catalog.scope = 'table', "
            "and neither catalog.service.server_retries nor catalog.service.batch_ms. Remove them, or this key.",
            "catalog.scope catalog.service.server_retries catalog.service.batch_ms",
        )
    is_pointer = config.catalog.type == "service" and service.flavour == "pointer"
    if is_pointer and config.catalog.table_metadata_inlined:
        yield written.problem(
            "catalog.table_metadata_inlined",
            "{key} = true is not available with catalog.service.flavour = 'pointer': the client writes the metadata to "
            "storage. Choose catalog.service.flavour = 'rest', or set it to false.",
            "catalog.type catalog.service.flavour",
        )


def _writes_several_tables(config: SimulationConfig) -> bool:
    choices = [source.tables for source in config.sources]
    many = any(each.count > 1 or each.count_zipf or each.count_distribution for each in choices)
    return config.catalog.num_tables > 1 and many


def _check_scope(config: SimulationConfig, written: Written) -> Iterator[Problem]:
    catalog, is_delta = config.catalog, config.table.format == "delta"
    groups = written.value("catalog.num_groups")
    if catalog.scope == "group" and groups is None:
        text = (
            "{key} is missing. catalog.scope = 'group' needs it: give a whole number from 1 to catalog.num_tables = "
            f"{catalog.num_tables}."
        )
        yield written.problem("catalog.num_groups", text, "catalog.scope catalog.num_tables")
    elif catalog.scope == "group" and catalog.num_groups > catalog.num_tables:
        text = f"{{key}} = {catalog.num_groups} must not exceed catalog.num_tables = {catalog.num_tables}."
        yield written.problem("catalog.num_groups", text, "catalog.scope catalog.num_tables")
    if catalog.table_names and len(catalog.table_names) != catalog.num_tables:
        text = (
            f"{{key}} = {{value}} must hold catalog.num_tables = {catalog.num_tables} names, one for each table. Leave "
            "catalog.num_tables out, and there are as many tables as names."
        )
        yield written.problem("catalog.table_names", text, "catalog.num_tables")
    scope, kind = show(catalog.scope), show(catalog.type)
    if is_delta and catalog.type not in ("cas", "append", "instant") and catalog.scope != "table":
        text = (
            f"catalog.scope = {scope} is not available with table.format = 'delta', where commits to one table exclude "
            "each other whatever they touch. Remove catalog.scope."
        )
        yield written.problem("catalog.scope", text, "table.format catalog.type")
    if not is_delta and catalog.type in ("append", "service") and catalog.scope != "table":
        text = (
            f"catalog.scope = {scope} is not available with catalog.type = {kind}, whose scope is 'table'. Remove "
            "catalog.scope, or choose catalog.type from: cas, instant."
        )
        yield written.problem("catalog.scope", text, "table.format catalog.type")
    if catalog.type in ("cas", "instant") and catalog.scope == "partition" and not catalog.partitions.enabled:
        yield written.problem(
            "catalog.scope",
            "catalog.scope = 'partition' needs partitions. Set catalog.partitions.enabled = true and "
            "catalog.partitions.num_partitions.",
            "catalog.type catalog.partitions.enabled",
        )


def _check_partitions(config: SimulationConfig, written: Written) -> Iterator[Problem]:
    catalog, partitions, detector = config.catalog, config.catalog.partitions, config.conflict.detector
    tables, files = catalog.num_tables, config.table.data_files
    if detector == "partition_overlap" and not partitions.enabled:
        text = (
            "{key} = 'partition_overlap' needs partitions. Set catalog.partitions.enabled = true and "
            "catalog.partitions.num_partitions."
        )
        yield written.problem("conflict.detector", text, "catalog.partitions.enabled")
    if partitions.enabled and tables * partitions.num_partitions > STATES_MAX:
        yield written.problem(
            "catalog.partitions.num_partitions",
            f"catalog.num_tables = {tables} times catalog.partitions.num_partitions = {partitions.num_partitions} must "
            f"not exceed {STATES_MAX}.",
            "catalog.partitions.enabled catalog.num_tables",
        )
    if partitions.enabled and partitions.per_table and len(partitions.per_table) != tables:
        text = f"{{key}} = {{value}} must hold catalog.num_tables = {tables} numbers, one for each table."
        yield written.problem("catalog.partitions.per_table", text, "catalog.partitions.enabled catalog.num_tables")
    if detector == "files" and partitions.enabled and len(set(partitions.per_table or ())) > 1:
        yield written.problem(
            "catalog.partitions.per_table",
            "{key} = {value} differs from table to table, and table.data_files are spread evenly over the partitions "
            "of every table. Give catalog.partitions.num_partitions, or leave out table.data_files.",
            "conflict.detector catalog.partitions.enabled",
        )
    if detector == "files" and files == 0:
        text = "{key} = 'files' needs table.data_files: give the number of data files of a table."
        yield written.problem("conflict.detector", text, "table.data_files")
    if detector == "files" and partitions.enabled and 0 < files < partitions.num_partitions:
        text = (
            f"{{key}} = {files} must be at least catalog.partitions.num_partitions = {partitions.num_partitions}: the "
            "files are spread evenly over the partitions."
        )
        about = "conflict.detector catalog.partitions.enabled catalog.partitions.num_partitions"
        yield written.problem("table.data_files", text, about)
    if detector == "files" and files * tables > FILES_MAX:
        text = f"{{key}} = {files} times catalog.num_tables = {tables} must not exceed {FILES_MAX}."
        yield written.problem("table.data_files", text, "conflict.detector catalog.num_tables")


def _check_failures(config: SimulationConfig, written: Written) -> Iterator[Problem]:
    failures = config.failures
    whys = {
        "lost_answer_rate": "its commits read the log back, and what a lost answer means there is not modelled",
        "throttle_rate": "what its clients do about a throttled request to the log is not modelled",
    }
    for key, why in whys.items():
        rate = getattr(failures, key)
        if config.catalog.type == "append" and rate > 0:
            text = (
                f"{{key}} = {rate} cannot be combined with catalog.type = 'append': {why}. Choose catalog.type 'cas', "
                "'instant' or 'service', or set the rate to 0."
            )
            yield written.problem(f"failures.{key}", text, "catalog.type")
    if failures.throttle_rate == 1 and config.storage.latency_ms == 0:
        text = (
            f"{{key}} = {failures.throttle_rate} and storage.latency_ms = {config.storage.latency_ms}: every txn would "
            "fail without taking any time, one after another for ever. Lower the rate, or give the store a latency."
        )
        yield written.problem("failures.throttle_rate", text, "storage.latency_ms")
    for name in ("status_check", "throttle"):
        first, longest = getattr(failures, f"{name}_wait_ms"), getattr(failures, f"{name}_wait_max_ms")
        if first > longest:
            text = (
                f"failures.{name}_wait_max_ms = {longest} is less than failures.{name}_wait_ms = {first}. Raise the "
                "first or lower the second."
            )
            yield written.problem(f"failures.{name}_wait_max_ms", text, f"failures.{name}_wait_ms")


def _check_objective(config: SimulationConfig, written: Written) -> Iterator[Problem]:
    """Check that the names in the objective stand for something in this configuration."""
    try:
        objective_of(config)
    except ObjectiveError as error:
        reason = str(error).partition("': ")[2]
        text = f"slo.objective = {show(config.slo.objective)}: {reason}"
        yield Problem(text, ("slo", "objective"), (SOURCE,))


def _check_names(config: SimulationConfig, written: Written) -> Iterator[Problem]:
    names = [source.name for source in config.sources]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield Problem(
                f"source.{index}.name = {show(name)} is already the name of source.{names.index(name)}. "
                "Give each source a name of its own.",
                (SOURCE, index, "name"),
            )


def _check_sizes(config: SimulationConfig, written: Written) -> Iterator[Problem]:
    """Check that both engines can count the bytes that the catalog object and one transaction add up to."""
    table, catalog = config.table, config.catalog
    metadata_bytes = table.metadata_base_bytes + table.metadata_bytes_per_snapshot * table.initial_snapshots
    list_bytes = table.manifest_list_base_bytes + table.manifest_list_bytes_per_manifest * table.initial_manifests
    inlined_bytes = metadata_bytes if catalog.table_metadata_inlined else 0
    object_bytes = catalog.object_base_bytes + catalog.num_tables * (catalog.object_bytes_per_table + inlined_bytes)
    if object_bytes > OBJECT_BYTES_MAX:
        yield written.problem(
            "catalog.num_tables",
            f"the catalog object would hold {object_bytes} bytes for catalog.num_tables = {catalog.num_tables}; at "
            f"most {OBJECT_BYTES_MAX} can be counted. Lower catalog.num_tables or the sizes of what is kept per table.",
            "catalog.object_bytes_per_table table.initial_snapshots table.metadata_bytes_per_snapshot",
        )
    for index, source in enumerate(config.sources):
        manifests = table.initial_manifests + source.rewritten_manifests + 1
        handled_bytes = metadata_bytes + list_bytes + object_bytes
        attempt_bytes = source.tables.count * (handled_bytes + manifests * table.manifest_bytes)
        attempts = (source.retry + 1) * (source.application_retries + 1)
        if attempts * attempt_bytes > TXN_BYTES_MAX:
            text = (
                f"a txn of source {source.name!r} may move {attempt_bytes} bytes in each of {attempts} attempts, which "
                f"is more than {TXN_BYTES_MAX} in all. Lower the sizes in [table], the manifests or the retries."
            )
            about = ("table", "transaction.retry", "transaction.rewritten_manifests", "transaction.application_retries")
            yield Problem(text, (SOURCE, index, "retry"), about)


# ---- sources -----------------------------------------------------------------------------------------------------


def _clients(source: SourceConfig) -> int:
    """Return the number of clients that stay; 0 if the arrivals have none."""
    arrivals = source.arrivals
    if isinstance(arrivals, Trace):
        return int(arrivals.one_at_a_time)
    return arrivals.clients if isinstance(arrivals, Closed) else arrivals.jobs if isinstance(arrivals, Jobs) else 0


def _kinds_but(source: SourceConfig, *own: str) -> str:
    """Return the kinds a source submits apart from some, as a list in words."""
    return ", ".join(kind for kind in KINDS if kind not in own and getattr(source.operation_types, kind))


def _check_kinds(config: SimulationConfig, source: SourceConfig, written: Written) -> Iterator[Problem]:
    weights, table_format = source.operation_types, config.table.format
    for name, kinds in KINDS_OF.items():
        for kind in kinds:
            if getattr(weights, kind) > 0 and table_format != name:
                text = (
                    f"{{key}} is an operation of table.format = '{name}', and table.format is '{table_format}'. Choose "
                    f"from its own: {', '.join(KINDS_OF[table_format])}."
                )
                yield written.problem(f"operation_types.{kind}", text, "table.format")
    if weights.expire_snapshots > 0 and not {"retain_last", "expire_older_than_ms"} & source.model_fields_set:
        yield written.problem(
            "operation_types.expire_snapshots",
            "{key} needs to know which snapshots are kept. Give retain_last = 10 (the newest ten), "
            "expire_older_than_ms = 3600000 (the last hour), or both.",
            "retain_last expire_older_than_ms",
        )
    for kind in ("rewrite_manifests", "expire_snapshots"):
        if getattr(weights, kind) > 0 and config.catalog.scope == "partition":
            text = (
                "{key} changes whole tables, and catalog.scope = 'partition' checks partitions one by one. Choose "
                "catalog.scope from: catalog, group, table."
            )
            yield written.problem(f"operation_types.{kind}", text, "catalog.scope")
    if weights.rewrite_manifests > 0 and config.transaction.manifest_list_mode == "append":
        yield written.problem(
            "operation_types.rewrite_manifests",
            "{key} writes a new manifest list, and transaction.manifest_list_mode = 'append' only adds to the old one. "
            "Set it to 'rewrite', or leave the kind out.",
            "transaction.manifest_list_mode",
        )


def _check_reading(config: SimulationConfig, source: SourceConfig, written: Written) -> Iterator[Problem]:
    is_delta, partitions = config.table.format == "delta", config.catalog.partitions
    if is_delta and source.read == "columns":
        text = (
            "{key} = 'columns' belongs to table.format = 'iceberg'. Delta tells files apart by their partitions; "
            "choose one of: table, partitions, files, nothing."
        )
        yield written.problem("read", text, "table.format")
    if not is_delta and source.read == "nothing":
        text = (
            "{key} = 'nothing' belongs to table.format = 'delta'. In Iceberg, checks = 'none' says that nothing is "
            "held "
            "against what it has read; or choose one of: table, partitions, files, columns."
        )
        yield written.problem("read", text, "table.format")
    if source.read == "nothing" and source.operation_types.append_after_read > 0:
        text = (
            "{key} = 'nothing' contradicts operation_types.append_after_read: an append that has read nothing is a "
            "blind_append. Choose one of: table, partitions, files."
        )
        yield written.problem("read", text, "operation_types")
    if not is_delta and source.isolation == "write_serializable":
        text = "{key} = 'write_serializable' belongs to table.format = 'delta'. Choose one of: serializable, snapshot."
        yield written.problem("isolation", text, "table.format")
    if source.read == "partitions" and not partitions.enabled:
        text = (
            "{key} = {value} needs partitions, and the table has none: a predicate then narrows nothing. Set read = "
            "'table', or catalog.partitions.enabled = true and catalog.partitions.num_partitions."
        )
        yield written.problem("read", text, "catalog.partitions.enabled")
    if source.read and source.has_own_probability:
        text = (
            "{key} = {value} and real_conflict_probability are both given, and each decides who fails. Keep one of "
            "them."
        )
        yield written.problem("read", text, "real_conflict_probability")


def _check_overwrite(config: SimulationConfig, source: SourceConfig, written: Written) -> Iterator[Problem]:
    checks, overwrite, version = source.checks, source.overwrite, config.table.format_version
    if checks == "added_rows" and overwrite == "overwrite_files":
        text = (
            "{key} = {value} is how a merge-on-read DELETE is checked, and overwrite = 'overwrite_files' is "
            "copy-on-write. Choose one of: all, none."
        )
        yield written.problem("checks", text, "overwrite")
    if checks == "partitions" and overwrite != "replace_partitions":
        text = (
            f"{{key}} = {{value}} is how an INSERT OVERWRITE of partitions is checked, and overwrite is '{overwrite}'. "
            f"Set "
            "overwrite = 'replace_partitions', or choose one of: all, added_rows, none."
        )
        yield written.problem("checks", text, "overwrite")
    is_dynamic = checks == "partitions" and overwrite == "replace_partitions"
    if is_dynamic and source.read and source.read != "partitions":
        text = (
            "{key} = {value} does not fit overwrite = 'replace_partitions', which looks at its partitions alone. Set "
            "read = 'partitions' if the statement names them (PARTITION (p = 3)), or leave it out (dynamic)."
        )
        yield written.problem("read", text, "checks overwrite")
    if source.commit_path == "epoch" and (others := _kinds_but(source, "fast_append", "merge_append")):
        text = (
            f"{{key}} = {{value}} is how Spark's streaming appends, and operation_types has {others}. Make a source of "
            "appends alone, or choose one of: table, transaction."
        )
        yield written.problem("commit_path", text, "operation_types")
    if source.deletes in ("vector", "equality_and_vector") and version == 2:
        text = (
            "{key} = {value} needs table.format_version = 3: a v2 table has no deletion vectors. Set it, or choose one "
            "of: position, equality, equality_and_position."
        )
        yield written.problem("deletes", text, "table.format_version")
    if source.deletes in ("position", "equality_and_position") and version == 3:
        text = (
            "{key} = {value} does not fit table.format_version = 3, which takes no new files of position deletes. "
            "Choose one of: vector, equality, equality_and_vector."
        )
        yield written.problem("deletes", text, "table.format_version")
    if source.deletes in EQUALITY and overwrite == "row_delta" and checks != "none":
        text = (
            f"{{key}} = {{value}} does not fit checks = {show(checks)}: Spark and Trino write no equality deletes, and "
            f"the "
            "sinks that do (Flink, Kafka Connect) check nothing. Set checks = 'none', or leave deletes out."
        )
        yield written.problem("deletes", text, "overwrite checks")


def _check_compaction(config: SimulationConfig, source: SourceConfig, written: Written) -> Iterator[Problem]:
    others, detector = _kinds_but(source, "rewrite_files"), config.conflict.detector
    if source.rewritten_files == "position_deletes":
        if config.table.format_version == 3:
            text = (
                "{key} = {value} does not fit table.format_version = 3, which has deletion vectors and no files of "
                "position deletes to rewrite. Set table.format_version = 2, or leave the source out."
            )
            yield written.problem("rewritten_files", text, "table.format_version")
        if detector != "files" or not source.touched_files:
            text = (
                "{key} = {value} needs to know whose delete files it rewrites. Give table.data_files, and "
                "touched_files: the data files that have deletes, such as 40 or '5%'."
            )
            yield written.problem("rewritten_files", text, "conflict.detector touched_files")
        if others:
            text = (
                f"{{key}} = {{value}} is about rewrite_files, and operation_types has {others} too. Make a source of "
                "rewrite_files alone."
            )
            yield written.problem("rewritten_files", text, "operation_types")
        if source.commit_path == "transaction":
            text = (
                "{key} = {value} is a procedure of Spark's, which does not commit through a Transaction. Leave "
                "commit_path out."
            )
            yield written.problem("rewritten_files", text, "commit_path")
    progress = source.partial_progress
    if progress and others:
        text = (
            f"{{key}} is how a compaction commits, and operation_types has {others}. Make a source of rewrite_files "
            "alone, or leave partial_progress out."
        )
        yield written.problem("partial_progress", text, "operation_types")
    if progress and source.arrivals.kind in ("closed", "jobs", "trace"):
        text = (
            f"{{key}} makes a job of every arrival, and arrivals of kind '{source.arrivals.kind}' are single txns. "
            f"Choose "
            'arrivals such as {kind = "periodic", period_ms = 600000}.'
        )
        yield written.problem("partial_progress", text, "arrivals")
    if progress and progress.threads > progress.commits:
        text = (
            f"{{key}} = {progress.threads} must not exceed partial_progress.commits = {progress.commits}: a thread "
            f"makes "
            "at least one of the commits. Lower threads."
        )
        yield written.problem("partial_progress.threads", text, "partial_progress")
    counts = source.touched_files
    most = (
        0
        if counts is None or isinstance(counts, ShareOfFiles)
        else counts.value
        if isinstance(counts, FixedCount)
        else counts.max
    )
    if detector == "files" and most > config.table.data_files:
        text = (
            f"{{key}} = {{value}} must not exceed table.data_files = {config.table.data_files}: an operation cannot "
            f"touch "
            "more files than a table has. Lower it, or give a share such as '5%'."
        )
        yield written.problem("touched_files", text, "conflict.detector table.data_files")


def _check_clients(config: SimulationConfig, source: SourceConfig, written: Written) -> Iterator[Problem]:
    clients, kind, catalog = _clients(source), source.arrivals.kind, config.catalog
    if source.keeps_table and not clients:
        text = (
            f"{{key}} = true needs clients that stay, and arrivals of kind '{kind}' have none. Choose arrivals from: "
            '{kind = "closed", clients = 4}, {kind = "jobs", jobs = 30, period_ms = 30000}; or set keeps_table to '
            "false."
        )
        yield written.problem("keeps_table", text, "arrivals")
    elif source.keeps_table and catalog.type == "append":
        text = (
            "{key} = true is not available with catalog.type = 'append'. Set keeps_table to false, or choose another "
            "catalog.type."
        )
        yield written.problem("keeps_table", text, "arrivals catalog.type")
    elif source.keeps_table and config.transaction.manifest_list_mode == "append":
        text = (
            "{key} = true is not available with transaction.manifest_list_mode = 'append'. Set keeps_table to false, "
            "or choose another transaction.manifest_list_mode."
        )
        yield written.problem("keeps_table", text, "arrivals transaction.manifest_list_mode")
    kept = catalog.num_tables * (1 + catalog.partitions.num_partitions)
    if source.keeps_table and clients * kept > STATES_MAX:
        text = (
            f"{{key}} = true with {clients} clients and {kept} tables and partitions must not make more than "
            f"{STATES_MAX} "
            "kept states. Lower one of them."
        )
        yield written.problem("keeps_table", text, "arrivals catalog.num_tables catalog.partitions")
    if isinstance(source.arrivals, Trace) and not FilePath(source.arrivals.path).is_file():
        text = "{key} = {value} does not exist. Give the path of a trace file."
        yield written.problem("arrivals.path", text, "arrivals")


def _check_times(config: SimulationConfig, source: SourceConfig, written: Written) -> Iterator[Problem]:
    duration_ms, backoff = config.simulation.duration_ms, source.retry_backoff
    if source.start_ms >= duration_ms:
        text = (
            f"{{key}} = {source.start_ms} must be less than simulation.duration_ms = {duration_ms}, or the source "
            f"never "
            "submits."
        )
        yield written.problem("start_ms", text, "simulation.duration_ms")
    if source.stop_ms is not None and source.stop_ms <= source.start_ms:
        text = f"{{key}} = {source.stop_ms} must be greater than start_ms = {source.start_ms}."
        yield written.problem("stop_ms", text, "start_ms")
    table = written.value("retry_backoff")
    given = table if isinstance(table, Mapping) else {}
    if given.get("enabled") is True and given.get("policy") == "none":
        text = "{key} = {value} contradicts policy = 'none'. Keep one of them."
        yield written.problem("retry_backoff.enabled", text, "retry_backoff")
    if "max_ms" in BACKOFFS[backoff.policy].keys and backoff.base_ms > backoff.max_ms:
        text = f"{{key}} = {backoff.base_ms} must not exceed max_ms = {backoff.max_ms}."
        yield written.problem("retry_backoff.base_ms", text, "retry_backoff")
    if source.fresh_within_ms is not None and (problem := stream_problem(source)):
        text = f"{{key}} = {{value}} speaks of data that this source does not have: {problem}"
        yield written.problem("fresh_within_ms", text, "arrivals operation_types adds_rows")


def _check_after_failure(config: SimulationConfig, source: SourceConfig, written: Written) -> Iterator[Problem]:
    after, kind = source.after_failure, source.arrivals.kind
    if after.kind != "lost" and kind == "trace":
        text = (
            "{key} is not available with arrivals of kind 'trace', which says itself what was submitted again. Give "
            'after_failure = "lost", or choose other arrivals.'
        )
        yield written.problem("after_failure", text, "arrivals")
    if after.kind == "restart" and not after.delay_ms:
        text = (
            '{key} is missing: a restart takes time. Give how long, such as "30s" (Flink\'s restart strategy, and the '
            "time until the job runs again)."
        )
        yield written.problem("after_failure.delay_ms", text, "after_failure.kind")
    if after.kind == "restart" and not _clients(source) and kind != "trace":
        text = (
            f"{{key}}.kind = 'restart' takes a job down, and arrivals of kind '{kind}' are no jobs. Choose arrivals "
            f"such "
            'as {kind = "jobs", jobs = 1, period_ms = 60000}, or after_failure = "carried".'
        )
        yield written.problem("after_failure", text, "arrivals")
    if after.kind == "rerun" and source.application_retries > 0:
        text = (
            f"{{key}}.kind = 'rerun' and application_retries = {source.application_retries} both run the txn again. "
            f"Keep "
            "one."
        )
        yield written.problem("after_failure", text, "application_retries")
    if after.kind == "rerun" and source.partial_progress:
        text = "{key}.kind = 'rerun' is not available with partial_progress, whose commits share a job. Keep one."
        yield written.problem("after_failure", text, "partial_progress")


_SOURCE_CHECKS: Final = (
    _check_kinds,
    _check_reading,
    _check_overwrite,
    _check_compaction,
    _check_clients,
    _check_times,
    _check_after_failure,
)


def _check_queue(config: SimulationConfig, source: SourceConfig, written: Written) -> Iterator[Problem]:
    if not source.commit_queue:
        return
    if source.application_retries > 0 or source.after_failure.kind == "rerun":
        text = (
            "{key} = {value} holds the turn until the txn has ended, and application_retries or after_failure = "
            "'rerun' would work and pause meanwhile. Leave one of them out."
        )
        yield written.problem("commit_queue", text, "application_retries after_failure")
    if not source.gather_every_ms:
        return
    if _kinds_but(source, "fast_append", "merge_append", "blind_append"):
        text = (
            "{key} = {value} gathers files that are added, and operation_types has other kinds. Make a source of "
            "appends alone (fast_append, merge_append, blind_append), or leave gather_every_ms out: they then commit "
            "one "
            "after another."
        )
        yield written.problem("gather_every_ms", text, "commit_queue operation_types")
    own = len(source.tables.only or range(config.catalog.num_tables))
    if own > 1:
        text = (
            f"{{key}} = {{value}} makes one commit to one table of all, and the source has {own}. Name one in "
            f"tables.only."
        )
        yield written.problem("gather_every_ms", text, "commit_queue tables catalog.num_tables")
    if config.catalog.partitions.enabled:
        text = (
            "{key} = {value} is not simulated for catalog.partitions.enabled = true: which partitions one commit of "
            "many writers touches is not kept. Leave the partitions out, or gather_every_ms."
        )
        yield written.problem("gather_every_ms", text, "commit_queue catalog.partitions.enabled")
    if config.failures.lost_answer_rate > 0:
        text = (
            "{key} = {value} is not simulated together with failures.lost_answer_rate = "
            f"{config.failures.lost_answer_rate}: what the writers learn then is not known. Keep one of them."
        )
        yield written.problem("gather_every_ms", text, "commit_queue failures.lost_answer_rate")
    mates = [each for each in config.sources if each.commit_queue == source.commit_queue]
    if any((each.gather_every_ms, each.tables.only) != (source.gather_every_ms, source.tables.only) for each in mates):
        text = (
            f"{{key}} = {{value}}: sources that share commit_queue = {show(source.commit_queue)} have one coordinator. "
            f"Give "
            "them the same gather_every_ms and tables.only, or queues of their own."
        )
        yield written.problem("gather_every_ms", text, "commit_queue tables")


def _check_tables(config: SimulationConfig, source: SourceConfig, written: Written) -> Iterator[Problem]:
    tables, catalog, partitions = source.tables, config.catalog, config.catalog.partitions
    total = catalog.num_tables
    if config.table.format == "delta" and (tables.count > 1 or tables.count_zipf or tables.count_distribution):
        text = (
            "{key}: a txn of table.format = 'delta' commits to the log of one table, and to nothing else. Set "
            "tables.count = 1 and leave tables.count_zipf and tables.count_distribution out."
        )
        yield written.problem("tables.count", text, "table.format tables.count_zipf tables.count_distribution")
    if tables.count_zipf and total > TABLES_PER_TXN_MAX:
        text = (
            f"{{key}} = {tables.count_zipf} may draw as many tables as there are, catalog.num_tables = {total}, and a "
            f"txn "
            f"has at most {TABLES_PER_TXN_MAX}. Lower catalog.num_tables, or give tables.count."
        )
        yield written.problem("tables.count_zipf", text, "catalog.num_tables")
    if tables.count_distribution and tables.count_zipf:
        text = "{key} and tables.count_zipf are both given. Keep one of them."
        yield written.problem("tables.count_distribution", text, "tables.count_zipf")
    if tables.count_distribution and total > TABLES_PER_TXN_MAX:
        text = (
            f"{{key}} may draw as many tables as there are, catalog.num_tables = {total}, and a txn has at most "
            f"{TABLES_PER_TXN_MAX}. Lower catalog.num_tables, or give tables.count."
        )
        yield written.problem("tables.count_distribution", text, "catalog.num_tables")
    if tables.count > total:
        text = f"{{key}} = {tables.count} must not exceed catalog.num_tables = {total}."
        yield written.problem("tables.count", text, "catalog.num_tables")
    if unknown := ", ".join(map(show, unknown_tables(tables, catalog))):
        text = (
            f"{{key}} = {{value}} names what is no table here: {unknown}. Tables are numbered from 0 to "
            f"catalog.num_tables - 1 = {total - 1}, and catalog.table_names gives them names."
        )
        yield written.problem("tables.only", text, "catalog.num_tables catalog.table_names")
    if tables.only and len(tables.only) < tables.count <= total:
        text = f"{{key}} = {tables.count} must not exceed the number of tables in tables.only, {len(tables.only)}."
        yield written.problem("tables.count", text, "tables.only catalog.num_tables")
    clients, own = _clients(source), len(tables.only or range(total))
    if tables.one_each and not clients:
        text = (
            f"{{key}} = true gives every client or job a table, and arrivals of kind '{source.arrivals.kind}' have "
            "none. "
            'Choose arrivals such as {kind = "jobs", jobs = 40, period_ms = 3600000}, or list the tables in '
            "tables.only."
        )
        yield written.problem("tables.one_each", text, "arrivals")
    if tables.one_each and clients > own:
        text = (
            f"{{key}} = true needs a table for each of {clients} clients, and there are {own}. Set catalog.num_tables "
            f"= "
            f"{clients}, or lower the number of clients."
        )
        yield written.problem("tables.one_each", text, "arrivals tables catalog.num_tables")
    if not partitions.enabled:
        return
    chosen, about = source.partitions, "catalog.partitions.enabled catalog.partitions.num_partitions"
    if chosen.count > partitions.num_partitions:
        text = (
            f"{{key}} = {chosen.count} must not exceed catalog.partitions.num_partitions = {partitions.num_partitions}."
        )
        yield written.problem("partitions.count", text, about)
    weights = chosen.weights or ()
    if len(weights) > min(partitions.per_table or [partitions.num_partitions]):
        text = (
            "{key} = {value} must not hold more numbers than a table has partitions: "
            "catalog.partitions.num_partitions, "
            "or the least of catalog.partitions.per_table."
        )
        yield written.problem("partitions.weights", text, f"{about} catalog.partitions.per_table")
    if 0 < sum(each > 0 for each in weights) < chosen.count:
        text = f"{{key}} = {chosen.count} must not exceed the number of partitions with a weight in partitions.weights."
        yield written.problem("partitions.count", text, "catalog.partitions.enabled partitions.weights")
