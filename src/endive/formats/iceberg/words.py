"""Iceberg's words: its kinds of operation, its objects and what is asked of them, its phases of a commit.

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
# What a statement has read, as the filter that its engine hands over says. Files: a predicate on the partition and on a
# column by whose statistics files are told apart; columns: one on such a column alone.
READS: Final = ("files", "partitions", "table", "columns")
CHECKS: Final = ("all", "added_rows", "none", "partitions")  # which checks an engine asks for
RELEASES: Final = ("1.9", "1.10", "1.11")  # of Java Iceberg: recorded ones whose requests differ
DELETE_KINDS: Final = ("position", "equality", "vector", "equality_and_position", "equality_and_vector")
OBJECTS: Final = ("metadata", "manifest_list", "manifest")
# What a txn may ask of each: a column of results for every pair, so one that is missing is counted as "other".
REQUESTS: Final = {
    "metadata": ("read", "write", "head"),
    "manifest_list": ("read", "write", "append", "head", "delete"),
    "manifest": ("read", "write", "head", "delete"),
}
PHASES: Final = ("metadata", "history", "manifests", "manifest_list")
PHASE_OF: Final = {"metadata": "metadata", "manifest_list": "manifest_list", "manifest": "manifests"}  # by object
