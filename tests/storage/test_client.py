"""The bill: every request counted where it belongs, bytes only where bytes travel."""

import pytest

from endive import vocabulary
from endive.formats.delta import words as delta
from endive.formats.iceberg import words
from endive.storage.client import count_sent
from endive.vocabulary import (
    CATALOG,
    COMMIT_POINT_REQUESTS,
    DELETE,
    HEAD,
    MANIFEST,
    METADATA,
    N_OPERATIONS,
    OBJECTS,
    OPERATIONS,
    READ,
    REQUEST_PAIRS,
    REQUEST_PLACES,
    REQUESTS,
)


@pytest.mark.parametrize(
    ("op", "bytes_read", "bytes_written"),
    [
        (vocabulary.READ, 300, 0),
        (vocabulary.WRITE, 0, 300),
        (vocabulary.CAS, 0, 300),
        (vocabulary.APPEND, 0, 300),
        (vocabulary.TAIL_APPEND, 0, 300),
        (vocabulary.HEAD, 0, 0),
        (vocabulary.DELETE, 0, 0),
    ],
)
def test_bytes_are_counted_by_direction_and_not_for_head_and_delete(client, op, bytes_read, bytes_written):
    client.note(MANIFEST, op, 100, 3)

    assert client.row.bytes_read == bytes_read
    assert client.row.bytes_written == bytes_written


def counted(client):
    return {request: count for request, count in zip(REQUESTS, client.row.requests, strict=True) if count}


def test_a_request_is_counted_in_its_place_and_nowhere_else(client):
    client.note(MANIFEST, HEAD, 0)
    client.note(MANIFEST, HEAD, 0, 4)
    client.note(CATALOG, READ, 10)

    assert {"catalog_read": 1, "manifest_head": 5} == counted(client)


def test_requests_that_nobody_declares_are_counted_together(client):
    client.note(CATALOG, HEAD, 0)
    client.note(METADATA, DELETE, 0, 2)

    assert {"other_any": 3} == counted(client)


def test_every_declared_pair_has_a_place_of_its_own():
    places = {
        (obj, op): REQUEST_PLACES[OBJECTS.index(obj) * N_OPERATIONS + OPERATIONS.index(op)]
        for declared in (COMMIT_POINT_REQUESTS, words.REQUESTS, delta.REQUESTS)
        for obj, operations in declared.items()
        for op in operations
    }

    assert list(range(len(REQUEST_PAIRS) - 1)) == sorted(places.values())
    assert all(REQUEST_PAIRS[place] == pair for pair, place in places.items())


def test_a_trace_tells_when_who_and_what(clock, new_client):
    trace = []
    client = new_client(3, attempt=2, trace=trace)

    clock.now_us = 77
    client.note(MANIFEST, READ, 100, 4)
    client.note(MANIFEST, READ, 0, 2, is_throttled=True)

    assert trace == [(77, 3, 2, MANIFEST, READ, 4, False), (77, 3, 2, MANIFEST, READ, 2, True)]
    assert (6, 400) == (count_sent(client.row, MANIFEST, READ), client.row.bytes_read)
