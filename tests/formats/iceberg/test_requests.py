"""What one attempt asks of storage, exactly, for every operation: as Apache Iceberg 1.9, and 1.11 where it differs.

Each law is a row of the table that was measured by logging every request of the real library while rivals
committed at exact moments. N_a rivals appended and N_o deleted rows since the txn loaded its table; a rival at the
swap makes the attempt fail. Lists and manifests are counted here; what they cost in time is in ``test_costs``.
"""

import pytest
from tests.transaction.stage import (
    REFRESHING,
    SWAPPING,
    Played,
    Script,
    append,
    play,
    rewrite,
    row_delta,
    without_catalog,
)

BEHIND = (0, 1, 5)  # rivals that committed between load and first attempt
MANIFESTS_FOR_A_BIN = 105  # with the txn's own manifest a bin of 106: above Iceberg's 100
REMOVED_FROM = 3  # F: existing manifests that hold files to be removed
# Since 1.11 who takes files out of a table reads every new delete manifest once more.
RELEASES = pytest.mark.parametrize(("release", "deletes_read"), [("1.9", 0), ("1.10", 1), ("1.11", 1)])


def bill(**counts: int) -> dict[str, int]:
    """Requests by object and operation, those nobody sends left out: metadata_read=1 is 'metadata.read'."""
    return {".".join(key.rsplit("_", 1)): count for key, count in counts.items() if count}


def attempt(*, metadata: int = 1, lists: int = 1, manifests: tuple[int, int] = (0, 0)) -> dict[str, int]:
    """The bill of one attempt: what it reads of metadata and lists, and the manifests it reads and writes.

    Every attempt writes one metadata object and one list.
    """
    read, written = manifests
    writes = {"metadata_write": 1, "manifest_list_write": 1, "manifest_write": written}
    return bill(metadata_read=metadata, manifest_list_read=lists, manifest_read=read, **writes)


def attempts_of(played: Played) -> list[dict[str, int]]:
    return [without_catalog(played.attempt(number)) for number in range(1, played.row["attempts"] + 1)]


def beset(appends: int, row_deltas: int = 0, lost_to: str = "append") -> Script:
    """``appends`` and ``row_deltas`` rivals before the first attempt, one at its swap."""
    at_the_swap = append() if lost_to == "append" else row_delta()
    return {(1, REFRESHING): append(appends) + row_delta(row_deltas), (1, SWAPPING): at_the_swap}


# ---- FastAppend --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", BEHIND)
def test_a_retried_fast_append_keeps_its_manifest_and_rebuilds_the_rest(n):
    """At its first attempt it reads one list, however far behind it is."""
    alone, beaten = play("fast_append", {(1, REFRESHING): append(n)}), play("fast_append", beset(n))

    first = attempt(metadata=min(1, n), manifests=(0, 1))
    assert ("committed", n) == (alone.row["status"], alone.row["n_behind_first"])
    assert [first] == attempts_of(alone)
    assert "committed" == beaten.row["status"]
    assert [first, attempt()] == attempts_of(beaten)


# ---- MergeAppend -------------------------------------------------------------------------------------


@pytest.mark.parametrize("merging", ["bins", "off"])
@pytest.mark.parametrize("n", BEHIND)
def test_a_merge_append_without_a_full_bin_asks_for_what_a_fast_append_does(n, merging):
    commit = {"merging": merging}
    merge = play("merge_append", beset(n), commit=commit)
    fast = play("fast_append", beset(n))

    assert [fast.attempt(number) for number in (1, 2)] == [merge.attempt(number) for number in (1, 2)]


@pytest.mark.parametrize(("existing", "merged"), [(98, 0), (99, 100)])
def test_a_bin_is_merged_from_the_hundredth_manifest_on_the_own_one_included(existing, merged):
    played = play("merge_append", table={"initial_manifests": existing})

    assert (merged, 2 if merged else 1) == tuple(played.attempt(1)[f"manifest.{op}"] for op in ("read", "write"))


@pytest.mark.parametrize("n", BEHIND)
def test_a_merge_append_with_a_full_bin_reads_it_wholly_on_every_attempt(n):
    played = play("merge_append", beset(n), table={"initial_manifests": MANIFESTS_FOR_A_BIN})

    k = MANIFESTS_FOR_A_BIN + n + 1  # live manifests, and its own; for the retry also the one the rival added
    first, retry = attempt(metadata=min(1, n), manifests=(k, 2)), attempt(manifests=(k + 1, 1))
    assert [first, retry] == attempts_of(played)


def test_a_merged_list_names_one_manifest():
    played = play("merge_append", table={"initial_manifests": MANIFESTS_FOR_A_BIN})

    assert 1 == played.catalog.state.snapshot(0).tables[0].state.iceberg.manifests


# ---- RowDelta ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_o", [0, 2])
@pytest.mark.parametrize("n_a", BEHIND)
def test_a_serializable_row_delta_reads_all_of_history_on_its_first_attempt_too(n_a, n_o):
    """Every rival added a data manifest, row deltas a delete manifest as well; the current list is one of them."""
    alone = play("validated_overwrite", {(1, REFRESHING): append(n_a) + row_delta(n_o)})
    beaten = play("validated_overwrite", beset(n_a, n_o))

    n = n_a + n_o
    first = attempt(metadata=min(1, n), lists=max(1, n), manifests=(n + n_o, 2))
    assert [first] == attempts_of(alone)
    assert [first, attempt(lists=n + 1, manifests=(n + 1 + n_o, 0))] == attempts_of(beaten)
    assert (n, n + n + 1) == (alone.row["history_lists"], beaten.row["history_lists"])


def test_history_starts_over_on_every_attempt():
    """Measured on Iceberg 1.9: lists read 10, then 12, then 15."""
    script = {(1, REFRESHING): append(10), (1, SWAPPING): append(2), (2, SWAPPING): append(3)}
    played = play("validated_overwrite", script)

    assert [10, 12, 15] == [each["manifest_list.read"] for each in attempts_of(played)]


def test_a_compaction_at_the_head_of_history_is_read_only_as_the_parent():
    """Neither append nor delete: not part of the history, but the new list is built on it."""
    played = play("validated_overwrite", {(1, REFRESHING): append(3) + rewrite(1)})

    assert 3 + 1 == played.attempt(1)["manifest_list.read"]
    assert 3 == played.attempt(1)["manifest.read"]
    assert 3 == played.row["history_lists"]


def test_manifests_of_other_partitions_are_not_read_though_their_lists_are():
    script = {(1, REFRESHING): append(4, partition=1) + append(2, partition=0)}
    partitioned = {"partitions": {"enabled": True, "num_partitions": 2}}

    bills = [play("validated_overwrite", script, seed=seed, catalog=partitioned).attempt(1) for seed in range(12)]

    assert {2, 4} == {own["manifest.read"] for own in bills}  # whichever partition the txn is about
    assert {6} == {own["manifest_list.read"] for own in bills}


@pytest.mark.parametrize("n_o", [0, 1, 2])
@pytest.mark.parametrize("n_a", BEHIND)
def test_a_row_delta_under_snapshot_isolation_looks_at_deletes_only(n_a, n_o):
    """N_o lists and the parent: the parent is one of them if the last rival deleted rows."""
    script = {(1, REFRESHING): row_delta(n_o) + append(n_a), (1, SWAPPING): append()}
    played = play("validated_overwrite", script, transaction={"isolation": "snapshot"})

    parent = 0 if n_o and not n_a else 1
    first = attempt(metadata=min(1, n_a + n_o), lists=n_o + parent, manifests=(n_o, 2))
    assert [first, attempt(lists=n_o + 1, manifests=(n_o, 0))] == attempts_of(played)


# ---- OverwriteFiles ----------------------------------------------------------------------------------


@RELEASES
@pytest.mark.parametrize("n_o", [0, 2])
@pytest.mark.parametrize("n_a", BEHIND)
def test_overwrite_files_filters_its_manifests_once_and_validates_every_time(n_a, n_o, release, deletes_read):
    transaction = {"overwrite": "overwrite_files", "rewritten_manifests": REMOVED_FROM}
    played = play("validated_overwrite", beset(n_a, n_o), commit={"release": release}, transaction=transaction)

    n = n_a + n_o
    filtered = (n + n_o + REMOVED_FROM + deletes_read * n_o, 1 + REMOVED_FROM)
    first = attempt(metadata=min(1, n), lists=max(1, n), manifests=filtered)
    assert [first, attempt(lists=n + 1, manifests=(n + 1 + n_o, 0))] == attempts_of(played)


# ---- RewriteFiles ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", BEHIND)
def test_compaction_reads_one_list_however_many_rivals_append(n):
    played = play("rewrite_files", beset(n), transaction={"rewritten_manifests": REMOVED_FROM})

    first = attempt(metadata=min(1, n), manifests=(REMOVED_FROM, 1 + REMOVED_FROM))
    assert [first, attempt()] == attempts_of(played)
    assert 0 == played.row["history_lists"]


@RELEASES
@pytest.mark.parametrize("n_a", [0, 4])
@pytest.mark.parametrize("n_o", [1, 5])
def test_compaction_beside_row_deltas_reads_their_lists_all_again(n_a, n_o, release, deletes_read):
    script = {(1, REFRESHING): row_delta(n_o) + append(n_a), (1, SWAPPING): append()}
    removing = {"rewritten_manifests": REMOVED_FROM}
    played = play("rewrite_files", script, transaction=removing, commit={"release": release})

    lists = n_o + min(1, n_a)  # and the parent, unless it is the last of them
    first = attempt(lists=lists, manifests=(n_o + REMOVED_FROM + deletes_read * n_o, 1 + REMOVED_FROM))
    assert [first, attempt(lists=n_o + 1, manifests=(n_o, 0))] == attempts_of(played)


@RELEASES
def test_compaction_checks_delete_manifests_of_every_partition(release, deletes_read):
    script = {(1, REFRESHING): row_delta(4, partition=1)}
    partitioned = {"partitions": {"enabled": True, "num_partitions": 2}}

    sections = {"catalog": partitioned, "commit": {"release": release}}
    read = {play("rewrite_files", script, seed=seed, **sections).attempt(1)["manifest.read"] for seed in range(8)}

    assert {4 + 1 + deletes_read * 4} == read  # D unpruned, and F = 1


@pytest.mark.parametrize("partition", [0, 1])
def test_an_overwrite_reads_the_delete_manifests_of_its_own_partition_only(partition):
    first_partition = {"partitions": {"selection": "zipf", "alpha": 100.0}}
    played = play(
        "validated_overwrite",
        {(1, REFRESHING): row_delta(4, partition=partition)},
        catalog={"partitions": {"enabled": True, "num_partitions": 2}},
        transaction=first_partition,
    )

    assert (8 if partition == 0 else 0) == played.attempt(1)["manifest.read"]  # M + D


# ---- ReplacePartitions -------------------------------------------------------------------------------


@RELEASES
@pytest.mark.parametrize("n", BEHIND)
def test_replace_partitions_validates_nothing_and_reads_its_manifests_twice(n, release, deletes_read):
    transaction = {"overwrite": "replace_partitions", "rewritten_manifests": REMOVED_FROM}
    script = beset(n, lost_to="row_delta")
    played = play("validated_overwrite", script, commit={"release": release}, transaction=transaction)

    first = attempt(metadata=min(1, n), manifests=(2 * REMOVED_FROM, 1 + REMOVED_FROM))
    retry = attempt(manifests=(deletes_read, 0))  # of the row delta it lost to
    assert [first, retry] == attempts_of(played)


# ---- any but FastAppend, bin >= 100 ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "overwrite"),
    [
        ("merge_append", None),
        ("validated_overwrite", "row_delta"),
        ("validated_overwrite", "overwrite_files"),
        ("validated_overwrite", "replace_partitions"),
        ("rewrite_files", None),
    ],
)
@pytest.mark.parametrize("n", BEHIND)
def test_a_full_bin_adds_its_reads_and_one_write_to_each_attempt_of_all_but_fast_append(n, kind, overwrite):
    transaction = {"overwrite": overwrite} if overwrite else {}
    small = play(kind, beset(n), transaction=transaction)
    large = play(kind, beset(n), transaction=transaction, table={"initial_manifests": MANIFESTS_FOR_A_BIN})

    for number, new in ((1, n), (2, n + 1)):
        added = large.attempt(number) - small.attempt(number)
        assert bill(manifest_read=MANIFESTS_FOR_A_BIN + new + 1, manifest_write=1) == dict(added)


def test_a_fast_append_merges_nothing_however_many_manifests_there_are():
    played = play("fast_append", beset(5), table={"initial_manifests": 1000})

    assert 0 == played.row["requests_manifest_read"]
    assert 1 == played.row["requests_manifest_write"]
