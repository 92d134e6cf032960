"""Delta's words: its kinds of operation, its objects and what is asked of them, its phases of a commit.

Names only, and no import: ``endive.vocabulary`` puts them together with everybody else's and gives each its code.
"""

from typing import Final

# A blind append has read nothing; ``merge`` is MERGE, UPDATE and DELETE, copy-on-write or with deletion vectors: both
# remove the files they change and add others, so the log cannot tell them apart.
KINDS: Final = ("blind_append", "append_after_read", "merge", "optimize")
READS: Final = ("nothing",)  # beside Iceberg's: an overwrite without a predicate
CLIENTS: Final = ("spark", "delta_rs")
LOG_STORES: Final = ("put_if_absent", "dynamodb", "single_driver", "catalog")
OBJECTS: Final = ("commit_file", "checkpoint", "last_checkpoint", "checksum")
# What a txn may ask of each: a column of results for every pair. A list goes to the folder of commit files.
REQUESTS: Final = {
    "commit_file": ("read", "write", "head", "delete", "list", "create"),
    "checkpoint": ("read", "write", "delete"),
    "last_checkpoint": ("read", "write"),
    "checksum": ("read", "write"),
}
PHASES: Final = ("winners", "log_update", "checkpoint")
PHASE_OF: Final = {  # by object
    "commit_file": "commit",
    "checkpoint": "checkpoint",
    "last_checkpoint": "checkpoint",
    "checksum": "log_update",
}
REASONS: Final = ("concurrent_append", "concurrent_delete_read", "concurrent_delete_delete", "log_cleaned_up")
