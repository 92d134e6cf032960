"""A table's commits as sources of a configuration: one per writer and kind of operation.

What a source does is taken from its snapshots' summaries (files removed, deletes added, partitions changed) and from
the table's properties; what it read, and how long it worked before it committed, from a log where there is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Final

from endive.objectives import duration_text
from endive.observation.exact_intervals import count_interval
from endive.observation.fitting.arrivals import CLOSED, FEW, PERIODIC, FittedArrivals, fit_arrivals, quantile_table
from endive.observation.fitting.partitions import partition_numbers, partition_weights
from endive.observation.fitting.writers import find_writers
from endive.observation.history import DELETE, TABLE_MOVED, Commit, TableHistory

WORK_ASSUMED_MS: Final = 60_000.0
WORKING_KINDS: Final = (
    "validated_overwrite",
    "rewrite_files",
    "rewrite_manifests",
    "append_after_read",
    "merge",
    "optimize",
)  # their start decides what they meet
NO_WORK: Final = {"distribution": "fixed", "ms": 0.0}
ABSENT_SHARE: Final = 0.25  # of the time watched, at its beginning or end: then the source starts late, or stops
ABSENT_GAPS: Final = 5.0  # and so many of its usual gaps
SINKS: Final = ("flink", "kafka-connect")  # their row deltas check nothing
# Who commits otherwise than to the table: through a Transaction, after a refresh, by another library than Java's.
COMMIT_PATHS: Final = {
    "trino": "transaction",
    "presto": "transaction",
    "spark-streaming": "epoch",
    "pyiceberg": "pyiceberg",
}
MERGE_LEVEL: Final = "write.merge.isolation-level"
DELETE_LEVEL: Final = "write.delete.isolation-level"
SERIALIZABLE: Final = "serializable"
COPY_ON_WRITE: Final = "overwrite_files"  # the operation of Spark's copy-on-write statements


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedSource:
    """A writer as the simulator knows it, and the commits it was fitted to."""

    name: str
    writers: tuple[str, ...]
    commits: tuple[Commit, ...]
    arrivals: FittedArrivals
    kind: str
    overwrite: str
    touched_files: int | None  # data files that one commit took away or laid deletes over; None of appends
    partitions: int | None  # that one commit changed
    weights: tuple[float, ...] | None  # how often it picks each partition, where manifests tell
    work: dict[str, Any]  # between reading the table and committing, as a distribution
    is_work_assumed: bool  # nothing but a guess says how long it works
    start_ms: float | None  # since the table's first commit
    stop_ms: float | None

    @property
    def engine(self) -> str:
        """Of its commits; they share it."""
        return self.commits[0].engine

    @property
    def validates(self) -> bool:
        """Whether what rivals commit can fail it, as far as its operation goes."""
        return self.kind == "validated_overwrite" and self.overwrite != "replace_partitions" and not self.is_sink

    @property
    def is_sink(self) -> bool:
        """Whether its engine writes deltas that check nothing: by name, or because it deletes by key."""
        return self.engine in SINKS or any(commit.added_equality_deletes for commit in self.commits)

    @property
    def never_rewrote(self) -> bool:
        """Whether it is a compaction of which only failures were seen."""
        return self.kind == "rewrite_files" and not any(commit.is_committed for commit in self.commits)

    @property
    def logged_read(self) -> str:
        """What most of its exceptions say it had read."""
        reads = Counter(commit.read for commit in self.commits if commit.read)
        return reads.most_common(1)[0][0] if reads else ""

    def isolation(self, settings: dict[str, str]) -> str:
        """Its level by the table's properties: a DELETE has one of its own, MERGE and UPDATE cannot be told apart."""
        key = DELETE_LEVEL if self.commits[0].operation == DELETE else MERGE_LEVEL
        return settings.get(key, SERIALIZABLE)

    def table(self, settings: dict[str, str]) -> dict[str, Any]:
        """As ``[[source]]``."""
        section: dict[str, Any] = {
            "name": self.name,
            "arrivals": self.arrivals.table,
            "operation_types": {self.kind: 1.0},
            "runtime": self.work,
        }
        section |= {key: ms for key, ms in (("start_ms", self.start_ms), ("stop_ms", self.stop_ms)) if ms is not None}
        if self.kind == "validated_overwrite":
            section |= self._overwrite(settings)
        if self.engine in COMMIT_PATHS:
            section["commit_path"] = COMMIT_PATHS[self.engine]
        return section

    def _overwrite(self, settings: dict[str, str]) -> dict[str, Any]:
        """What its summaries and its engine say of how it deletes and what it checks."""
        keys: dict[str, Any] = {"overwrite": self.overwrite or "row_delta"}
        if keys["overwrite"] == "replace_partitions":
            return keys
        keys["isolation"] = self.isolation(settings)
        if not any(commit.added_files for commit in self.commits) and self.commits[0].operation == DELETE:
            keys["adds_rows"] = False
        if keys["overwrite"] == "row_delta":
            if self.is_sink:
                keys["checks"] = "none"
            elif keys.get("adds_rows") is False:
                keys["checks"] = "added_rows"  # Spark's merge-on-read DELETE
            if any(commit.added_equality_deletes for commit in self.commits):
                keys["deletes"] = "equality"
        return keys

    def rate_text(self, window_ms: float) -> str | None:
        """How well a rate from few commits is known: ``3 in 5 days``, and what that may be in the long run."""
        if self.arrivals.pattern != FEW:
            return None
        low, high = count_interval(len(self.commits))
        return (
            f"{len(self.commits)} in {duration_text(window_ms)}; in the long run {low:.2g} to {high:.2g} in that time"
        )


def fit_sources(history: TableHistory) -> tuple[FittedSource, ...]:
    """The sources of a table, busiest first."""
    numbers = partition_numbers(history.commits)
    fitted = [_fit(name, commits, history, numbers) for name, commits in find_writers(history.commits)]
    return tuple(sorted(fitted, key=lambda source: (-len(source.commits), source.name)))


def _fit(
    name: str, commits: Sequence[Commit], history: TableHistory, numbers: Mapping[int, tuple[int, ...]]
) -> FittedSource:
    window_ms, origin_us = history.duration_ms, history.commits[0].time_us
    arrivals = fit_arrivals(commits, window_ms, origin_us)
    kind = Counter(commit.kind for commit in commits).most_common(1)[0][0]
    overwrites = Counter(commit.overwrite for commit in commits if commit.overwrite)
    is_copying = any(commit.reason == TABLE_MOVED for commit in commits)  # only copy-on-write fails so
    work, is_assumed = _work(commits, kind, arrivals)
    if is_assumed and arrivals.pattern == CLOSED:
        arrivals = _busy(arrivals, float(work["ms"]))
    start_ms, stop_ms = _active(commits, arrivals, origin_us, window_ms)
    return FittedSource(
        name=name,
        writers=tuple(dict.fromkeys(commit.writer for commit in commits)),
        commits=tuple(commits),
        arrivals=arrivals,
        kind=kind,
        overwrite=COPY_ON_WRITE if is_copying else overwrites.most_common(1)[0][0] if overwrites else "",
        touched_files=_whole(usual([float(n) for n in map(_touched, commits) if n])),
        partitions=_whole(usual([float(each.changed_partitions) for each in commits if each.changed_partitions])),
        weights=partition_weights(commits, numbers, history.shape.partitions or 0),
        work=work,
        is_work_assumed=is_assumed,
        start_ms=start_ms,
        stop_ms=stop_ms,
    )


def _work(commits: Sequence[Commit], kind: str, arrivals: FittedArrivals) -> tuple[dict[str, Any], bool]:
    """What it does between reading and committing: as a log tells, else a guess for what looks at rivals."""
    logged = [float(each.runtime_ms) for each in commits if each.runtime_ms is not None]
    whole = [float(each.duration_ms or 0.0) for each in commits if each.is_statement and each.runtime_ms is None]
    if any(logged) or whole:
        return quantile_table(logged or whole), False
    if logged or kind not in WORKING_KINDS:
        return NO_WORK, False
    return {"distribution": "fixed", "ms": round(min(WORK_ASSUMED_MS, arrivals.gap_mean_ms / 2.0), 3)}, True


def _busy(arrivals: FittedArrivals, work_ms: float) -> FittedArrivals:
    """A loop whose pauses are work in part: what is work is no thinking."""
    think = {**arrivals.table["think_ms"]}
    think["quantiles"] = [[share, max(0.0, ms - work_ms)] for share, ms in think["quantiles"]]
    return replace(arrivals, table={**arrivals.table, "think_ms": think})


def _active(
    commits: Sequence[Commit], arrivals: FittedArrivals, origin_us: int, window_ms: float
) -> tuple[float | None, float | None]:
    """When it started and stopped, if it was away for long at the beginning or the end; its clock tells its start."""
    if arrivals.pattern == FEW:
        return None, None
    first_ms = (min(commit.time_us for commit in commits) - origin_us) / 1000.0
    last_ms = (max(commit.time_us for commit in commits) - origin_us) / 1000.0
    long_ms = max(ABSENT_SHARE * window_ms, ABSENT_GAPS * arrivals.gap_mean_ms)
    start_ms = round(first_ms, 3) if first_ms > long_ms and arrivals.pattern != PERIODIC else None
    return start_ms, round(last_ms + 1.0, 3) if window_ms - last_ms > long_ms else None


def _touched(commit: Commit) -> int:
    """Files a commit removed; of a row delta at least one for every delete file it added."""
    return commit.removed_files or commit.added_delete_files


def _whole(value: float | None) -> int | None:
    return None if value is None else max(1, round(value))


def usual(values: Sequence[float]) -> float | None:
    """The median, if there is any."""
    return median(values) if values else None
