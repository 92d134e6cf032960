"""The time of a measured txn, divided among its requests."""

import pytest

from rigs.pyiceberg.journal import Request, object_of
from rigs.pyiceberg.spans import spans
from verification.recordings import quantiles


def request(name: str, attempt: int, begin_ms: float, end_ms: float) -> Request:
    object, _, operation = name.partition(".")
    return Request(object, operation, attempt, begin_ms / 1e3, end_ms / 1e3)


LOST_THEN_COMMITTED = [
    request("catalog.read", 0, 1, 2),
    request("metadata.read", 0, 3, 23),
    request("manifest.write", 1, 26, 56),
    request("manifest_list.read", 1, 27, 47),
    request("manifest.head", 1, 57, 67),
    request("manifest_list.write", 1, 69, 99),
    request("catalog.read", 1, 100, 101),
    request("metadata.read", 1, 102, 122),
    request("catalog.read", 2, 230, 231),  # after a backoff of 105 ms
    request("metadata.read", 2, 232, 252),
    request("manifest.write", 2, 254, 284),
    request("manifest_list.read", 2, 254, 274),
    request("manifest.head", 2, 285, 295),
    request("manifest_list.write", 2, 297, 327),
    request("catalog.read", 2, 328, 329),
    request("metadata.read", 2, 330, 350),
    request("metadata.head", 2, 351, 361),
    request("metadata.write", 2, 361, 391),
    request("catalog.cas", 2, 392, 394),
    request("manifest.delete", 2, 395, 415),
    request("manifest_list.delete", 2, 415, 435),
]
BACKOFF = [(0.123, 0.228)]


def found() -> list[tuple[str, float]]:
    return [(name, round(ms, 6)) for name, ms in spans(LOST_THEN_COMMITTED, BACKOFF, 0.0, 0.436)]


def test_work_before_a_request_belongs_to_it_and_before_a_pointer_request_to_the_one_before():
    first = [("catalog.read", 2.0), ("metadata.read", 21.0)]
    assert first == found()[:2]  # the first pointer request has nothing before it
    last = [("metadata.read", 21.0), ("metadata.head", 11.0), ("metadata.write", 31.0), ("catalog.cas", 2.0)]
    assert last == found()[15:19]


def test_manifest_and_list_are_measured_from_where_the_threads_part():
    forked = [("manifest.write", 30.0), ("manifest_list.read", 21.0), ("manifest.head", 11.0)]
    assert forked == found()[2:5]


def test_the_new_list_bears_the_work_before_the_threads_part_and_before_the_look():
    assert ("manifest_list.write", (26.0 - 23.0) + (99.0 - 67.0) + (100.0 - 99.0)) == found()[5]


def test_a_pause_before_a_retry_belongs_to_no_request():
    lost_look, refresh = found()[7:9]

    assert ("metadata.read", (122.0 - 101.0) + (230.0 - 122.0 - 105.0)) == lost_look
    assert ("catalog.read", 1.0) == refresh


def test_clean_up_follows_the_swap():
    assert [("manifest.delete", 21.0), ("manifest_list.delete", 20.0), ("rest", 1.0)] == found()[-3:]


def test_spans_and_pauses_add_up_to_the_txn():
    """The list is read while the manifest is written, so the shorter of the two is not counted."""
    total_ms = sum(ms for name, ms in found() if name != "manifest_list.read") + 105.0

    assert pytest.approx(436.0) == total_ms


def test_quantiles_lie_on_straight_lines_between_the_values():
    assert [10.0, 15.0, 20.0, 30.0] == quantiles([30.0, 10.0, 20.0], (0.0, 0.25, 0.5, 1.0))


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("t/metadata/00003-2f1c.metadata.json", "metadata"),
        ("t/metadata/snap-77-0-2f1c.avro", "manifest_list"),
        ("t/metadata/2f1c-m0.avro", "manifest"),
        ("t/data/00000-0-2f1c.parquet", "data"),
    ],
)
def test_an_object_is_known_by_its_name(path, kind):
    assert kind == object_of(path)
