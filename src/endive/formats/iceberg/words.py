"""Iceberg's words: its kinds of operation, its objects, the phases of a commit that are its own.

Names only, and no import: ``endive.vocabulary`` puts them together with everybody else's and gives each its code.
"""

from typing import Final

KINDS: Final = (
    "fast_append",
    "merge_append",
    "validated_overwrite",
    "rewrite_files",
    "rewrite_manifests",
    "expire_snapshots",
)
OVERWRITE_FORMS: Final = ("row_delta", "overwrite_files", "replace_partitions")
OBJECTS: Final = ("metadata", "manifest_list", "manifest")
PHASES: Final = ("metadata", "history", "manifests", "manifest_list")
