"""What a txn does to the tables it writes: a kind, and the terms it does it on."""

from endive.record import Int8, Int32, Int64, Record, record

# What a commit did to its table.
CLASS_NONE, CLASS_APPEND, CLASS_OVERWRITE, CLASS_REPLACE = range(4)


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
