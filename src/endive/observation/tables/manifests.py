"""Manifests counted: how many a table has now, how large they are, how many it had before, and its partitions.

A manifest list is read per snapshot looked at; of a long history only some are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from typing import Any, Final

from endive.errors import IntakeError
from endive.intake import plain_avro, within
from endive.observation.history import Commit, TableHistory, TableShape
from endive.observation.tables.allowed_places import AllowedPlaces

SNAPSHOTS_READ_MAX: Final = 24
PARTITIONS_READ_MAX: Final = 50  # manifests read to count the partitions of a table; of more, they are not counted
FAILURES_MAX: Final = 3  # then the store is taken for out of reach
# Of all lists together, and of all manifests: a small file can be named by every snapshot.
BYTES_MAX: Final = 128 * 2**20  # expanded
RECORDS_MAX: Final = 150_000  # each takes 35 us
SECONDS_MAX: Final = 10.0  # for all that is decoded: a record may hold millions of parts
NOWHERE: Final = ""  # of a manifest that covers several partitions


class ManifestFiles:
    """The Avro files of a table, from the places that may be read, expanded with a limit that they share."""

    def __init__(self, files: Any, allowed: AllowedPlaces) -> None:
        self._files = files
        self._allowed = allowed
        self._bytes_left = BYTES_MAX
        self._records_left = RECORDS_MAX
        self._seconds_left = SECONDS_MAX

    def afresh(self) -> ManifestFiles:
        """The same files, with the whole limit."""
        return ManifestFiles(self._files, self._allowed)

    def new_input(self, location: str) -> AvroInput:
        """As PyIceberg asks for a file."""
        self._allowed.refuse_others(location)
        with self._files.new_input(location).open() as file:
            content = file.read()
        name = f"'{location}'"
        plain, records = plain_avro(content, bytes_max=self._bytes_left, records_max=self._records_left, name=name)
        self._bytes_left = max(0, self._bytes_left - len(plain))
        self._records_left -= records
        return AvroInput(location, plain, len(content))

    def decode(self, call: Callable[[], list[Any]], location: str) -> list[Any]:
        """What PyIceberg makes of a file, in the time that is left."""
        begin_s = time.monotonic()
        try:
            return within(self._seconds_left, call, name=f"'{location}'")
        finally:
            self._seconds_left = max(0.0, self._seconds_left - (time.monotonic() - begin_s))


@dataclass(frozen=True, slots=True)
class AvroInput:
    """A file that has been read."""

    location: str
    content: bytes
    size_bytes: int  # as it lies in the store

    def __len__(self) -> int:
        return self.size_bytes

    def open(self, seekable: bool = True) -> BytesIO:
        """Its bytes, without compression."""
        return BytesIO(self.content)

    def new_input(self, location: str) -> AvroInput:
        """Itself, for whoever asks for it by its place."""
        return self


def with_manifests(history: TableHistory, io: ManifestFiles) -> TableHistory:
    """The history with what its manifest lists say; a list that is gone or cannot be read is a note, not an error."""
    chosen = _spread([commit for commit in history.commits if commit.manifest_list])  # format 1 may have none
    if not chosen:
        return history
    counted: dict[int, int] = {}
    places: dict[int, set[str]] = {}
    last: tuple[int, list[Any]] | None = None
    problem = ""
    failures = 0
    for commit in reversed(chosen):
        if failures >= FAILURES_MAX:
            break
        assert commit.snapshot_id is not None
        try:
            size_bytes, manifests = _read(io, commit.manifest_list)
        except IntakeError as error:  # elsewhere, too large or late: the next one would be no better
            problem = str(error).rstrip(".")
            break
        except Exception as error:  # whatever the store or the file raises: one snapshot less to look at
            problem = type(error).__name__
            failures += 1
            continue
        counted[commit.snapshot_id] = len(manifests)
        for manifest in manifests:
            _place(manifest, places)
        last = (size_bytes, manifests) if commit is chosen[-1] else last
    notes = []
    if problem:
        notes.append(
            f"{history.name}: not all manifest lists could be read ({problem}); their manifests are not counted."
        )
    known = {own: tuple(sorted(names)) for own, names in places.items() if NOWHERE not in names}
    commits = tuple(
        replace(
            commit,
            manifests=counted.get(commit.snapshot_id or 0, commit.manifests),
            places=known.get(commit.snapshot_id or 0, ()),
        )
        for commit in history.commits
    )
    shape = history.shape
    if last is not None:
        partitions, why_unknown = _partitions(history, last[1], io.afresh())
        shape = replace(_shape(history, last), partitions=partitions)
        notes += why_unknown
    return history.with_notes(*notes, commits=commits, shape=shape)


def _place(manifest: Any, places: dict[int, set[str]]) -> None:
    """Where a snapshot added files: its own manifest says it in the list, by equal bounds, if it is one partition."""
    is_new = not (manifest.existing_files_count or manifest.deleted_files_count) and int(manifest.content) == 0
    if is_new and manifest.partitions and manifest.added_files_count:
        places.setdefault(manifest.added_snapshot_id, set()).add(_one_partition(manifest))


def _one_partition(manifest: Any) -> str:
    """The partition that all files of a manifest lie in, as its bounds in the list say it; NOWHERE of several."""
    bounds = manifest.partitions or []
    is_one = bool(bounds) and all(each.lower_bound == each.upper_bound and not each.contains_null for each in bounds)
    return "/".join((each.lower_bound or b"").hex() for each in bounds) if is_one else NOWHERE


def _partitions(history: TableHistory, manifests: Sequence[Any], io: ManifestFiles) -> tuple[int | None, list[str]]:
    """How many partitions hold files now, or why that is not known; None of a table without partitions."""
    if not history.shape.partition_fields:
        return None, []
    data = _one_of_each([each for each in manifests if int(each.content) == 0])
    if len(data) > PARTITIONS_READ_MAX:
        alike = {name for name in map(_one_partition, data) if name != NOWHERE}
        note = f"{history.name}: {len(data):,} manifests are too many to count its partitions"
        return len(alike) or None, [f"{note}; at least {len(alike):,} are." if alike else f"{note}."]
    partitions = set()
    try:
        for manifest in data:
            file = io.new_input(manifest.manifest_path)  # getting it is not decoding it
            read = partial(manifest.fetch_manifest_entry, file, discard_deleted=True)
            entries = io.decode(read, manifest.manifest_path)
            partitions |= {(manifest.partition_spec_id, str(entry.data_file.partition)) for entry in entries}
    except Exception as error:  # whatever the store or the file raises: the partitions stay unknown
        reason = str(error).rstrip(".") if isinstance(error, IntakeError) else type(error).__name__
        return None, [f"{history.name}: its manifests could not be read ({reason}); partitions unknown."]
    return len(partitions) or None, []


def _one_of_each(manifests: Sequence[Any]) -> list[Any]:
    """Those that must be read to know all partitions: of several in the same partition the first."""
    alone: dict[tuple[int, str], Any] = {}
    several = []
    for manifest in manifests:
        name = _one_partition(manifest)
        if name == NOWHERE:
            several.append(manifest)
        else:
            alone.setdefault((manifest.partition_spec_id, name), manifest)
    return [*alone.values(), *several]


def _shape(history: TableHistory, last: tuple[int, list[Any]]) -> TableShape:
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


def _read(io: ManifestFiles, location: str) -> tuple[int, list[Any]]:
    from pyiceberg.manifest import read_manifest_list

    source: Any = io.new_input(location)
    return len(source), io.decode(lambda: list(read_manifest_list(source)), location)


def _spread(commits: Sequence[Commit]) -> list[Commit]:
    """Some of them, evenly spread, the last one included."""
    if len(commits) <= SNAPSHOTS_READ_MAX:
        return list(commits)
    step = (len(commits) - 1) / (SNAPSHOTS_READ_MAX - 1)
    return [commits[round(index * step)] for index in range(SNAPSHOTS_READ_MAX)]
