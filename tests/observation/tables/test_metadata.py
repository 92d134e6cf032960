"""What a metadata file says of a table's past, and how one that cannot be read is refused."""

import gzip

import pytest
from tests.observation.conftest import START_MS, metadata, snapshot

from endive.errors import ObservationError
from endive.observation.tables.metadata import history_of


def refusal(content: bytes) -> str:
    with pytest.raises(ObservationError) as error:
        history_of(content, "t")
    return str(error.value)


def test_commits_come_in_the_order_of_their_times_with_what_their_summaries_count():
    content = metadata(
        [
            snapshot(2, 500, "replace", summary={"added-data-files": "1", "deleted-data-files": "9"}),
            snapshot(1, 0, summary={"added-data-files": "3", "added-files-size": "900", "total-data-files": "12"}),
        ]
    )

    first, second = history_of(content, "t").commits

    assert (1000 * START_MS, "append", "merge_append") == (first.time_us, first.operation, first.kind)
    assert (3, 900, 12) == (first.added_files, first.added_bytes, first.total_files)
    assert ("rewrite_files", 1, 9) == (second.kind, second.added_files, second.removed_files)


def test_the_attempts_of_a_commit_are_in_the_name_of_its_manifest_list():
    retried = snapshot(2, 10, **{"manifest-list": "s3://b/t/metadata/snap-1002-4-abc.avro"})

    assert [1, 4] == [commit.attempts for commit in history_of(metadata([snapshot(1, 0), retried]), "t").commits]


def test_a_gzipped_file_says_the_same():
    content = metadata([snapshot(1, 0), snapshot(2, 10)])

    assert history_of(content, "t").commits == history_of(gzip.compress(content), "t").commits


@pytest.mark.parametrize("parent", [{}, {"parent-snapshot-id": None}], ids=["Java's", "PyIceberg's"])
def test_an_expired_history_says_how_much_of_it_is_gone(parent):
    history = history_of(metadata([snapshot(5, 0, **parent), snapshot(6, 10)]), "t")

    assert 4 == history.expired
    assert "t: the history begins with snapshot 1005; 4 snapshots before it are expired." in history.notes


def test_a_whole_history_is_not_called_expired():
    first = snapshot(1, 0, **{"parent-snapshot-id": None})

    assert (0, ()) == ((history := history_of(metadata([first, snapshot(2, 10)]), "t")).expired, history.notes)


def test_format_1_is_read_with_a_note():
    plain = [{key: value for key, value in snapshot(n, n).items() if key != "sequence-number"} for n in (1, 2)]

    history = history_of(metadata(plain, **{"format-version": 1}), "t")

    assert 2 == len(history.commits)
    assert (
        "t has format 1: its snapshots have no numbers, so they are taken in the order of their times."
        == (history.notes[0])
    )


def test_only_properties_that_decide_commits_are_kept():
    assert (("commit.retry.num-retries", "7"),) == history_of(metadata([snapshot(1, 0)]), "t").shape.properties


def test_the_size_of_a_snapshot_is_what_its_text_takes():
    content = metadata([snapshot(1, 0), snapshot(2, 0)])
    text = content.decode()
    each = (text.index("]", text.index('"snapshots"')) - text.index("[", text.index('"snapshots"')) - 3) / 2

    assert each == history_of(content, "t").shape.bytes_per_snapshot


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"hello", "t: this is not the metadata of an Iceberg table (not JSON at character 0)."),
        (b"\xff\xfe", "t: this is neither JSON nor gzipped JSON."),
        (b"{}", "t: this is not the metadata of an Iceberg table (it has no format-version)."),
        (b'{"snapshots": [{"summary": {"operation": "append"}}]}',
         "t: this is not the metadata of an Iceberg table (a snapshot has no 'timestamp-ms')."),
        (b'{"snapshots": [1', "t: this is not the metadata of an Iceberg table (a snapshot is malformed)."),
        (metadata([], **{"format-version": 9}), "t: format-version 9 is not known. Known are 1, 2 and 3."),
    ],
)  # fmt: skip
def test_what_is_no_metadata_is_refused_in_one_line(content, message):
    assert message == refusal(content)


def test_a_snapshot_without_an_operation_is_refused_by_its_id():
    assert refusal(metadata([snapshot(1, 0, operation="")])).startswith("snapshot 1001 says no operation")


def test_snapshots_of_other_branches_are_kept_apart():
    trunk = [snapshot(number, 60_000 * number) for number in range(1, 6)]
    side = snapshot(9, 150_000, **{"parent-snapshot-id": 1002})
    refs = {"main": {"snapshot-id": 1005, "type": "branch"}, "audit": {"snapshot-id": 1009, "type": "branch"}}

    plain = history_of(metadata([*trunk, side], **{"current-snapshot-id": 1005}), "t")
    apart = history_of(metadata([*trunk, side], **{"current-snapshot-id": 1005, "refs": refs}), "t")

    assert ([1001, 1002, 1003, 1004, 1005], 6) == ([each.snapshot_id for each in apart.commits], len(plain.commits))
    assert "t: 1 snapshots of other branches (audit) are left out; this is the branch main." in apart.notes


def test_a_clock_that_goes_back_is_told():
    times_ms = (0, 60_000, 30_000, 90_000)

    history = history_of(metadata([snapshot(at + 1, ms) for at, ms in enumerate(times_ms)]), "t")

    assert [1001, 1003, 1002, 1004] == [each.snapshot_id for each in history.commits]
    assert "t: the clock of its writers goes back 1 times; snapshots are taken by their times." in history.notes
