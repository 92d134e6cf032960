"""Sources from their configuration: arrivals, choices of tables and partitions, terms, queues and locks.

The rest of a simulation is built in ``endive.simulation.build``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from endive.catalog.rules import LOCKS, LockTerms
from endive.config import SimulationConfig
from endive.config.sections.arrivals import Closed as ClosedTable
from endive.config.sections.arrivals import FixedGap, LognormalGap, Poisson, UniformGap
from endive.config.sections.arrivals import Jobs as JobsTable
from endive.config.sections.arrivals import Periodic as PeriodicTable
from endive.config.sections.arrivals import Trace as TraceTable
from endive.config.sections.catalog import CatalogConfig, TableLock
from endive.config.sections.choices import PartitionChoice, ShareOfFiles, TableChoice, own_tables
from endive.config.sections.retries import AfterFailure
from endive.config.sections.source import SourceConfig
from endive.distributions import (
    ExponentialLatency,
    FixedLatency,
    LatencyDistribution,
    LognormalLatency,
    UniformLatency,
    from_table,
)
from endive.distributions.counts import CountDistribution
from endive.formats.operation import Operation
from endive.transaction import Backoff, TransactionTerms
from endive.transaction.aftermath import AFTERMATHS, Aftermath
from endive.vocabulary import CHECKS, CLIENTS, DELETE_KINDS, ISOLATIONS, KINDS, OVERWRITE_FORMS, READS, RELEASES
from endive.workload import (
    NEVER_US,
    Arrivals,
    Choice,
    Closed,
    Jobs,
    Periodic,
    Renewal,
    Source,
    Trace,
    UniformPartitionSelector,
    UniformTableSelector,
    WorkloadConfig,
    ZipfPartitionSelector,
    ZipfTableSelector,
    read_trace,
)

NO_QUEUE = -1


def us_of(ms: float) -> int:
    """Milliseconds as the clock counts them; rounded once."""
    return int(ms * 1000.0 + 0.5)


def count_distribution(table: Mapping[str, Any]) -> CountDistribution:
    """A count table as a distribution."""
    names = {"distribution": "distribution", "mean": "mean", "value": "value"}
    names |= {"min": "count_min", "max": "count_max"}
    return CountDistribution(**{names[key]: value for key, value in table.items()})


def build_workload_config(config: SimulationConfig, seed: int) -> WorkloadConfig:
    """The sources over their topology."""
    partitions = config.catalog.partitions
    return WorkloadConfig(
        num_tables=config.catalog.num_tables,
        num_partitions=partitions.num_partitions if partitions.enabled else 0,
        sources=tuple(build_source(config, source, index, seed) for index, source in enumerate(config.sources)),
    )


def build_source(config: SimulationConfig, source: SourceConfig, index: int, seed: int) -> Source:
    """One source with everything it draws from."""
    weights, num_tables, partitions = source.operation_types, config.catalog.num_tables, config.catalog.partitions
    return Source(
        name=source.name,
        index=index,
        seed=seed,
        arrivals=build_arrivals(source, num_tables),
        kind_weights=tuple(getattr(weights, kind) for kind in KINDS),
        runtime=from_table(source.runtime.to_table(), f"source '{source.name}' runtime"),
        tables=build_table_choice(source.tables, config.catalog),
        own_tables=own_tables(source.tables, config.catalog) if source.tables.one_each else (),
        partitions=build_partition_choice(source.partitions, partitions.num_partitions) if partitions.enabled else None,
        partitions_by_table=tuple(
            build_partition_choice(source.partitions, count)
            for count in partitions.per_table or ()
            if partitions.enabled
        ),
        terms=build_terms(config, source),
        threads=1 if source.partial_progress is None else source.partial_progress.threads,
    )


def build_terms(config: SimulationConfig, source: SourceConfig) -> TransactionTerms:
    """How the source's txns retry, wait and validate."""
    backoff = source.retry_backoff
    return TransactionTerms(
        retries_max=0 if config.catalog.service.refusal == "final" else source.retry,
        total_timeout_us=us_of(source.total_timeout_ms),
        application_retries=source.application_retries,
        backoff=Backoff(
            policy=backoff.policy if backoff.enabled else "none",
            base_ms=backoff.base_ms,
            multiplier=backoff.multiplier,
            max_ms=backoff.max_ms,
            jitter=backoff.jitter,
        ),
        operation=build_operation(config, source),
        real_conflict_probability=source.real_conflict_probability,
        touched_files=build_touched_files(source, config.table.data_files),
        is_by_files=is_by_files(config, source),
        keeps_table=source.keeps_table,
        queue=NO_QUEUE if source.commit_queue is None else queue_names(config).index(source.commit_queue),
        aftermath=build_aftermath(source.after_failure),
    )


def queue_names(config: SimulationConfig) -> list[str]:
    """The queues before the commit; sources that name the same one share it."""
    return list(dict.fromkeys(source.commit_queue for source in config.sources if source.commit_queue is not None))


def build_queues(config: SimulationConfig) -> tuple[int, ...]:
    """How often each queue commits all that wait, or 0 if they commit one after another."""
    every_us = {source.commit_queue: us_of(source.gather_every_ms or 0.0) for source in config.sources}
    return tuple(every_us[name] for name in queue_names(config))


def build_lock(table: TableLock | None) -> LockTerms:
    """How a client asks for the lock of its table, if it has one."""
    if table is None:
        return LockTerms()
    return LockTerms(
        kind=LOCKS.index(table.kind),
        wait_ms=table.wait_ms,
        multiplier=table.multiplier,
        wait_max_ms=table.wait_max_ms,
        lease_us=us_of(table.lease_ms),
        timeout_us=us_of(table.timeout_ms),
    )


def build_aftermath(table: AfterFailure) -> Aftermath:
    """What follows a failed txn."""
    pause_ms = (table.delay_ms if table.kind == "restart" else table.pause_ms) or 0.0
    return Aftermath(pause_us=us_of(pause_ms), reruns_max=table.times, kind=AFTERMATHS.index(table.kind))


def build_operation(config: SimulationConfig, source: SourceConfig) -> Operation:
    """What the source's txns do, but for the kind, which each draws."""
    is_delta = config.table.format == "delta"
    age_ms = config.delta.log_retention_ms if is_delta else source.expire_older_than_ms
    is_replacing = replaces_deletes(config, source)
    return Operation(
        client=CLIENTS.index(config.delta.client) if is_delta else int(source.commit_path == "pyiceberg"),
        form=OVERWRITE_FORMS.index(source.overwrite),
        isolation=ISOLATIONS.index(source.isolation),
        rewritten=source.rewritten_manifests,
        is_referring=int(source.referenced_files),
        reads=READS.index(source.read or ("table" if is_delta else "files")),
        checks=CHECKS.index(source.checks),
        deletes=DELETE_KINDS.index(source.deletes or ("position" if config.table.format_version == 2 else "vector")),
        adds_rows=int(source.adds_rows),
        adds_apart=int(source.added_rows == "apart"),
        is_in_transaction=int(source.commit_path == "transaction"),
        is_epoch=int(source.commit_path == "epoch"),
        is_sequenced=int(source.starting_sequence_number),
        is_of_deletes=int(source.rewritten_files == "position_deletes"),
        replaces_deletes=int(is_replacing),
        misses_deletes=int(is_replacing and source.checks == "all" and config.commit.release != RELEASES[0]),
        retain_last=source.retain_last if source.retain_last is not None else 1,
        expire_age_us=us_of(age_ms or 0.0),
    )


def replaces_deletes(config: SimulationConfig, source: SourceConfig) -> bool:
    """Whether a row delta replaces the delete file that a data file has (``SparkPositionDeltaWrite``): one that names
    its data files, and is no sink that checks nothing, whose positions are those of files it adds itself.
    """
    is_naming = source.referenced_files and source.checks != "none"
    return is_naming and config.table.format_version == 2 and source.delete_granularity == "file"


def is_by_files(config: SimulationConfig, source: SourceConfig) -> bool:
    """Whether a source's conflicts follow from what it has read and touches, and not from a probability."""
    is_said = config.conflict.detector == "files" or source.read is not None or source.checks == "partitions"
    is_said = is_said or config.table.format == "delta"
    return is_said and config.conflict.detector != "partition_overlap" and not source.has_own_probability


def build_touched_files(source: SourceConfig, data_files: int) -> CountDistribution | None:
    """How many of a table's files one operation touches; None if nobody says."""
    counts = source.touched_files
    if counts is None:
        return None
    if isinstance(counts, ShareOfFiles):
        return CountDistribution(distribution="fixed", value=max(1, round(counts.share * data_files)))
    return count_distribution(counts.model_dump())


def build_table_choice(choice: TableChoice, catalog: CatalogConfig) -> Choice:
    """Which tables a txn touches."""
    is_zipf = choice.selection == "zipf"
    return Choice(
        total=catalog.num_tables,
        only=() if choice.only is None else own_tables(choice, catalog),
        **_build_count(choice, choice.count_zipf),
        selector=ZipfTableSelector(choice.alpha, choice.write_fraction)
        if is_zipf
        else UniformTableSelector(choice.write_fraction),
    )


def build_partition_choice(choice: PartitionChoice, num_partitions: int) -> Choice:
    """Which partitions of a table a txn touches."""
    is_zipf = choice.selection == "zipf"
    picked = [place for place, weight in enumerate(choice.weights or ()) if weight > 0.0]
    return Choice(
        total=num_partitions,
        only=tuple(picked),
        weights=tuple((choice.weights or ())[place] for place in picked),
        **_build_count(choice, None, num_partitions),
        selector=ZipfPartitionSelector(choice.alpha, choice.write_fraction)
        if is_zipf
        else UniformPartitionSelector(choice.write_fraction),
    )


def _build_count(choice: TableChoice | PartitionChoice, zipf: float | None, most: int | None = None) -> dict[str, Any]:
    """How many a txn chooses: always so many, drawn by a law, or Zipf over all there are."""
    if zipf is not None:
        return {"count": 0, "count_alpha": zipf}
    if choice.count_distribution is not None:
        law = count_distribution(choice.count_distribution.model_dump())
        return {"count": 0, "count_alpha": 0.0, "law": law}
    return {"count": choice.count if most is None else min(choice.count, most), "count_alpha": 0.0}


def build_arrivals(source: SourceConfig, num_tables: int) -> Arrivals:
    """When the source submits."""
    table = source.arrivals
    stop_us = NEVER_US if source.stop_ms is None else us_of(source.stop_ms)
    span = {"start_us": us_of(source.start_ms), "stop_us": stop_us}
    commits_per_job = 1 if source.partial_progress is None else source.partial_progress.commits
    if isinstance(table, ClosedTable):
        think = from_table(table.think_ms.to_table(), f"source '{source.name}' think_ms")
        return Closed(**span, client_count=table.clients, think=think)
    if isinstance(table, JobsTable):
        times = {"period_us": us_of(table.period_ms), "jitter_us": us_of(table.jitter_ms)}
        return Jobs(**span, **times, job_count=table.jobs, phase=table.phase)
    if isinstance(table, PeriodicTable):
        times = {"period_us": us_of(table.period_ms), "jitter_us": us_of(table.jitter_ms)}
        return Periodic(**span, **times, offset_us=us_of(table.offset_ms), commits_per_job=commits_per_job)
    if isinstance(table, TraceTable):
        log = read_trace(Path(table.path), total_tables=num_tables, source=table.source)
        return Trace(**span, log=log, is_serial=table.one_at_a_time)
    return Renewal(**span, gap=build_gap(table), commits_per_job=commits_per_job)


def build_gap(table: Poisson | FixedGap | UniformGap | LognormalGap) -> LatencyDistribution:
    """What the gaps between arrivals are drawn from."""
    if isinstance(table, Poisson):
        return ExponentialLatency(table.mean_ms)
    if isinstance(table, FixedGap):
        return FixedLatency(table.ms)
    if isinstance(table, UniformGap):
        return UniformLatency(table.low_ms, table.high_ms)
    return LognormalLatency.by_mean(table.mean_ms, table.sigma)
