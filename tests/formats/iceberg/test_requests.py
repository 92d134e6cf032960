"""What attempts ask of storage, exactly: the laws of the documents, and what no recording of Iceberg says.

The rest is held to recordings of every request, operation by operation: ``tests/verification/java/test_java_requests``,
``test_java_pairs``, and ``tests/verification/pyiceberg``. N_a rivals appended and N_o deleted rows since the txn loaded
its table; a rival at the swap makes the attempt fail. What requests cost in time is in ``test_costs``.
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


@pytest.mark.parametrize("n", BEHIND)
def test_a_retried_fast_append_keeps_its_manifest_and_rebuilds_the_rest(n):
    """At its first attempt it reads one list, however far behind it is."""
    alone, beaten = play("fast_append", {(1, REFRESHING): append(n)}), play("fast_append", beset(n))

    first = attempt(metadata=min(1, n), manifests=(0, 1))
    assert ("committed", n) == (alone.row["status"], alone.row["n_behind_first"])
    assert [first] == attempts_of(alone)
    assert "committed" == beaten.row["status"]
    assert [first, attempt()] == attempts_of(beaten)


@pytest.mark.parametrize("n", BEHIND)
def test_a_merge_append_with_a_full_bin_reads_it_wholly_on_every_attempt(n):
    played = play("merge_append", beset(n), table={"initial_manifests": MANIFESTS_FOR_A_BIN})

    k = MANIFESTS_FOR_A_BIN + n + 1  # live manifests, and its own; for the retry also the one the rival added
    first, retry = attempt(metadata=min(1, n), manifests=(k, 2)), attempt(manifests=(k + 1, 1))
    assert [first, retry] == attempts_of(played)


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


@pytest.mark.parametrize("n", BEHIND)
def test_compaction_reads_one_list_however_many_rivals_append(n):
    played = play("rewrite_files", beset(n), transaction={"rewritten_manifests": REMOVED_FROM})

    first = attempt(metadata=min(1, n), manifests=(REMOVED_FROM, 1 + REMOVED_FROM))
    assert [first, attempt()] == attempts_of(played)
    assert 0 == played.row["history_lists"]


@pytest.mark.parametrize(("existing", "merged"), [(98, 0), (99, 100)])
def test_a_bin_is_merged_from_the_hundredth_manifest_on_the_own_one_included(existing, merged):
    played = play("merge_append", table={"initial_manifests": existing})

    assert (merged, 2 if merged else 1) == tuple(played.attempt(1)[f"manifest.{op}"] for op in ("read", "write"))


def test_a_merged_list_names_one_manifest():
    played = play("merge_append", table={"initial_manifests": MANIFESTS_FOR_A_BIN})

    assert 1 == played.catalog.state.snapshot(0).tables[0].state.iceberg.manifests


def test_a_compaction_at_the_head_of_history_is_read_only_as_the_parent():
    """Neither append nor delete: not part of the history, but the new list is built on it."""
    played = play("validated_overwrite", {(1, REFRESHING): append(3) + rewrite(1)})

    assert 3 + 1 == played.attempt(1)["manifest_list.read"]
    assert 3 == played.attempt(1)["manifest.read"]
    assert 3 == played.row["history_lists"]


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


@RELEASES
@pytest.mark.parametrize("n", BEHIND)
def test_replace_partitions_validates_nothing_and_reads_its_manifests_twice(n, release, deletes_read):
    transaction = {"overwrite": "replace_partitions", "rewritten_manifests": REMOVED_FROM}
    script = beset(n, lost_to="row_delta")
    played = play("validated_overwrite", script, commit={"release": release}, transaction=transaction)

    first = attempt(metadata=min(1, n), manifests=(2 * REMOVED_FROM, 1 + REMOVED_FROM))
    retry = attempt(manifests=(deletes_read, 0))  # of the row delta it lost to
    assert [first, retry] == attempts_of(played)


# ---- a bin of a hundred ------------------------------------------------------------------------------


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


# ---- when it ends, and behind other stores ---------------------------------------------------------------

SERVICE = {"type": "service", "latency_ms": 2.0}
CERTAIN = {"real_conflict_probability": 1.0}


@pytest.mark.parametrize(
    ("kind", "flavour", "release", "reads"),
    [
        ("fast_append", "pointer", "1.9", 1),
        ("merge_append", "pointer", "1.9", 1),
        ("fast_append", "rest", "1.9", 0),
        ("fast_append", "rest", "1.11", 1),
        ("merge_append", "rest", "1.9", 1),
    ],
)
def test_a_committed_txn_asks_for_the_new_state_unless_a_rest_server_has_told_a_fast_append(
    kind, flavour, release, reads
):
    played = play(kind, catalog=SERVICE | {"service": {"flavour": flavour}}, commit={"release": release})

    load, before_the_swap = 1, {"pointer": 2, "rest": 1}[flavour]
    assert load + before_the_swap + reads == played.row["requests_catalog_read"]


@pytest.mark.parametrize("n", [1, 5])
def test_a_real_conflict_found_at_once_has_read_all_and_written_nothing(n):
    played = play("validated_overwrite", {(1, REFRESHING): append(n)}, transaction=CERTAIN)

    assert ("aborted", "validation_exception") == played.told("status", "reason")
    requests = played.attempt(1) + played.after()
    assert bill(metadata_read=1, manifest_list_read=n, manifest_read=n) == without_catalog(requests)


@pytest.mark.parametrize("kind", ["fast_append", "merge_append"])
def test_an_append_is_never_in_real_conflict(kind):
    played = play(kind, beset(5), transaction=CERTAIN)

    assert ("committed", 0) == played.told("status", "real_conflicts")


def test_a_pointer_is_read_at_the_refresh_and_once_more_before_the_swap():
    """And not swapped if it has moved by then, though the metadata was written."""
    alone, beaten = (
        play("fast_append", catalog=SERVICE),
        play("fast_append", {(1, SWAPPING): append()}, catalog=SERVICE),
    )

    names = ("catalog.read", "catalog.cas", "metadata.write")
    assert [(2, 1, 1), (2, 0, 1)] == [tuple(each.attempt(1)[name] for name in names) for each in (alone, beaten)]
    assert ("committed", 2) == beaten.told("status", "attempts")


def test_a_real_conflict_found_on_a_retry_deletes_what_was_written_before():
    played = play("validated_overwrite", {(1, SWAPPING): append(3)}, transaction=CERTAIN)

    assert ("aborted", 2) == played.told("status", "attempts")
    validating = bill(metadata_read=1, manifest_list_read=3, manifest_read=3)
    cleaning = bill(manifest_list_delete=1, manifest_delete=2)  # the lost list; the own two manifests
    assert validating | cleaning == without_catalog(played.attempt(2) + played.after())


def test_no_rival_means_no_conflict_however_likely_conflicts_are():
    played = play("validated_overwrite", transaction=CERTAIN)

    assert ("committed", 1) == played.told("status", "attempts")


@pytest.mark.parametrize(("rivals", "status"), [(append(4), "committed"), (row_delta(1), "aborted")])
def test_only_deletes_can_be_in_real_conflict_with_a_compaction(rivals, status):
    played = play("rewrite_files", {(1, REFRESHING): rivals}, transaction=CERTAIN)

    assert status == played.row["status"]


@pytest.mark.parametrize(("provider", "heads"), [("s3", 1), ("s3x", 1), ("azure", 0)])
def test_a_list_read_on_s3_is_a_head_and_a_get(provider, heads):
    played = play("validated_overwrite", beset(5), storage={"provider": provider})

    reads = played.row["requests_manifest_list_read"]
    assert 5 + 6 + 1 == reads  # two validations and the reload
    assert heads * reads == played.row["requests_manifest_list_head"]


def test_head_never_means_never():
    played = play("validated_overwrite", storage={"provider": "s3"}, commit={"head": "never"})

    assert 0 == played.row["requests_manifest_list_head"]


def test_inlined_metadata_is_never_asked_for():
    catalog = {"type": "instant", "latency_ms": 2.0, "table_metadata_inlined": True}
    played = play("fast_append", beset(5), catalog=catalog)

    assert (0, 0) == played.told("requests_metadata_read", "requests_metadata_write")


def test_pyiceberg_writes_its_manifest_while_it_reads_the_list():
    storage = {"provider": "constant", "latency_ms": 10.0}
    played = play("fast_append", {}, storage=storage, commit={"protocol": "pyiceberg"})

    assert 10.0 + 10.0 == played.row["phase_manifests_ms"]  # the manifest and its HEAD; the list's 10 ms pass meanwhile
    assert 10.0 == played.row["phase_manifest_list_ms"]  # the new one


@pytest.mark.parametrize(("own_manifest", "deleted_manifests"), [("once", 0), ("each_attempt", 1)])
def test_a_manifest_written_again_by_each_attempt_is_deleted_for_the_lost_one(own_manifest, deleted_manifests):
    played = play("fast_append", {(1, SWAPPING): append()}, commit={"own_manifest": own_manifest})

    assert ("committed", 2) == played.told("status", "attempts")
    assert (1, deleted_manifests) == tuple(played.after()[f"{kind}.delete"] for kind in ("manifest_list", "manifest"))


# ---- v4 as proposed: docs/model/v4.md ----------------------------------------------------------------------


@pytest.mark.parametrize(("entries", "leaves", "left"), [(1, 0, 2), (2, 0, 3), (3, 1, 1)])
def test_entries_go_into_the_root_until_it_is_full_and_then_into_one_leaf(entries, leaves, left):
    """The root that was read holds what goes into the leaf, and is read back as Java Iceberg does."""
    played = play(
        "merge_append",
        catalog={**SERVICE, "service": {"flavour": "rest"}, "table_metadata_inlined": True},
        commit={"protocol": "v4", "min_count_to_merge": 4},
        table={"initial_manifests": entries},
    )

    roots = bill(manifest_list_read=1, manifest_list_write=1, manifest_write=leaves)
    assert roots == without_catalog(played.attempt(1))
    assert bill(manifest_list_read=1) == dict(played.after())
    assert (3, 1) == played.told("requests_catalog_read", "requests_catalog_cas")
    assert left == played.catalog.state.content.states[0].iceberg.manifests
