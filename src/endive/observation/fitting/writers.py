"""Which commits are one writer's: same engine, same kind of operation, and one job, also if it was started again.

A job that is started again has a new application id. Ids that differ in their numbers alone and follow one another are
therefore one writer; ids whose commits overlap are several. Appends, overwrites, deletes and rewrites are never one
writer's, however rare they are: what fails the one does not fail the other.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from endive.observation.fitting.arrivals import GAPS_MIN, begins_us
from endive.observation.history import APPEND, DELETE, OVERWRITE, REPLACE, Commit
from endive.observation.tables.snapshots import REWRITE_MANIFESTS

COMMITS_MIN: Final = 12  # of a writer beside others of its engine and operation; those with fewer are counted together
GAP_RATIO_MAX: Final = 4.0  # jobs that commit so much more often than the one before them are other jobs
WORDS: Final = {APPEND: APPEND, OVERWRITE: OVERWRITE, DELETE: DELETE, REPLACE: "compaction"}
_PLAIN: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_NUMBERS: Final = re.compile(r"[0-9a-f]{8,}|\d+")
_NAME_LENGTH_MAX: Final = 32


@dataclass(slots=True, kw_only=True)
class Writer:
    """Commits of one job, under one name or under several one after another."""

    engine: str
    word: str
    names: list[str]
    commits: list[Commit]
    end_us: int
    gaps_ms: list[float] = field(default_factory=list)


def find_writers(commits: Sequence[Commit]) -> list[tuple[str, list[Commit]]]:
    """Every writer's name and its commits."""
    writers = _pool(_chain(commits))
    return list(zip(_names(writers), (writer.commits for writer in writers), strict=True))


def _chain(commits: Sequence[Commit]) -> list[Writer]:
    """Writers by their first commit; one that begins after another of its sort has ended goes on for it."""
    parts: dict[tuple[str, str, str], list[Commit]] = {}
    for commit in commits:
        parts.setdefault((commit.engine, _word(commit), commit.writer), []).append(commit)
    chains: list[Writer] = []
    for begin_us, (engine, word, name), own in sorted((min(begins_us(own)), key, own) for key, own in parts.items()):
        gaps_ms = [(after - before) / 1000.0 for before, after in itertools.pairwise(sorted(begins_us(own)))]
        end_us = max(commit.time_us for commit in own)
        ended = [
            writer
            for writer in chains
            if (writer.engine, writer.word, _shape(writer.names[-1])) == (engine, word, _shape(name))
            and writer.end_us < begin_us
            and _are_alike(writer.gaps_ms, gaps_ms)
        ]
        if ended:
            last = max(ended, key=lambda writer: writer.end_us)
            last.names.append(name)
            last.commits += own
            last.end_us = end_us
            last.gaps_ms += gaps_ms
        else:
            chains.append(Writer(engine=engine, word=word, names=[name], commits=own, end_us=end_us, gaps_ms=gaps_ms))
    return chains


def _word(commit: Commit) -> str:
    return REWRITE_MANIFESTS if commit.kind == REWRITE_MANIFESTS else WORDS.get(commit.word, commit.word)


def _shape(name: str) -> str:
    """A name without its numbers: ids of one job differ in those alone, names that people gave do not."""
    return _NUMBERS.sub("#", name)


def _are_alike(ours_ms: Sequence[float], theirs_ms: Sequence[float]) -> bool:
    """Whether two jobs commit about as often, as far as one can tell."""
    if min(len(ours_ms), len(theirs_ms)) < GAPS_MIN:
        return True
    ours, theirs = max(1.0, median(ours_ms)), max(1.0, median(theirs_ms))
    return max(ours, theirs) <= GAP_RATIO_MAX * min(ours, theirs)


def _pool(writers: Sequence[Writer]) -> list[Writer]:
    """Those with few commits, if there are several of one engine and operation, as one."""
    small: dict[tuple[str, str], list[Writer]] = {}
    for writer in writers:
        if len(writer.commits) < COMMITS_MIN:
            small.setdefault((writer.engine, writer.word), []).append(writer)
    large = [writer for writer in writers if len(writer.commits) >= COMMITS_MIN]
    for own in small.values():
        first, *others = own
        for other in others:
            first.names += other.names
            first.commits += other.commits
        first.commits.sort(key=lambda commit: (commit.time_us, commit.sequence_number))
        large.append(first)
    return large


def _names(writers: Sequence[Writer]) -> list[str]:
    """Short, unique, and fit for a key: ``spark-app-20260301-append``; the word only where it tells two apart."""
    stems = [writer.names[0] if len(set(writer.names)) == 1 else writer.engine for writer in writers]
    names: list[str] = []
    for stem, writer in zip(stems, writers, strict=True):
        plain = _PLAIN.sub("-", stem).strip("-")[:_NAME_LENGTH_MAX] or "writer"
        plain = f"writer-{plain}" if plain.isdecimal() else plain
        words = {other.word for other, same in zip(writers, stems, strict=True) if same == stem}
        name = f"{plain}-{writer.word}" if len(words) > 1 else plain
        number, unique = 2, name
        while unique in names:
            unique, number = f"{name}-{number}", number + 1
        names.append(unique)
    return names
