"""A store behind an SDK: how requests are tried, in turn and in batches, against sums done by hand."""

from __future__ import annotations

import pytest

from endive.errors import UnsupportedOperationError
from endive.rng import substream, uniform
from endive.storage import Client, ObjectStore, Request, StorageProvider, load_profile
from endive.storage.client import count_sent
from endive.storage.throttled import TRY_BITS, GivenUpError, SlowDown, ThrottledStore, without_throttling
from endive.vocabulary import APPEND, LOG, MANIFEST, READ

L_US = 10_000
COUNTER = 1 << 24


def tries_of(key: int, index: int, slow_down: SlowDown) -> int:
    """Throttled tries of one request, by its draws."""
    own, tries = substream(key, COUNTER + index), 0
    while tries < slow_down.tries_max and uniform(own, tries << TRY_BITS) < slow_down.rate:
        tries += 1
    return tries


def read_many(client: Client, count: int, parallel: int, slow_down: SlowDown) -> tuple[int, int, int, bool]:
    """How long, how many requests, how many bytes, and whether they were given up."""
    store = ObjectStore(load_profile("constant").at_constant_latency(L_US / 1000.0))
    request = ThrottledStore(store, slow_down).ask(Request(MANIFEST, READ, COUNTER, 7, count, parallel), client)
    spent_us, is_given_up = 0, False
    try:
        for delay_us in request:
            spent_us += delay_us
    except GivenUpError:
        is_given_up = True
    return (spent_us, count_sent(client.row, MANIFEST, READ), client.row.bytes_read, is_given_up)


@pytest.mark.parametrize("txn", range(20))
def test_requests_in_turn_take_their_tries_and_stop_at_the_first_given_up(new_client, txn):
    slow_down = SlowDown(rate=0.4, wait_ms=0.0001, wait_max_ms=0.0001, tries_max=3)
    client = new_client(txn)
    tries = [tries_of(client.key, index, slow_down) for index in range(6)]
    sent = tries[: tries.index(3) + 1] if 3 in tries else tries
    served = len(sent) - (3 in sent)

    expected = (L_US * (sum(sent) + served), sum(sent) + served, 7 * served, 3 in tries)
    assert expected == read_many(client, 6, 1, slow_down)


@pytest.mark.parametrize("txn", range(20))
def test_of_a_batch_the_slowest_counts_and_no_batch_follows_one_with_a_request_given_up(new_client, txn):
    slow_down = SlowDown(rate=0.4, wait_ms=0.0001, wait_max_ms=0.0001, tries_max=4)
    client = new_client(txn)
    tries = [tries_of(client.key, index, slow_down) for index in range(10)]
    time_us = requests = served = 0
    is_given_up = False
    for batch in (tries[0:4], tries[4:8], tries[8:10]):
        if not is_given_up:
            through = [each for each in batch if each < 4]
            is_given_up = len(through) < len(batch)
            served += len(through)
            requests += sum(batch) + len(through)
            time_us += L_US * max(each + 1 if each < 4 else each for each in batch)

    assert (time_us, requests, 7 * served, is_given_up) == read_many(client, 10, 4, slow_down)


def test_a_batch_of_which_none_is_throttled_is_drawn_as_at_any_store(new_client):
    never = SlowDown(rate=1.0e-12, wait_ms=1.0, wait_max_ms=1.0, tries_max=3)
    profile = load_profile("s3")

    def spent(store: StorageProvider) -> list[int]:
        return list(store.ask(Request(MANIFEST, READ, COUNTER, 7, 100, 4), new_client(3)))

    assert spent(ObjectStore(profile)) == spent(ThrottledStore(ObjectStore(profile), never))


def test_an_operation_the_store_lacks_is_refused_when_it_is_asked_for(client):
    never = SlowDown(rate=0.5, wait_ms=1.0, wait_max_ms=1.0, tries_max=3)

    with pytest.raises(UnsupportedOperationError, match="'s3' has no 'append'"):
        ThrottledStore(ObjectStore(load_profile("s3")), never).ask(Request(LOG, APPEND, 0, 1), client)


def test_what_a_store_can_do_is_said_by_the_store_itself():
    store = ObjectStore(load_profile("s3"))
    throttled = ThrottledStore(store, SlowDown(rate=0.1, wait_ms=1.0, wait_max_ms=1.0, tries_max=3))

    for name in ("name", "supports_write", "supports_cas", "supports_append", "supports_tail_append", "is_built_in"):
        assert getattr(store, name) == getattr(throttled, name)
    assert store.heads_before_read == throttled.heads_before_read
    assert store is without_throttling(throttled)
    assert store is without_throttling(store)
