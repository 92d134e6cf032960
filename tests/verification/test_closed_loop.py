"""The compiled clients of the measured experiment do what clients of ``ObjectStore`` do, request for request."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import pytest

from endive.rng import stream_key, substream
from endive.storage import Client, ObjectStore, load_profile
from verification.suites.closed_loop import DRAWS_PER_REQUEST, SEED, SIZE_BYTES, STREAM, run_closed_loop

SUCCESSES = 300


class Clients:
    """The same clients as generators, on the store's own operations; also the clock they share."""

    def __init__(self, storage: ObjectStore, op: str, clients: int) -> None:
        self.now_us = 0
        self.latencies_ms: list[float] = []
        self.failures = 0
        self._version = 0
        self._send = storage.cas if op == "cas" else storage.append
        storage.attach(self)
        key = stream_key(SEED, STREAM)
        self._loops = [self._loop(Client(substream(key, i), i, self)) for i in range(clients)]

    def run(self) -> None:
        pending = [(0, i) for i in range(len(self._loops))]
        while len(self.latencies_ms) < SUCCESSES:
            self.now_us, i = pending[0]
            heapq.heapreplace(pending, (self.now_us + next(self._loops[i]), i))

    def _loop(self, client: Client) -> Iterator[int]:
        known = counter = 0
        while True:
            answer = yield from self._request(client, known, counter)
            counter += DRAWS_PER_REQUEST
            if answer.success:
                known += 1
                self.latencies_ms.append(answer.latency_ms)
            else:
                known = self._version
                self.failures += 1

    def _request(self, client: Client, known: int, counter: int):
        def evaluate() -> bool:
            is_current = known == self._version
            self._version += is_current
            return is_current

        return self._send("object", known, SIZE_BYTES, client=client, counter=counter, evaluate=evaluate)


@pytest.mark.parametrize(
    ("store", "op"), [("s3", "cas"), ("s3x", "append"), ("azure", "append"), ("azurex", "cas"), ("gcp", "cas")]
)
@pytest.mark.parametrize("clients", [1, 7])
def test_compiled_clients_equal_clients_of_the_object_store(store, op, clients):
    expected = Clients(ObjectStore(load_profile(store)), op, clients)
    expected.run()

    found = run_closed_loop(load_profile(store), op, clients, successes=SUCCESSES)

    assert SUCCESSES / (expected.now_us / 1e6) == found.success_per_s
    assert 100.0 * expected.failures / (SUCCESSES + expected.failures) == found.failure_pct
    assert sum(expected.latencies_ms) / SUCCESSES == pytest.approx(found.success_mean_ms, rel=1e-12)
