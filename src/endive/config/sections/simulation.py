"""The short sections: ``[simulation]``, ``[experiment]``, ``[table]``, ``[conflict]``, ``[delta]``, ``[failures]``."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from endive.config.values import (
    DURATION_MS_MAX,
    ICEBERG,
    ON,
    SEED,
    Bytes,
    Count,
    ItemBytes,
    Milliseconds,
    Number,
    PathBelow,
    PositiveLatencyMs,
    Probability,
    Table,
    Text,
    Whole,
    key,
)

MARGIN_MS_MAX = 900_000.0  # experiment plan: min(900 s, T/4) at either end
TICK_MS = 0.001
DATA_FILES_MAX = 100_000_000


def margin_ms(duration_ms: float) -> float:
    """What is not measured at either end of a run."""
    return min(MARGIN_MS_MAX, duration_ms / 4.0)


def _margin(data: dict[str, Any]) -> float:
    return margin_ms(float(data.get("duration_ms", 0.0)))


class SimulationSection(Table):
    """How long, with which seed, and which part of it is measured."""

    duration_ms: Annotated[float, Number(TICK_MS, ceiling=DURATION_MS_MAX, unit="milliseconds")] = key(
        3_600_000.0, "Simulated time."
    )
    seed: Annotated[int, SEED] = key(42, "Names the random draws of the run.")
    model: Literal["measured", "documents"] = key(
        "measured",
        "measured: protocols and latencies as recorded from real systems; documents: those of the original documents "
        '(`commit.protocol = "spec"`, `storage.vintage = "original"`, 10 retries, no backoff unless it is enabled, '
        "no time limit, at least 1 ms for every latency). Keys that are given go before it.",
        implied="measured",
    )
    output_path: Annotated[str, PathBelow()] | None = key(
        None, "A file for the run's rows, below `--out`, or below the current folder without it."
    )
    warmup_ms: Milliseconds = key(
        _margin, "Txns submitted before this time are not measured.", "min(900000, duration_ms / 4)"
    )
    cooldown_ms: Milliseconds = key(
        _margin, "Txns submitted in this much time before the end are not measured.", "min(900000, duration_ms / 4)"
    )


class ExperimentSection(Table):
    """What to call the run."""

    label: Text | None = key(None, "A name for people; changes no result.")


class TableConfig(Table):
    """The format of the tables, sizes of their objects, and how they grow."""

    format: Literal["iceberg", "delta"] = key(
        "iceberg", "Table format: Apache Iceberg or Delta Lake. Each has keys of its own."
    )
    metadata_base_bytes: Bytes = key(5000, "Table metadata without snapshots.", None, ICEBERG)
    metadata_bytes_per_snapshot: ItemBytes = key(
        730, "Added per snapshot kept (measured on Iceberg 1.9).", None, ICEBERG
    )
    snapshots_kept_max: Count = key(0, "Snapshots the metadata keeps; 0 = all.", None, ICEBERG)
    manifest_list_base_bytes: Bytes = key(2000, "A manifest list without entries.", None, ICEBERG)
    manifest_list_bytes_per_manifest: ItemBytes = key(
        41, "Added per manifest (measured on Iceberg 1.9).", None, ICEBERG
    )
    manifest_bytes: ItemBytes = key(8000, "One manifest.", None, ICEBERG)
    initial_snapshots: Count = key(0, "Snapshots every table has at the start.", None, ICEBERG)
    initial_manifests: Count = key(0, "Manifests every table has at the start.", None, ICEBERG)
    format_version: Annotated[int, Whole(2, 3)] = key(
        2,
        "Iceberg's format version; with 3, row deltas write deletion vectors, one per data file.",
        None,
        ICEBERG,
        implied=2,
    )
    data_files: Annotated[int, Whole(0, DATA_FILES_MAX)] = key(
        0,
        "Data files of every table, spread evenly over its partitions; 0 = not said. With "
        "transaction.touched_files it decides which operations meet.",
        None,
        {"conflict.detector": ("files",)},
    )


class ConflictConfig(Table):
    """How a real conflict (overlapping data) is told from a false one."""

    detector: Literal["probabilistic", "partition_overlap", "files"] = key(
        "probabilistic",
        "By transaction.real_conflict_probability, by the partitions rivals wrote since, or by the data "
        "files both touch (table.data_files).",
        "files if table.data_files is given, else probabilistic",
    )


# ---- [delta] --------------------------------------------------------------------------------------------

CHECKPOINT_INTERVALS: Final = {"spark": 10, "delta_rs": 100}
LOG_REPLAY_MS: Final = {"spark": 350.0, "delta_rs": 0.0}  # docs/validation/delta.md, a lone writer of Delta Spark
RETRIES: Final = {"spark": 9_999_999, "delta_rs": 15}  # after the first attempt
INTERVAL_MAX: Final = 1_000_000


class DeltaConfig(Table):
    """How tables in Delta Lake are committed to; only with `table.format = "delta"`."""

    client: Literal["spark", "delta_rs"] = key(
        "spark",
        "Whose commits: Delta Spark's (creates the next commit file at once; after a lost race lists the "
        "log, reads the winners one after another, tries again without a pause, up to ten million times) or delta-rs's "
        "(lists the log before each of at most 16 attempts, and brings its table up to date before it tries again).",
    )
    checkpoint_interval: Annotated[int, Whole(1, INTERVAL_MAX)] = key(
        lambda data: CHECKPOINT_INTERVALS[data.get("client", "spark")],
        "Commits from one checkpoint to the next (`delta.checkpointInterval`).",
        "10; 100 with client delta_rs",
    )
    log_retention_ms: Milliseconds | None = key(
        None,
        "Commit files older than this are deleted after a checkpoint (`delta.logRetentionDuration`, 30 "
        "days unless it is set). A txn that still has to look into one of them fails.",
        "none: longer than the run",
    )
    log_replay_ms: Milliseconds = key(
        lambda data: LOG_REPLAY_MS[data.get("client", "spark")],
        "What the client works each time it has read the log, before it goes on. It grows with the table's "
        "files; on a table of few a job of local Spark takes 350 ms on two cores, delta-rs 4 to 6 ms.",
        "350; 0 with client delta_rs",
    )
    initial_version: Count = key(0, "Commits every table has at the start.")
    commit_bytes: ItemBytes = key(2_000, "One commit file.")
    checkpoint_base_bytes: Bytes = key(15_000, "A checkpoint of an empty table.")
    checkpoint_bytes_per_commit: ItemBytes = key(100, "Added to the checkpoint per commit.")


# ---- [failures] -----------------------------------------------------------------------------------------

CHECKS_MAX = 100
TRIES_MAX = 100


LOST: Final = {"failures.lost_answer_rate": ON}
CHECKED: Final = {"failures.status_checks": ON}
NO_KEYS: Final = {"catalog.service.idempotency_keys": (False,)}
THROTTLED: Final = {"failures.throttle_rate": ON}


class FailuresConfig(Table):
    """Commit requests whose answer is lost after the server has evaluated them, and storage requests that the store
    throttles before it does. Off unless a rate is given.
    """

    lost_answer_rate: Probability = key(
        0.0, "Share of commit requests whose answer never arrives. The server has evaluated them.", implied=0.0
    )
    lost_answer_timeout_ms: PositiveLatencyMs = key(
        60_000.0,
        "How long a client waits for an answer before it gives up; the default is the idle timeout of an "
        "AWS load balancer.",
        None,
        LOST,
    )
    lost_check_rate: Probability = key(
        0.0, "Share of the status checks after a lost answer whose own answer is lost too.", None, LOST, CHECKED
    )
    status_checks: Annotated[int, Whole(0, CHECKS_MAX)] = key(
        4,
        "Checks whether the commit is in the history, until one is answered: one and Iceberg's three "
        "retries (commit.status-check.num-retries). 0 = none, as PyIceberg and Iceberg's REST client up to 1.10.",
        None,
        LOST,
        NO_KEYS,
    )
    status_check_wait_ms: PositiveLatencyMs = key(
        1_000.0,
        "Wait before the second check, doubled from one to the next, plus up to 10 % "
        "(commit.status-check.min-wait-ms).",
        None,
        LOST,
        CHECKED,
    )
    status_check_wait_max_ms: PositiveLatencyMs = key(
        60_000.0, "Longest such wait (commit.status-check.max-wait-ms).", None, LOST, CHECKED
    )
    absent_commit: Literal["retry", "unknown"] = key(
        "retry",
        "A check that does not find the commit means that it was refused, and the txn retries; or that "
        "its state is unknown, as in recent versions of Iceberg, and the txn ends.",
        None,
        LOST,
        CHECKED,
        NO_KEYS,
    )
    throttle_rate: Probability = key(
        0.0,
        "Share of the tries of a storage request that the store answers with 503 Slow Down. The client's "
        "SDK waits and tries again; a catalog service's own requests are not throttled.",
        implied=0.0,
    )
    throttle_tries: Annotated[int, Whole(1, TRIES_MAX)] = key(
        3,
        "Tries of one request, the first included, before the txn fails (storage_failed). 3 is the "
        "standard mode of the AWS SDKs (max_attempts); Iceberg's S3FileIO since 1.7 has 6 (s3.retry.num-retries = 5).",
        None,
        THROTTLED,
    )
    throttle_wait_ms: PositiveLatencyMs = key(
        1_000.0,
        "Longest wait before the second try, doubled from one try to the next; the wait is a uniform share "
        "of it. 1 s in the standard mode of the AWS SDKs, 2 s in S3FileIO (s3.retry.min-wait-ms).",
        None,
        THROTTLED,
    )
    throttle_wait_max_ms: PositiveLatencyMs = key(
        20_000.0,
        "Longest such wait at any try: 20 s in the AWS SDKs and in S3FileIO (s3.retry.max-wait-ms).",
        None,
        THROTTLED,
    )
