"""``[[source]]`` and the ``[transaction]`` section: what txns do, how many, and how they try again.

A key of a source that ``[transaction]`` gives is moved into every source that does not give its own
(``endive.config.reading.spellings``); what is left there holds for all of them alike.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, field_validator, model_validator

from endive.config.sections.arrivals import Arrivals
from endive.config.sections.choices import CountTable, ExponentialCount, PartitionChoice, TableChoice, TouchedFiles
from endive.config.sections.distribution import Distribution, Spec, spell_out
from endive.config.sections.retries import AfterFailure, Aftermath, RetryBackoff
from endive.config.values import (
    ICEBERG,
    ON,
    Bytes,
    Count,
    Flag,
    Forms,
    LatencyMs,
    Milliseconds,
    Number,
    PositiveItemBytes,
    PositiveLatencyMs,
    Probability,
    Sigma,
    SourceName,
    Table,
    Weight,
    Whole,
    Words,
    key,
    refusal,
)
from endive.objectives.duration import parse_duration_ms
from endive.vocabulary import KINDS

RETRIES_MAX = 10_000_000  # attempts of Delta Spark
RESTARTS_MAX = 1_000_000
RUNTIME_EXAMPLES = '{mean_ms = 180000, sigma = 1.5} or {distribution = "fixed", ms = 1.0}, or a time such as "20min"'
RETAINED_MAX = 1_000_000_000
COMMITS_PER_JOB_MAX = 1_000


class OperationTypes(Table):
    """Weights of the kinds of operation; only their proportions matter."""

    fast_append: Weight = key(0.0, "Appends that never merge manifests.", "1.0 if the table is not given, else 0.0")
    merge_append: Weight = key(0.0, "Appends that merge manifests.")
    validated_overwrite: Weight = key(0.0, "Overwrites that validate against rivals (DELETE, UPDATE, MERGE).")
    rewrite_files: Weight = key(0.0, "Compactions.")
    rewrite_manifests: Weight = key(0.0, "Rewrites of every manifest a table has.")
    expire_snapshots: Weight = key(0.0, "Expiry of old snapshots; retain_last and expire_older_than_ms say which.")
    blind_append: Weight = key(
        0.0, "Delta: appends that have read nothing.", "1.0 if the table is not given and the format is delta, else 0.0"
    )
    append_after_read: Weight = key(0.0, "Delta: appends of what was read from the table itself.")
    merge: Weight = key(0.0, "Delta: MERGE, UPDATE and DELETE, copy-on-write or with deletion vectors.")
    optimize: Weight = key(0.0, "Delta: compactions.")

    @model_validator(mode="after")
    def _has_weight(self) -> Self:
        if not any(getattr(self, kind) for kind in KINDS):
            raise refusal("has no weight above 0. Give at least one.", shows_value=False)
        return self


class ShortRuntime(Spec):
    """``{mean_ms, sigma, min_ms}``: a lognormal by its true mean, shifted by a minimum."""

    mean_ms: PositiveLatencyMs = key(180_000.0, "True mean, min_ms included.")
    sigma: Sigma = key(1.5, "Standard deviation of the logarithm.")
    min_ms: LatencyMs = key(30_000.0, "No txn runs shorter than this.")

    @model_validator(mode="after")
    def _lies_above_its_minimum(self) -> Self:
        if self.mean_ms <= self.min_ms:
            hint = "" if "min_ms" in self.model_fields_set else ", its default. Give min_ms too, for example 0"
            raise refusal(f"must be greater than min_ms = {self.min_ms}{hint}.", key="mean_ms")
        return self

    def to_table(self) -> dict[str, Any]:
        return {"distribution": "lognormal", "mean_ms": self.mean_ms, "sigma": self.sigma, "shift_ms": self.min_ms}


def _table_of(value: Any) -> Any:
    """A time as text is always that long."""
    milliseconds = parse_duration_ms(value) if isinstance(value, str) else None
    if milliseconds is not None:
        return {"distribution": "fixed", "ms": milliseconds}
    if not isinstance(value, (dict, Table)):
        raise refusal(f"must be a table such as {RUNTIME_EXAMPLES}.")
    return value


_RUNTIME_FORMS = Annotated[
    Annotated[ShortRuntime, Tag("<short>")] | Annotated[Distribution, Tag("<table>")],
    Discriminator(lambda value: "<short>" if isinstance(value, dict) and "distribution" not in value else "<table>"),
    BeforeValidator(_table_of),
    AfterValidator(spell_out),
]
Runtime = Annotated[
    Spec, Forms('`{mean_ms, sigma, min_ms}`, a distribution table, or a time such as `"20min"`', _RUNTIME_FORMS)
]


class PartialProgress(Table):
    """One job, several commits (Iceberg: `partial-progress.enabled`)."""

    commits: Annotated[int, Whole(1, COMMITS_PER_JOB_MAX)] = key(
        10, "Commits of a job, over groups of files that share none (`partial-progress.max-commits`)."
    )
    threads: Annotated[int, Whole(1, COMMITS_PER_JOB_MAX)] = key(
        5, "Groups rewritten at a time, each committed by its thread (`max-concurrent-file-group-rewrites`)."
    )


OVERWRITES = {"operation_types": ("validated_overwrite",)}
# An INSERT OVERWRITE of partitions checks nothing unless its writer asks for it.
CHECKED = {"overwrite": ("row_delta", "overwrite_files"), "checks": ("partitions",)}
OTHER_CONFLICTS = ("rewrite_files", "rewrite_manifests", "append_after_read", "merge", "optimize")
MAY_CONFLICT = ("validated_overwrite", *OTHER_CONFLICTS)
CAN_CONFLICT = {"operation_types": MAY_CONFLICT}
OVERWRITE_CHECKED = {"operation_types": OTHER_CONFLICTS, **CHECKED}


class SourceKeys(Table):
    """Keys of a source that ``[transaction]`` may give for all of them."""

    operation_types: OperationTypes = key(
        OperationTypes(fast_append=1.0),
        "Weights of the kinds of operation; fast_append = 1.0 if the table is not given.",
    )
    runtime: Runtime = key(
        spell_out(ShortRuntime()),
        "Time a txn works before it commits: a lognormal by its mean, a distribution, or one time for all.",
    )
    tables: TableChoice = key(TableChoice(), "Choice of tables.")
    partitions: PartitionChoice = key(
        PartitionChoice(), "Choice of partitions.", None, {"catalog.partitions.enabled": (True,)}
    )
    keeps_table: Flag = key(
        False,
        "Whether a client loads its table once and keeps it from one commit to the next, as a streaming "
        "job does; if not, every txn loads it anew. Needs clients: arrivals of kind 'closed' or 'jobs'.",
    )
    retry: Annotated[int, Whole(0, RETRIES_MAX)] = key(
        4,
        "Retries after a refused attempt.",
        "4; 10 with protocol spec or merge; 9999999 for Delta Spark, 15 for delta-rs",
    )
    retry_backoff: RetryBackoff = key(RetryBackoff(), "The pause before a retry.")
    total_timeout_ms: Milliseconds = key(
        1_800_000.0,
        "Time after which a txn that is still retrying gives up; 0 = never.",
        "1800000; 0 with protocol spec or merge, or format delta",
    )
    application_retries: Annotated[int, Whole(0, RESTARTS_MAX)] = key(
        0,
        "Times the application starts a txn over after a real conflict.",
        None,
        CAN_CONFLICT,
        OVERWRITE_CHECKED,
        {"commit.real_conflict": ("abort",)},
    )
    after_failure: Aftermath = key(AfterFailure(), "What follows a txn that did not commit: a kind, or a table.")
    commit_queue: Annotated[str, Words()] | None = key(
        None,
        "Name of a queue in which txns that have done their work wait for their turn to commit, one after "
        "another, as threads of one process do; sources that name the same queue share it. 'none' is none.",
        "none: all commit as they are ready",
    )
    gather_every_ms: Annotated[float, Number(0, 3_600_000, is_low_allowed=False)] | None = key(
        None,
        "Makes a coordinator of commit_queue: at every multiple of this interval the files of all txns "
        "that wait there are committed at once, by one append (Kafka Connect, Flink's committer). Only for appends.",
        "none: one after another",
        {"commit_queue": ON},
    )
    fresh_within_ms: Milliseconds | None = key(
        None,
        "How old the newest visible data of the source may be; results then tell the share of time in "
        "which they are older (stale_share). Changes nothing else.",
    )
    isolation: Literal["serializable", "snapshot", "write_serializable"] = key(
        "serializable",
        "Which rivals an operation that has read the table must not overlap. Delta: files that others add "
        "fail it, with write_serializable only those of rivals that have read too, with snapshot none.",
        None,
        {"operation_types": ("validated_overwrite", "append_after_read", "merge")},
        {"delta.client": ("spark",)},
        CHECKED,
        {
            "commit.history": ("fixed_start", "fixed_start_on_retry", "since_last_attempt"),
            "commit.real_conflict": ("abort",),
        },
    )
    overwrite: Literal["row_delta", "overwrite_files", "replace_partitions"] = key(
        "row_delta", "Which Iceberg operation a validated overwrite is.", None, ICEBERG, OVERWRITES
    )
    rewritten_manifests: Count = key(
        1,
        "Existing manifests that hold files to be removed (F in the cost tables).",
        None,
        ICEBERG,
        {"operation_types": ("rewrite_files", "validated_overwrite")},
        {"operation_types": ("rewrite_files",), "overwrite": ("overwrite_files", "replace_partitions")},
    )
    partial_progress: PartialProgress | None = key(
        None,
        "Makes every arrival a job of several commits: all start from the table as it was then, the "
        "runtime is that of one group, and touched_files are those of the whole job. Only for a source of compactions.",
        "none: one commit",
        ICEBERG,
    )
    retain_last: Annotated[int, Whole(1, RETAINED_MAX)] | None = key(
        None,
        "Newest snapshots that expire_snapshots keeps whatever their age.",
        "1",
        ICEBERG,
        {"operation_types": ("expire_snapshots",)},
    )
    expire_older_than_ms: Milliseconds | None = key(
        None,
        "Age below which expire_snapshots keeps a snapshot; those there at first count as older. Without "
        "it, age does not matter.",
        None,
        ICEBERG,
        {"operation_types": ("expire_snapshots",)},
    )
    read: Literal["table", "partitions", "files", "columns", "nothing"] | None = key(
        None,
        "What an overwrite has read, as the filter says that its engine hands over; files that rivals add "
        "there fail it. table: no predicate on the target (MERGE ... ON t.id = s.id); partitions: one on the partition "
        "column; files: one on that and on a column whose statistics tell the files apart that it touches; columns: "
        "one on such a column alone; nothing: it replaces what is there, whatever it is (Delta's overwrite).",
        "not said: as files, and a warning",
        {"operation_types": ("validated_overwrite", "append_after_read", "merge")},
        CHECKED,
        {"checks": ("all", "added_rows", "partitions")},
        {"conflict.detector": ("probabilistic", "files")},
        {"commit.real_conflict": ("abort",)},
    )
    adds_rows: Flag = key(
        True,
        "Whether an overwrite adds rows; a merge-on-read DELETE adds none, and so does one of whole files.",
        None,
        {"operation_types": ("validated_overwrite", "merge")},
        implied=True,
    )
    added_rows: Literal["touched", "apart"] = key(
        "touched",
        "Where the rows lie that an overwrite adds: among those of the files it touches (an UPDATE), or "
        "apart, in files whose statistics tell them from all that others have read (new keys). Others that have read "
        "files or columns mind the former only.",
        None,
        ICEBERG,
        OVERWRITES,
        {"adds_rows": (True,)},
        implied="touched",
    )
    checks: Literal["all", "added_rows", "none", "partitions"] = key(
        "all",
        "Which checks the engine asks for. all: Spark's MERGE and UPDATE, Trino; added_rows: Spark's "
        "merge-on-read DELETE, which does not look for delete files; none: Flink's upsert, Kafka Connect's deltas; "
        "partitions: an INSERT OVERWRITE whose writer gives Spark's option isolation-level (read = 'partitions' if it "
        "names its partitions; a dynamic one does not). Without it an overwrite of partitions checks nothing.",
        None,
        ICEBERG,
        OVERWRITES,
        CHECKED,
        implied="all",
    )
    deletes: Literal["position", "equality", "vector", "equality_and_position", "equality_and_vector"] | None = key(
        None,
        "How a row delta deletes: by position, by key (a sink's upsert), or by deletion vectors (format "
        "v3); with both, the positions are those of rows it has just added.",
        "position; vector with table.format_version = 3",
        ICEBERG,
        OVERWRITES,
        {"overwrite": ("row_delta",)},
    )
    delete_granularity: Literal["file", "partition"] = key(
        "file",
        "Whether a row delta on a v2 table writes a file of position deletes for every data file and "
        "replaces the one which that has (Spark, unless write.delete.granularity says otherwise), or one for a "
        "partition, beside those that are there. A MERGE or UPDATE that replaces one fails from release 1.10 on if a "
        "rewrite of position deletes has done so before it.",
        None,
        ICEBERG,
        OVERWRITES,
        {"overwrite": ("row_delta",)},
        {"table.format_version": (2,)},
        {"checks": ("all", "added_rows", "partitions")},
        {"referenced_files": (True,)},
        implied="file",
    )
    rewritten_files: Literal["data", "position_deletes"] = key(
        "data",
        "What rewrite_files rewrites: data files (rewrite_data_files), or files of position deletes "
        "(rewrite_position_delete_files, format v2), which leaves data files alone; touched_files are then the data "
        "files whose deletes it rewrites.",
        None,
        ICEBERG,
        {"operation_types": ("rewrite_files",)},
        implied="data",
    )
    commit_path: Literal["table", "transaction", "epoch", "pyiceberg"] = key(
        "table",
        "How the engine commits: to the table (Spark, Flink); through a Transaction (Trino), which builds "
        "on the table as loaded and again if that has moved; as Spark's streaming, which refreshes the table before "
        "each epoch's commit; or as PyIceberg does beside engines in Java: the choices of commit.protocol = "
        "'pyiceberg', which builds its first attempt on the table as loaded, for this source alone.",
        None,
        ICEBERG,
        {"commit.protocol": ("iceberg",)},
        {"transaction.manifest_list_mode": ("rewrite",)},
        implied="table",
    )
    starting_sequence_number: Flag = key(
        True,
        "Whether a compaction gives its files the sequence number it started from, as Spark, Trino and "
        "Flink do; it then survives deletes by key on its files.",
        None,
        ICEBERG,
        {"operation_types": ("rewrite_files",)},
        {"rewritten_files": ("data",)},
        implied=True,
    )
    referenced_files: Flag = key(
        True,
        "Whether a row delta names the data files its deletes belong to, as Spark's do; it then fails if "
        "one of them is gone.",
        None,
        ICEBERG,
        OVERWRITES,
        {"overwrite": ("row_delta",)},
    )
    touched_files: TouchedFiles | None = key(
        None,
        "Data files of a table whose rows one operation changes, rewrites or, for an append, adds to: a "
        "number, a share such as '5%', or a count table; needs table.data_files.",
        "not said",
        {"conflict.detector": ("files",)},
    )
    real_conflict_probability: Probability = key(
        0.0,
        "Chance that a conflict on a table is real, instead of what follows from the files or partitions touched.",
        None,
        {"conflict.detector": ("probabilistic", "files")},
        {"rewritten_files": ("data",)},
        {"operation_types": MAY_CONFLICT, "commit.real_conflict": ("merge",)},
        {
            "operation_types": OTHER_CONFLICTS,
            "commit.real_conflict": ("merge",),
            "overwrite": ("row_delta", "overwrite_files"),
            "checks": ("partitions",),
        },
    )

    @field_validator("commit_queue", "gather_every_ms", mode="before")
    @classmethod
    def _say_none(cls, value: Any) -> Any:
        """``"none"``, so that a study can leave them out at some of its points."""
        return None if value == "none" else value

    @property
    def has_own_probability(self) -> bool:
        """Whether the chance of a real conflict was given by hand."""
        return "real_conflict_probability" in self.model_fields_set


class TransactionConfig(Table):
    """What holds for the txns of every source alike."""

    manifest_list_mode: Literal["rewrite", "append"] = key(
        "rewrite", "Manifest lists are rewritten, or appended to (ML+).", None, ICEBERG
    )
    manifest_list_seal_threshold_bytes: Bytes = key(
        0,
        "Bytes after which a list is sealed and rewritten, 0 = never.",
        None,
        ICEBERG,
        {"transaction.manifest_list_mode": ("append",)},
    )
    manifest_list_entry_bytes: PositiveItemBytes = key(
        50, "Bytes of one appended entry.", None, ICEBERG, {"transaction.manifest_list_mode": ("append",)}
    )
    conflicting_manifests: CountTable = key(
        ExponentialCount(), "Manifests merged at a real conflict.", None, ICEBERG, {"commit.real_conflict": ("merge",)}
    )


class SourceConfig(SourceKeys):
    """One named stream of txns. Resolved, every key holds the value that is used."""

    name: Annotated[str, SourceName()] = Field(description="Unique name.")
    arrivals: Arrivals = Field(
        description="When txns are submitted.", json_schema_extra={"example": '{kind = "poisson", mean_ms = 100.0}'}
    )
    start_ms: Milliseconds = key(0.0, "No txn is submitted before.")
    stop_ms: Milliseconds | None = key(None, "No txn is submitted from here on.", "the end")
