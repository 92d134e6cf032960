"""What each lever sets: one function for each, which looks at a configuration and names the keys it would change.

A lever that makes no sense there offers nothing; one that the configuration refuses is left out by
``endive.answers.advice.levers``, which says what a lever takes, what it gives up and whether it can be had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from endive.answers.advice.shifts import shift_away
from endive.answers.variation import Base
from endive.config.catalog_profile import REST_ANSWER_MS_PER_MIB
from endive.config.sections.source import SourceConfig
from endive.config.sections.stream import stream_problem_of
from endive.objectives import duration_text

Values = Mapping[str, Any]

RETRIES: Final = {"iceberg": (10, 20), "delta": (30, 100)}  # delta-rs makes 15, Delta Spark any number
RUNS_AGAIN: Final = 3
BATCHES: Final = (2, 10)
OFTENER: Final = (2, 10)
PARTITIONS: Final = 8
SNAPSHOTS_KEPT: Final = 100
PAUSE_MS: Final = 1_000.0
GATHER_MIN_MS: Final = 1_000.0
GATHER_MAX_MS: Final = 5_000.0
SERVER_BATCH_MS: Final = 100.0
STAYING: Final = ("closed", "jobs")  # arrivals with clients that can keep something
REGULAR: Final = ("poisson", "fixed", "periodic", "jobs")
FASTER_STORES: Final = {"s3": ("s3x", "S3 Express"), "azure": ("azurex", "Azure Premium")}  # of the same cloud
APPENDS: Final = ("fast_append", "merge_append", "blind_append", "append_after_read")
OVERWRITES: Final = ("validated_overwrite", "merge")
UPKEEP: Final = ("rewrite_files", "rewrite_manifests", "optimize")
RARER: Final = 10  # times


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """One lever in whole steps: from what it is now, in the direction of the step that is offered."""

    now: int
    step: int
    offer: Callable[[int], Offer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Keys to set, in words; ``aims_at`` is the source that it calms, None if it changes more than one."""

    words: str
    keys: Values
    aims_at: str | None = None
    graded: Graded | None = None


Offers = Iterator[Offer]


def _name(source: SourceConfig, key: str) -> str:
    return f'source."{source.name}".{key}'


def _does(source: SourceConfig, *kinds: str) -> bool:
    return any(getattr(source.operation_types, kind) > 0 for kind in kinds)


def _arrivals(source: SourceConfig, **changes: Any) -> Values:
    """The whole table, since a recipe's is not in the file."""
    return {_name(source, "arrivals"): source.arrivals.model_dump(exclude_none=True) | changes}


def _steps(now: int, tried: tuple[int, ...], make: Callable[[int], tuple[str, Values]], aims_at: str | None) -> Offers:
    """Offers of several strengths, between which the smallest that is enough is looked for."""

    def offer(step: int) -> Offer:
        words, keys = make(step)
        return Offer(words=words, keys=keys, aims_at=aims_at, graded=Graded(now=now, step=step, offer=offer))

    yield from map(offer, tried)


def retries(base: Base) -> Offers:
    """More tries for everybody."""
    least = min(source.retry for source in base.config.sources)

    def make(count: int) -> tuple[str, Values]:
        return f"{count} retries", {_name(each, "retry"): max(count, each.retry) for each in base.config.sources}

    yield from _steps(least, tuple(count for count in RETRIES[base.config.table.format] if count > least), make, None)


def longer_pause(base: Base) -> Offers:
    """A first pause of a second."""
    pause = {"policy": "iceberg", "base_ms": PAUSE_MS, "multiplier": 2.0, "max_ms": 60_000.0}
    yield Offer(words="first pause of 1 s", keys={"source.*.retry_backoff": pause})


def full_jitter(base: Base) -> Offers:
    """Pauses that are drawn from nothing to all."""
    yield Offer(words="pauses with full jitter", keys={"source.*.retry_backoff": {"policy": "full_jitter"}})


def batching(base: Base) -> Offers:
    """Appends of an open source are collected, and every k-th commits for all of them."""
    for source in base.config.sources:
        if _does(source, *APPENDS) and source.arrivals.kind in REGULAR:
            yield from _steps(1, BATCHES, lambda k, name=source.name: _batch(name, k), source.name)  # type: ignore[misc]


def _batch(name: str, k: int) -> tuple[str, Values]:
    return f"{name}: {k} commits batched into one", {f'source."{name}".load': 1.0 / k}


def more_often(base: Base) -> Offers:
    """A stream that commits more often shows its data sooner, if its commits keep up."""
    for source in base.config.sources:
        if _does(source, *APPENDS) and stream_problem_of(source.model_dump()) is None:
            yield from _steps(1, OFTENER, lambda k, source=source: _oftener(source, k), source.name)  # type: ignore[misc]


def _oftener(source: SourceConfig, k: int) -> tuple[str, Values]:
    every_ms = source.arrivals.period_ms / k  # type: ignore[union-attr]
    return f"{source.name}: a commit every {duration_text(every_ms)}", {f'source."{source.name}".load': float(k)}


def gathering(base: Base) -> Offers:
    """Writers hand their files to a coordinator, which commits those of all at once; the load stays what it is."""
    for source in base.config.sources:
        writers = getattr(source.arrivals, "jobs", getattr(source.arrivals, "clients", 1))
        if writers > 1 and _does(source, *APPENDS) and source.gather_every_ms is None:
            period_ms = getattr(source.arrivals, "period_ms", GATHER_MAX_MS)
            every_ms = min(max(GATHER_MIN_MS, period_ms / 4), GATHER_MAX_MS)
            words = f"{source.name}: one commit for the files of all {writers}, every {duration_text(every_ms)}"
            queue = source.commit_queue or source.name
            keys = {_name(source, "commit_queue"): queue, _name(source, "gather_every_ms"): every_ms}
            yield Offer(words=words, keys=keys, aims_at=source.name)


def fewer_threads(base: Base) -> Offers:
    """A job whose own commits get into each other's way."""
    for source in base.config.sources:
        progress = source.partial_progress
        if progress is None:
            continue
        key = _name(source, "partial_progress")
        if progress.threads > 1:
            one = {"commits": progress.commits, "threads": 1}
            yield Offer(words=f"{source.name}: one thread", keys={key: one}, aims_at=source.name)
        if progress.commits > 1:
            whole = {"commits": 1, "threads": 1}
            yield Offer(words=f"{source.name}: all groups in one commit", keys={key: whole}, aims_at=source.name)


def less_upkeep(base: Base) -> Offers:
    """Maintenance that runs less often is in the way of fewer."""
    for source in base.config.sources:
        if _does(source, *UPKEEP) and source.arrivals.kind in REGULAR:
            quarter = {f'source."{source.name}".load': 0.25}
            yield Offer(words=f"{source.name}: a quarter as often", keys=quarter, aims_at=source.name)


def another_hour(base: Base) -> Offers:
    """What runs by the clock starts when a job that can fail because of it is done."""
    for source in base.config.sources:
        if not _does(source, *OVERWRITES, "rewrite_files", "optimize"):
            continue
        for rival in base.config.sources:
            moved = shift_away(source, rival) if rival is not source else None
            if moved is not None:
                start = duration_text(moved["offset_ms"])
                words = f"{rival.name}: at {start} of every {duration_text(moved['period_ms'])}, after {source.name}"
                yield Offer(words=words, keys=_arrivals(rival, **moved), aims_at=rival.name)


def less_work(base: Base) -> Offers:
    """A job that others can make fail is overtaken by fewer of them while it works."""
    for source in base.config.sources:
        table = source.runtime.model_dump(exclude_none=True)
        if _does(source, *OVERWRITES) and not {"components", "quantiles"} & table.keys():
            half = {key: value / 2 if key.endswith("ms") else value for key, value in table.items()}
            yield Offer(words=f"{source.name}: works half as long", keys={_name(source, "runtime"): half})


def running_again(base: Base) -> Offers:
    """A statement that failed is started over by whoever scheduled it."""
    for source in base.config.sources:
        if _does(source, *OVERWRITES) and source.application_retries == 0:
            yield from _steps(0, (RUNS_AGAIN,), lambda n, source=source: _again(source, n), None)  # type: ignore[misc]


def _again(source: SourceConfig, times: int) -> tuple[str, Values]:
    often = "once" if times == 1 else f"up to {times} times"
    return f"{source.name}: run again, {often}", {_name(source, "application_retries"): times}


def snapshot_isolation(base: Base) -> Offers:
    """An overwrite that does not look for rows that others add."""
    for source in base.config.sources:
        if _does(source, "validated_overwrite") and source.isolation == "serializable":
            yield Offer(words=f"{source.name}: snapshot isolation", keys={_name(source, "isolation"): "snapshot"})


def catalog_cache(base: Base) -> Offers:
    """A statement whose table object nobody refreshes while it is planned."""
    for source in base.config.sources:
        if source.runtime_filter_ms > 0:
            words = f"{source.name}: the catalog's cache, and a session of its own"
            yield Offer(words=words, keys={_name(source, "runtime_filter_ms"): 0.0})


def partition_predicate(base: Base) -> Offers:
    """A statement that names its partitions has not read the others."""
    for source in base.config.sources:
        reads = getattr(source, "read", None)
        if _does(source, *OVERWRITES) and reads == "table" and base.config.catalog.partitions.enabled:
            words = f"{source.name}: a static predicate on the partition column"
            yield Offer(words=words, keys={_name(source, "read"): "partitions"})


def no_merging(base: Base) -> Offers:
    """Manifests stay as they were written."""
    if base.config.commit.merging != "off":
        yield Offer(words="manifests are not merged", keys={"commit.merging": "off"})


def expiry(base: Base) -> Offers:
    """Less history to carry."""
    kept = base.config.table.snapshots_kept_max
    if kept == 0 or kept > SNAPSHOTS_KEPT:
        yield Offer(words=f"{SNAPSHOTS_KEPT} snapshots kept", keys={"table.snapshots_kept_max": SNAPSHOTS_KEPT})


def two_tables(base: Base) -> Offers:
    """Half of the commits go elsewhere."""
    yield Offer(words="the table split in two", keys={"catalog.num_tables": 2 * base.config.catalog.num_tables})


def finer_partitions(base: Base) -> Offers:
    """Txns that meet in a partition meet less often in a smaller one."""
    partitions = base.config.catalog.partitions
    if partitions.enabled:
        count = 2 * partitions.num_partitions
        words = f"{count} partitions instead of {partitions.num_partitions}"
        yield Offer(words=words, keys={"catalog.partitions.num_partitions": count})


def partition_versions(base: Base) -> Offers:
    """Commits to different partitions that do not meet at all."""
    partitions = base.config.catalog.partitions
    count = 2 * partitions.num_partitions if partitions.enabled else PARTITIONS
    if base.config.catalog.scope != "partition":
        split = {"catalog.partitions.enabled": True, "catalog.partitions.num_partitions": count}
        yield Offer(words=f"{count} partitions with a version each", keys={**split, "catalog.scope": "partition"})


def queued_commits(base: Base) -> Offers:
    """Writers of one process that commit one after another."""
    for source in base.config.sources:
        clients = getattr(source.arrivals, "jobs", getattr(source.arrivals, "clients", 1))
        if source.commit_queue is None and (clients > 1 or source.partial_progress is not None):
            words = f"{source.name}: commits one after another"
            yield Offer(words=words, keys={_name(source, "commit_queue"): source.name})


def kept_table(base: Base) -> Offers:
    """A writer that stays and keeps its table; a batch job would have to become a service for that."""
    for source in base.config.sources:
        if source.arrivals.kind in STAYING and not source.keeps_table:
            yield Offer(words=f"{source.name}: the table is kept", keys={_name(source, "keeps_table"): True})


def inlined_metadata(base: Base) -> Offers:
    """A catalog that stores table metadata itself."""
    if not base.config.catalog.table_metadata_inlined:
        yield Offer(words="metadata inlined in the catalog", keys={"catalog.table_metadata_inlined": True})


def appended_lists(base: Base) -> Offers:
    """Manifest lists that are appended to."""
    if base.config.transaction.manifest_list_mode == "rewrite":
        yield Offer(words="manifest lists appended to (ML+)", keys={"transaction.manifest_list_mode": "append"})


def faster_store(base: Base) -> Offers:
    """A faster store of the same cloud: nobody moves a lake to another one for its commits."""
    if base.config.storage.provider in FASTER_STORES:
        provider, title = FASTER_STORES[base.config.storage.provider]
        yield Offer(words=f"{title} as the store", keys={"storage.provider": provider})


def _rest(base: Base) -> dict[str, object]:
    """A REST server instead of what there is, whose answers are paid for; one that is there stays as it is charged."""
    service = base.config.catalog.service
    is_there = base.config.catalog.type == "service" and service.flavour == "rest"
    charged = {} if is_there else {"catalog.service.answer_ms_per_mib": REST_ANSWER_MS_PER_MIB}
    return {"catalog.service.flavour": "rest", **charged}


def rest_catalog(base: Base) -> Offers:
    """A server that checks before it writes."""
    catalog = base.config.catalog
    rest = _rest(base)
    if catalog.type != "service":
        yield Offer(words="a REST catalog of 5 ms", keys={"catalog.type": "service", "catalog.latency_ms": 5.0, **rest})
    elif catalog.service.flavour != "rest":
        yield Offer(words="a REST catalog", keys=rest)


def rebasing_catalog(base: Base) -> Offers:
    """A server that tries a refused append again itself."""
    catalog = base.config.catalog
    if catalog.type == "service" and catalog.service.server_retries == 0:
        keys = {
            **_rest(base),
            "catalog.service.server_retries": 5,
            "catalog.service.rebase": "list",
        }
        yield Offer(words="a REST catalog that rebases appends", keys=keys)


def grouping_catalog(base: Base) -> Offers:
    """A server that takes the appends of a moment together."""
    catalog = base.config.catalog
    if catalog.type == "service" and catalog.service.batch_ms is None:
        keys = {**_rest(base), "catalog.service.batch_ms": SERVER_BATCH_MS}
        yield Offer(words=f"a REST catalog that groups commits of {SERVER_BATCH_MS:g} ms", keys=keys)


def faster_catalog(base: Base) -> Offers:
    """Half the latency."""
    catalog = base.config.catalog
    if catalog.type == "service" and catalog.latency_ms:
        yield Offer(words="a catalog twice as fast", keys={"catalog.latency_ms": catalog.latency_ms / 2})


# --- of Delta Lake --------------------------------------------------------------------------------------


def rarer_checkpoints(base: Base) -> Offers:
    """Fewer commits that write a checkpoint too."""
    interval = base.config.delta.checkpoint_interval * RARER
    yield Offer(words=f"a checkpoint every {interval} commits", keys={"delta.checkpoint_interval": interval})


def loading_anew(base: Base) -> Offers:
    """A client of delta-rs whose table is not left to fall behind."""
    for source in base.config.sources:
        if base.config.delta.client == "delta_rs" and source.keeps_table:
            words = f"{source.name}: the table loaded for every commit"
            yield Offer(words=words, keys={_name(source, "keeps_table"): False})


def write_serializable(base: Base) -> Offers:
    """An operation that does not mind what blind appends add."""
    for source in base.config.sources:
        if base.config.delta.client == "spark" and _does(source, "merge") and source.isolation == "serializable":
            keys = {_name(source, "isolation"): "write_serializable"}
            yield Offer(words=f"{source.name}: write-serializable isolation", keys=keys)


def conditional_writes(base: Base) -> Offers:
    """The store decides who creates the next commit file, and nobody beside it is asked."""
    if base.config.catalog.type == "dynamodb":
        yield Offer(words="the store's own put-if-absent", keys={"catalog.type": "put_if_absent"})
