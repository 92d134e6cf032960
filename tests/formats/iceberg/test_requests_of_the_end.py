"""What a commit asks for when it ends, behind other catalogs and clients: the counts that were measured.

What its attempts ask for, operation by operation, is in ``test_requests``.
"""

from __future__ import annotations

import pytest
from tests.formats.iceberg.test_requests import BEHIND, MANIFESTS_FOR_A_BIN, beset, bill
from tests.transaction.stage import REFRESHING, SWAPPING, append, play, row_delta, without_catalog

# ---- after success -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "lists_read_back"),
    [("fast_append", 0), ("merge_append", 1), ("validated_overwrite", 1), ("rewrite_files", 1)],
)
def test_after_success_the_table_is_read_back_and_each_lost_list_deleted(kind, lists_read_back):
    script = {(1, SWAPPING): append(), (2, SWAPPING): append()}
    played = play(kind, script)

    assert 3 == played.row["attempts"]
    expected = bill(metadata_read=1, manifest_list_read=lists_read_back, manifest_list_delete=2)
    assert expected == dict(played.after())


def test_merged_manifests_of_lost_attempts_are_deleted_and_the_own_one_that_was_merged():
    script = {(1, SWAPPING): append(), (2, SWAPPING): append()}
    played = play("merge_append", script, table={"initial_manifests": MANIFESTS_FOR_A_BIN})

    expected = bill(metadata_read=1, manifest_list_read=1, manifest_list_delete=2, manifest_delete=2 + 1)
    assert expected == dict(played.after())


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
    service = {"type": "service", "latency_ms": 2.0, "service": {"flavour": flavour}}
    played = play(kind, catalog=service, commit={"release": release})

    before_the_swap = {"pointer": 2, "rest": 1}[flavour]
    load = 1
    assert load + before_the_swap + reads == played.row["requests_catalog_read"]


def test_a_commit_without_a_lost_attempt_deletes_nothing():
    played = play("merge_append")

    assert bill(metadata_read=1, manifest_list_read=1) == dict(played.after())


# ---- ValidationException -----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 5])
def test_a_real_conflict_found_at_once_has_read_all_and_written_nothing(n):
    played = play(
        "validated_overwrite",
        {(1, REFRESHING): append(n)},
        transaction={"real_conflict_probability": 1.0},
    )

    assert ("aborted", "validation_exception") == (played.row["status"], played.row["reason"])
    requests = played.attempt(1) + played.after()
    assert bill(metadata_read=1, manifest_list_read=n, manifest_read=n) == without_catalog(requests)


def test_a_real_conflict_found_on_a_retry_deletes_what_was_written_before():
    played = play("validated_overwrite", {(1, SWAPPING): append(3)}, transaction={"real_conflict_probability": 1.0})

    assert ("aborted", 2) == (played.row["status"], played.row["attempts"])
    requests = played.attempt(2) + played.after()
    validating = bill(metadata_read=1, manifest_list_read=3, manifest_read=3)
    cleaning = bill(manifest_list_delete=1, manifest_delete=2)  # the lost list; the own two manifests
    assert validating | cleaning == without_catalog(requests)


def test_no_rival_means_no_conflict_however_likely_conflicts_are():
    played = play("validated_overwrite", transaction={"real_conflict_probability": 1.0})

    assert ("committed", 1) == (played.row["status"], played.row["attempts"])


@pytest.mark.parametrize("kind", ["fast_append", "merge_append"])
def test_an_append_is_never_in_real_conflict(kind):
    config = {"real_conflict_probability": 1.0}
    played = play(kind, beset(5), transaction=config)

    assert ("committed", 0) == (played.row["status"], played.row["real_conflicts"])


@pytest.mark.parametrize(("rivals", "status"), [(append(4), "committed"), (row_delta(1), "aborted")])
def test_only_deletes_can_be_in_real_conflict_with_a_compaction(rivals, status):
    played = play("rewrite_files", {(1, REFRESHING): rivals}, transaction={"real_conflict_probability": 1.0})

    assert status == played.row["status"]


# ---- retries exhausted -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "own"),
    [("fast_append", 1), ("merge_append", 1), ("validated_overwrite", 2), ("rewrite_files", 1 + 1)],
)
def test_five_lost_attempts_leave_five_metadata_orphans_and_no_list_or_manifest(kind, own):
    """Four retries are Iceberg's default; behind a pointer (JDBC) nobody deletes the metadata objects."""
    script = {(attempt, SWAPPING): append() for attempt in range(1, 6)}
    service = {"type": "service", "latency_ms": 2.0}
    played = play(kind, script, catalog=service)

    assert ("aborted", "retries_exhausted") == (played.row["status"], played.row["reason"])
    assert (5, 4) == (played.row["attempts"], played.row["retries"])
    assert (5, 0) == (played.row["requests_metadata_write"], played.row["requests_other_any"])
    assert bill(manifest_list_delete=5, manifest_delete=own) == dict(played.after())


# ---- pointers, REST, HEAD ----------------------------------------------------------------------------


def test_a_pointer_is_read_at_the_refresh_and_once_more_before_the_swap():
    service = {"type": "service", "latency_ms": 2.0}
    played = play("fast_append", catalog=service)

    assert (2, 1) == (played.attempt(1)["catalog.read"], played.attempt(1)["catalog.cas"])


def test_a_pointer_found_moved_is_not_swapped_but_the_metadata_was_written():
    service = {"type": "service", "latency_ms": 2.0}
    played = play("fast_append", {(1, SWAPPING): append()}, catalog=service)

    first = played.attempt(1)
    assert (2, 0) == (first["catalog.read"], first["catalog.cas"])
    assert 1 == first["metadata.write"]
    assert ("committed", 2) == (played.row["status"], played.row["attempts"])


def test_rest_is_one_get_and_one_post_and_a_loser_writes_no_metadata():
    service = {"type": "service", "latency_ms": 2.0, "service": {"flavour": "rest"}}
    played = play("fast_append", {(1, SWAPPING): append()}, catalog=service, commit={"release": "1.9"})

    assert (1, 1) == (played.attempt(1)["catalog.read"], played.attempt(1)["catalog.cas"])
    assert (1, 1) == (played.attempt(2)["catalog.read"], played.attempt(2)["catalog.cas"])
    assert (0, 1) == (played.row["requests_metadata_read"], played.row["requests_metadata_write"])


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

    assert (0, 0) == (played.row["requests_metadata_read"], played.row["requests_metadata_write"])


# ---- PyIceberg ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", BEHIND)
def test_pyiceberg_builds_on_the_loaded_version_and_writes_metadata_only_if_it_still_holds(n):
    """No refresh first: any rival during the runtime costs it the first attempt."""
    played = play("fast_append", {(1, SWAPPING): append(n)}, commit={"protocol": "pyiceberg"})

    is_lost = n > 0
    assert 1 + is_lost == played.row["attempts"]
    first = bill(
        manifest_list_read=1,
        manifest_list_write=1,
        manifest_write=1,
        manifest_head=1,  # its length
        metadata_read=1 - is_lost,  # to see whether the base still stands; if not, it is the attempt's last request
        metadata_head=1 - is_lost,
        metadata_write=1 - is_lost,
    )
    assert first == without_catalog(played.attempt(1))
    if is_lost:
        retry = bill(
            metadata_read=2,
            metadata_head=1,
            metadata_write=1,
            manifest_list_read=1,
            manifest_list_write=1,
            manifest_write=1,  # its own, again
            manifest_head=1,
        )
        assert retry == without_catalog(played.attempt(2))
    assert 1 + 1 + 2 * is_lost == played.row["requests_metadata_read"]  # loaded; a look; a refresh and a look
    assert bill(manifest_delete=is_lost, manifest_list_delete=is_lost) == dict(played.after())


def test_pyiceberg_writes_its_manifest_while_it_reads_the_list():
    storage = {"provider": "constant", "latency_ms": 10.0}
    played = play("fast_append", {}, storage=storage, commit={"protocol": "pyiceberg"})

    assert 10.0 + 10.0 == played.row["phase_manifests_ms"]  # the manifest and its HEAD; the list's 10 ms pass meanwhile
    assert 10.0 == played.row["phase_manifest_list_ms"]  # the new one


@pytest.mark.parametrize("n", [1, 5])
def test_pyiceberg_validates_on_retries_only(n):
    played = play("validated_overwrite", {(1, SWAPPING): append(n)}, commit={"protocol": "pyiceberg"})

    assert (1, 0) == (played.attempt(1)["manifest_list.read"], played.attempt(1)["manifest.read"])
    assert (n + 1, n) == (played.attempt(2)["manifest_list.read"], played.attempt(2)["manifest.read"])


def test_pyiceberg_looks_at_each_delete_four_times_and_opens_its_manifests_twice():
    script = {(1, SWAPPING): row_delta(5)}
    played = play(
        "validated_overwrite", script, commit={"protocol": "pyiceberg"}, transaction={"isolation": "snapshot"}
    )

    assert (4 * 5 + 1, 2 * 2 * 5) == (played.attempt(2)["manifest_list.read"], played.attempt(2)["manifest.read"])
