"""This file turns a table's commits into sources of a configuration: one per writer, or per kind where it has several.

A writer that committed seldom is counted with the others of its engine; a kind that a writer used seldom is a share of
its main source.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from endive.observation.arrival_fit import FittedArrivals, fit_arrivals
from endive.observation.observed_history import Commit, TableHistory

COMMITS_MIN: Final = 12  # of a writer, or of a kind within one, for a source of its own
WORK_ASSUMED_MS: Final = 60_000.0
WORKING_KINDS: Final = ("validated_overwrite", "rewrite_files")  # their start decides what they must look at
_PLAIN: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_NAME_LENGTH_MAX: Final = 32
_WORDS: Final = {
    "fast_append": "append",
    "merge_append": "append",
    "validated_overwrite": "overwrite",
    "rewrite_files": "compaction",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedSource:
    """A writer as the simulator knows it, and the commits it was fitted to."""

    name: str
    writers: tuple[str, ...]
    commits: tuple[Commit, ...]
    arrivals: FittedArrivals
    operation_types: dict[str, float]
    overwrite: str
    touched_files: int | None  # data files that one commit took away or laid deletes over; None of appends
    partitions: int | None  # that one commit changed
    work_ms: float  # between reading the table and committing; assumed for operations that validate

    @property
    def is_work_assumed(self) -> bool:
        """Whether nothing but a guess says how long it works before it commits."""
        return self.work_ms > 0.0

    def table(self, settings: dict[str, str]) -> dict[str, Any]:
        """As ``[[source]]``."""
        found: dict[str, Any] = {
            "name": self.name,
            "arrivals": self.arrivals.table,
            "operation_types": self.operation_types,
            "runtime": {"distribution": "fixed", "ms": self.work_ms},
        }
        if "validated_overwrite" in self.operation_types:
            found["overwrite"] = self.overwrite or "row_delta"
            if found["overwrite"] != "replace_partitions":
                found["isolation"] = settings.get("write.merge.isolation-level", "serializable")
        return found


def fit_sources(history: TableHistory) -> tuple[FittedSource, ...]:
    """The sources of a table, busiest first."""
    groups = _by_kind(_by_writer(history.commits))
    names = _names([key for key, _ in groups])
    found = [
        _fit(name, commits, history.duration_ms) for name, (_, commits) in zip(names, groups, strict=True) if commits
    ]
    return tuple(sorted(found, key=lambda source: (-len(source.commits), source.name)))


def _fit(name: str, commits: Sequence[Commit], window_ms: float) -> FittedSource:
    arrivals = fit_arrivals(commits, window_ms)
    kinds = Counter(commit.kind for commit in commits)
    overwrites = Counter(commit.overwrite for commit in commits if commit.overwrite)
    works = 2 * sum(kinds[kind] for kind in WORKING_KINDS) >= len(commits)
    return FittedSource(
        name=name,
        writers=tuple(dict.fromkeys(commit.writer for commit in commits)),
        commits=tuple(commits),
        arrivals=arrivals,
        operation_types={kind: round(count / len(commits), 6) for kind, count in kinds.most_common()},
        overwrite=overwrites.most_common(1)[0][0] if overwrites else "",
        touched_files=_whole(usual([float(n) for n in map(_touched, commits) if n])),
        partitions=_whole(usual([float(each.changed_partitions) for each in commits if each.changed_partitions])),
        work_ms=round(min(WORK_ASSUMED_MS, arrivals.gap_mean_ms / 2.0), 3) if works else 0.0,
    )


def _touched(commit: Commit) -> int:
    """Files a commit removed; of a row delta at least one for every delete file it added."""
    return commit.removed_files or commit.added_delete_files


def _whole(value: float | None) -> int | None:
    return None if value is None else max(1, round(value))


def _by_writer(commits: Sequence[Commit]) -> dict[str, list[Commit]]:
    sizes = Counter(commit.writer for commit in commits)
    groups: dict[str, list[Commit]] = {}
    for commit in commits:
        key = commit.writer if sizes[commit.writer] >= COMMITS_MIN else commit.engine
        groups.setdefault(key, []).append(commit)
    return groups


def _by_kind(writers: dict[str, list[Commit]]) -> list[tuple[tuple[str, str], list[Commit]]]:
    """Each writer's commits by kind, where several kinds are frequent enough; key: writer and what tells it apart."""
    found: list[tuple[tuple[str, str], list[Commit]]] = []
    for writer, commits in writers.items():
        kinds = Counter(_WORDS[commit.kind] for commit in commits)
        main = kinds.most_common(1)[0][0]
        own = {word for word, count in kinds.items() if count >= COMMITS_MIN} | {main}
        parts: dict[str, list[Commit]] = {}
        for commit in commits:
            word = _WORDS[commit.kind]
            parts.setdefault(word if word in own else main, []).append(commit)
        found += [((writer, word if len(parts) > 1 else ""), part) for word, part in parts.items()]
    return found


def _names(keys: Sequence[tuple[str, str]]) -> list[str]:
    """Short, unique, and fit for a key: ``spark-app-20260301-append``."""
    names: list[str] = []
    for writer, word in keys:
        stem = _PLAIN.sub("-", writer).strip("-")[:_NAME_LENGTH_MAX] or "writer"
        stem = f"writer-{stem}" if stem.isdecimal() else stem
        name = f"{stem}-{word}" if word else stem
        number = 2
        unique = name
        while unique in names:
            unique, number = f"{name}-{number}", number + 1
        names.append(unique)
    return names


def usual(values: Sequence[float]) -> float | None:
    """The median, if there is any."""
    return median(values) if values else None
