"""What a txn does to the tables it writes: a kind, and the terms it does it on."""

from endive.record import Int8, Int32, Int64, Record, record

# What a commit did to its table.
CLASS_NONE, CLASS_APPEND, CLASS_OVERWRITE, CLASS_REPLACE, CLASS_DELETE = range(5)


@record
class Operation(Record):
    """What a txn does to the tables it writes."""

    expire_age_us: Int64  # an expiry keeps snapshots younger than this; 0: however young
    retain_last: Int32  # and the newest so many
    rewritten: Int32  # existing manifests that hold files to be removed
    kind: Int8
    form: Int8  # of a validated overwrite
    isolation: Int8
    is_referring: Int8  # a row delta that names the data files its deletes belong to
    reads: Int8  # what it has read: files, partitions, the table
    checks: Int8  # which checks its engine asks for
    deletes: Int8  # how a row delta deletes: by position, by key, by deletion vectors
    is_in_transaction: Int8  # it commits through a Transaction, as Trino does
    is_epoch: Int8  # it refreshes its table before it commits, as Spark's streaming does
    client: Int8  # whose commit it is: of Delta, whose checks are made; of Iceberg, 1 for PyIceberg beside Java
    adds_rows: Int8 = 1
    adds_apart: Int8  # and they lie in files of their own, which nobody's statistics overlap
    is_sequenced: Int8 = 1  # a compaction that carries the starting sequence number
    is_of_deletes: Int8  # a rewrite of files of position deletes, and not of data files
    replaces_deletes: Int8  # a row delta that replaces the delete file which a data file of its has
    misses_deletes: Int8  # and fails if somebody else has done so
