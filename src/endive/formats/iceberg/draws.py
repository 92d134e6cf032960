"""What Iceberg draws for: its part of the steps of ``endive.rng``.

A number, once given, is never given again to a step of the engines or of Iceberg. A txn writes tables of one format, so
another format may have these numbers for steps of its own.
"""

LOAD_METADATA = 10
METADATA_READ = 13
HISTORY_HEAD = 14
HISTORY_READ = 15
VALIDATE_READ = 16
CONFLICTING_MANIFESTS = 18
MANIFEST_READ = 19
MERGE_READ = 20
MANIFEST_WRITE = 21
LIST_HEAD = 22
LIST_READ = 23
LIST_WRITE = 24
LIST_APPEND = 25
AFTER_READ = 33
CLEANUP = 34
METADATA_CHECK = 40
MANIFEST_HEAD = 41
METADATA_HEAD = 42
EXPIRE_HEAD = 45
EXPIRE_READ = 46
EXPIRE_SCAN = 47
EXPIRE_DELETE = 48
STATUS_METADATA = 52
LOOK_METADATA = 56
