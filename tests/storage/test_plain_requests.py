"""Reads, writes and their batches: one delay each, the bill, and draws that have names."""

import pytest

from endive.storage import ObjectStore, Request, load_profile
from endive.storage.client import count_sent
from endive.vocabulary import CATALOG, DELETE, HEAD, MANIFEST, MANIFEST_LIST, METADATA, READ, WRITE


def test_an_unobserved_request_is_one_delay_of_its_whole_latency(clock, client, new_store):
    store = new_store(latency_ms=10.0)

    read = clock.start(store.read("k", 500, client=client, counter=0, object=METADATA))
    write = clock.start(store.write("k", 600, client=client, counter=1, object=MANIFEST))
    head = clock.start(store.ask(Request(MANIFEST_LIST, HEAD, 2), client))
    delete = clock.start(store.ask(Request(MANIFEST, DELETE, 3), client))
    clock.run()

    assert [task.waits_us for task in (read, write, head, delete)] == [[10_000]] * 4
    assert read.value == (True, 10.0, 500, None)
    assert write.value == (True, 10.0, 600, None)
    assert head.value == (True, 10.0, 0, None)
    for object, op in ((METADATA, READ), (MANIFEST, WRITE), (MANIFEST_LIST, HEAD), (MANIFEST, DELETE)):
        assert count_sent(client.row, object, op) == 1
    assert (client.row.bytes_read, client.row.bytes_written) == (500, 600)


@pytest.mark.parametrize("op", [READ, HEAD])
def test_an_observer_sees_the_state_of_the_instant_the_server_evaluates(clock, client, new_store, op):
    store = new_store(latency_ms=10.0, share=0.3)

    task = clock.start(store.ask(Request(CATALOG, op, 0, 500, evaluate=lambda: clock.now_us), client), at_us=1_000)
    clock.run()

    assert task.waits_us == [3_000, 7_000]
    assert task.value.observed == 4_000
    assert task.value.latency_ms == 10.0


# object, operation, counter, bytes, requests, at once; and the delays, by the distribution and the key.
BATCHES = {
    "in turn, each its own draw": (
        (MANIFEST, READ, 100, 8_000, 5),
        lambda law, key: [law.sample_us(key, 100 + i, 8_000) for i in range(5)],
    ),
    "the slowest of each batch, and of a smaller remainder": (
        (MANIFEST_LIST, READ, 7, 2_000, 10, 4),
        lambda law, key: [law.slowest_us(key, 7 + first, count, 2_000) for first, count in ((0, 4), (4, 4), (8, 2))],
    ),
    "a run of eight or more drawn as their sum": (
        (MANIFEST, READ, 100, 8_000, 300),
        lambda law, key: [law.sum_us(key, 100, 300, 8_000)],
    ),
    "full batches summed and what is left drawn as before": (
        (MANIFEST_LIST, HEAD, 7, 0, 35, 4),
        lambda law, key: [law.sum_us(key, 7, 8, 0, 4), law.slowest_us(key, 7 + 32, 3, 0)],
    ),
    "deletes one by one however many": (
        (MANIFEST, DELETE, 100, 0, 20),
        lambda law, key: [law.sample_us(key, 100 + i) for i in range(20)],
    ),
}


@pytest.mark.parametrize(("batch", "waits_us"), BATCHES.values(), ids=BATCHES)
def test_a_batch_takes_these_delays(clock, client, batch, waits_us):
    store = ObjectStore(load_profile("s3"))
    store.expect_bytes(MANIFEST, 8_000)
    object, op, _, size_bytes, count, *_ = batch

    task = clock.start(store.ask(Request(*batch), client))
    clock.run()

    assert task.waits_us == waits_us(store.latency(object, op), client.key)
    assert task.value == (True, sum(task.waits_us) / 1000.0, size_bytes * count, None)
    assert count_sent(client.row, object, op) == count
    assert (client.row.bytes_read, client.row.bytes_written) == (size_bytes * count, 0)


def test_a_batch_of_writes_draws_from_the_write_figure(clock, client):
    store = ObjectStore(load_profile("s3"))
    law = store.latency(MANIFEST, WRITE)

    task = clock.start(store.ask(Request(MANIFEST, WRITE, 0, 1 << 20, 3, 2), client))
    clock.run()

    assert task.waits_us == [law.slowest_us(client.key, 0, 2, 1 << 20), law.sample_us(client.key, 2, 1 << 20)]
    assert client.row.bytes_written == 3 << 20


def test_a_batch_is_observed_once_when_the_server_evaluates_its_last_part(clock, client, new_store):
    seen = []
    store = new_store(latency_ms=10.0)

    task = clock.start(
        store.ask(Request(CATALOG, READ, 0, 1, 6, 4, evaluate=lambda: seen.append(clock.now_us)), client)
    )
    clock.run()

    assert task.waits_us == [10_000, 5_000, 5_000]
    assert seen == [15_000]


def test_a_batch_of_nothing_takes_no_time(clock, client, new_store):
    task = clock.start(new_store().ask(Request(CATALOG, READ, 0, 1, 0, 4), client))
    clock.run()

    assert task.waits_us == []
    assert task.value == (True, 0.0, 0, None)


def test_a_trace_shows_each_batch_when_it_is_sent(clock, new_client, new_store):
    trace = []
    client = new_client(9, trace=trace)

    clock.start(new_store().ask(Request(MANIFEST, READ, 0, 1, 6, 4), client))
    clock.run()

    assert trace == [(0, 9, 0, MANIFEST, READ, 4, False), (10_000, 9, 0, MANIFEST, READ, 2, False)]


def test_draws_depend_on_key_and_counter_only(clock, new_client):
    store = ObjectStore(load_profile("s3"))

    def latencies(order):
        store.attach(clock)
        clients = {txn: new_client(txn) for txn in (1, 2)}
        found = {}
        for txn, counter in order:
            task = clock.start(store.read("k", 100, client=clients[txn], counter=counter))
            clock.run()
            found[txn, counter] = task.value.latency_ms
        return found

    order = [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert latencies(order) == latencies(order[::-1])
    assert len(set(latencies(order).values())) == 4
