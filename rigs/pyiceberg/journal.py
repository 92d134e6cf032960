"""A journal of the requests one PyIceberg client makes: to which kind of object, when, in which attempt.

How a request is carried out lives in ``file_io`` and ``journalled_catalog``. It knows no PyIceberg.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

METADATA: Final = "metadata"
MANIFEST_LIST: Final = "manifest_list"
MANIFEST: Final = "manifest"
DATA: Final = "data"
CATALOG: Final = "catalog"

READ: Final = "read"  # GET
HEAD: Final = "head"
WRITE: Final = "write"  # PUT
DELETE: Final = "delete"
CAS: Final = "cas"  # the catalog's pointer, swapped


def object_of(location: str) -> str:
    """The kind of object behind a path, by the names PyIceberg gives (``_new_manifest_list_file_name`` and others)."""
    name = location.rsplit("/", 1)[-1]
    if name.endswith(".metadata.json"):
        return METADATA
    if name.endswith(".avro"):
        return MANIFEST_LIST if name.startswith("snap-") else MANIFEST
    return DATA


@dataclass(slots=True)
class Request:
    """One request: the clock reads in seconds, and the attempt it belongs to (0: before the first one)."""

    object: str
    operation: str
    attempt: int
    begin_s: float
    end_s: float = 0.0

    @property
    def name(self) -> str:
        """Such as ``manifest_list.read``."""
        return f"{self.object}.{self.operation}"


@dataclass
class Journal:
    """The requests of one client, in the order they were sent; several threads of it may write."""

    before: Callable[[Request], None] | None = None  # called right before a request is carried out
    delays_ms: dict[str, float] = field(default_factory=dict)  # by operation on a stored object; the catalog's is real
    requests: list[Request] = field(default_factory=list)
    pauses: list[tuple[float, float]] = field(default_factory=list)  # backoffs, from and to
    attempt: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, object: str, operation: str) -> Request:
        """A request leaves, and waits as long as its operation is delayed."""
        request = Request(object, operation, self.attempt, time.perf_counter())
        with self._lock:
            self.requests.append(request)
        if self.before is not None:
            self.before(request)
        delay_ms = self.delays_ms.get(operation, 0.0)
        if delay_ms and object != CATALOG:
            time.sleep(delay_ms / 1000.0)
        return request

    def end(self, request: Request) -> None:
        """Its answer is here."""
        request.end_s = time.perf_counter()

    def clear(self) -> None:
        """Forget everything: another txn begins."""
        self.requests = []
        self.pauses = []
        self.attempt = 0

    def by_attempt(self) -> list[list[str]]:
        """The names of the requests, attempt by attempt; the first list is what came before the first attempt."""
        attempts = max((request.attempt for request in self.requests), default=0)
        found: list[list[str]] = [[] for _ in range(attempts + 1)]
        for request in self.requests:
            found[request.attempt].append(request.name)
        return found


# PyIceberg makes a FileIO from a catalog's properties, which are texts: a journal is found by its name.
JOURNALS: Final[dict[str, Journal]] = {}
JOURNAL_PROPERTY: Final = "endive.journal"
