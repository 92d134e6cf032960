"""Hold the measured profiles to the closed-loop curves they were fitted to.

Owns the experiment behind the curves: N clients on one object, each sending conditional writes one after
another with the version it knows. Refuses to own the figures (the profiles have them) and the rules of a
conditional request (``endive.storage`` runs as it is).

The curves (``data/conditional_writes.csv``) tell what a refused client had to do before its next try only by
their shape. Three readings were tried: it learns the version its request was refused for; it pays a read of
the object; it learns the newest version when the refusal arrives, at no extra cost. Only the last fits the
failure shares and the successes per second of every provider with refusals as slow as they were measured,
so it is the one simulated here.

Run: ``python verification/fit_profiles.py [provider ...]``; the exit code is 1 if a point is off.
"""

from __future__ import annotations

import csv
import heapq
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from endive.rng import stream_key, substream
from endive.storage import Client, ObjectStore, Request, load_profile

CURVES = Path(__file__).parent.parent / "src/endive/verification/data/conditional_writes.csv"
DRAWS_PER_REQUEST = 4
SUCCESSES_WANTED = 20_000
SEED = 1

# Largest error allowed: successes per second as a share, failures in percentage points. Google's limit of one
# write per second is documented, while the measured clients got away with 0.7 to 1.4.
TOLERANCES = {"s3": (0.05, 3.0), "s3x": (0.05, 3.0), "azure": (0.10, 5.0), "azurex": (0.10, 5.0)}
# Seconds a curve was measured for, where the file gives no rate: successes of the lone client times its mean.
UNSTATED_DURATION_S = {"azure": 2980.0, "azurex": 2980.0, "gcp": 1497.0}


@dataclass(frozen=True, slots=True)
class Point:
    """One measured point of a curve."""

    store: str
    op: str
    threads: int
    success_per_s: float
    failure_pct: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the simulated clients achieved."""

    success_per_s: float
    failure_pct: float
    median_ms: float


class ClosedLoop:
    """N clients on one object; also the clock they share."""

    def __init__(self, storage: ObjectStore, op: str, threads: int) -> None:
        self.now_us = 0
        self._storage = storage
        self._op = op
        self._version = 0
        self._latencies_ms: list[float] = []
        self._failures = 0
        storage.attach(self)
        key = stream_key(SEED, "closed_loop")
        self._loops = [self._loop(Client(substream(key, i), i, self)) for i in range(threads)]

    def run(self) -> Outcome:
        """Until enough writes have succeeded."""
        pending = [(0, i) for i in range(len(self._loops))]
        while len(self._latencies_ms) < SUCCESSES_WANTED:
            self.now_us, i = pending[0]
            heapq.heapreplace(pending, (self.now_us + next(self._loops[i]), i))
        successes = len(self._latencies_ms)
        return Outcome(
            success_per_s=successes / (self.now_us / 1e6),
            failure_pct=100.0 * self._failures / (successes + self._failures),
            median_ms=sorted(self._latencies_ms)[successes // 2],
        )

    def _loop(self, client: Client) -> Iterator[int]:
        known = 0
        counter = 0
        while True:
            answer = yield from self._request(client, known, counter)
            counter += DRAWS_PER_REQUEST
            if answer.success:
                known += 1
                self._latencies_ms.append(answer.latency_ms)
            else:
                known = self._version
                self._failures += 1

    def _request(self, client: Client, known: int, counter: int) -> Request:
        def evaluate() -> bool:
            if known != self._version:
                return False
            self._version += 1
            return True

        send = self._storage.cas if self._op == "cas" else self._storage.append
        return send("object", known, 100, client=client, counter=counter, evaluate=evaluate)


def read_curves() -> list[Point]:
    """The measured points, with a rate for each."""
    with CURVES.open(newline="", encoding="utf-8") as file:
        return [_point(row) for row in csv.DictReader(file)]


def _point(row: dict[str, str]) -> Point:
    stated = row["success_per_s"]
    rate = float(stated) if stated else float(row["n_success"]) / UNSTATED_DURATION_S[row["store"]]
    return Point(row["store"], row["op"], int(row["threads"]), rate, float(row["failure_pct"]))


def simulate(point: Point) -> Outcome:
    """The same experiment on the profile."""
    return ClosedLoop(ObjectStore(load_profile(point.store)), point.op, point.threads).run()


def is_close(point: Point, outcome: Outcome) -> bool:
    """Whether the profile meets the point, where it is held to it."""
    if point.store not in TOLERANCES:
        return True
    rate_share_max, failure_points_max = TOLERANCES[point.store]
    rate_error = abs(outcome.success_per_s / point.success_per_s - 1.0)
    return rate_error <= rate_share_max and abs(outcome.failure_pct - point.failure_pct) <= failure_points_max


def main(stores: list[str]) -> int:
    """Print every point beside its measurement; 1 if one is off."""
    print("store   op      threads   successes/s (measured)   failures % (measured)   median ms")
    misses = 0
    for point in read_curves():
        if stores and point.store not in stores:
            continue
        outcome = simulate(point)
        misses += not is_close(point, outcome)
        print(
            f"{point.store:7} {point.op:7} {point.threads:7}   "
            f"{outcome.success_per_s:11.2f} ({point.success_per_s:8.2f})   "
            f"{outcome.failure_pct:10.1f} ({point.failure_pct:8.1f})   {outcome.median_ms:9.1f}"
            f"{'' if is_close(point, outcome) else '   off'}"
        )
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
