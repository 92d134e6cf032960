"""What the recorder of Delta Spark's closed loops makes of a txn's requests."""

from rigs.delta.spark_loops import Told, note_reading, note_spans, tell
from rigs.java.object_server import LoggedRequest


def asked(at, word, status=200, version=1):
    """A request that takes a second."""
    method, kind = word.split()
    key = f"lake/t/_delta_log/{version:020d}.json" if kind == "commit" else f"lake/t/_delta_log/{kind}"
    return LoggedRequest("w0", method, kind, key, float(at), at + 1.0, status)


def test_a_lost_race_a_commit_and_its_checksum_are_told_from_their_first_looks():
    told = tell(
        [
            asked(0, "HEAD log"),
            asked(1, "LIST list"),
            asked(10, "PUT commit", 412),
            asked(12, "HEAD log"),
            asked(13, "LIST list"),
            asked(15, "GET commit"),
            asked(17, "PUT commit", version=2),
            asked(20, "GET crc"),
            asked(22, "PUT crc_draft"),
        ]
    )

    race = [(10.0, 11.0, "PUT commit"), (12.0, 14.0, "LIST list"), (15.0, 16.0, "GET commit")]
    won = [(17.0, 18.0, "PUT commit"), (20.0, 21.0, "GET crc"), (22.0, 23.0, "PUT crc_draft")]
    assert Told(loading=[(0.0, 2.0, "LIST list")], committing=[*race, *won]) == told


def test_the_log_that_is_read_for_a_checksum_is_told_apart_from_it_and_the_work_by_the_times_it_was_read():
    twice = [asked(at, "GET commit", version=version) for at, version in ((2, 6), (3, 7), (5, 6), (6, 7))]
    requests = [asked(0, "PUT commit", version=7), *twice, asked(8, "PUT crc_draft")]
    noted = {}

    told = tell(requests)
    reading_ms = note_reading(noted, told.after, requests, 9.0)

    assert Told(committing=[(0.0, 1.0, "PUT commit"), (1.0, 9.0, "PUT crc_draft")], after=twice) == told
    assert 7000.0 == reading_ms  # from the commit until the checksum
    assert {"log": [1500.0, 1500.0]} == noted  # three seconds in which nothing was under way


def test_work_belongs_to_the_request_before_it():
    noted = {}

    note_spans(noted, [(0.0, 1.0, "PUT commit"), (1.5, 2.0, "GET commit"), (1.5, 3.0, "GET commit")], 3.5)

    assert {"PUT commit": [1500.0], "GET commit": [1000.0, 2000.0]} == noted
