"""The ``[catalog]`` section: which catalog, how fine its conflicts are, how large its objects."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from endive.config.catalog_profile import DYNAMODB, UNSAID_LATENCY_MS, CatalogName, catalog_profile
from endive.config.sections.distribution import Distribution, Fixed, Spec
from endive.config.values import (
    ICEBERG,
    OFF,
    ON,
    Bytes,
    Count,
    Described,
    Flag,
    ItemBytes,
    LatencyMs,
    Milliseconds,
    Number,
    PositiveBytes,
    PositiveItemBytes,
    Table,
    Whole,
    key,
    only,
    refusal,
)

TABLES_MAX = 100_000
PARTITIONS_MAX = 1_000_000
LOG_COMPACTION_MAX_ENTRIES = 10_000
LOG_PHYSICAL_ATTEMPTS_MAX = 10


def _counts(value: Any) -> Any:
    if not isinstance(value, (list, tuple)) or not value:
        same = " The same number for every table is num_partitions." if type(value) is int else ""
        raise refusal(f"must be a list of whole numbers, one for each table, such as [100, 10].{same}")
    return tuple(value)


PartitionCounts = Annotated[
    tuple[Annotated[int, Whole(1, PARTITIONS_MAX)], ...],
    BeforeValidator(_counts),
    Described("a list of whole numbers, one for each table"),
]


def _names(value: Any) -> Any:
    is_list = isinstance(value, (list, tuple)) and value and all(isinstance(name, str) and name for name in value)
    if not is_list or len(set(value)) < len(value):
        raise refusal("must be a list of different names, one for each table, such as ['orders', 'customers'].")
    return tuple(value)


TableNames = Annotated[
    tuple[str, ...], BeforeValidator(_names), Described("a list of different names, one for each table")
]


# Kind -> first pause, its growth, longest pause. Iceberg 1.9 to 1.11: ``MetastoreLock``, ``LockManagers``.
LOCK_WAITS = {"hive": (50.0, 1.5, 5_000.0), "dynamodb": (5_000.0, 1.0, 5_000.0)}


def _wait(place: int) -> Any:
    return lambda data: LOCK_WAITS[data.get("kind", "hive")][place]


SERVICE = {"catalog.type": ("service",)}
REST = {"catalog.service.flavour": ("rest",)}
LOG = {"catalog.type": ("append",)}


class TableLock(Table):
    """A lock on each table; a client asks for it with its metadata written, and gives it back after the swap."""

    kind: Literal["hive", "dynamodb"] = key(
        "hive",
        "hive: the metastore queues those who ask, and each asks again until it is its turn; dynamodb: "
        "Glue's optional lock manager, which queues nobody: whoever sees the lock held waits out lease_ms, tries to "
        "take it, and pauses.",
    )
    wait_ms: Milliseconds = key(
        _wait(0),
        "Pause before it asks again, at first, plus up to a tenth of it "
        "(`iceberg.hive.lock-check-min-wait-ms`, `lock.acquire-interval-ms`).",
        "50; 5000 with dynamodb",
    )
    multiplier: Annotated[float, Number(1, 1000)] = key(_wait(1), "Growth of the pause.", "1.5; 1 with dynamodb")
    wait_max_ms: Milliseconds = key(_wait(2), "Longest pause (`iceberg.hive.lock-check-max-wait-ms`).", "5000")
    lease_ms: Milliseconds = key(
        15_000.0,
        "Lease of a lock that is held (`lock.heartbeat-timeout-ms`).",
        None,
        {"catalog.service.lock.kind": ("dynamodb",)},
    )
    timeout_ms: Milliseconds = key(
        180_000.0,
        "How long it asks (`iceberg.hive.lock-timeout-ms`, `lock.acquire-timeout-ms`). With hive the "
        "attempt then has failed and is retried, with dynamodb the txn has.",
    )
    latency: Distribution = key(
        lambda: catalog_profile(DYNAMODB).latency,
        "Latency of one request to DynamoDB; Hive's are catalog.latency.",
        "DynamoDB's",
        {"catalog.service.lock.kind": ("dynamodb",)},
    )


class PartitionsConfig(Table):
    """``[catalog.partitions]``."""

    enabled: Flag = key(False, "Whether tables are partitioned.")
    per_table: PartitionCounts | None = key(
        None,
        "Partitions of each table, one number for each, instead of num_partitions.",
        None,
        {"catalog.partitions.enabled": (True,)},
    )
    num_partitions: Annotated[int, Whole(1, PARTITIONS_MAX)] = key(
        lambda data: max(data.get("per_table") or (1,)),
        "Partitions of every table.",
        "1",
        {"catalog.partitions.enabled": (True,)},
        {"catalog.partitions.per_table": OFF},
    )


class ServiceConfig(Table):
    """``[catalog.service]``."""

    workers: Annotated[int, Whole(0, 1_000_000)] = key(
        0, "Requests the server handles at once, the rest queue; 0 = no limit."
    )
    calls_per_s: Annotated[float, Number(0, 1_000_000, is_low_allowed=False)] | None = key(
        None,
        "Calls the service takes per second, as a quota does; the others wait in a queue. Instead of "
        "workers and time: one worker, 1000 / calls_per_s ms for each call.",
        "no limit",
    )
    time: Distribution | None = key(None, "Time a worker spends on one request, on top of catalog.latency.")
    commit_latency: Distribution | None = key(
        None, "Latency of the request that commits, where it differs from catalog.latency.", "catalog.latency"
    )
    server_retries: Annotated[int, Whole(0, 1_000_000)] = key(
        0,
        "Times the server itself tries a refused append again, on the newest base (hypothetical).",
        None,
        ICEBERG,
        REST,
    )
    reads_metadata: Literal["never", "load", "load_and_commit"] = key(
        "never",
        "When a REST server reads metadata.json from the store: never (it serves it from its database, as "
        "Lakekeeper does), whenever a table is loaded, or before every commit too (Polaris).",
        "never; load_and_commit with the profile polaris",
        REST,
        {"catalog.table_metadata_inlined": (False,)},
        implied="never",
    )
    answer_ms_per_mib: Annotated[float, Number(0, 1_000_000, is_low_allowed=False)] | None = key(
        None,
        "Time that a MiB of table metadata takes in a REST server's answer: made, sent, parsed. Answers to "
        "loads, refreshes and commits carry the whole list of snapshots (#18073), so they grow until snapshots expire.",
        "not charged",
        REST,
    )
    load_answer: Literal["snapshots", "refs"] = key(
        "snapshots",
        "What the answer to a load carries: all snapshots, or only those that a branch or tag names "
        "(`snapshot-loading-mode = refs`). Refreshes and commits are answered with all of them either way.",
        None,
        REST,
        {"catalog.service.answer_ms_per_mib": ON},
        implied="snapshots",
    )
    refusal: Literal["retried", "final"] = key(
        "retried",
        "Whether clients try again after a refusal; one that is answered 400 instead of 409 is final (polaris #5138).",
        implied="retried",
    )
    idempotency_keys: Flag = key(
        False,
        "Whether a commit carries a key by which the server knows it again, and is sent again after a lost "
        "answer until one comes back (REST, Iceberg 1.12; 1.11 sends the key but never sends the commit again).",
        None,
        REST,
        {"failures.lost_answer_rate": ON},
        implied=False,
    )
    rolls_back_compactions: Flag = key(
        False,
        "Whether the server takes compactions back that came between a commit and its base, if nothing "
        "else did (Polaris' polaris.config.rollback.compaction.on-conflicts.enabled).",
        None,
        ICEBERG,
        REST,
        implied=False,
    )
    rebase: Literal["metadata", "list"] = key(
        "metadata",
        "What the server rewrites to put an append on another base: its metadata only, as the first "
        "documents have it, or the manifest list too, which it reads, and which every format in use needs.",
        None,
        {"catalog.service.server_retries": ON},
        implied="metadata",
    )
    batch_ms: Annotated[float, Number(0, 3_600_000, is_low_allowed=False)] | None = key(
        None,
        "Interval at whose multiples the server takes all commits to a table that have arrived, rewrites "
        "list and metadata once, and installs every append among them whatever its base (hypothetical).",
        "none: one by one",
        ICEBERG,
    )
    lock: TableLock | None = key(
        None, "The lock a client takes around the look at the pointer and the swap.", None, ICEBERG
    )
    flavour: Literal["pointer", "rest"] = key(
        "pointer",
        "pointer: the client writes the metadata and the server swaps a pointer (Hive, JDBC, "
        "Glue); rest: the server checks before it writes the metadata.",
        None,
        ICEBERG,
    )


DELTA_LOGS = ("put_if_absent", "single_driver", "dynamodb")


def _scope(data: dict[str, Any]) -> Literal["table", "partition", "catalog"]:
    if data.get("type") in ("append", "service", *DELTA_LOGS):
        return "table"
    partitions = data.get("partitions")
    return "partition" if partitions is not None and partitions.enabled else "catalog"


def _groups(data: dict[str, Any]) -> int:
    """Conflict groups the scope implies: one for the catalog, else one per table."""
    return int(data.get("num_tables", 1)) if data.get("scope") in ("table", "partition") else 1


def _latency(data: dict[str, Any]) -> Spec:
    latency_ms, profile = data.get("latency_ms"), data.get("profile")
    if data.get("type") == DYNAMODB:
        profile = DYNAMODB
    if latency_ms is None and profile is not None:
        return catalog_profile(profile).latency
    return Fixed(ms=UNSAID_LATENCY_MS if latency_ms is None else latency_ms)


def _is_log(data: dict[str, Any]) -> bool:
    return bool(data.get("append_preset", "log") == "log")


class CatalogConfig(Table):
    """Where the current version of every table is kept, and how it is replaced."""

    profile: CatalogName | None = key(
        None,
        "A catalog service by name, for its latency and service.flavour; keys that are given go before "
        "it. `endive catalogs` lists them and says how well their latency is known.",
        None,
        SERVICE,
    )
    type: Literal["cas", "append", "instant", "service", "put_if_absent", "single_driver", "dynamodb"] = key(
        lambda data: "cas" if data.get("profile") is None else "service",
        "One object swapped by compare-and-swap; checkpoint and log; a service without storage; "
        "a server with workers; of Delta Lake: a log of numbered objects, the next of which is created if absent, "
        "by one process alone (S3SingleDriverLogStore), or by way of DynamoDB (S3DynamoDBLogStore); with a service, "
        "commits are catalog-managed. `mode` is an alias.",
        "cas; service if a profile is named; put_if_absent with format delta",
    )
    table_names: TableNames | None = key(None, "A name for each table, by which a source's tables.only may call it.")
    num_tables: Annotated[int, Whole(1, TABLES_MAX)] = key(
        lambda data: len(data.get("table_names") or (1,)), "Tables in the catalog.", "1; as many as table_names has"
    )
    partitions: PartitionsConfig = Field(default_factory=lambda: PartitionsConfig())
    scope: Literal["catalog", "group", "table", "partition"] = key(
        _scope,
        "What a commit conflicts with: any commit, one to its group of tables, to its tables, or to its partitions.",
        "catalog; partition if partitions.enabled; table if type is append, service or Delta's",
    )
    num_groups: Annotated[int, Whole(1, TABLES_MAX)] = key(
        _groups,
        "Groups the tables are hashed into; needed with scope = 'group'.",
        "none",
        {"catalog.scope": ("group",)},
    )
    latency_ms: LatencyMs | None = key(
        None,
        "Fixed latency of one request.",
        "1.0; the profile's latency if one is named",
        {"catalog.type": ("instant", "service", "dynamodb")},
    )
    latency: Distribution = key(
        _latency,
        "Latency of one request as a distribution, instead of latency_ms.",
        "the profile's, else fixed at latency_ms",
        {"catalog.type": ("instant", "service", "dynamodb")},
    )
    table_metadata_inlined: Flag = key(
        lambda data: data.get("type") != "service",
        "Whether table metadata lives inside the catalog instead of in an object of its own.",
        "true; false if type is service",
        ICEBERG,
    )
    refusal_returns_snapshot: Flag = key(
        lambda data: data.get("type") in ("instant", "append"),
        "Whether a refused commit carries the current state, which saves a read; always with type append. A refused "
        "swap of a real object store carries none, one of the documents' (protocols spec and merge) does.",
        "true if type is instant or append, or cas with protocol spec or merge; else false",
        {"catalog.type": ("cas", "instant", "service")},
    )
    append_preset: Literal["log", "append_design"] = key(
        "log", "Append catalog as the working implementation does it, or to the letter of the append design.", None, LOG
    )
    compaction_threshold_bytes: PositiveBytes = key(16_000_000, "Bytes of log after which it is sealed.", None, LOG)
    compaction_max_entries: Count = key(
        lambda data: LOG_COMPACTION_MAX_ENTRIES if _is_log(data) else 0,
        "Entries after which the log is sealed, 0 = no limit.",
        "10000; 0 with append_preset append_design",
        LOG,
    )
    log_entry_bytes: PositiveItemBytes = key(100, "Bytes of one intention record.", None, LOG)
    physical_attempts_max: Count = key(
        lambda data: LOG_PHYSICAL_ATTEMPTS_MAX if _is_log(data) else 0,
        "Appends tried at new offsets within one attempt, 0 = no limit.",
        "10; 0 with append_preset append_design",
        LOG,
    )
    service: ServiceConfig = Field(default_factory=lambda: ServiceConfig(), json_schema_extra=only(SERVICE))
    object_base_bytes: Bytes = key(1000, "Bytes of an empty catalog object.", None, {"catalog.type": ("cas", "append")})
    object_bytes_per_table: ItemBytes = key(
        200, "Bytes each table adds to the catalog object.", None, {"catalog.type": ("cas", "append")}
    )
