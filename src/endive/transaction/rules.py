"""What an attempt costs and what follows it: the rules of every protocol, as pure functions.

Owns the cost of an attempt, the verdict after a refusal, and what a commit leaves behind on its table.
Holds no state, performs no I/O and draws nothing: an engine asks, pays, and asks again. Both
engines call these very functions; there is no second copy.

Vectors (index constants below; a list in the reference engine, an int64 array in the compiled one):

* ``p`` the protocol (``endive.transaction.protocol``), ``o`` the operation, ``s`` the situation of one table
  at one attempt, ``a`` the plan: how many objects of each kind the attempt reads and writes there.

The counts come from Java Iceberg 1.9 (``SnapshotProducer.apply`` and its subclasses), PyIceberg 0.12 and the
four documents the older protocols were described in; docs/model says which line comes from where.
"""

from endive.catalog.rules import (
    APPENDS,
    CLASS_APPEND,
    CLASS_OVERWRITE,
    CLASS_REPLACE,
    DATA_MANIFESTS,
    DELETE_MANIFESTS,
    HEAD_CLASS,
    MANIFESTS,
    OVERWRITES,
    VERSION,
)
from endive.kernel import Ints, MutableInts, rule
from endive.results.schema import (
    REASON_NONE,
    REASON_RETRIES_EXHAUSTED,
    REASON_TIMEOUT,
)
from endive.transaction.protocol import (
    AFTER_NONE,
    AFTER_RELOAD,
    AFTER_SUCCESS,
    BASE,
    BASE_REFRESH,
    HISTORY,
    HISTORY_EVERY_KIND,
    HISTORY_FIXED_START,
    HISTORY_FIXED_START_ON_RETRY,
    HISTORY_SINCE_LAST,
    IO,
    IO_AFTER_FAILURE,
    IS_INLINED,
    IS_LIST_APPENDED,
    MERGE_COUNT_MIN,
    MERGE_PER_COMMIT_MILLIONTHS,
    MERGING,
    MERGING_BINS,
    MERGING_N_BEHIND,
    METADATA,
    METADATA_EACH_ATTEMPT,
    METADATA_IF_CURRENT,
    METADATA_PER_CONFLICT,
    METADATA_PER_FALSE_CONFLICT,
    MILLIONTHS,
    OWN_EACH_ATTEMPT,
    OWN_MANIFEST,
    OWN_NONE,
    PARALLEL_MAX,
    REAL_CONFLICT,
    REAL_MERGE,
    SERVER_WRITES_METADATA,
)

# Kinds of operation (the codes of results.schema.KINDS).
FAST_APPEND = 0
MERGE_APPEND = 1
VALIDATED_OVERWRITE = 2
REWRITE_FILES = 3

# Forms of a validated overwrite.
ROW_DELTA = 0
OVERWRITE_FILES = 1
REPLACE_PARTITIONS = 2
OVERWRITE_FORMS = ("row_delta", "overwrite_files", "replace_partitions")

SERIALIZABLE = 0
SNAPSHOT = 1
ISOLATIONS = ("serializable", "snapshot")

# The operation vector.
KIND = 0
FORM = 1
ISOLATION = 2
REWRITTEN = 3  # existing manifests that hold files to be removed
N_OPERATION = 4

# The situation vector: one table at one attempt.
ATTEMPT = 0  # 1 for the first attempt of the operation
IS_MOVED = 1  # the table moved since the version this txn last built on (or loaded)
N_ALL = 2  # snapshots of this table since the last attempt's base
N_APPENDED = 3  # appends since the operation's fixed start
N_OVERWRITTEN = 4  # overwrites and deletes since the fixed start
IS_HEAD_MATCHED = 5  # the current snapshot is one of those a validation reads
DATA_TO_CHECK = 6  # data manifests of that history which pass the partition filter
DELETES_TO_CHECK = 7  # delete manifests of that history which pass it, or all of them in a compaction
N_OVERWRITTEN_SINCE = 8  # overwrites and deletes since the last attempt's base
LIVE_MANIFESTS = 9  # manifests the current list names
IS_REAL = 10  # the conflict on this table is real
CONFLICTING = 11  # manifest files a real conflict has to merge
N_HISTORY = 12  # snapshots since the last attempt's base that a protocol without kinds reads
N_APPENDED_SINCE = 13  # appends since the last attempt's base
DATA_ADDED = 14  # data manifests of the history since the fixed start, whatever their partitions
N_SITUATION = 15

# The plan vector: what the attempt does on one table, in the order it is paid.
METADATA_READS = 0
HISTORY_LISTS = 1
VALIDATE_READS = 2
LIST_READS = 3
FILTER_READS = 4
FILTER_WRITES = 5
OWN_WRITES = 6
MERGE_READS = 7
MERGE_WRITES = 8
MERGE_PARALLEL = 9
LIST_WRITES = 10
METADATA_WRITES = 11
LIST_APPENDS = 12
CHECK_READS = 13
N_PLAN = 14

# How often PyIceberg reads the list and the manifests of one delete when it validates
# (``_SnapshotProducer._validate_concurrency``): it looks for new delete files and for removed data files, each once
# by filter and once by file, and opens delete manifests for the former, data manifests for the latter. An append is
# read once, for the data it added.
OVERWRITE_LISTS = 4
OVERWRITE_MANIFESTS = 2


@rule
def own_manifests(o: Ints) -> int:
    """Manifests an operation writes for its own files."""
    if o[KIND] == VALIDATED_OVERWRITE and o[FORM] == ROW_DELTA:
        return 2
    return 1


@rule
def matching_snapshots(o: Ints, appended: int, overwritten: int) -> int:
    """How many of a history's snapshots this operation has to look into."""
    if o[KIND] == VALIDATED_OVERWRITE and o[FORM] != REPLACE_PARTITIONS:
        if o[ISOLATION] == SERIALIZABLE:
            return appended + overwritten
        return overwritten
    if o[KIND] == REWRITE_FILES:
        return overwritten
    return 0


@rule
def rivals_since(p: Ints, o: Ints, s: Ints) -> int:
    """How many snapshots since the last attempt could hold a real conflict for this operation."""
    if p[REAL_CONFLICT] == REAL_MERGE:
        return s[N_ALL]
    return matching_snapshots(o, s[N_APPENDED_SINCE], s[N_OVERWRITTEN_SINCE])


@rule
def describe_situation(
    o: Ints,
    attempt: int,
    start: Ints,
    previous: Ints,
    base: Ints,
    partition_manifests: int,
    partition_behind: int,
    s: MutableInts,
) -> None:
    """Fill ``s`` by subtraction: counters at the fixed start, at the last attempt's base, at this one's.

    ``partition_manifests`` bounds the manifests that pass the partition filter (-1: no partitions);
    ``partition_behind`` counts commits to the txn's partitions since the last attempt (-1: not the scope).
    """
    s[ATTEMPT] = attempt
    s[N_ALL] = base[VERSION] - previous[VERSION]
    s[N_HISTORY] = partition_behind if partition_behind >= 0 else s[N_ALL]
    s[IS_MOVED] = 1 if s[N_ALL] > 0 else 0
    s[N_APPENDED] = base[APPENDS] - start[APPENDS]
    s[N_OVERWRITTEN] = base[OVERWRITES] - start[OVERWRITES]
    s[N_APPENDED_SINCE] = base[APPENDS] - previous[APPENDS]
    s[N_OVERWRITTEN_SINCE] = base[OVERWRITES] - previous[OVERWRITES]
    head = base[HEAD_CLASS]
    is_serializable = o[KIND] == VALIDATED_OVERWRITE and o[ISOLATION] == SERIALIZABLE
    s[IS_HEAD_MATCHED] = 1 if head == CLASS_OVERWRITE or (is_serializable and head == CLASS_APPEND) else 0
    deletes = base[DELETE_MANIFESTS] - start[DELETE_MANIFESTS]
    data = base[DATA_MANIFESTS] - start[DATA_MANIFESTS]
    if partition_manifests >= 0:
        data = min(data, partition_manifests)
        if o[KIND] != REWRITE_FILES:  # a compaction validates without a filter
            deletes = min(deletes, partition_manifests)
    s[DELETES_TO_CHECK] = deletes
    s[DATA_TO_CHECK] = data if is_serializable else 0
    s[DATA_ADDED] = base[DATA_MANIFESTS] - start[DATA_MANIFESTS]
    s[LIVE_MANIFESTS] = base[MANIFESTS]
    s[IS_REAL] = 0
    s[CONFLICTING] = 0


@rule
def plan_history(p: Ints, o: Ints, s: Ints, a: MutableInts) -> None:
    """The lists and manifests an attempt reads because others committed; sets the read of the current list."""
    is_retry = s[ATTEMPT] > 1
    choice = p[HISTORY]
    a[LIST_READS] = 1
    if choice == HISTORY_FIXED_START:
        matching = matching_snapshots(o, s[N_APPENDED], s[N_OVERWRITTEN])
        if matching > 0:
            a[HISTORY_LISTS] = matching
            a[VALIDATE_READS] = s[DATA_TO_CHECK] + s[DELETES_TO_CHECK]
            if s[IS_HEAD_MATCHED] == 1:
                a[LIST_READS] = 0  # the current list is one of them
    elif choice == HISTORY_FIXED_START_ON_RETRY and is_retry:
        plan_repeated_history(o, s, a)
    elif choice == HISTORY_SINCE_LAST and is_retry:
        is_all = o[KIND] == VALIDATED_OVERWRITE and o[ISOLATION] == SERIALIZABLE and o[FORM] != REPLACE_PARTITIONS
        a[HISTORY_LISTS] = s[N_ALL] if is_all else matching_snapshots(o, 0, s[N_OVERWRITTEN_SINCE])
    elif choice == HISTORY_EVERY_KIND and is_retry:
        a[HISTORY_LISTS] = s[N_HISTORY]


@rule
def plan_repeated_history(o: Ints, s: Ints, a: MutableInts) -> None:
    """PyIceberg's validation: several passes over the history since the fixed start, no manifest pruned.

    The current list is read once more to build on, even if a pass has read it (``_DeleteFiles._compute_deletes``).
    """
    appended = matching_snapshots(o, s[N_APPENDED], 0)
    overwritten = matching_snapshots(o, 0, s[N_OVERWRITTEN])
    a[HISTORY_LISTS] = appended + OVERWRITE_LISTS * overwritten
    if overwritten > 0:
        a[VALIDATE_READS] = OVERWRITE_MANIFESTS * (s[DATA_ADDED] - s[N_APPENDED] + s[DELETES_TO_CHECK])
    a[VALIDATE_READS] += appended  # a manifest each


@rule
def filtered_manifests(o: Ints) -> int:
    """Existing manifests an operation takes files out of, and writes anew."""
    if o[KIND] == REWRITE_FILES or (o[KIND] == VALIDATED_OVERWRITE and o[FORM] != ROW_DELTA):
        return o[REWRITTEN]
    return 0


@rule
def plan_own(o: Ints, a: MutableInts) -> None:
    """The manifests of the txn's own files, and the existing ones it takes files out of."""
    a[OWN_WRITES] = own_manifests(o)
    a[FILTER_WRITES] = filtered_manifests(o)
    a[FILTER_READS] = a[FILTER_WRITES]
    if o[KIND] == VALIDATED_OVERWRITE and o[FORM] == REPLACE_PARTITIONS:
        a[FILTER_READS] *= 2  # once to find the partition's files, once to write the rest


@rule
def plan_manifests(p: Ints, o: Ints, s: Ints, a: MutableInts) -> None:
    """The manifest files an attempt reads and writes."""
    is_first = s[ATTEMPT] == 1
    if p[OWN_MANIFEST] == OWN_EACH_ATTEMPT or (is_first and p[OWN_MANIFEST] != OWN_NONE):
        plan_own(o, a)
    a[MERGE_PARALLEL] = p[PARALLEL_MAX]
    if s[IS_REAL] == 1:
        a[MERGE_READS] = s[CONFLICTING]
        a[MERGE_WRITES] = s[CONFLICTING]
    elif p[MERGING] == MERGING_BINS and o[KIND] != FAST_APPEND:
        bin_size = s[LIVE_MANIFESTS] + 1
        if bin_size >= p[MERGE_COUNT_MIN]:
            a[MERGE_READS] = bin_size
            a[MERGE_WRITES] = 1
            a[MERGE_PARALLEL] = 1
    elif p[MERGING] == MERGING_N_BEHIND and o[KIND] == MERGE_APPEND and not is_first:
        merged = s[N_ALL] * p[MERGE_PER_COMMIT_MILLIONTHS] // MILLIONTHS
        a[MERGE_READS] = merged
        a[MERGE_WRITES] = merged


@rule
def plan_attempt(p: Ints, o: Ints, s: Ints, a: MutableInts) -> None:
    """Fill ``a`` with what this attempt costs on one table."""
    for i in range(N_PLAN):
        a[i] = 0
    is_first = s[ATTEMPT] == 1
    is_built = not (is_first and p[IO] == IO_AFTER_FAILURE)
    if is_built:
        plan_history(p, o, s, a)
        plan_manifests(p, o, s, a)
        a[LIST_WRITES] = 1
    elif p[OWN_MANIFEST] != OWN_NONE:
        plan_own(o, a)
    if p[IS_LIST_APPENDED] == 1:
        a[LIST_WRITES] = 0
        if is_first:
            a[LIST_READS] = 0
            a[LIST_APPENDS] = 1
        elif s[IS_REAL] == 1:
            a[LIST_APPENDS] = 1
        elif p[REAL_CONFLICT] == REAL_MERGE:
            a[LIST_READS] = 0  # the tentative entry stands as it is
    if p[IS_INLINED] == 0 and p[SERVER_WRITES_METADATA] == 0:
        choice = p[METADATA]
        if choice == METADATA_EACH_ATTEMPT or choice == METADATA_IF_CURRENT:
            a[METADATA_READS] = s[IS_MOVED]
            a[METADATA_WRITES] = 1
            if choice == METADATA_IF_CURRENT:
                a[CHECK_READS] = 1
        elif choice == METADATA_PER_CONFLICT or (choice == METADATA_PER_FALSE_CONFLICT and s[IS_REAL] == 0):
            a[METADATA_READS] = 0 if is_first else 1


@rule
def loads_metadata(p: Ints) -> bool:
    """Whether loading a table at the start of a txn reads its metadata object."""
    if p[IS_INLINED] == 1 or p[SERVER_WRITES_METADATA] == 1:
        return False
    return p[METADATA] == METADATA_EACH_ATTEMPT or p[METADATA] == METADATA_IF_CURRENT


@rule
def must_read_catalog(p: Ints, attempt: int, is_state_known: bool) -> bool:
    """Whether this attempt pays a catalog read before it builds."""
    if p[BASE] == BASE_REFRESH:
        return True
    return attempt > 1 and not is_state_known


@rule
def checks_before_metadata(p: Ints) -> bool:
    """Whether the attempt asks if its base is still current before it writes the metadata object."""
    return p[METADATA] == METADATA_IF_CURRENT and p[SERVER_WRITES_METADATA] == 0


@rule
def reason_to_stop(attempt: int, retries_max: int, elapsed_us: int, timeout_us: int) -> int:
    """After a refusal: REASON_NONE to try again, or why not (Iceberg: ``Tasks.runTaskWithRetry``)."""
    if attempt > retries_max:
        return REASON_RETRIES_EXHAUSTED
    if timeout_us > 0 and elapsed_us > timeout_us and attempt > 1:
        return REASON_TIMEOUT
    return REASON_NONE


@rule
def reloads_after_success(p: Ints) -> bool:
    """Whether a committed operation reads its table back (``SnapshotProducer.commit`` after the swap)."""
    return p[AFTER_SUCCESS] == AFTER_RELOAD


@rule
def rereads_catalog(p: Ints, o: Ints) -> bool:
    """Whether a committed operation reads the catalog once more to learn the new state.

    A REST server's answer to a commit carries it, and a fast append is content with that (``FastAppend.updateEvent``
    asks for the current state, ``MergingSnapshotProducer.updateEvent`` refreshes).
    """
    return reloads_after_success(p) and (p[SERVER_WRITES_METADATA] == 0 or o[KIND] != FAST_APPEND)


@rule
def merged_away(p: Ints, o: Ints, a: Ints) -> int:
    """Manifests the txn wrote that the merge of its committed attempt made superfluous: of data, not of deletes.

    Java Iceberg deletes them (``MergingSnapshotProducer.cleanUncommittedAppends``), PyIceberg leaves them.
    """
    if not reloads_after_success(p) or p[MERGING] != MERGING_BINS or a[MERGE_WRITES] == 0:
        return 0
    return own_manifests(o) - effect_delete_manifests(o) + filtered_manifests(o)


@rule
def cleans_up(p: Ints) -> bool:
    """Whether what lost attempts wrote is deleted, one request each."""
    return p[AFTER_SUCCESS] != AFTER_NONE


@rule
def writes_beside_list(p: Ints, o: Ints) -> bool:
    """Whether an append writes its own manifest while it reads the current list (``_SnapshotProducer._manifests``)."""
    return p[OWN_MANIFEST] == OWN_EACH_ATTEMPT and (o[KIND] == FAST_APPEND or o[KIND] == MERGE_APPEND)


@rule
def effect_class(o: Ints) -> int:
    """What kind of snapshot a commit of this operation installs."""
    if o[KIND] == VALIDATED_OVERWRITE:
        return CLASS_OVERWRITE
    if o[KIND] == REWRITE_FILES:
        return CLASS_REPLACE
    return CLASS_APPEND


@rule
def effect_data_manifests(o: Ints) -> int:
    """Data manifests a commit adds to the history others have to check."""
    if o[KIND] == VALIDATED_OVERWRITE and o[FORM] != ROW_DELTA:
        return 1 + o[REWRITTEN]
    return 1


@rule
def effect_delete_manifests(o: Ints) -> int:
    """Delete manifests a commit adds."""
    return 1 if o[KIND] == VALIDATED_OVERWRITE and o[FORM] == ROW_DELTA else 0


@rule
def effect_manifests(p: Ints, o: Ints, live_manifests: int) -> int:
    """By how much a commit changes the number of manifests its list names."""
    if o[KIND] != FAST_APPEND and p[MERGING] == MERGING_BINS and live_manifests + 1 >= p[MERGE_COUNT_MIN]:
        return own_manifests(o) - live_manifests
    return own_manifests(o)


@rule
def commutes(o: Ints) -> bool:
    """Whether a server may rebase this change on its own: appends add files and look at nothing."""
    return o[KIND] == FAST_APPEND or o[KIND] == MERGE_APPEND


@rule
def rewrites_own_manifests(p: Ints) -> bool:
    """Whether each attempt writes the manifests of its own files again, so that a lost one leaves them behind."""
    return p[OWN_MANIFEST] == OWN_EACH_ATTEMPT
