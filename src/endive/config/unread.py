"""Which keys nothing reads in a given combination of choices, and why.

This file defines the answer for every key, once: the loader refuses such a key when it is given, and the plain form
leaves it out. Choices decide, not magnitudes: a weight of zero that is written refuses no key that a sweep
over that weight needs (such keys are tolerated: not refused, but left out of the plain form).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from endive.config.arrivals import Trace
from endive.config.capabilities import HAVE_NO_VINTAGES, is_profile_path
from endive.config.storage import OBJECTS, ObjectLatencies
from endive.config.transaction import BACKOFF_KEYS, SourceConfig

if TYPE_CHECKING:
    from endive.config.simulation_config import SimulationConfig

APPEND_KEYS = (
    "append_preset",
    "compaction_threshold",
    "compaction_max_entries",
    "log_entry_size",
    "physical_attempts_max",
)


THROTTLE_KEYS = ("throttle_tries", "throttle_wait_ms", "throttle_wait_max_ms")


@dataclass(frozen=True, slots=True)
class Unread:
    """Why a key is not read: the end of a sentence, and the keys it rests on."""

    because: str
    about: tuple[str, ...]
    is_tolerated: bool = False


def unread_keys(config: SimulationConfig) -> dict[str, Unread]:
    """Dotted keys of every section that nothing reads; those of sources are ``unread_source_keys``'s."""
    return {
        **_unread_storage(config),
        **_unread_objects(config),
        **_unread_catalog(config),
        **_unread_commit(config),
        **_unread_table(config),
        **_unread_transaction(config),
        **_unread_failures(config),
    }


def _unread_storage(config: SimulationConfig) -> dict[str, Unread]:
    found: dict[str, Unread] = {}
    storage, catalog = config.storage, config.catalog
    by_provider = ("storage.provider",)
    if storage.provider != "constant":
        found["storage.latency_ms"] = Unread("only storage.provider = 'constant' reads it", by_provider)
    if storage.provider in HAVE_NO_VINTAGES or is_profile_path(storage.provider):
        found["storage.vintage"] = Unread(
            f"storage.provider = '{storage.provider}' has one set of figures", by_provider
        )
    by_type = ("catalog.type",)
    if catalog.type != "cas":
        found["storage.T_CAS"] = Unread("only catalog.type = 'cas' swaps a catalog object", by_type)
    if catalog.type in ("instant", "service"):
        found["storage.T_METADATA_ROOT"] = Unread(
            f"catalog.type = '{catalog.type}' answers reads itself, after catalog.latency", by_type
        )
    if catalog.type != "append":
        for key in ("T_LOG_ENTRY_READ", "T_COMPACTION"):
            found[f"storage.{key}"] = Unread("only catalog.type = 'append' has a log", by_type)
        if config.transaction.manifest_list_mode != "append":
            found["storage.T_APPEND"] = Unread(
                "neither catalog.type nor transaction.manifest_list_mode is 'append'",
                ("catalog.type", "transaction.manifest_list_mode"),
            )
    if catalog.table_metadata_inlined:
        # The append design prints these figures beside table_metadata_inlined = true.
        found["storage.T_TABLE_METADATA"] = Unread("metadata is inlined", by_type, is_tolerated=True)
    return found


def _unread_objects(config: SimulationConfig) -> dict[str, Unread]:
    """Overrides of ``[storage.objects]`` for requests that are never sent."""
    found: dict[str, Unread] = {}
    about = (
        "catalog.type",
        "catalog.table_metadata_inlined",
        "transaction.manifest_list_mode",
        "commit.head",
        "commit.after_success",
        "commit.protocol",
    )
    absent = {
        "catalog": f"catalog.type = '{config.catalog.type}' keeps no object on storage",
        "metadata": "table metadata is inlined in the catalog (catalog.table_metadata_inlined)",
        "log": "only catalog.type = 'append' has a log",
    }
    for name, operations in _requests(config).items():
        prefix = f"storage.objects.{name}"
        if not operations:
            found[prefix] = Unread(absent[name], about)
            continue
        for key in ObjectLatencies.model_fields:
            operation = key.partition("_")[0]
            if operation not in operations:
                found[f"{prefix}.{key}"] = Unread(f"no {operation} request goes to a {name} object here", about)
    return found


def _requests(config: SimulationConfig) -> dict[str, set[str]]:
    """Which operations may be sent to which object."""
    kind, commit = config.catalog.type, config.commit
    requests: dict[str, set[str]] = {name: set() for name in OBJECTS}
    requests["manifest"] = {"read", "write"}
    requests["manifest_list"] = {"read", "write"}
    if commit.after_success != "none":  # what lost attempts wrote is deleted
        requests["manifest"].add("delete")
        requests["manifest_list"].add("delete")
    if commit.head == "profile":
        requests["manifest_list"].add("head")
    if config.transaction.manifest_list_mode == "append":
        requests["manifest_list"].add("append")
    if not config.catalog.table_metadata_inlined:
        requests["metadata"] = {"read", "write"}
    if commit.head == "written":
        requests["manifest"].add("head")
        if not config.catalog.table_metadata_inlined:
            requests["metadata"].add("head")
    if kind == "cas":
        requests["catalog"] = {"read", "cas"}
    elif kind == "append":
        requests["catalog"] = {"read"}
        requests["log"] = {"append", "head", "cas"}
    return requests


def _unread_catalog(config: SimulationConfig) -> dict[str, Unread]:
    found: dict[str, Unread] = {}
    catalog = config.catalog
    by_type = ("catalog.type",)
    if catalog.scope != "group":
        found["catalog.num_groups"] = Unread(
            "only catalog.scope = 'group' has groups", ("catalog.scope", "catalog.type")
        )
    if catalog.type in ("cas", "append"):
        for key in ("latency_ms", "latency"):
            found[f"catalog.{key}"] = Unread(
                f"catalog.type = '{catalog.type}' takes its latencies from storage", by_type
            )
    else:
        for key in ("object_base_bytes", "object_bytes_per_table"):
            found[f"catalog.{key}"] = Unread(f"catalog.type = '{catalog.type}' keeps no object on storage", by_type)
    if catalog.type in ("cas", "append"):
        found["catalog.refusal_returns_snapshot"] = Unread("it is the catalog's nature", by_type, is_tolerated=True)
    if catalog.type != "append":
        for key in APPEND_KEYS:
            found[f"catalog.{key}"] = Unread("only catalog.type = 'append' has a log", by_type)
    if catalog.type != "service":
        found["catalog.profile"] = Unread("only catalog.type = 'service' is a server with a profile", by_type)
        found["catalog.service"] = Unread("only catalog.type = 'service' is a server", by_type)
    elif catalog.service.flavour != "rest":
        found["catalog.service.server_retries"] = Unread(
            "only catalog.service.flavour = 'rest' can rebase a change and try again",
            ("catalog.type", "catalog.service.flavour"),
        )
    if not catalog.partitions.enabled:
        found["catalog.partitions.num_partitions"] = Unread(
            "catalog.partitions.enabled is false", ("catalog.partitions.enabled",)
        )
    return found


def _unread_commit(config: SimulationConfig) -> dict[str, Unread]:
    found: dict[str, Unread] = {}
    commit = config.commit
    by_merging = ("commit.merging", "commit.protocol")
    if commit.merging != "bins":
        found["commit.min_count_to_merge"] = Unread(f"commit.merging is '{commit.merging}'", by_merging)
    if commit.merging != "n_behind":
        found["commit.manifests_per_concurrent_commit"] = Unread(f"commit.merging is '{commit.merging}'", by_merging)
    if config.catalog.table_metadata_inlined or _is_rest(config):
        found["commit.metadata_read"] = Unread(
            "the client reads no metadata object: it is inlined in the catalog, or the server's",
            ("catalog.table_metadata_inlined", "catalog.type", "catalog.service.flavour"),
            is_tolerated=commit.metadata_read == "as_needed",
        )
    if commit.history == "none":
        found["commit.history_io"] = Unread("commit.history is 'none'", ("commit.history", "commit.protocol"))
    return found


def _unread_table(config: SimulationConfig) -> dict[str, Unread]:
    if config.conflict.detector == "files":
        return {}
    about = ("conflict.detector",)
    is_tolerated = config.table.data_files == 0
    return {"table.data_files": Unread(f"conflict.detector is '{config.conflict.detector}'", about, is_tolerated)}


def _unread_transaction(config: SimulationConfig) -> dict[str, Unread]:
    found: dict[str, Unread] = {}
    if config.transaction.manifest_list_mode == "rewrite":
        for key in ("manifest_list_seal_threshold", "manifest_list_entry_size"):
            found[f"transaction.{key}"] = Unread(
                "transaction.manifest_list_mode is 'rewrite'", ("transaction.manifest_list_mode",)
            )
    if config.commit.real_conflict != "merge":
        found["transaction.conflicting_manifests"] = Unread(
            "commit.real_conflict is 'abort', so nothing is merged",
            ("commit.real_conflict", "commit.protocol"),
        )
    return found


def _unread_failures(config: SimulationConfig) -> dict[str, Unread]:
    failures = config.failures
    keys = [key for key in type(failures).model_fields if not key.startswith("throttle_")]
    found = {
        **_off_at_zero(config, "lost_answer_rate", "no answer is lost", keys),
        **_off_at_zero(config, "throttle_rate", "no request is throttled", THROTTLE_KEYS),
    }
    if failures.lost_answer_rate > 0.0 and failures.status_checks == 0:
        unread = Unread("nothing is checked at failures.status_checks = 0", ("failures.status_checks",))
        read = ("lost_answer_rate", "lost_answer_timeout_ms", "status_checks")
        found |= {f"failures.{key}": unread for key in keys if key not in read}
    if failures.throttle_rate > 0.0 and failures.throttle_tries == 1:
        unread = Unread("nothing is tried again at failures.throttle_tries = 1", ("failures.throttle_tries",))
        found |= {f"failures.{key}": unread for key in ("throttle_wait_ms", "throttle_wait_max_ms")}
    return found


def _off_at_zero(config: SimulationConfig, rate: str, what: str, keys: Iterable[str]) -> dict[str, Unread]:
    """Nothing fails at a rate of 0; a rate that is written as 0 may be one value of a sweep."""
    if getattr(config.failures, rate) > 0.0:
        return {}
    is_tolerated = rate in config.failures.model_fields_set
    unread = Unread(f"{what} at failures.{rate} = 0", (f"failures.{rate}",), is_tolerated)
    return {f"failures.{key}": unread for key in keys} | {f"failures.{rate}": Unread("it is 0", (), is_tolerated=True)}


def _is_rest(config: SimulationConfig) -> bool:
    return config.catalog.type == "service" and config.catalog.service.flavour == "rest"


def unread_source_keys(source: SourceConfig, config: SimulationConfig) -> dict[str, Unread]:
    """Keys of one resolved source that nothing reads, dotted from the source."""
    return {
        **_unread_by_kinds(source, config),
        **_unread_conflicts(source, config),
        **_unread_choices(source, config),
        **_unread_backoff(source),
    }


def _unread_by_kinds(source: SourceConfig, config: SimulationConfig) -> dict[str, Unread]:
    """Keys that only some kinds of operation read. A weight of 0 that is written counts as tolerated."""
    found: dict[str, Unread] = {}
    weights, commit = source.operation_types, config.commit
    named = weights.model_fields_set
    can_overwrite, can_rewrite = _can_do(source, "validated_overwrite"), _can_do(source, "rewrite_files")
    about = ("operation_types", "overwrite", "commit.history", "commit.real_conflict", "commit.protocol")
    if not can_overwrite:
        is_named = "validated_overwrite" in named
        because = "operation_types has no validated_overwrite"
        found["overwrite"] = Unread(because, about, is_tolerated=is_named)
        found["isolation"] = Unread(because, about, is_tolerated=is_named)
        found["referenced_files"] = Unread(because, about, is_tolerated=is_named or source.referenced_files)
    elif source.overwrite == "replace_partitions":
        found["isolation"] = Unread("overwrite = 'replace_partitions' validates nothing", about)
    elif commit.history in ("none", "every_kind") and commit.real_conflict == "merge":
        found["isolation"] = Unread(f"commit.history is '{commit.history}' and commit.real_conflict is 'merge'", about)
    if can_overwrite and source.overwrite != "row_delta":
        because = f"overwrite is '{source.overwrite}', not 'row_delta'"
        found["referenced_files"] = Unread(because, about, is_tolerated=source.referenced_files)
    is_removing = can_rewrite or (can_overwrite and source.overwrite != "row_delta")
    if not is_removing:
        is_named = "rewrite_files" in named or ("validated_overwrite" in named and source.overwrite != "row_delta")
        found["rewritten_manifests"] = Unread(
            "operation_types has neither rewrite_files nor a validated_overwrite that rewrites manifests "
            "(overwrite = 'row_delta' does not)",
            about,
            is_tolerated=is_named,
        )
    if not _can_do(source, "expire_snapshots"):
        for key in ("retain_last", "expire_older_than_ms"):
            is_tolerated = "expire_snapshots" in named or getattr(source, key) is None
            found[key] = Unread("operation_types has no expire_snapshots", about, is_tolerated=is_tolerated)
    return found


def _can_do(source: SourceConfig, kind: str) -> bool:
    """Whether a source may submit this kind: by its weights, or because a trace may name it."""
    return isinstance(source.arrivals, Trace) or getattr(source.operation_types, kind) > 0.0


def _unread_conflicts(source: SourceConfig, config: SimulationConfig) -> dict[str, Unread]:
    """Keys of real conflicts, where none can happen."""
    found: dict[str, Unread] = {}
    weights = source.operation_types
    about = ("operation_types", "overwrite", "commit.real_conflict", "commit.protocol", "conflict.detector")
    is_merging = config.commit.real_conflict == "merge"
    can_validate = _can_do(source, "validated_overwrite") and source.overwrite != "replace_partitions"
    is_rewriting = _can_do(source, "rewrite_files") or _can_do(source, "rewrite_manifests")
    can_conflict = is_merging or can_validate or is_rewriting
    is_named = bool({"rewrite_files", "rewrite_manifests", "validated_overwrite"} & weights.model_fields_set)
    if config.conflict.detector == "partition_overlap":
        found["real_conflict_probability"] = Unread("conflict.detector is 'partition_overlap'", about)
    elif not source.has_own_probability:
        found["real_conflict_probability"] = Unread("it is not given", about, is_tolerated=True)
    elif not can_conflict:
        found["real_conflict_probability"] = Unread(
            "no kind in operation_types can have a real conflict",
            about,
            is_tolerated=is_named or source.real_conflict_probability == 0.0,
        )
    if config.conflict.detector != "files":
        found["touched_files"] = Unread(
            "conflict.detector is not 'files' (table.data_files makes it so)",
            ("conflict.detector", "table.data_files"),
            is_tolerated=source.touched_files is None,
        )
    if is_merging:
        found["application_retries"] = Unread(
            "commit.real_conflict is 'merge', so no txn starts over", about, source.application_retries == 0
        )
    elif not can_conflict:
        found["application_retries"] = Unread(
            "no kind in operation_types can have a real conflict",
            about,
            is_tolerated=is_named or source.application_retries == 0,
        )
    return found


def _unread_choices(source: SourceConfig, config: SimulationConfig) -> dict[str, Unread]:
    found: dict[str, Unread] = {}
    if source.tables.selection != "zipf":
        found["tables.alpha"] = Unread("tables.selection is 'uniform'", ("tables.selection",))
    if source.tables.count_zipf is not None:
        found["tables.count"] = Unread("tables.count_zipf is given instead", ("tables.count_zipf",))
    if not config.catalog.partitions.enabled:
        found["partitions"] = Unread("catalog.partitions.enabled is false", ("catalog.partitions.enabled",))
    elif source.partitions.selection != "zipf":
        found["partitions.alpha"] = Unread("partitions.selection is 'uniform'", ("partitions.selection",))
    return found


def _unread_backoff(source: SourceConfig) -> dict[str, Unread]:
    found: dict[str, Unread] = {}
    policy = source.retry_backoff.policy
    about = ("retry_backoff.policy", "retry_backoff.enabled", "commit.protocol")
    found["retry_backoff.enabled"] = Unread("the policy says it", about, is_tolerated=True)
    because = f"retry_backoff.policy = '{policy}' does not take it"
    if policy == "none":
        because = "there is no backoff (retry_backoff.enabled = true turns it on)"
    for key in ("base_ms", "multiplier", "max_ms", "jitter"):
        if key not in BACKOFF_KEYS[policy]:
            found[f"retry_backoff.{key}"] = Unread(because, about)
    return found
