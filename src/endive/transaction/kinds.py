"""The kinds of operation, by Iceberg's names for them.

This file defines which class stands for which kind. What a kind costs is in ``endive.formats``, where both
engines find it; what each may run into is said here for the reader.
"""

from endive.transaction.transaction import Transaction
from endive.vocabulary import (
    EXPIRE_SNAPSHOTS,
    FAST_APPEND,
    MERGE_APPEND,
    REWRITE_FILES,
    REWRITE_MANIFESTS,
    VALIDATED_OVERWRITE,
)


class FastAppendTransaction(Transaction):
    """Adds files and looks at nothing: never in real conflict (Iceberg: ``FastAppend``)."""

    kind = FAST_APPEND


class MergeAppendTransaction(Transaction):
    """Adds files and merges small manifests on the way (Iceberg: ``MergeAppend``)."""

    kind = MERGE_APPEND


class ValidatedOverwriteTransaction(Transaction):
    """Replaces rows it has read: validates against all that happened since (``RowDelta``, ``OverwriteFiles``)."""

    kind = VALIDATED_OVERWRITE


class RewriteFilesTransaction(Transaction):
    """Compaction: same rows, fewer files; only deletes can be in conflict with it (``RewriteFiles``)."""

    kind = REWRITE_FILES


class RewriteManifestsTransaction(Transaction):
    """Same files, fewer manifests; fails if one of those it rewrote is gone (``BaseRewriteManifests``)."""

    kind = REWRITE_MANIFESTS


class ExpireSnapshotsTransaction(Transaction):
    """Forgets old snapshots: a commit of metadata only, then files are deleted (``RemoveSnapshots``)."""

    kind = EXPIRE_SNAPSHOTS


TRANSACTION_TYPES: tuple[type[Transaction], ...] = (
    FastAppendTransaction,
    MergeAppendTransaction,
    ValidatedOverwriteTransaction,
    RewriteFilesTransaction,
    RewriteManifestsTransaction,
    ExpireSnapshotsTransaction,
)
