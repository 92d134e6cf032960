"""The levers people have, as a table: what each takes, what it gives up, what it removes, and whether it can be had.

What a lever sets is a function in ``offers``. To add one, write that function and a row in ``LEVERS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Final

from endive.answers.advice import offers
from endive.answers.advice.offers import Offer, Offers
from endive.answers.variation import Base
from endive.config import SimulationConfig
from endive.config.availability import AVAILABLE, HYPOTHETICAL, NEEDS
from endive.config.reading.format_switch import DELTA, ICEBERG
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
    removes: str
    offers: Callable[[Base], Offers]
    of: str | None = None  # the table format that has it; None: all
    _: KW_ONLY
    how: str  # the setting and its release, what it needs, or why nobody has it
    gives_up: str

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
        *("retries", SETTING, AVAILABLE, TRIES, offers.retries, ICEBERG),
        how="commit.retry.num-retries (Iceberg 1.9)",
        gives_up="a loser keeps trying, so the tail grows",
    ),
    Lever(
        *("backoff", SETTING, AVAILABLE, TRIES, offers.longer_pause, ICEBERG),
        how="commit.retry.min-wait-ms (Iceberg 1.9)",
        gives_up="a loser waits longer before it tries again",
    ),
    Lever(
        *("isolation", SETTING, AVAILABLE, VERDICT, offers.snapshot_isolation, ICEBERG),
        how=(
            "write.merge.isolation-level = snapshot (Iceberg 1.9); an UPDATE has write.update.isolation-level, a "
            "DELETE and whatever Trino does write.delete.isolation-level"
        ),
        gives_up="rows that others add meanwhile are not seen: a MERGE may insert a key that is there already",
    ),
    Lever(
        *("merging", SETTING, AVAILABLE, HASTE, offers.no_merging, ICEBERG),
        how="commit.manifest-merge.enabled = false (Iceberg 1.9)",
        gives_up="manifests pile up, and readers plan slower",
    ),
    Lever(
        *("expiry", SETTING, AVAILABLE, HASTE, offers.expiry, ICEBERG),
        how="expire_snapshots (Iceberg 1.9)",
        gives_up="older snapshots cannot be read any more",
    ),
    Lever(
        *("threads", SETTING, AVAILABLE, RIVALS, offers.fewer_threads, ICEBERG),
        how="max-concurrent-file-group-rewrites, partial-progress.enabled (Iceberg 1.9)",
        gives_up="a job takes longer, or loses all it did if its one commit fails",
    ),
    Lever(
        *("shift", SCHEDULE, AVAILABLE, RIVALS, offers.another_hour),
        how="whoever schedules the job",
        gives_up="the job has its hour, and what runs longer than usual still meets it",
    ),
    Lever(
        *("schedule", SCHEDULE, AVAILABLE, RIVALS, offers.less_upkeep),
        how="whoever schedules the job",
        gives_up="small files pile up from one run to the next",
    ),
    Lever(
        *("restarts", SCHEDULE, AVAILABLE, VERDICT, offers.running_again),
        how="whoever schedules the job",
        gives_up="the work is done again, and paid again",
    ),
    Lever(
        *("predicate", JOB, NEEDS, VERDICT, offers.partition_predicate),
        how="a statement whose rows lie in partitions that are known when it is written",
        gives_up="rows of other partitions are not matched",
    ),
    Lever(
        *("batching", JOB, NEEDS, RIVALS, offers.batching),
        how="a longer interval between commits of the job",
        gives_up="data arrive later, in fewer and larger commits",
    ),
    Lever(
        *("interval", SETTING, AVAILABLE, LATENESS, offers.more_often),
        how="execution.checkpointing.interval (Flink), iceberg.control.commit.interval-ms (Kafka), a trigger (Spark)",
        gives_up="more commits, snapshots and small files, and a bill that grows with them",
    ),
    Lever(
        *("writers", JOB, NEEDS, RIVALS, offers.gathering),
        how="a coordinator to which the writers hand their files",
        gives_up="files wait until the coordinator commits, and all fail with it: a single place to fail",
    ),
    Lever(
        *("queue", JOB, NEEDS, RIVALS, offers.queued_commits),
        how="writers that are threads of one process, and a lock around their commits",
        gives_up="commits wait for each other, and fall behind for good if they come faster than one takes",
    ),
    Lever(
        *("shorter", JOB, NEEDS, VERDICT, offers.less_work),
        how="more machines, or a job cut in two",
        gives_up="more machines for the job, or less work in each",
    ),
    Lever(
        *("kept", JOB, NEEDS, HASTE, offers.kept_table),
        how="a job that stays, as Flink's sink does",
        gives_up="jobs that stay; they see a new schema or setting only at their next refresh",
    ),
    Lever(
        *("partitions", SYSTEM, NEEDS, VERDICT, offers.finer_partitions),
        how="another layout of the table",
        gives_up="small files",
    ),
    Lever(
        *("tables", SYSTEM, NEEDS, RIVALS, offers.two_tables),
        how="two tables instead of one",
        gives_up="readers must read two tables",
    ),
    Lever(
        *("store", SYSTEM, NEEDS, HASTE, offers.faster_store),
        how="another store of the same cloud",
        gives_up="another store, at its price",
    ),
    Lever(
        *("catalog", SYSTEM, NEEDS, HASTE, offers.rest_catalog, ICEBERG),
        how="another catalog",
        gives_up="another catalog to run",
    ),
    Lever(
        *("jitter", SETTING, HYPOTHETICAL, TRIES, offers.full_jitter, ICEBERG),
        how="Iceberg's pauses have a tenth of jitter, and no property changes that",
        gives_up="a loser may wait longer before it tries again",
    ),
    Lever(
        *("fast_catalog", SYSTEM, HYPOTHETICAL, HASTE, offers.faster_catalog, ICEBERG),
        how="no catalog is named that is",
        gives_up="another catalog to run",
    ),
    Lever(
        *("rebasing", SYSTEM, HYPOTHETICAL, TRIES, offers.rebasing_catalog, ICEBERG),
        how="no catalog whose source was read rebases a commit",
        gives_up="another catalog to run, which reads and rewrites the list itself",
    ),
    Lever(
        *("grouping", SYSTEM, HYPOTHETICAL, RIVALS, offers.grouping_catalog, ICEBERG),
        how="no catalog whose source was read groups commits; of closed services it is not known",
        gives_up="another catalog to run, and every commit waits for its group",
    ),
    Lever(
        *("versions", SYSTEM, HYPOTHETICAL, RIVALS, offers.partition_versions, ICEBERG),
        how="no catalog of Iceberg keeps versions by partition",
        gives_up="small files, and a catalog that keeps versions by partition",
    ),
    Lever(
        *("inlined", SYSTEM, HYPOTHETICAL, HASTE, offers.inlined_metadata, ICEBERG),
        how="clients of Iceberg expect metadata.json",
        gives_up="a catalog that stores metadata itself",
    ),
    Lever(
        *("ml+", SYSTEM, HYPOTHETICAL, HASTE, offers.appended_lists, ICEBERG),
        how="no format has appended manifest lists",
        gives_up="a store with conditional append, and readers that know the format",
    ),
    Lever(
        *("retries", SETTING, AVAILABLE, TRIES, offers.retries, DELTA),
        how="CommitProperties(max_commit_retries) (deltalake 1.6)",
        gives_up="a loser keeps trying, so the tail grows",
    ),
    Lever(
        *("checkpoints", SETTING, AVAILABLE, HASTE, offers.rarer_checkpoints, DELTA),
        how="delta.checkpointInterval (Delta Lake 4.1)",
        gives_up="whoever loads the table reads more commit files",
    ),
    Lever(
        *("isolation", SYSTEM, NEEDS, VERDICT, offers.write_serializable, DELTA),
        how=(
            "a table whose metadata says delta.isolationLevel = WriteSerializable, as Databricks has it by default; "
            "open-source Delta Spark keeps to it there and refuses to set it"
        ),
        gives_up="rows that blind appends add meanwhile are not seen: a MERGE may insert a key that is there already",
    ),
    Lever(
        *("log_store", SYSTEM, NEEDS, HASTE, offers.conditional_writes, DELTA),
        how="a client that creates commit files by a conditional write, as delta-rs does",
        gives_up="writers through the LogStore and beside it must not be mixed",
    ),
    Lever(
        *("loading", JOB, AVAILABLE, HASTE, offers.loading_anew, DELTA),
        how="write_deltalake(PATH, ...) in place of a DeltaTable that is kept (deltalake 1.6)",
        gives_up="every append loads the table first, which takes longer; a kept one reads what it missed three times",
    ),
)


def changes_of(base: Base, names: tuple[str, ...] | None = None, *, with_hypothetical: bool = False) -> list[Change]:
    """Return every change that the configuration allows; what nobody can have only if it is named or asked for."""
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
    """Return an offer as a change; None if the configuration cannot have it, or has it already."""
    try:
        config = base.with_values(offer.keys)
    except ConfigError:
        return None  # the catalog or the store cannot do that
    return None if config.config_hash() == base.config.config_hash() else Change(lever, offer, config)
