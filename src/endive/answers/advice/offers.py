"""What each lever sets: one function for each, which looks at a configuration and names the keys it would change.

A lever that makes no sense there offers nothing; what the configuration refuses, or has already, is left out by
``endive.answers.advice.levers``, which says what a lever takes, what it gives up and whether it can be had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from endive.answers.variation import Base
from endive.config.catalog_profile import REST_ANSWER_MS_PER_MIB
from endive.config.sections.arrivals import Periodic
from endive.config.sections.source import SourceConfig
from endive.config.sections.stream import stream_problem_of
from endive.distributions.from_table import from_table
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
SPARE: Final = 0.1  # of the work, for the commit and for runs that take longer
SPARE_MS: Final = 60_000.0


@dataclass(frozen=True, slots=True)
class Graded:
    """One lever in whole steps: from what it is now, in the direction of the step that is offered."""

    now: int
    step: int
    offer: Callable[[int], Offer]


@dataclass(frozen=True, slots=True)
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


def _set(source: SourceConfig, words: str, aims_at: str | None = None, **keys: Any) -> Offer:
    """Keys of one source."""
    return Offer(f"{source.name}: {words}", {_name(source, key): value for key, value in keys.items()}, aims_at)


def _steps(now: int, tried: tuple[int, ...], make: Callable[[int], Offer]) -> Offers:
    """Offers of several strengths, between which the smallest that is enough is looked for."""

    def offer(step: int) -> Offer:
        return replace(make(step), graded=Graded(now, step, offer))

    return map(offer, tried)


def retries(base: Base) -> Offers:
    """More tries for everybody."""
    sources = base.config.sources
    least = min(source.retry for source in sources)

    def make(count: int) -> Offer:
        return Offer(f"{count} retries", {_name(each, "retry"): max(count, each.retry) for each in sources})

    return _steps(least, tuple(count for count in RETRIES[base.config.table.format] if count > least), make)


def longer_pause(base: Base) -> Offers:
    """A first pause of a second."""
    pause = {"policy": "iceberg", "base_ms": PAUSE_MS, "multiplier": 2.0, "max_ms": 60_000.0}
    yield Offer("first pause of 1 s", {"source.*.retry_backoff": pause})


def full_jitter(base: Base) -> Offers:
    """Pauses that are drawn from nothing to all."""
    yield Offer("pauses with full jitter", {"source.*.retry_backoff": {"policy": "full_jitter"}})


def batching(base: Base) -> Offers:
    """Appends of an open source are collected, and every k-th commits for all of them."""
    for source in base.config.sources:
        if _does(source, *APPENDS) and source.arrivals.kind in REGULAR:
            yield from _steps(1, BATCHES, partial(_batch, source))


def _batch(source: SourceConfig, k: int) -> Offer:
    return _set(source, f"{k} commits batched into one", source.name, load=1.0 / k)


def more_often(base: Base) -> Offers:
    """A stream that commits more often shows its data sooner, if its commits keep up."""
    for source in base.config.sources:
        if _does(source, *APPENDS) and stream_problem_of(source.model_dump()) is None:
            yield from _steps(1, OFTENER, partial(_oftener, source))


def _oftener(source: SourceConfig, k: int) -> Offer:
    every_ms = source.arrivals.period_ms / k  # type: ignore[union-attr]
    return _set(source, f"a commit every {duration_text(every_ms)}", source.name, load=float(k))


def gathering(base: Base) -> Offers:
    """Writers hand their files to a coordinator, which commits those of all at once; the load stays what it is."""
    for source in base.config.sources:
        writers = _writers(source)
        if writers > 1 and _does(source, *APPENDS) and source.gather_every_ms is None:
            period_ms = getattr(source.arrivals, "period_ms", GATHER_MAX_MS)
            every_ms = min(max(GATHER_MIN_MS, period_ms / 4), GATHER_MAX_MS)
            words = f"one commit for the files of all {writers}, every {duration_text(every_ms)}"
            queue = source.commit_queue or source.name
            yield _set(source, words, source.name, commit_queue=queue, gather_every_ms=every_ms)


def _writers(source: SourceConfig) -> int:
    return int(getattr(source.arrivals, "jobs", getattr(source.arrivals, "clients", 1)))


def fewer_threads(base: Base) -> Offers:
    """A job whose own commits get into each other's way."""
    for source in base.config.sources:
        progress = source.partial_progress
        if progress is not None and progress.threads > 1:
            yield _set(source, "one thread", source.name, partial_progress={"commits": progress.commits, "threads": 1})
        if progress is not None and progress.commits > 1:
            whole = {"commits": 1, "threads": 1}
            yield _set(source, "all groups in one commit", source.name, partial_progress=whole)


def less_upkeep(base: Base) -> Offers:
    """Maintenance that runs less often is in the way of fewer."""
    for source in base.config.sources:
        if _does(source, *UPKEEP) and source.arrivals.kind in REGULAR:
            yield _set(source, "a quarter as often", source.name, load=0.25)


def another_hour(base: Base) -> Offers:
    """What runs by the clock starts when a job that can fail because of it is done."""
    for source in base.config.sources:
        if not _does(source, *OVERWRITES, "rewrite_files", "optimize"):
            continue
        for rival in base.config.sources:
            moved = shift_away(source, rival) if rival is not source else None
            if moved is not None:
                words = f"at {duration_text(moved['offset_ms'])} of every {duration_text(moved['period_ms'])}"
                arrivals = (
                    rival.arrivals.model_dump(exclude_none=True) | moved
                )  # all, since a recipe's is not in the file
                yield _set(rival, f"{words}, after {source.name}", rival.name, arrivals=arrivals)


def shift_away(victim: SourceConfig, rival: SourceConfig) -> dict[str, float] | None:
    """Period and offset of a rival that starts when the victim is done; None if the clock cannot keep them apart.

    The rival keeps its period if it finds room between two runs of the victim. Else it runs once for each of them, if
    all it does is upkeep: what brings data cannot bring them once a night instead.
    """
    if not isinstance(victim.arrivals, Periodic) or not isinstance(rival.arrivals, Periodic):
        return None
    begin_ms, busy_ms = victim.arrivals.offset_ms, _busy_ms(victim)
    needs_ms = busy_ms + _busy_ms(rival)
    clock_ms = victim.arrivals.period_ms
    periods_ms = [rival.arrivals.period_ms]
    if {*UPKEEP, "expire_snapshots"}.issuperset(
        kind for kind, weight in rival.operation_types.model_dump().items() if weight
    ):
        periods_ms.append(max(clock_ms, rival.arrivals.period_ms))
    for period_ms in periods_ms:
        shorter_ms, longer_ms = sorted((clock_ms, period_ms))
        if shorter_ms < needs_ms or longer_ms % shorter_ms:
            continue
        offset_ms = (begin_ms + busy_ms) % period_ms
        if (period_ms, offset_ms) == (rival.arrivals.period_ms, rival.arrivals.offset_ms):
            return None
        return {"period_ms": period_ms, "offset_ms": offset_ms}
    return None


def _busy_ms(source: SourceConfig) -> float:
    """From the earliest start of a run to its end, with something to spare."""
    assert isinstance(source.arrivals, Periodic)
    work_ms = from_table(source.runtime.model_dump(exclude_none=True), "runtime").quantile(0.99)
    return source.arrivals.jitter_ms + work_ms + max(SPARE_MS, SPARE * work_ms)


def less_work(base: Base) -> Offers:
    """A job that others can make fail is overtaken by fewer of them while it works."""
    for source in base.config.sources:
        table = source.runtime.model_dump(exclude_none=True)
        if _does(source, *OVERWRITES) and not {"components", "quantiles"} & table.keys():
            half = {key: value / 2 if key.endswith("ms") else value for key, value in table.items()}
            yield _set(source, "works half as long", runtime=half)


def running_again(base: Base) -> Offers:
    """A statement that failed is started over by whoever scheduled it."""
    for source in base.config.sources:
        if _does(source, *OVERWRITES) and source.application_retries == 0:
            yield from _steps(0, (RUNS_AGAIN,), partial(_again, source))


def _again(source: SourceConfig, times: int) -> Offer:
    often = "once" if times == 1 else f"up to {times} times"
    return _set(source, f"run again, {often}", application_retries=times)


def snapshot_isolation(base: Base) -> Offers:
    """An overwrite that does not look for rows that others add."""
    for source in base.config.sources:
        if _does(source, "validated_overwrite") and source.isolation == "serializable":
            yield _set(source, "snapshot isolation", isolation="snapshot")


def partition_predicate(base: Base) -> Offers:
    """A statement that names its partitions has not read the others."""
    for source in base.config.sources:
        if _does(source, *OVERWRITES) and source.read == "table":
            yield _set(source, "a static predicate on the partition column", read="partitions")


def no_merging(_: Base) -> Offers:
    """Manifests stay as they were written."""
    yield Offer("manifests are not merged", {"commit.merging": "off"})


def expiry(base: Base) -> Offers:
    """Less history to carry."""
    kept = base.config.table.snapshots_kept_max
    if kept == 0 or kept > SNAPSHOTS_KEPT:
        yield Offer(f"{SNAPSHOTS_KEPT} snapshots kept", {"table.snapshots_kept_max": SNAPSHOTS_KEPT})


def two_tables(base: Base) -> Offers:
    """Half of the commits go elsewhere."""
    yield Offer("the table split in two", {"catalog.num_tables": 2 * base.config.catalog.num_tables})


def finer_partitions(base: Base) -> Offers:
    """Txns that meet in a partition meet less often in a smaller one."""
    partitions = base.config.catalog.partitions
    if partitions.enabled:
        words = f"{2 * partitions.num_partitions} partitions instead of {partitions.num_partitions}"
        yield Offer(words, {"catalog.partitions.num_partitions": 2 * partitions.num_partitions})


def partition_versions(base: Base) -> Offers:
    """Commits to different partitions that do not meet at all."""
    partitions = base.config.catalog.partitions
    count = 2 * partitions.num_partitions if partitions.enabled else PARTITIONS
    if base.config.catalog.scope != "partition":
        split = {"catalog.partitions.enabled": True, "catalog.partitions.num_partitions": count}
        yield Offer(f"{count} partitions with a version each", {**split, "catalog.scope": "partition"})


def queued_commits(base: Base) -> Offers:
    """Writers of one process that commit one after another."""
    for source in base.config.sources:
        if source.commit_queue is None and (_writers(source) > 1 or source.partial_progress is not None):
            yield _set(source, "commits one after another", commit_queue=source.name)


def kept_table(base: Base) -> Offers:
    """A writer that stays and keeps its table; a batch job would have to become a service for that."""
    for source in base.config.sources:
        if source.arrivals.kind in STAYING:
            yield _set(source, "the table is kept", keeps_table=True)


def inlined_metadata(_: Base) -> Offers:
    """A catalog that stores table metadata itself."""
    yield Offer("metadata inlined in the catalog", {"catalog.table_metadata_inlined": True})


def appended_lists(_: Base) -> Offers:
    """Manifest lists that are appended to."""
    yield Offer("manifest lists appended to (ML+)", {"transaction.manifest_list_mode": "append"})


def faster_store(base: Base) -> Offers:
    """A faster store of the same cloud: nobody moves a lake to another one for its commits."""
    if base.config.storage.provider in FASTER_STORES:
        provider, title = FASTER_STORES[base.config.storage.provider]
        yield Offer(f"{title} as the store", {"storage.provider": provider})


def _rest(base: Base) -> dict[str, object]:
    """A REST server instead of what there is, whose answers are paid for; one that is there stays as it is charged."""
    service = base.config.catalog.service
    is_there = base.config.catalog.type == "service" and service.flavour == "rest"
    charged = {} if is_there else {"catalog.service.answer_ms_per_mib": REST_ANSWER_MS_PER_MIB}
    return {"catalog.service.flavour": "rest", **charged}


def rest_catalog(base: Base) -> Offers:
    """A server that checks before it writes."""
    catalog = base.config.catalog
    if catalog.type != "service":
        keys = {"catalog.type": "service", "catalog.latency_ms": 5.0, **_rest(base)}
        yield Offer("a REST catalog of 5 ms", keys)
    elif catalog.service.flavour != "rest":
        yield Offer("a REST catalog", _rest(base))


def rebasing_catalog(base: Base) -> Offers:
    """A server that tries a refused append again itself."""
    catalog = base.config.catalog
    if catalog.type == "service" and catalog.service.server_retries == 0:
        keys = {"catalog.service.server_retries": 5, "catalog.service.rebase": "list"}
        yield Offer("a REST catalog that rebases appends", {**_rest(base), **keys})


def grouping_catalog(base: Base) -> Offers:
    """A server that takes the appends of a moment together."""
    catalog = base.config.catalog
    if catalog.type == "service" and catalog.service.batch_ms is None:
        words = f"a REST catalog that groups commits of {SERVER_BATCH_MS:g} ms"
        yield Offer(words, {**_rest(base), "catalog.service.batch_ms": SERVER_BATCH_MS})


def faster_catalog(base: Base) -> Offers:
    """Half the latency."""
    catalog = base.config.catalog
    if catalog.type == "service" and catalog.latency_ms:
        yield Offer("a catalog twice as fast", {"catalog.latency_ms": catalog.latency_ms / 2})


# --- of Delta Lake --------------------------------------------------------------------------------------


def rarer_checkpoints(base: Base) -> Offers:
    """Fewer commits that write a checkpoint too."""
    interval = base.config.delta.checkpoint_interval * RARER
    yield Offer(f"a checkpoint every {interval} commits", {"delta.checkpoint_interval": interval})


def loading_anew(base: Base) -> Offers:
    """A client of delta-rs whose table is not left to fall behind."""
    for source in base.config.sources:
        if base.config.delta.client == "delta_rs" and source.keeps_table:
            yield _set(source, "the table loaded for every commit", keeps_table=False)


def write_serializable(base: Base) -> Offers:
    """An operation that does not mind what blind appends add."""
    for source in base.config.sources:
        if base.config.delta.client == "spark" and _does(source, "merge") and source.isolation == "serializable":
            yield _set(source, "write-serializable isolation", isolation="write_serializable")


def conditional_writes(base: Base) -> Offers:
    """The store decides who creates the next commit file, and nobody beside it is asked."""
    if base.config.catalog.type == "dynamodb":
        yield Offer("the store's own put-if-absent", {"catalog.type": "put_if_absent"})
