"""The storage provider's interface: what a txn or a catalog may ask of an object store.

This file defines the names of the operations and the shape of their answer. Not here: latencies
(``endive.storage.profile``), the two legs of a request and the state of contended objects
(``endive.storage.object_store``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from endive.distributions import LatencyDistribution
from endive.storage.client import Client, Clock
from endive.storage.requests import CATALOG


class StorageResult(NamedTuple):
    """What a client may know after one request. A tuple, because it is made millions of times."""

    success: bool
    latency_ms: float  # from sending to the answer, waiting included
    data_size_bytes: int
    observed: Any = None  # what `observe` or `evaluate` returned at the instant the server evaluated


# Yields delays in microseconds, returns the answer.
Request = Generator[int, None, StorageResult]


class StorageProvider(ABC):
    """An object store with latency on every operation.

    Every operation is a generator: it yields the integer microseconds to wait and returns a
    ``StorageResult``. ``observe`` and ``evaluate`` are called at the instant the server evaluates the
    request, after the request leg: what they see is all a client may learn. Latencies are drawn from
    ``client.key`` at ``counter`` and a few places after it, never from how events interleave.

    An operation the provider lacks raises ``UnsupportedOperationError``. Most providers of one's own need no
    subclass: a profile file is enough (``endive.storage.load_profile``).
    """

    name: str

    @property
    @abstractmethod
    def supports_write(self) -> bool:
        """Whether whole objects can be written (and deleted)."""

    @property
    @abstractmethod
    def supports_cas(self) -> bool:
        """Whether an object can be replaced on condition of its version."""

    @property
    @abstractmethod
    def supports_append(self) -> bool:
        """Whether an object can be appended to on condition of its length."""

    @property
    @abstractmethod
    def supports_tail_append(self) -> bool:
        """Whether an object can be appended to without condition."""

    @abstractmethod
    def read(
        self,
        key: str,
        expected_size_bytes: int,
        *,
        client: Client,
        counter: int,
        object: int = CATALOG,
        observe: Callable[[], Any] | None = None,
    ) -> Request:
        """Read an object; the answer describes the instant the server evaluated the request."""

    @abstractmethod
    def read_batch(
        self,
        key: str,
        size_bytes: int,
        count: int,
        parallel: int = 1,
        *,
        client: Client,
        counter: int,
        object: int = CATALOG,
        observe: Callable[[], Any] | None = None,
    ) -> Request:
        """Read ``count`` objects, ``parallel`` at a time; of each batch the slowest counts."""

    @abstractmethod
    def write(self, key: str, size_bytes: int, *, client: Client, counter: int, object: int = CATALOG) -> Request:
        """Write an object unconditionally."""

    @abstractmethod
    def write_batch(
        self,
        key: str,
        size_bytes: int,
        count: int,
        parallel: int = 1,
        *,
        client: Client,
        counter: int,
        object: int = CATALOG,
    ) -> Request:
        """Write ``count`` objects, ``parallel`` at a time; of each batch the slowest counts."""

    @abstractmethod
    def head(
        self,
        key: str,
        *,
        client: Client,
        counter: int,
        object: int = CATALOG,
        observe: Callable[[], Any] | None = None,
    ) -> Request:
        """Ask for an object's version and length without its content."""

    @abstractmethod
    def head_batch(
        self, key: str, count: int, parallel: int = 1, *, client: Client, counter: int, object: int = CATALOG
    ) -> Request:
        """Ask for ``count`` heads, ``parallel`` at a time; of each batch the slowest counts."""

    @abstractmethod
    def delete(self, key: str, *, client: Client, counter: int, object: int = CATALOG) -> Request:
        """Delete an object."""

    @abstractmethod
    def cas(
        self,
        key: str,
        expected_version: int,
        size_bytes: int,
        *,
        client: Client,
        counter: int,
        evaluate: Callable[[], bool],
        object: int = CATALOG,
    ) -> Request:
        """Replace an object if it still has ``expected_version``; ``evaluate`` decides and installs."""

    @abstractmethod
    def append(
        self,
        key: str,
        offset: int,
        size_bytes: int,
        *,
        client: Client,
        counter: int,
        evaluate: Callable[[], bool],
        object: int = CATALOG,
    ) -> Request:
        """Append to an object if it still ends at ``offset``; ``evaluate`` decides and installs."""

    @abstractmethod
    def tail_append(
        self,
        key: str,
        size_bytes: int,
        *,
        client: Client,
        counter: int,
        evaluate: Callable[[], Any] | None = None,
        object: int = CATALOG,
    ) -> Request:
        """Append to the end of an object, wherever that is; ``evaluate`` installs. Never refused."""

    @abstractmethod
    def latency(self, object: int, op: int, success: bool = True) -> LatencyDistribution:
        """The distribution the latency of such a request is drawn from."""

    @abstractmethod
    def leg_share(self, op: int) -> float:
        """Share of the latency that passes before the server evaluates."""

    @property
    def heads_before_read(self) -> frozenset[int]:
        """Kinds of object whose read the store's client precedes with a HEAD."""
        return frozenset()

    def attach(self, clock: Clock) -> None:
        """Bind to the engine's clock and forget every simulation before this one."""
        self._clock: Clock | None = clock
        self.reset()

    def reset(self) -> None:  # noqa: B027 - a provider without state of its own has nothing to forget
        """Forget the state of every object, as if newly made."""

    @property
    def is_built_in(self) -> bool:
        """Whether the class is Endive's own: only then can the compiled engine stand in for it."""
        return type(self).__module__.split(".")[0] == "endive"
