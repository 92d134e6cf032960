"""A table's ``metadata.json`` read: format 1, 2 or 3, plain or gzipped, however many snapshots it has.

Snapshots are decoded one at a time, so that a history of 100,000 costs little more memory than its text.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final

from endive.config.printable import printable
from endive.errors import ObservationError
from endive.intake import expand_gzip, is_gzip, refuse_json_size, refused_as
from endive.observation.history import COMMITS_MAX, Commit, TableHistory, TableShape, in_order, is_cut
from endive.observation.tables.snapshots import MetadataError, commit_of, join_overwrites
from endive.observation.tables.table_properties import read_properties

FORMATS: Final = (1, 2, 3)
BYTES_MAX: Final = 128 * 2**20  # of JSON, expanded
SNAPSHOTS: Final = "snapshots"
FORMAT_VERSION: Final = "format-version"
# What is read besides the snapshots, all of it optional or checked, and the type it has.
HEAD: Final[Mapping[str, type]] = {
    FORMAT_VERSION: int,
    "current-snapshot-id": int,
    "partition-specs": list,
    "partition-spec": list,
    "default-spec-id": int,
    "properties": dict,
    "metadata-log": list,
    "location": str,
    "refs": dict,
}
KIND_WORDS: Final = {int: "a whole number", list: "a list", dict: "an object", str: "a text"}
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = JSONDecoder()


def history_of(content: bytes, name: str, *, writer_key: str | None = None) -> TableHistory:
    """The history in the bytes of a metadata file; ``name`` is how messages call the table."""
    text = _text(content, name)
    head: dict[str, Any] = {}
    commits: list[Commit] = []
    snapshot_chars = 0
    try:
        for key, value, chars in _members(text):
            if key == SNAPSHOTS and value is not None:
                commits.append(commit_of(value, writer_key))
                snapshot_chars += chars
                if len(commits) > COMMITS_MAX:
                    raise MetadataError(f"it has more than {COMMITS_MAX:,} snapshots")
            elif key in HEAD:
                head[key] = value
        _check_head(head)
    except (ValueError, RecursionError) as error:
        raise ObservationError(f"{name}: this is not the metadata of an Iceberg table ({_reason(error)}).") from None
    return _history(name, head, in_order(commits), len(content), snapshot_chars)


def _reason(error: ValueError | RecursionError) -> str:
    if isinstance(error, MetadataError):
        return str(error)
    if isinstance(error, JSONDecodeError):
        return f"not JSON at character {error.pos}"
    return "it is too deep" if isinstance(error, RecursionError) else "a number has too many digits"


def _text(content: bytes, name: str) -> str:
    with refused_as(ObservationError):
        if is_gzip(content):
            content = expand_gzip(content, bytes_max=BYTES_MAX, name=name)
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            raise ObservationError(f"{name}: this is neither JSON nor gzipped JSON.") from None
        refuse_json_size(text, name=name)
    return text


def _check_head(head: dict[str, Any]) -> None:
    """Types of what is read of the table itself; what is null is left out, as if it were not there."""
    for key in [key for key, value in head.items() if value is None]:
        del head[key]
    for key, value in head.items():
        kind = HEAD[key]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise MetadataError(f"{key} is not {KIND_WORDS[kind]}")
    if FORMAT_VERSION not in head:
        raise MetadataError(f"it has no {FORMAT_VERSION}")
    for spec in head.get("partition-specs", ()):
        if not isinstance(spec, dict) or not isinstance(spec.get("fields") or [], list):
            raise MetadataError("partition-specs holds something else")


def _history(
    name: str, head: Mapping[str, Any], commits: tuple[Commit, ...], size_bytes: int, snapshot_chars: int
) -> TableHistory:
    version = head[FORMAT_VERSION]
    if version not in FORMATS:
        raise ObservationError(f"{name}: format-version {version!r} is not known. Known are 1, 2 and 3.")
    current = head.get("current-snapshot-id")
    first_number = min((commit.sequence_number for commit in commits), default=0)
    commits, left_out = _of_main(commits, current, head.get("refs", {}))
    newest = next((each for each in commits if each.snapshot_id == current), commits[-1] if commits else None)
    has_lost = is_cut(commits) or first_number > 1  # PyIceberg's expiry takes the parent's id too
    expired = max(0, commits[0].sequence_number - 1) if has_lost else 0
    properties, ignored = read_properties(head.get("properties", {}))
    shape = TableShape(
        snapshots=len(commits),
        metadata_bytes=size_bytes,
        bytes_per_snapshot=snapshot_chars / len(commits) if commits else None,
        data_files=newest.total_files if newest else None,
        partition_fields=_partition_fields(head),
        format_version=version,
        properties=properties,
    )
    scheme, slashes, _ = head.get("location", "").partition("://")
    return TableHistory(
        name=name,
        commits=join_overwrites(commits),
        shape=shape,
        expired=expired,
        location=printable(scheme) if slashes else "file",
        notes=(
            *_notes(name, head, commits, has_lost=has_lost, expired=expired),
            *(f"{name}: {note}" for note in (*left_out, *ignored)),
        ),
    )


def _of_main(
    commits: tuple[Commit, ...], current: int | None, refs: Mapping[str, Any]
) -> tuple[tuple[Commit, ...], list[str]]:
    """The snapshots that led to the current one, if the table has other branches; those are kept apart."""
    others = [
        name for name, ref in refs.items() if name != "main" and isinstance(ref, dict) and ref.get("type") == "branch"
    ]
    by_id = {commit.snapshot_id: commit for commit in commits}
    kept: set[int | None] = set()
    step = by_id.get(current)
    while step is not None and step.snapshot_id not in kept:
        kept.add(step.snapshot_id)
        step = by_id.get(step.parent_id)
    if not others or not kept or len(kept) == len(commits):
        return commits, []
    named = printable(", ".join(map(str, others[:3])))[:100]
    note = f"{len(commits) - len(kept)} snapshots of other branches ({named}) are left out; this is the branch main."
    return tuple(commit for commit in commits if commit.snapshot_id in kept), [note]


def _partition_fields(head: Mapping[str, Any]) -> int:
    """Of the current spec; format 1 may have one spec alone (``partition-spec``)."""
    if "partition-specs" not in head:
        return len(head.get("partition-spec", ()))
    wanted = head.get("default-spec-id")
    spec: dict[str, Any] = next((each for each in head["partition-specs"] if each.get("spec-id") == wanted), {})
    return len(spec.get("fields") or ())


def _notes(
    name: str, head: Mapping[str, Any], commits: tuple[Commit, ...], *, has_lost: bool, expired: int
) -> tuple[str, ...]:
    notes = []
    if head[FORMAT_VERSION] == 1:
        notes.append(
            f"{name} has format 1: its snapshots have no numbers, so they are taken in the order of their times."
        )
    if has_lost:
        gone = f"{expired:,} snapshots before it are" if expired else "what came before it is"
        notes.append(f"{name}: the history begins with snapshot {commits[0].snapshot_id}; {gone} expired.")
    numbered = sorted((each for each in commits if each.sequence_number), key=lambda each: each.sequence_number)
    back = sum(after.time_us < before.time_us for before, after in itertools.pairwise(numbered))
    if back:
        notes.append(f"{name}: the clock of its writers goes back {back:,} times; snapshots are taken by their times.")
    silent = len(head.get("metadata-log", ())) - len(commits)  # the version that created the table left no entry
    if silent > 0 and not has_lost:
        notes.append(f"{name}: {silent:,} commits in the metadata log made no snapshot (properties, expiry, branches).")
    return tuple(notes)


# ---- one member at a time ----------------------------------------------------------------------------


def _members(text: str) -> Iterator[tuple[str, Any, int]]:
    """The members of the outermost object; ``snapshots`` one element at a time, with the length of its text."""
    at = _skip(text, 0)
    _expect(text, at, "{")
    at = _skip(text, at + 1)
    while text[at : at + 1] != "}":
        key, at = _DECODER.raw_decode(text, at)
        if not isinstance(key, str):
            raise JSONDecodeError("expected a name", text, at)
        at = _skip(text, at)
        _expect(text, at, ":")
        at = _skip(text, at + 1)
        if key == SNAPSHOTS and text[at : at + 1] == "[":
            at = _skip(text, at + 1)
            while text[at : at + 1] != "]":
                value, end = _DECODER.raw_decode(text, at)
                yield key, value, end - at
                at = _skip_comma(text, end, "]")
            at += 1
        else:
            value, end = _DECODER.raw_decode(text, at)
            yield key, value, end - at
            at = end
        at = _skip_comma(text, at, "}")


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _skip_comma(text: str, at: int, end: str) -> int:
    at = _skip(text, at)
    if text[at : at + 1] == ",":
        return _skip(text, at + 1)
    _expect(text, at, end)
    return at


def _expect(text: str, at: int, character: str) -> None:
    if text[at : at + 1] != character:
        raise JSONDecodeError(f"expected {character!r}", text, at)
