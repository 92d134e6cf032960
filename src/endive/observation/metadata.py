"""This file reads a table's ``metadata.json``: format 1, 2 or 3, plain or gzipped, however many snapshots it has.

Snapshots are decoded one at a time, so that a history of 100,000 costs little more memory than its text.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final

from endive.errors import ObservationError
from endive.observation.observed_history import Commit, TableHistory, TableShape, in_order, is_cut
from endive.observation.snapshots import commit_of

# Properties that decide how a commit is made, and nothing else: others may hold what nobody should copy.
PROPERTIES_READ: Final = (
    "commit.retry.num-retries",
    "commit.retry.min-wait-ms",
    "commit.retry.max-wait-ms",
    "commit.retry.total-timeout-ms",
    "commit.manifest-merge.enabled",
    "commit.manifest.min-count-to-merge",
    "write.merge.isolation-level",
    "write.delete.isolation-level",
    "write.update.isolation-level",
    "history.expire.min-snapshots-to-keep",
    "history.expire.max-snapshot-age-ms",
)
FORMATS: Final = (1, 2, 3)
_SPACE: Final = " \t\r\n"
_DECODER: Final = JSONDecoder()


def history_of(content: bytes, name: str, *, writer_key: str | None = None) -> TableHistory:
    """The history in the bytes of a metadata file; ``name`` is how messages call the table."""
    text = _text(content, name)
    head: dict[str, Any] = {}
    commits: list[Commit] = []
    snapshot_chars = 0
    try:
        for key, value, chars in _members(text):
            if key == "snapshots":
                commits.append(commit_of(value, writer_key))
                snapshot_chars += chars
            else:
                head[key] = value
    except (JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise ObservationError(f"{name}: this is not the metadata of an Iceberg table ({_reason(error)}).") from None
    if "format-version" not in head:
        raise ObservationError(f"{name}: this is not the metadata of an Iceberg table (it has no format-version).")
    return _history(name, head, in_order(commits), len(content), snapshot_chars)


def _reason(error: Exception) -> str:
    if isinstance(error, JSONDecodeError):
        return f"not JSON at character {error.pos}"
    return f"a snapshot has no {error}" if isinstance(error, KeyError) else "a snapshot is malformed"


def _text(content: bytes, name: str) -> str:
    try:
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        return content.decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError):
        raise ObservationError(f"{name}: this is neither JSON nor gzipped JSON.") from None


def _history(
    name: str, head: Mapping[str, Any], commits: tuple[Commit, ...], size_bytes: int, snapshot_chars: int
) -> TableHistory:
    version = head["format-version"]
    if version not in FORMATS:
        raise ObservationError(f"{name}: format-version {version!r} is not known. Known are 1, 2 and 3.")
    current = head.get("current-snapshot-id")
    newest = next((each for each in commits if each.snapshot_id == current), commits[-1] if commits else None)
    has_lost = is_cut(commits)
    expired = max(0, commits[0].sequence_number - 1) if has_lost else 0
    specs = {spec.get("spec-id"): spec for spec in head.get("partition-specs", ())}
    spec = specs.get(head.get("default-spec-id"), {})
    properties = head.get("properties", {})
    shape = TableShape(
        snapshots=len(commits),
        metadata_bytes=size_bytes,
        bytes_per_snapshot=snapshot_chars / len(commits) if commits else None,
        data_files=newest.total_files if newest else None,
        partition_fields=len(spec.get("fields", ())),
        format_version=version,
        properties=tuple((key, str(properties[key])) for key in PROPERTIES_READ if key in properties),
    )
    scheme, slashes, _ = str(head.get("location", "")).partition("://")
    return TableHistory(
        name=name,
        commits=commits,
        shape=shape,
        expired=expired,
        location=scheme if slashes else "file",
        notes=_notes(name, head, commits, has_lost=has_lost, expired=expired),
    )


def _notes(
    name: str, head: Mapping[str, Any], commits: tuple[Commit, ...], *, has_lost: bool, expired: int
) -> tuple[str, ...]:
    notes = []
    if head["format-version"] == 1:
        notes.append(
            f"{name} has format 1: its snapshots have no numbers, so they are taken in the order of their times."
        )
    if has_lost:
        gone = f"{expired:,} snapshots before it are" if expired else "what came before it is"
        notes.append(f"{name}: the history begins with snapshot {commits[0].snapshot_id}; {gone} expired.")
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
        at = _skip(text, at)
        _expect(text, at, ":")
        at = _skip(text, at + 1)
        if key == "snapshots" and text[at : at + 1] == "[":
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
    while text[at : at + 1] and text[at] in _SPACE:
        at += 1
    return at


def _skip_comma(text: str, at: int, end: str) -> int:
    at = _skip(text, at)
    if text[at : at + 1] == ",":
        return _skip(text, at + 1)
    _expect(text, at, end)
    return at


def _expect(text: str, at: int, character: str) -> None:
    if text[at : at + 1] != character:
        raise json.JSONDecodeError(f"expected {character!r}", text, at)
