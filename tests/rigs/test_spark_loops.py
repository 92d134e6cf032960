"""What the recorder of Delta Spark's closed loops makes of a txn's requests."""

from verification.delta_rig.spark_loops import Told, note_spans, tell
from verification.java_rig.object_server import LoggedRequest


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


def test_the_log_read_for_a_checksum_is_part_of_it_and_reading_it_for_a_checkpoint_is_told_apart():
    requests = [asked(2, "GET commit"), asked(4, "GET checkpoint"), asked(8, "PUT crc_draft")]
    plain = tell([asked(0, "PUT commit", version=7), *requests])
    checkpoint = tell([asked(0, "PUT commit", version=10), *requests])

    spans = [(0.0, 1.0, "PUT commit"), (1.0, 9.0, "PUT crc_draft")]
    assert Told(committing=spans, whole_after=2) == plain
    assert Told(committing=spans, whole_after=2, reading_s=2.0) == checkpoint


def test_work_belongs_to_the_request_before_it():
    noted = {}

    note_spans(noted, [(0.0, 1.0, "PUT commit"), (1.5, 2.0, "GET commit"), (1.5, 3.0, "GET commit")], 3.5)

    assert {"PUT commit": [1500.0], "GET commit": [1000.0, 2000.0]} == noted
