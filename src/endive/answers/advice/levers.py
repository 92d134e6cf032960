"""The levers people have, as a table: what each takes, what it gives up, what it removes, and whether it can be had.

What a lever sets is a function in ``offers``. To add one, write that function and a row in ``LEVERS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from endive.answers.advice import offers
from endive.answers.advice.offers import Offer, Offers
from endive.answers.variation import Base
from endive.config import SimulationConfig
from endive.config.availability import AVAILABLE, HYPOTHETICAL, NEEDS
from endive.config.rules.key_effects import DELTA, ICEBERG
from endive.errors import ConfigError, ObjectiveError

# What a lever takes, the least first.
SETTING, SCHEDULE, JOB, SYSTEM = range(4)
EFFORTS: Final = ("a setting", "a schedule", "a change of the job", "another system")

# What it removes: why a txn fails or is slow.
TRIES: Final = "tries"  # too few of them
HASTE: Final = "haste"  # an attempt takes so long that others come first
RIVALS: Final = "rivals"  # so many others commit
VERDICT: Final = "verdict"  # what others commit counts as a conflict
LATENESS: Final = "lateness"  # data wait for the next commit


@dataclass(frozen=True, slots=True)
class Lever:
    """Something that can be changed."""

    name: str
    effort: int
    had: str  # available, needs, hypothetical
    how: str  # the setting and its release, what it needs, or why nobody has it
    removes: str
    gives_up: str
    offers: Callable[[Base], Offers]
    of: str | None = None  # the table format that has it; None: all

    @property
    def availability(self) -> str:
        """``available: ...``, ``needs ...`` or ``hypothetical: ...``."""
        return f"{self.had} {self.how}" if self.had == NEEDS else f"{self.had}: {self.how}"


@dataclass(frozen=True, slots=True)
class Change:
    """An offer that the configuration can have."""

    lever: Lever
    offer: Offer
    config: SimulationConfig


LEVERS: Final = (
    Lever(
        "retries",
        SETTING,
        AVAILABLE,
        "commit.retry.num-retries (Iceberg 1.9)",
        TRIES,
        "a loser keeps trying, so the tail grows",
        offers.retries,
        ICEBERG,
    ),
    Lever(
        "backoff",
        SETTING,
        AVAILABLE,
        "commit.retry.min-wait-ms (Iceberg 1.9)",
        TRIES,
        "a loser waits longer before it tries again",
        offers.longer_pause,
        ICEBERG,
    ),
    Lever(
        "isolation",
        SETTING,
        AVAILABLE,
        "write.merge.isolation-level = snapshot (Iceberg 1.9); an UPDATE has write.update.isolation-level, a DELETE "
        "and whatever Trino does write.delete.isolation-level",
        VERDICT,
        "rows that others add meanwhile are not seen: a MERGE may insert a key that is there already",
        offers.snapshot_isolation,
        ICEBERG,
    ),
    Lever(
        "cache",
        SETTING,
        AVAILABLE,
        "spark.sql.catalog.<name>.cache-enabled = true, and a Spark session for each thread (Iceberg 1.10)",
        VERDICT,
        "a session sees what others commit up to 30 s late (cache.expiration-interval-ms)",
        offers.catalog_cache,
        ICEBERG,
    ),
    Lever(
        "merging",
        SETTING,
        AVAILABLE,
        "commit.manifest-merge.enabled = false (Iceberg 1.9)",
        HASTE,
        "manifests pile up, and readers plan slower",
        offers.no_merging,
        ICEBERG,
    ),
    Lever(
        "expiry",
        SETTING,
        AVAILABLE,
        "expire_snapshots (Iceberg 1.9)",
        HASTE,
        "older snapshots cannot be read any more",
        offers.expiry,
        ICEBERG,
    ),
    Lever(
        "threads",
        SETTING,
        AVAILABLE,
        "max-concurrent-file-group-rewrites, partial-progress.enabled (Iceberg 1.9)",
        RIVALS,
        "a job takes longer, or loses all it did if its one commit fails",
        offers.fewer_threads,
        ICEBERG,
    ),
    Lever(
        "shift",
        SCHEDULE,
        AVAILABLE,
        "whoever schedules the job",
        RIVALS,
        "the job has its hour, and what runs longer than usual still meets it",
        offers.another_hour,
    ),
    Lever(
        "schedule",
        SCHEDULE,
        AVAILABLE,
        "whoever schedules the job",
        RIVALS,
        "small files pile up from one run to the next",
        offers.less_upkeep,
    ),
    Lever(
        "restarts",
        SCHEDULE,
        AVAILABLE,
        "whoever schedules the job",
        VERDICT,
        "the work is done again, and paid again",
        offers.running_again,
    ),
    Lever(
        "predicate",
        JOB,
        NEEDS,
        "a statement whose rows lie in partitions that are known when it is written",
        VERDICT,
        "rows of other partitions are not matched",
        offers.partition_predicate,
    ),
    Lever(
        "batching",
        JOB,
        NEEDS,
        "a longer interval between commits of the job",
        RIVALS,
        "data arrive later, in fewer and larger commits",
        offers.batching,
    ),
    Lever(
        "interval",
        SETTING,
        AVAILABLE,
        "execution.checkpointing.interval (Flink), iceberg.control.commit.interval-ms (Kafka), a trigger (Spark)",
        LATENESS,
        "more commits, snapshots and small files, and a bill that grows with them",
        offers.more_often,
    ),
    Lever(
        "writers",
        JOB,
        NEEDS,
        "a coordinator to which the writers hand their files",
        RIVALS,
        "files wait until the coordinator commits, and all fail with it: a single place to fail",
        offers.gathering,
    ),
    Lever(
        "queue",
        JOB,
        NEEDS,
        "writers that are threads of one process, and a lock around their commits",
        RIVALS,
        "commits wait for each other, and fall behind for good if they come faster than one takes",
        offers.queued_commits,
    ),
    Lever(
        "shorter",
        JOB,
        NEEDS,
        "more machines, or a job cut in two",
        VERDICT,
        "more machines for the job, or less work in each",
        offers.less_work,
    ),
    Lever(
        "kept",
        JOB,
        NEEDS,
        "a job that stays, as Flink's sink does",
        HASTE,
        "jobs that stay; they see a new schema or setting only at their next refresh",
        offers.kept_table,
    ),
    Lever("partitions", SYSTEM, NEEDS, "another layout of the table", VERDICT, "small files", offers.finer_partitions),
    Lever(
        "tables", SYSTEM, NEEDS, "two tables instead of one", RIVALS, "readers must read two tables", offers.two_tables
    ),
    Lever(
        "store",
        SYSTEM,
        NEEDS,
        "another store of the same cloud",
        HASTE,
        "another store, at its price",
        offers.faster_store,
    ),
    Lever(
        "catalog",
        SYSTEM,
        NEEDS,
        "another catalog",
        HASTE,
        "another catalog to run",
        offers.rest_catalog,
        ICEBERG,
    ),
    Lever(
        "jitter",
        SETTING,
        HYPOTHETICAL,
        "Iceberg's pauses have a tenth of jitter, and no property changes that",
        TRIES,
        "a loser may wait longer before it tries again",
        offers.full_jitter,
        ICEBERG,
    ),
    Lever(
        "fast_catalog",
        SYSTEM,
        HYPOTHETICAL,
        "no catalog is named that is",
        HASTE,
        "another catalog to run",
        offers.faster_catalog,
        ICEBERG,
    ),
    Lever(
        "rebasing",
        SYSTEM,
        HYPOTHETICAL,
        "no catalog whose source was read rebases a commit",
        TRIES,
        "another catalog to run, which reads and rewrites the list itself",
        offers.rebasing_catalog,
        ICEBERG,
    ),
    Lever(
        "grouping",
        SYSTEM,
        HYPOTHETICAL,
        "no catalog whose source was read groups commits; of closed services it is not known",
        RIVALS,
        "another catalog to run, and every commit waits for its group",
        offers.grouping_catalog,
        ICEBERG,
    ),
    Lever(
        "versions",
        SYSTEM,
        HYPOTHETICAL,
        "no catalog of Iceberg keeps versions by partition",
        RIVALS,
        "small files, and a catalog that keeps versions by partition",
        offers.partition_versions,
        ICEBERG,
    ),
    Lever(
        "inlined",
        SYSTEM,
        HYPOTHETICAL,
        "clients of Iceberg expect metadata.json",
        HASTE,
        "a catalog that stores metadata itself",
        offers.inlined_metadata,
        ICEBERG,
    ),
    Lever(
        "ml+",
        SYSTEM,
        HYPOTHETICAL,
        "no format has appended manifest lists",
        HASTE,
        "a store with conditional append, and readers that know the format",
        offers.appended_lists,
        ICEBERG,
    ),
    Lever(
        "retries",
        SETTING,
        AVAILABLE,
        "CommitProperties(max_commit_retries) (deltalake 1.6)",
        TRIES,
        "a loser keeps trying, so the tail grows",
        offers.retries,
        DELTA,
    ),
    Lever(
        "checkpoints",
        SETTING,
        AVAILABLE,
        "delta.checkpointInterval (Delta Lake 4.1)",
        HASTE,
        "whoever loads the table reads more commit files",
        offers.rarer_checkpoints,
        DELTA,
    ),
    Lever(
        "isolation",
        SYSTEM,
        NEEDS,
        "a table whose metadata says delta.isolationLevel = WriteSerializable, as Databricks has it by default; "
        "open-source Delta Spark keeps to it there and refuses to set it",
        VERDICT,
        "rows that blind appends add meanwhile are not seen: a MERGE may insert a key that is there already",
        offers.write_serializable,
        DELTA,
    ),
    Lever(
        "log_store",
        SYSTEM,
        NEEDS,
        "a client that creates commit files by a conditional write, as delta-rs does",
        HASTE,
        "writers through the LogStore and beside it must not be mixed",
        offers.conditional_writes,
        DELTA,
    ),
    Lever(
        "loading",
        JOB,
        AVAILABLE,
        "write_deltalake(PATH, ...) in place of a DeltaTable that is kept (deltalake 1.6)",
        HASTE,
        "every append loads the table first, which takes longer; a kept one reads what it missed three times",
        offers.loading_anew,
        DELTA,
    ),
)


def changes_of(base: Base, names: tuple[str, ...] | None = None, *, with_hypothetical: bool = False) -> list[Change]:
    """Every change that the configuration allows; what nobody can have only if it is named or asked for."""
    levers = [lever for lever in LEVERS if lever.of in (None, base.config.table.format)]
    known = tuple(lever.name for lever in levers)
    for name in names or ():
        if name not in known:
            raise ObjectiveError(f"--levers: '{name}' is not known. Levers are: {', '.join(known)}.")
    changes = []
    for lever in levers:
        if (lever.name not in names) if names is not None else (lever.had == HYPOTHETICAL and not with_hypothetical):
            continue
        made = [change_of(base, lever, offer) for offer in lever.offers(base)]
        changes += [change for change in made if change is not None]
    return changes


def change_of(base: Base, lever: Lever, offer: Offer) -> Change | None:
    """An offer as a change; None if the configuration cannot have it, or has it already."""
    try:
        config = base.with_values(offer.keys)
    except ConfigError:
        return None  # the catalog or the store cannot do that
    return None if config.config_hash() == base.config.config_hash() else Change(lever, offer, config)
