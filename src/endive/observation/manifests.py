"""This file counts manifests: how many a table has now, how large they are, and how many it had before.

A manifest list is read per snapshot looked at; of a long history only some are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from endive.observation.history import Commit, TableHistory

SNAPSHOTS_READ_MAX: Final = 24
FAILURES_MAX: Final = 3  # then the store is taken for out of reach


def with_manifests(history: TableHistory, io: Any) -> TableHistory:
    """The history with what its manifest lists say; a list that is gone or cannot be read is a note, not an error."""
    chosen = _spread([commit for commit in history.commits if commit.manifest_list])  # format 1 may have none
    if not chosen:
        return history
    counted: dict[int, int] = {}
    last: tuple[int, list[Any]] | None = None
    problem = ""
    failures = 0
    for commit in reversed(chosen):
        if failures >= FAILURES_MAX:
            break
        assert commit.snapshot_id is not None
        try:
            size_bytes, manifests = _read(io, commit.manifest_list)
        except Exception as error:  # whatever the store or the file raises: one snapshot less to look at
            problem = type(error).__name__
            failures += 1
            continue
        counted[commit.snapshot_id] = len(manifests)
        last = (size_bytes, manifests) if commit is chosen[-1] else last
    notes = history.notes
    if problem:
        notes = (
            *notes,
            f"{history.name}: not all manifest lists could be read ({problem}); their manifests are not counted.",
        )
    commits = tuple(
        replace(commit, manifests=counted[commit.snapshot_id]) if commit.snapshot_id in counted else commit
        for commit in history.commits
    )
    return replace(history, commits=commits, notes=notes, shape=_shape(history, last))


def _shape(history: TableHistory, last: tuple[int, list[Any]] | None) -> Any:
    if last is None:
        return history.shape
    size_bytes, manifests = last
    mean = sum(each.manifest_length for each in manifests) / len(manifests) if manifests else None
    deletes = sum(
        (each.added_files_count or 0) + (each.existing_files_count or 0) for each in manifests if int(each.content) == 1
    )
    return replace(
        history.shape,
        manifests=len(manifests),
        manifest_bytes=mean,
        manifest_list_bytes=size_bytes,
        delete_files=deletes,
    )


def _read(io: Any, location: str) -> tuple[int, list[Any]]:
    from pyiceberg.manifest import read_manifest_list

    source = io.new_input(location)
    return len(source), list(read_manifest_list(source))


def _spread(commits: Sequence[Commit]) -> list[Commit]:
    """Some of them, evenly spread, the last one included."""
    if len(commits) <= SNAPSHOTS_READ_MAX:
        return list(commits)
    step = (len(commits) - 1) / (SNAPSHOTS_READ_MAX - 1)
    return [commits[round(index * step)] for index in range(SNAPSHOTS_READ_MAX)]
