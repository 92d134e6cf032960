"""One attempt on one table: the situation it finds, and its plan."""

from endive.record import Int8, Int32, Int64, Record, record


@record
class DeltaSituation(Record):
    """One table at one attempt."""

    behind: Int64  # commits since the attempt before, or since the start: the winners to be checked
    since_start: Int64  # commits since the table was loaded
    base: Int64  # the version it builds on
    older: Int64  # commits older than the retention
    cleaned: Int64  # of the log, at the base
    checkpoint: Int64  # the last one, at the base
    winners: Int64  # that it reads until one makes it fail; 0: all of them
    attempt: Int32
    ground: Int8  # the change that makes it fail, plus one; 0: none does
    is_log_lost: Int8  # a commit file it has to look into is deleted
    is_bare: Int8  # the version it was loaded from had no checksum
    is_checkpoint_new: Int8  # the last checkpoint was made since the table was loaded


@record
class DeltaPlan(Record):
    """What one attempt asks of storage on one table, and what its commit does to the log afterwards."""

    version: Int64  # that it makes
    checkpoint: Int64  # the last one, when it was built
    clean_to: Int64  # the newest version that its clean-up deletes; 0: it cleans nothing up
    looks: Int32  # listings of the folder beside the question to the commit point
    winner_reads: Int32  # one after another
    update_lists: Int32
    update_reads: Int32  # commit files, in every round
    update_checkpoint: Int64  # the checkpoint that the update reads; 0: none
    stages: Int32  # commit files written before the commit, elsewhere
    after_reads: Int32
    checksum_reads: Int32  # of the version before, to make the next; who lost no race has it
    reload_reads: Int32  # commit files of a compaction's own update after its commit, in every round
    reload_checkpoint: Int64  # the checkpoint that it reads; 0: none
    deletes: Int32  # requests by which its clean-up deletes files of the log
    is_checkpointed: Int8
    schema_reads: Int32  # ranges more to read the last checkpoint
    is_checksummed: Int8  # it writes a checksum
    is_bare: Int8  # nobody has written that of the version before, when it was needed
