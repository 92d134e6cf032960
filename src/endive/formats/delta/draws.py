"""What Delta draws for: its part of the steps of ``endive.rng``.

The numbers are those that ``endive.formats.iceberg.draws`` has: a txn writes tables of one format. A number, once given
here, is never given again to another step of Delta's.
"""

HINT_READ = 10
CHECKPOINT_READ = 13
LOAD_READ = 14
WINNER_READ = 15
UPDATE_LIST = 16
UPDATE_READ = 18
AFTER_LIST = 19
AFTER_READ = 20
CHECKSUM_WRITE = 21
CHECKPOINT_WRITE = 22
HINT_WRITE = 23
LOAD_CHECK = 24
CLEAN_DELETE = 25
STAGE = 33
ENTRY_READ = 34
PUBLISH = 40
ENTRY_WRITE = 41
LOOK_LIST = 42
CHECKPOINT_LOAD = 45
RELOAD = 46
LOAD_BARE = 47
CHECKSUM_BARE = 48
STATUS_READ = 52
