"""The ``[delta]`` section: which client of Delta Lake commits, how its log is kept, how large its files are."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from endive.config.values import Bytes, Count, ItemBytes, Milliseconds, Table, Whole, key

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
