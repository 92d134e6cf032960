"""What a commit asks for when it ends, behind other catalogs and clients: the counts that were measured.

What its attempts ask for, operation by operation, is in ``test_requests``; what is read back and deleted after success
or a real conflict is compared with recordings of Iceberg itself in ``tests/verification/java/test_java_requests.py``.
"""

import pytest
from tests.formats.iceberg.test_requests import BEHIND, beset, bill
from tests.transaction.stage import REFRESHING, SWAPPING, append, play, row_delta, without_catalog

SERVICE = {"type": "service", "latency_ms": 2.0}


CERTAIN = {"real_conflict_probability": 1.0}

# ---- after success -----------------------------------------------------------------------------------


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


# ---- ValidationException -----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 5])
def test_a_real_conflict_found_at_once_has_read_all_and_written_nothing(n):
    played = play("validated_overwrite", {(1, REFRESHING): append(n)}, transaction=CERTAIN)

    assert ("aborted", "validation_exception") == played.told("status", "reason")
    requests = played.attempt(1) + played.after()
    assert bill(metadata_read=1, manifest_list_read=n, manifest_read=n) == without_catalog(requests)


def test_a_real_conflict_found_on_a_retry_deletes_what_was_written_before():
    played = play("validated_overwrite", {(1, SWAPPING): append(3)}, transaction=CERTAIN)

    assert ("aborted", 2) == played.told("status", "attempts")
    validating = bill(metadata_read=1, manifest_list_read=3, manifest_read=3)
    cleaning = bill(manifest_list_delete=1, manifest_delete=2)  # the lost list; the own two manifests
    assert validating | cleaning == without_catalog(played.attempt(2) + played.after())


# ---- ValidationException -----------------------------------------------------------------------------


def test_no_rival_means_no_conflict_however_likely_conflicts_are():
    played = play("validated_overwrite", transaction={"real_conflict_probability": 1.0})

    assert ("committed", 1) == played.told("status", "attempts")


@pytest.mark.parametrize("kind", ["fast_append", "merge_append"])
def test_an_append_is_never_in_real_conflict(kind):
    config = {"real_conflict_probability": 1.0}
    played = play(kind, beset(5), transaction=config)

    assert ("committed", 0) == played.told("status", "real_conflicts")


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
    played = play(kind, {(attempt, SWAPPING): append() for attempt in range(1, 6)}, catalog=SERVICE)

    assert ("aborted", "retries_exhausted", 5, 4) == played.told("status", "reason", "attempts", "retries")
    assert (5, 0) == played.told("requests_metadata_write", "requests_other_any")
    assert bill(manifest_list_delete=5, manifest_delete=own) == dict(played.after())


# ---- pointers, REST, HEAD ----------------------------------------------------------------------------


def test_a_pointer_is_read_at_the_refresh_and_once_more_before_the_swap():
    """And not swapped if it has moved by then, though the metadata was written."""
    alone, beaten = (
        play("fast_append", catalog=SERVICE),
        play("fast_append", {(1, SWAPPING): append()}, catalog=SERVICE),
    )

    names = ("catalog.read", "catalog.cas", "metadata.write")
    assert [(2, 1, 1), (2, 0, 1)] == [tuple(each.attempt(1)[name] for name in names) for each in (alone, beaten)]
    assert ("committed", 2) == beaten.told("status", "attempts")


def test_rest_is_one_get_and_one_post_and_a_loser_writes_no_metadata():
    rest = SERVICE | {"service": {"flavour": "rest"}}
    played = play("fast_append", {(1, SWAPPING): append()}, catalog=rest, commit={"release": "1.9"})

    for number in (1, 2):
        assert (1, 1) == (played.attempt(number)["catalog.read"], played.attempt(number)["catalog.cas"])
    assert (0, 1) == played.told("requests_metadata_read", "requests_metadata_write")


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
