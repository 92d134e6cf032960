"""How long each request of a measured txn took, the client's own work included.

The parts of a txn add up to the whole.

Work before a request belongs to it. Three exceptions keep in their place the moments at which rivals meet. A pointer
request takes what the database took: work before it belongs to the request before. PyIceberg writes its own manifest,
and asks for its length, in one thread while another reads the current list (``_SnapshotProducer._manifests``): both
are measured from the moment the first of them began, and the work before that moment belongs to the new list, which
is written when both are done. Pauses belong to nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rigs.pyiceberg.journal import CATALOG, DELETE, MANIFEST, MANIFEST_LIST, READ, WRITE, Request

QUANTILES: Final = (0.0, 0.01, *(round(0.05 * i, 2) for i in range(1, 20)), 0.97, 0.98, 0.99, 0.995, 0.998, 0.999, 1.0)


class _Division:
    """The spans found so far, and how far into the txn they reach."""

    def __init__(self, begin_s: float) -> None:
        self.found: list[tuple[str, float]] = []
        self.reached_s = begin_s
        self._fork_s: float | None = None  # when the two threads parted
        self._before_fork_s = 0.0
        self._manifest_s = 0.0  # how far the thread that writes the manifest is

    def add(self, request: Request, paused_s: float) -> None:
        """The next request, by its beginning; ``paused_s`` is what the client slept since ``reached_s``."""
        if request.object == CATALOG:
            self._add_pointer_request(request, paused_s)
        elif request.object == MANIFEST and request.operation != DELETE:
            since_s = self._fork(request) if request.operation == WRITE else self._manifest_s
            self._put(request.name, request.end_s - since_s)
            self._manifest_s = request.end_s
        elif request.object == MANIFEST_LIST and request.operation == READ:
            self._put(request.name, request.end_s - self._fork(request))
        elif request.object == MANIFEST_LIST and request.operation == WRITE:
            self._put(request.name, request.end_s - self.reached_s + self._before_fork_s)
            self._fork_s = None
        else:
            self._put(request.name, request.end_s - self.reached_s - paused_s)
        self.reached_s = max(self.reached_s, request.end_s)

    def _add_pointer_request(self, request: Request, paused_s: float) -> None:
        work_s = request.begin_s - self.reached_s - paused_s
        if self.found:
            name, took_ms = self.found[-1]
            self.found[-1] = (name, took_ms + 1e3 * work_s)
            work_s = 0.0
        self._put(request.name, request.end_s - request.begin_s + work_s)

    def _fork(self, request: Request) -> float:
        if self._fork_s is None:
            self._fork_s = request.begin_s
            self._before_fork_s = request.begin_s - self.reached_s
        return self._fork_s

    def _put(self, name: str, took_s: float) -> None:
        self.found.append((name, 1e3 * took_s))


def spans(
    requests: Iterable[Request], pauses: Sequence[tuple[float, float]], begin_s: float, end_s: float
) -> list[tuple[str, float]]:
    """(request, ms) in the order of their beginning, and ``rest``: what came after the last one."""
    division = _Division(begin_s)
    for request in sorted(requests, key=lambda request: request.begin_s):
        reached_s = division.reached_s
        paused_s = sum(to_s - from_s for from_s, to_s in pauses if reached_s <= from_s <= request.begin_s)
        division.add(request, paused_s)
    return [*division.found, ("rest", 1e3 * (end_s - division.reached_s))]
