"""A snapshot of Iceberg's metadata as a commit: what it did, and who wrote it as far as it says.

Iceberg names the operation (``DataOperations``) and counts files in the summary (``SnapshotSummary``); engines add what
identifies them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from endive.config.printable import printable
from endive.config.values import abridge
from endive.errors import ObservationError
from endive.observation.history import APPEND, DELETE, OPERATIONS, OVERWRITE, REPLACE, UNKNOWN, Commit
from endive.workload import ICEBERG_OPERATIONS

# Summary key -> engine. The value names the job; trino_query_id and commit ids are new with every commit.
WRITER_KEYS: Final = {"flink.job-id": "flink", "spark.app.id": "spark", "app-id": ""}
ENGINE_KEYS: Final = {**WRITER_KEYS, "trino_query_id": "trino", "kafka.connect.commit-id": "kafka-connect"}
PYICEBERG: Final = "pyiceberg"
OVERWRITE_US: Final = 5_000_000  # from the delete of an overwrite to its append, at most
FAST_APPENDS: Final = (PYICEBERG, "spark-streaming")  # who appends without merging manifests
REWRITE_MANIFESTS: Final = "rewrite_manifests"
LONG_MAX: Final = 2**63 - 1
TIMESTAMP_MS_MAX: Final = 253_402_300_799_999  # the end of the year 9999
TEXT_CHARACTERS_MAX: Final = 1_000  # of one entry of a summary; a longer one says nothing of a commit
COUNT_DIGITS_MAX: Final = 15
_LIST_NAME: Final = re.compile(r"/snap-\d+-(\d{1,9})-[^/]*\.avro$")
STREAMING_KEY: Final = "spark.sql.streaming.queryId"  # SparkWrite.QUERY_ID_PROPERTY


class MetadataError(ValueError):
    """What is wrong with a table's metadata, as a half-sentence."""


def commit_of(snapshot: Any, writer_key: str | None = None) -> Commit:
    """The commit that made a snapshot, from its JSON; MetadataError for what is no snapshot."""
    if not isinstance(snapshot, Mapping):
        raise MetadataError("a snapshot is malformed")
    summary = _summary(snapshot)
    operation = summary.get("operation") or snapshot.get("operation")
    if not isinstance(operation, str) or operation not in OPERATIONS:
        raise ObservationError(
            f"snapshot {printable(str(snapshot.get('snapshot-id')))[:40]} says no operation (its summary has "
            f"{abridge(printable(repr(operation)))}). Iceberg before 0.9 wrote none; expire such snapshots, or give a "
            "log of commits instead (docs/guides/your-own-table.md)."
        )
    manifest_list = snapshot.get("manifest-list") or ""
    if not isinstance(manifest_list, str):
        raise MetadataError("a snapshot has a manifest-list that is no text")
    # The attempt is in the list's name: Java counts from 1 (SnapshotProducer.manifestListPath), PyIceberg says 0.
    match = _LIST_NAME.search(manifest_list)
    attempts = int(match.group(1)) if match else None
    engine = engine_of(summary, attempts)
    return Commit(
        time_us=1000 * _required(snapshot, "timestamp-ms", TIMESTAMP_MS_MAX),
        operation=operation,
        kind=REWRITE_MANIFESTS if _rewrote_manifests(operation, summary) else kind_of(operation, engine),
        overwrite=overwrite_of(operation, summary),
        writer=writer_of(summary, engine, writer_key),
        engine=engine,
        snapshot_id=_required(snapshot, "snapshot-id"),
        parent_id=_whole(snapshot, "parent-snapshot-id"),
        sequence_number=_whole(snapshot, "sequence-number") or 0,
        manifest_list=manifest_list,
        added_files=_count(summary, "added-data-files"),
        removed_files=_count(summary, "deleted-data-files"),
        added_delete_files=_count(summary, "added-delete-files"),
        added_equality_deletes=_count(summary, "added-equality-deletes"),
        total_files=_maybe(summary, "total-data-files"),
        added_bytes=_count(summary, "added-files-size"),
        changed_partitions=_maybe(summary, "changed-partition-count"),
        manifests=_manifests(summary),
        attempts=attempts or None,
    )


def join_overwrites(commits: Sequence[Commit]) -> tuple[Commit, ...]:
    """PyIceberg's overwrites as the one commit that each is: a delete and the append on top of it, in one transaction.

    ``Transaction.overwrite`` deletes what its filter matches, then appends; each makes a snapshot.
    """
    joined: list[Commit] = []
    for commit in commits:
        before = joined[-1] if joined else None
        if before is not None and _is_overwrite(before, commit):
            joined[-1] = replace(
                commit,
                operation=OVERWRITE,
                kind=ICEBERG_OPERATIONS[OVERWRITE],
                overwrite=before.overwrite,
                parent_id=before.parent_id,
                removed_files=before.removed_files,
                added_delete_files=before.added_delete_files,
                changed_partitions=max(before.changed_partitions or 0, commit.changed_partitions or 0) or None,
            )
        else:
            joined.append(commit)
    return tuple(joined)


def _is_overwrite(before: Commit, commit: Commit) -> bool:
    is_pair = (before.operation, commit.operation) == (DELETE, APPEND) and before.engine == PYICEBERG == commit.engine
    is_next = commit.parent_id == before.snapshot_id and commit.time_us - before.time_us <= OVERWRITE_US
    return is_pair and is_next and before.writer == commit.writer


def _summary(snapshot: Mapping[str, Any]) -> dict[str, str]:
    """The summary's texts, without what a terminal would obey; numbers count as the texts they are written as."""
    given = snapshot.get("summary")
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise MetadataError("a snapshot has a summary that is no object")
    return {
        str(key): printable(str(value))
        for key, value in given.items()
        if isinstance(value, (str, int)) and len(str(value)) <= TEXT_CHARACTERS_MAX
    }


def _required(snapshot: Mapping[str, Any], key: str, largest: int = LONG_MAX) -> int:
    value = _whole(snapshot, key)
    if value is None:
        raise MetadataError(f"a snapshot has no {key!r}")
    if value > largest or (key == "timestamp-ms" and value < 0):
        raise MetadataError(f"a snapshot has a {key!r} that is no such number")
    return value


def _whole(snapshot: Mapping[str, Any], key: str) -> int | None:
    value = snapshot.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LONG_MAX:
        raise MetadataError(f"a snapshot has a {key!r} that is no whole number")
    return value


def engine_of(summary: Mapping[str, str], attempts: int | None = None) -> str:
    """Which program committed: what the engine says of itself, else what its own keys betray."""
    if STREAMING_KEY in summary:
        return "spark-streaming"
    for key, engine in ENGINE_KEYS.items():
        if engine and key in summary:
            return engine
    return summary.get("engine-name", "").strip().lower() or (PYICEBERG if attempts == 0 else UNKNOWN)


def writer_of(summary: Mapping[str, str], engine: str, writer_key: str | None) -> str:
    """The job that committed; the engine where nothing tells its jobs apart."""
    if writer_key is not None:
        return summary.get(writer_key) or UNKNOWN
    for key in (STREAMING_KEY, *WRITER_KEYS):
        if summary.get(key):
            return summary[key] if engine == UNKNOWN else f"{engine}-{summary[key]}"
    return engine


def kind_of(operation: str, engine: str) -> str:
    """Endive's kind; an append is a fast one only of engines that are known to make no other."""
    if operation == APPEND and engine in FAST_APPENDS:
        return "fast_append"
    return ICEBERG_OPERATIONS[operation]


def overwrite_of(operation: str, summary: Mapping[str, str]) -> str:
    """Which Iceberg operation an overwrite was: by what it added (``SnapshotSummary``)."""
    if operation in (APPEND, REPLACE):
        return ""
    if summary.get("replace-partitions") == "true":
        return "replace_partitions"
    return "row_delta" if _count(summary, "added-delete-files") else "overwrite_files"


def _rewrote_manifests(operation: str, summary: Mapping[str, str]) -> bool:
    """``BaseRewriteManifests`` replaces manifests and no file, and counts what it replaced."""
    return operation == REPLACE and "manifests-replaced" in summary and not _count(summary, "deleted-data-files")


def _count(summary: Mapping[str, str], key: str) -> int:
    return _maybe(summary, key) or 0


def _maybe(summary: Mapping[str, str], key: str) -> int | None:
    text = summary.get(key)
    is_count = text is not None and text.isascii() and text.isdecimal() and len(text) <= COUNT_DIGITS_MAX
    return int(text) if text is not None and is_count else None


def _manifests(summary: Mapping[str, str]) -> int | None:
    """Manifests after the commit, which newer versions count (``manifests-created``, ``-kept``)."""
    created, kept = _maybe(summary, "manifests-created"), _maybe(summary, "manifests-kept")
    return None if created is None or kept is None else created + kept
