"""Which keys are read in which combination: one table of (keys, read when, why not).

The loader refuses a key that is given and has no effect, the plain form leaves such keys out, the schema page says when
a key is read, and ``keys_of_format`` which keys a table format reads. Choices decide, not magnitudes: a weight of zero
that is written refuses no key that a sweep over that weight needs; such keys are tolerated, and left out of the plain
form. Combinations that cannot be simulated at all are in ``endive.config.rules.contradictions``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Final

from endive.config.capabilities import HAVE_NO_VINTAGES, is_profile_path
from endive.config.rules.conditions import (
    ALWAYS,
    NEVER,
    Condition,
    Scene,
    all_of,
    any_of,
    does,
    is_,
    is_above,
    is_absent,
    is_given,
    is_not,
    names,
)
from endive.config.sections.retries import BACKOFF_KEYS, FIGURES
from endive.config.sections.storage import OBJECTS, ObjectLatencies
from endive.vocabulary import RELEASES

if TYPE_CHECKING:
    from endive.config.sections.source import SourceConfig
    from endive.config.simulation_config import SimulationConfig

ICEBERG: Final = "iceberg"
DELTA: Final = "delta"
FORMAT: Final = "table.format"


@dataclass(frozen=True, slots=True)
class Reading:
    """When some keys are read; ``why`` they are not otherwise, and where that is tolerated."""

    keys: tuple[str, ...]
    when: Condition
    why: str
    unless: Condition = NEVER


@dataclass(frozen=True, slots=True)
class Unread:
    """A key that has no effect, and the row that says why. Nothing is said before it is asked for."""

    row: Reading
    scene: Scene

    @property
    def because(self) -> str:
        """The end of a sentence."""
        return self.scene.say(self.row.why)

    @property
    def about(self) -> tuple[str, ...]:
        """The keys it rests on."""
        return (*self.row.when.about, "commit.protocol", *self.row.unless.about)

    @property
    def is_tolerated(self) -> bool:
        """Whether the key may be given all the same."""
        return self.row.unless.holds(self.scene)


def _row(keys: str, when: Condition, why: str, unless: Condition = NEVER) -> Reading:
    return Reading(tuple(keys.split()), when, why, unless)


_LOG: Final = "only catalog.type = 'append' has a log"
_OBJECT: Final = "catalog.type = '{catalog.type}' keeps no object on storage"
_INLINED: Final = "table metadata is inlined in the catalog (catalog.table_metadata_inlined)"
_REWRITTEN_LISTS: Final = "transaction.manifest_list_mode is 'rewrite'"
_NO_HEAD: Final = "commit.head = '{commit.head}' sends none"
_NO_CLEANING: Final = "nothing is deleted with commit.after_success = 'none'"
_DEFAULT: Final = "it is the default"
_HAS_VINTAGES: Final = Condition(
    "a `storage.provider` that has several sets of figures",
    ("storage.provider",),
    lambda scene: (
        not (scene.config.storage.provider in HAVE_NO_VINTAGES or is_profile_path(scene.config.storage.provider))
    ),
)
_IS_REST: Final = all_of(is_("catalog.type", "service"), is_("catalog.service.flavour", "rest"))
_READS_METADATA: Final = Condition(
    '`catalog.table_metadata_inlined = false`, except with `catalog.service.flavour = "rest"`',
    ("catalog.table_metadata_inlined", *_IS_REST.about),
    lambda scene: not scene.config.catalog.table_metadata_inlined and not _IS_REST.holds(scene),
)
_IN_DYNAMODB: Final = Condition(
    '`catalog.service.lock.kind = "dynamodb"`',
    ("catalog.service.lock.kind",),
    lambda s: s.config.catalog.service.lock is None or s.config.catalog.service.lock.kind == "dynamodb",
)
_QUEUES: Final = Condition("`commit_queue`", ("commit_queue",), lambda s: s.value("commit_queue") is not None)
_OF_LOST_ANSWERS: Final = "failures.lost_answer_timeout_ms failures.lost_check_rate failures.status_checks"
_OF_CHECKS: Final = "failures.status_check_wait_ms failures.status_check_wait_max_ms failures.absent_commit"
_OF_ICEBERG: Final = "it belongs to table.format = 'iceberg', and table.format is '{table.format}'"
_OF_TRIES: Final = "failures.throttle_wait_ms failures.throttle_wait_max_ms"

# Which keys speak of one table format. A key of none of them is read by all.
FORMATS: Final = (
    _row(
        "table.metadata_base_bytes table.metadata_bytes_per_snapshot table.snapshots_kept_max "
        "table.manifest_list_base_bytes table.manifest_list_bytes_per_manifest table.manifest_bytes "
        "table.initial_snapshots table.initial_manifests table.format_version commit catalog.table_metadata_inlined "
        "transaction.manifest_list_mode transaction.manifest_list_seal_threshold transaction.manifest_list_entry_size "
        "transaction.conflicting_manifests storage.objects.metadata storage.objects.manifest_list "
        "storage.objects.manifest",
        is_(FORMAT, ICEBERG),
        _OF_ICEBERG,
    ),
    _row(
        "delta storage.objects.commit_file storage.objects.checkpoint storage.objects.last_checkpoint "
        "storage.objects.checksum",
        is_(FORMAT, DELTA),
        "it belongs to table.format = 'delta', and table.format is '{table.format}'",
    ),
)
FORMATS_OF_SOURCES: Final = (
    _row(
        "overwrite rewritten_manifests referenced_files partial_progress retain_last expire_older_than_ms checks "
        "deletes starting_sequence_number commit_path runtime_filter_ms added_rows",
        is_(FORMAT, ICEBERG),
        _OF_ICEBERG,
    ),
)

# Which requests may be sent to which object, ``*`` for all of one; every pair that is not listed is never sent.
REQUESTS: Final = (
    _row("metadata.*", is_("catalog.table_metadata_inlined", False), _INLINED),
    _row("catalog.*", is_("catalog.type", "cas", "append"), f"{_OBJECT} and answers after catalog.latency"),
    _row("log.*", is_("catalog.type", "append"), _LOG),
    _row("manifest.read manifest.write manifest_list.read manifest_list.write", ALWAYS, ""),
    _row("metadata.read metadata.write catalog.read log.append log.head log.cas", ALWAYS, ""),
    _row("manifest.delete manifest_list.delete", is_not("commit.after_success", "none"), _NO_CLEANING),
    _row("manifest_list.head", is_("commit.head", "profile"), _NO_HEAD),
    _row("manifest.head metadata.head", is_("commit.head", "written"), _NO_HEAD),
    _row("manifest_list.append", is_("transaction.manifest_list_mode", "append"), _REWRITTEN_LISTS),
    _row("catalog.cas", is_("catalog.type", "cas"), "only catalog.type = 'cas' swaps a catalog object"),
    _row("commit_file.read commit_file.list checkpoint.read checkpoint.write", ALWAYS, ""),
    _row("last_checkpoint.read last_checkpoint.write", ALWAYS, ""),
    _row(
        "commit_file.create",
        is_("catalog.type", "put_if_absent", "single_driver"),
        "catalog.type = '{catalog.type}' creates no commit file if it is absent",
    ),
    _row(
        "commit_file.write",
        is_("catalog.type", "dynamodb", "service"),
        "catalog.type = '{catalog.type}' creates commit files where they belong",
    ),
    _row(
        "commit_file.head",
        is_("catalog.type", "dynamodb", "single_driver"),
        "catalog.type = '{catalog.type}' does not ask whether a commit file is there",
    ),
    _row("commit_file.delete", is_given("delta.log_retention_ms"), "without delta.log_retention_ms none is sent"),
    _row("checksum.read checksum.write", is_("delta.client", "spark"), "only Delta Spark has checksum files"),
)


def _request_rows() -> Iterator[Reading]:
    """The rows of ``[storage.objects]``; what is said of an operation holds for its refusal too."""
    sent = {key for row in REQUESTS for key in row.keys}
    for name in OBJECTS:
        for key in ObjectLatencies.model_fields:
            operation = key.partition("_")[0]
            place = f"storage.objects.{name}.{key}"
            rows = [row for row in REQUESTS if {f"{name}.*", f"{name}.{operation}"} & set(row.keys)]
            yield from (_row(place, row.when, row.why) for row in rows)
            if f"{name}.{operation}" not in sent:
                yield _row(place, NEVER, f"no {operation} request goes to a {name} object")


READINGS: Final = (
    *FORMATS,
    _row("storage.latency_ms", is_("storage.provider", "constant"), "only storage.provider = 'constant' reads it"),
    _row("storage.vintage", _HAS_VINTAGES, "storage.provider = '{storage.provider}' has one set of figures"),
    _row("storage.T_LOG_ENTRY_READ", is_("catalog.type", "append"), _LOG),
    _row(
        "storage.T_LOG_ENTRY_READ",
        is_("catalog.append_preset", "log"),
        "catalog.append_preset = '{catalog.append_preset}' reads a log as a whole",
        unless=ALWAYS,  # the append design prints it, "unused in current model"; a note says so
    ),
    *_request_rows(),
    _row("catalog.num_groups", is_("catalog.scope", "group"), "only catalog.scope = 'group' has groups"),
    _row(
        "catalog.latency_ms catalog.latency",
        is_("catalog.type", "instant", "service", "dynamodb"),
        "catalog.type = '{catalog.type}' takes its latencies from storage",
    ),
    _row("catalog.object_base_bytes catalog.object_bytes_per_table", is_("catalog.type", "cas", "append"), _OBJECT),
    _row(
        "catalog.refusal_returns_snapshot",
        is_("catalog.type", "instant", "service"),
        "it is the catalog's nature",
        unless=ALWAYS,
    ),
    _row(
        "catalog.append_preset catalog.compaction_threshold catalog.compaction_max_entries catalog.log_entry_size "
        "catalog.physical_attempts_max",
        is_("catalog.type", "append"),
        _LOG,
    ),
    _row("catalog.profile", is_("catalog.type", "service"), "only catalog.type = 'service' is a server with a profile"),
    _row("catalog.service", is_("catalog.type", "service"), "only catalog.type = 'service' is a server"),
    _row(
        "catalog.service.flavour catalog.service.server_retries catalog.service.batch_ms catalog.service.lock",
        is_(FORMAT, ICEBERG),
        _OF_ICEBERG,
    ),
    *(
        _row(f"catalog.service.{key}", is_not(f"catalog.service.{key}", value), _DEFAULT, unless=ALWAYS)
        for key, value in (("reads_metadata", "never"), ("refusal", "retried"), ("idempotency_keys", False))
    ),
    *(
        _row(f"catalog.service.{key}", _IS_REST, "only catalog.service.flavour = 'rest' has it")
        for key in ("reads_metadata", "idempotency_keys")
    ),
    _row(
        "catalog.service.reads_metadata",
        is_("catalog.table_metadata_inlined", False),
        _INLINED,
    ),
    _row(
        "catalog.service.idempotency_keys",
        is_above("failures.lost_answer_rate", 0),
        "no answer is lost at failures.lost_answer_rate = 0",
        unless=is_given("failures.lost_answer_rate"),
    ),
    _row(
        "failures.status_checks failures.absent_commit",
        is_not("catalog.service.idempotency_keys", True),
        "catalog.service.idempotency_keys tells what became of a commit",
    ),
    _row(
        "catalog.service.server_retries",
        _IS_REST,
        "only catalog.service.flavour = 'rest' can rebase a change and try again",
    ),
    _row("catalog.service.rebase", is_not("catalog.service.rebase", "metadata"), _DEFAULT, unless=ALWAYS),
    _row(
        "catalog.service.rebase",
        is_above("catalog.service.server_retries", 0),
        "at catalog.service.server_retries = 0 the server rebases nothing",
    ),
    *(_row(f"catalog.service.lock.{key}", _IN_DYNAMODB, "the lock is Hive's") for key in ("lease_ms", "latency")),
    *(
        _row(key, is_("catalog.partitions.enabled", True), "catalog.partitions.enabled is false")
        for key in ("catalog.partitions.num_partitions", "catalog.partitions.per_table")
    ),
    _row(
        "catalog.partitions.num_partitions",
        is_absent("catalog.partitions.per_table"),
        "catalog.partitions.per_table is given instead",
    ),
    _row("table.format_version", is_not("table.format_version", 2), _DEFAULT, unless=ALWAYS),
    _row(
        "table.data_files",
        is_("conflict.detector", "files"),
        "conflict.detector is '{conflict.detector}'",
        unless=is_("table.data_files", 0),
    ),
    _row("commit.release", is_not("commit.release", RELEASES[-1]), _DEFAULT, unless=ALWAYS),
    _row(
        "commit.release",
        is_("commit.protocol", "iceberg"),
        "commit.protocol is '{commit.protocol}', and releases are Java Iceberg's",
    ),
    _row("commit.min_count_to_merge", is_("commit.merging", "bins", "flush"), "commit.merging is '{commit.merging}'"),
    _row(
        "commit.manifests_per_concurrent_commit",
        is_("commit.merging", "n_behind"),
        "commit.merging is '{commit.merging}'",
    ),
    _row(
        "commit.metadata_read",
        _READS_METADATA,
        "the client reads no metadata object: it is inlined in the catalog, or the server's",
        unless=is_("commit.metadata_read", "as_needed"),
    ),
    _row("commit.history_io", is_not("commit.history", "none"), "commit.history is 'none'"),
    _row(
        "transaction.manifest_list_seal_threshold transaction.manifest_list_entry_size",
        is_("transaction.manifest_list_mode", "append"),
        _REWRITTEN_LISTS,
    ),
    _row(
        "transaction.conflicting_manifests",
        is_("commit.real_conflict", "merge"),
        "commit.real_conflict is 'abort', so nothing is merged",
    ),
    _row("failures.lost_answer_rate", is_above("failures.lost_answer_rate", 0), "it is 0", unless=ALWAYS),
    _row("failures.throttle_rate", is_above("failures.throttle_rate", 0), "it is 0", unless=ALWAYS),
    _row(  # a rate that is written as 0 may be one value of a sweep
        f"{_OF_LOST_ANSWERS} {_OF_CHECKS}",
        is_above("failures.lost_answer_rate", 0),
        "no answer is lost at failures.lost_answer_rate = 0",
        unless=is_given("failures.lost_answer_rate"),
    ),
    _row(
        f"failures.lost_check_rate {_OF_CHECKS}",
        is_above("failures.status_checks", 0),
        "nothing is checked at failures.status_checks = 0",
    ),
    _row(
        f"failures.throttle_tries {_OF_TRIES}",
        is_above("failures.throttle_rate", 0),
        "no request is throttled at failures.throttle_rate = 0",
        unless=is_given("failures.throttle_rate"),
    ),
    _row(_OF_TRIES, is_above("failures.throttle_tries", 1), "nothing is tried again at failures.throttle_tries = 1"),
)

_MERGES: Final = is_("commit.real_conflict", "merge")
_OVERWRITES: Final = does("validated_overwrite")
_READING: Final = ("append_after_read", "merge")  # Delta's, that mind what others add
_NO_OVERWRITE: Final = "operation_types has no validated_overwrite"
_NO_CONFLICT: Final = "no kind in operation_types can have a real conflict"
_REWRITES: Final = any_of(
    does("rewrite_files"), all_of(_OVERWRITES, is_("overwrite", "overwrite_files", "replace_partitions"))
)
_CAN_FAIL: Final = any_of(
    all_of(_OVERWRITES, is_not("overwrite", "replace_partitions")),
    does("rewrite_files", "rewrite_manifests"),
    does(*_READING, "optimize"),
)
_CAN_CONFLICT: Final = any_of(_MERGES, _CAN_FAIL)
_HAS_PAUSE: Final = replace(is_not("retry_backoff.policy", "none"), words="")  # the row after says more
_NAMES_CONFLICT: Final = names("rewrite_files", "rewrite_manifests", "validated_overwrite", *_READING, "optimize")
_IS_DELTA: Final = replace(is_(FORMAT, DELTA), words="")
_IS_ICEBERG: Final = replace(is_(FORMAT, ICEBERG), words="")


def _takes(figure: str) -> Condition:
    policies = [policy for policy, figures in BACKOFF_KEYS.items() if figure in figures]
    return is_("retry_backoff.policy", *policies)


SOURCE_READINGS: Final = (
    *FORMATS_OF_SOURCES,
    _row(
        "isolation read",
        any_of(_IS_ICEBERG, does(*_READING)),
        "operation_types has neither append_after_read nor merge",
        unless=names(*_READING),
    ),
    _row(
        "adds_rows",
        any_of(_IS_ICEBERG, does("merge")),
        "operation_types has no merge",
        unless=any_of(names("merge"), is_("adds_rows", True)),
    ),
    _row("overwrite", _OVERWRITES, _NO_OVERWRITE, unless=names("validated_overwrite")),
    _row("isolation", any_of(_IS_DELTA, _OVERWRITES), _NO_OVERWRITE, unless=names("validated_overwrite")),
    _row(
        "isolation", is_not("delta.client", "delta_rs"), "delta-rs reads no isolation level and minds all added files"
    ),
    _row(
        "referenced_files",
        _OVERWRITES,
        _NO_OVERWRITE,
        unless=any_of(names("validated_overwrite"), is_("referenced_files", True)),
    ),
    _row(
        "referenced_files",
        is_("overwrite", "row_delta"),
        "overwrite is '{overwrite}', not 'row_delta'",
        unless=is_("referenced_files", True),
    ),
    _row("isolation", is_not("overwrite", "replace_partitions"), "overwrite = 'replace_partitions' validates nothing"),
    _row(
        "isolation",
        any_of(is_not("commit.history", "none", "every_kind"), is_not("commit.real_conflict", "merge")),
        "commit.history is '{commit.history}' and commit.real_conflict is 'merge'",
    ),
    _row("adds_rows", is_("adds_rows", False), _DEFAULT, unless=ALWAYS),
    _row("checks", is_not("checks", "all"), _DEFAULT, unless=ALWAYS),
    _row("starting_sequence_number", is_("starting_sequence_number", False), _DEFAULT, unless=ALWAYS),
    _row("commit_path", is_not("commit_path", "table"), _DEFAULT, unless=ALWAYS),
    _row(
        "commit_path",
        all_of(is_("commit.protocol", "iceberg"), is_("commit.base", "refresh"), is_("commit.io", "before_swap")),
        "only Java Iceberg, which refreshes and builds before the swap, commits so",
    ),
    _row("added_rows", is_("added_rows", "apart"), _DEFAULT, unless=ALWAYS),
    _row("added_rows", _OVERWRITES, _NO_OVERWRITE, unless=names("validated_overwrite")),
    _row("added_rows", is_("adds_rows", True), "adds_rows is false"),
    _row("runtime_filter_ms", is_above("runtime_filter_ms", 0), _DEFAULT, unless=ALWAYS),
    _row("runtime_filter_ms", is_("commit.protocol", "iceberg"), "only Spark, with Java Iceberg, filters files so"),
    _row("runtime_filter_ms", _OVERWRITES, _NO_OVERWRITE, unless=names("validated_overwrite")),
    _row(
        "runtime_filter_ms",
        is_("overwrite", "overwrite_files"),
        "overwrite is '{overwrite}', and only 'overwrite_files' (copy-on-write) filters files while it works",
    ),
    _row("commit_path", is_("transaction.manifest_list_mode", "rewrite"), "transaction.manifest_list_mode is 'append'"),
    _row("checks deletes", _OVERWRITES, _NO_OVERWRITE, unless=names("validated_overwrite")),
    _row("read adds_rows", any_of(_IS_DELTA, _OVERWRITES), _NO_OVERWRITE, unless=names("validated_overwrite")),
    _row(
        "read adds_rows checks deletes",
        is_not("overwrite", "replace_partitions"),
        "overwrite = 'replace_partitions' reads nothing, checks nothing and always adds rows",
    ),
    _row(
        "deletes", is_("overwrite", "row_delta"), "overwrite is '{overwrite}', and only 'row_delta' writes delete files"
    ),
    _row("read", is_not("checks", "none"), "checks = 'none' holds it against nothing"),
    _row("read", is_not("conflict.detector", "partition_overlap"), "conflict.detector is 'partition_overlap'"),
    _row("read", is_not("commit.real_conflict", "merge"), "commit.real_conflict is 'merge'"),
    _row(
        "starting_sequence_number",
        does("rewrite_files"),
        "operation_types has no rewrite_files",
        unless=names("rewrite_files"),
    ),
    _row(
        "rewritten_manifests",
        _REWRITES,
        "operation_types has neither rewrite_files nor a validated_overwrite that rewrites manifests "
        "(overwrite = 'row_delta' does not)",
        unless=any_of(names("rewrite_files"), all_of(names("validated_overwrite"), is_not("overwrite", "row_delta"))),
    ),
    _row(
        "retain_last expire_older_than_ms",
        does("expire_snapshots"),
        "operation_types has no expire_snapshots",
        unless=names("expire_snapshots"),
    ),
    _row(
        "real_conflict_probability",
        is_not("conflict.detector", "partition_overlap"),
        "conflict.detector is 'partition_overlap'",
    ),
    _row("real_conflict_probability", is_given("real_conflict_probability"), "it is not given", unless=ALWAYS),
    _row(
        "real_conflict_probability",
        _CAN_CONFLICT,
        _NO_CONFLICT,
        unless=any_of(_NAMES_CONFLICT, is_("real_conflict_probability", 0.0)),
    ),
    _row(
        "touched_files",
        is_("conflict.detector", "files"),
        "conflict.detector is not 'files' (table.data_files makes it so)",
        unless=is_absent("touched_files"),
    ),
    _row(
        "application_retries",
        is_not("commit.real_conflict", "merge"),
        "commit.real_conflict is 'merge', so no txn starts over",
        unless=is_("application_retries", 0),
    ),
    _row(
        "application_retries",
        _CAN_FAIL,
        _NO_CONFLICT,
        unless=any_of(_NAMES_CONFLICT, is_("application_retries", 0)),
    ),
    _row("after_failure.kind", is_not("after_failure.kind", "lost"), _DEFAULT, unless=ALWAYS),
    *(
        _row(f"after_failure.{key}", is_("after_failure.kind", *kinds), "after_failure.kind is '{after_failure.kind}'")
        for key, kinds in (
            ("delay_ms", ["restart"]),
            ("times", ["rerun"]),
            ("pause_ms", ["rerun"]),
            ("unknown", ["carried", "restart"]),
        )
    ),
    _row(
        "gather_every_ms",
        _QUEUES,
        "without commit_queue nobody waits",
        unless=is_absent("gather_every_ms"),
    ),
    _row("tables.one_each", is_("tables.one_each", True), _DEFAULT, unless=ALWAYS),
    _row(
        "tables.count tables.count_zipf tables.count_distribution tables.selection tables.alpha tables.write_fraction",
        is_("tables.one_each", False),
        "tables.one_each gives every client its one table",
    ),
    _row("tables.alpha", is_("tables.selection", "zipf"), "tables.selection is 'uniform'"),
    _row("tables.count", is_absent("tables.count_zipf"), "tables.count_zipf is given instead"),
    _row("tables.count", is_absent("tables.count_distribution"), "tables.count_distribution is given instead"),
    _row(
        "partitions.count", is_absent("partitions.count_distribution"), "partitions.count_distribution is given instead"
    ),
    _row("partitions", is_("catalog.partitions.enabled", True), "catalog.partitions.enabled is false"),
    _row("partitions.alpha", is_("partitions.selection", "zipf"), "partitions.selection is 'uniform'"),
    _row("partitions.selection", is_absent("partitions.weights"), "partitions.weights are given instead"),
    _row("retry_backoff.enabled", NEVER, "the policy says it", unless=ALWAYS),
    *(
        _row(
            f"retry_backoff.{figure}",
            _HAS_PAUSE,
            "there is no backoff (retry_backoff.enabled = true turns it on)",
        )
        for figure in FIGURES
    ),
    *(
        _row(
            f"retry_backoff.{figure}",
            _takes(figure),
            "retry_backoff.policy = '{retry_backoff.policy}' does not take it",
        )
        for figure in FIGURES
    ),
)


def unread_keys(config: SimulationConfig) -> dict[str, Unread]:
    """Dotted keys of every section that have no effect; those of sources are ``unread_source_keys``'s."""
    return _unread(READINGS, Scene(config))


def unread_source_keys(source: SourceConfig, config: SimulationConfig, index: int = 0) -> dict[str, Unread]:
    """Keys of one resolved source that have no effect, dotted from the source."""
    return _unread(SOURCE_READINGS, Scene(config, source, index=index))


def _unread(rows: tuple[Reading, ...], scene: Scene) -> dict[str, Unread]:
    """The first reason of each key; a table that has none needs no reason for what is in it."""
    found: dict[str, Unread] = {}
    for row in rows:
        if row.when.holds(scene):
            continue
        for key in row.keys:
            if key not in found and not any(table in found for table in _tables_of(key)):
                found[key] = Unread(row, scene)
    return found


@cache
def _tables_of(key: str) -> tuple[str, ...]:
    """The tables a dotted key lies in."""
    parts = key.split(".")
    return tuple(".".join(parts[:length]) for length in range(1, len(parts)))


def words_of(key: str, rows: tuple[Reading, ...]) -> str:
    """When a key is read, in words; empty if always. Formats are told by ``keys_of_format``."""
    of_format = (*FORMATS, *FORMATS_OF_SOURCES)
    parts = [row.when.words for row in rows if row not in of_format and key in row.keys and row.unless is not ALWAYS]
    return "; and ".join(dict.fromkeys(part for part in parts if part))


def keys_of_format(name: str) -> tuple[str, ...]:
    """Keys and tables that only this table format reads; those of a source as ``source.<name>.overwrite``."""
    words = is_(FORMAT, name).words
    sections = [key for row in FORMATS if row.when.words == words for key in row.keys]
    return (
        *sections,
        *(f"source.<name>.{key}" for row in FORMATS_OF_SOURCES if row.when.words == words for key in row.keys),
    )
