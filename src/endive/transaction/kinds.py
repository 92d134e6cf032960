"""The four kinds of operation, by Iceberg's names for them.

Owns which class stands for which kind. What a kind costs is in ``endive.transaction.rules``, where both engines
find it; what each may run into is said here for the reader.
"""

from endive.results.schema import (
    KIND_FAST_APPEND,
    KIND_MERGE_APPEND,
    KIND_REWRITE_FILES,
    KIND_VALIDATED_OVERWRITE,
)
from endive.transaction.transaction import Transaction


class FastAppendTransaction(Transaction):
    """Adds files and looks at nothing: never in real conflict (Iceberg: ``FastAppend``)."""

    kind = KIND_FAST_APPEND


class MergeAppendTransaction(Transaction):
    """Adds files and merges small manifests on the way (Iceberg: ``MergeAppend``)."""

    kind = KIND_MERGE_APPEND


class ValidatedOverwriteTransaction(Transaction):
    """Replaces rows it has read: validates against all that happened since (``RowDelta``, ``OverwriteFiles``)."""

    kind = KIND_VALIDATED_OVERWRITE


class RewriteFilesTransaction(Transaction):
    """Compaction: same rows, fewer files; only deletes can be in conflict with it (``RewriteFiles``)."""

    kind = KIND_REWRITE_FILES


TRANSACTION_TYPES: tuple[type[Transaction], ...] = (
    FastAppendTransaction,
    MergeAppendTransaction,
    ValidatedOverwriteTransaction,
    RewriteFilesTransaction,
)
