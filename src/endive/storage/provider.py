"""The storage provider's interface: one request, as a value, and one method that asks it.

Which operations there are is in ``endive.storage.requests``, what they cost in ``endive.storage.profile``; the two legs
of a request and the state of contended objects are in ``endive.storage.object_store``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from typing import Any, Final, NamedTuple

from endive.distributions import LatencyDistribution
from endive.errors import EngineError, UnsupportedOperationError
from endive.storage.client import Client, Clock
from endive.storage.profile_file import names_supporting
from endive.vocabulary import APPEND, CAS, CATALOG, OPERATIONS, READ, TAIL_APPEND, WRITE


class Request(NamedTuple):
    """What is asked of a store: equal requests, so many at a time."""

    object: int  # the kind of object
    op: int
    counter: int  # draws are named from here on; see ``endive.storage.object_store``
    size_bytes: int = 0
    count: int = 1  # type: ignore[assignment]  # a tuple's own count is not missed
    parallel: int = 1  # of each batch the slowest counts
    key: str = ""  # which object: requests whose order matters meet at it
    evaluate: Callable[[], Any] | None = None  # called when the server evaluates the last of them


class StorageResult(NamedTuple):
    """What a client may know after one request. A tuple, because it is made millions of times."""

    success: bool
    latency_ms: float  # from sending to the answer, waiting included
    data_size_bytes: int
    observed: Any = None  # what `evaluate` returned at the instant the server evaluated


# A request under way: yields delays in microseconds, returns the answer.
Exchange = Generator[int, None, StorageResult]

_OPERATION_METHODS: Final = (*OPERATIONS, "read_batch", "write_batch", "head_batch")  # were overridden once


class StorageProvider(ABC):
    """An object store with latency on every operation.

    A request under way is a generator: it yields the integer microseconds to wait and returns a ``StorageResult``.
    ``evaluate`` is called at the instant the server evaluates the request, after the request leg: what it returns is
    all a client may learn, and whether a conditional request succeeded. Latencies are drawn from ``client.key`` at the
    request's ``counter`` and a few places after it, never from how events interleave.

    Most providers of one's own need no subclass: a profile file is enough (``endive.storage.load_profile``).
    """

    name: str

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        ignored = [name for name in _OPERATION_METHODS if name in vars(cls)]
        if ignored:
            raise EngineError(
                f"{cls.__name__} defines {', '.join(ignored)}, which no engine calls: every request comes through "
                "ask(request, client). Define that instead, and look at request.op."
            )

    @abstractmethod
    def supports(self, op: int) -> bool:
        """Whether the provider has the operation."""

    @abstractmethod
    def ask(self, request: Request, client: Client) -> Exchange:
        """Send the request; an operation the provider lacks is an ``UnsupportedOperationError`` at once."""

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

    def require(self, op: int) -> None:
        """Refuse an operation the provider lacks, when it is asked for and not when it is first awaited."""
        if not self.supports(op):
            raise UnsupportedOperationError(
                f"storage provider {self.name!r} has no {OPERATIONS[op]!r}. "
                f"Providers that have it: {', '.join(names_supporting(op))}."
            )

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

    # ---- the names the original documents give; each is one request ------------------------------------------

    @property
    def supports_write(self) -> bool:
        """Whether whole objects can be written (and deleted)."""
        return self.supports(WRITE)

    @property
    def supports_cas(self) -> bool:
        """Whether an object can be replaced on condition of its version."""
        return self.supports(CAS)

    @property
    def supports_append(self) -> bool:
        """Whether an object can be appended to on condition of its length."""
        return self.supports(APPEND)

    @property
    def supports_tail_append(self) -> bool:
        """Whether an object can be appended to without condition."""
        return self.supports(TAIL_APPEND)

    def read(self, key: str, expected_size_bytes: int, **how: Any) -> Exchange:
        """Read an object."""
        return self._ask_named(READ, key, expected_size_bytes, **how)

    def write(self, key: str, size_bytes: int, **how: Any) -> Exchange:
        """Write an object unconditionally."""
        return self._ask_named(WRITE, key, size_bytes, **how)

    def cas(self, key: str, expected_version: int, size_bytes: int, **how: Any) -> Exchange:
        """Replace an object if it still has ``expected_version``: ``evaluate`` decides and installs."""
        return self._ask_named(CAS, key, size_bytes, **how)

    def append(self, key: str, offset: int, size_bytes: int, **how: Any) -> Exchange:
        """Append to an object if it still ends at ``offset``: ``evaluate`` decides and installs."""
        return self._ask_named(APPEND, key, size_bytes, **how)

    def tail_append(self, key: str, size_bytes: int, **how: Any) -> Exchange:
        """Append to the end of an object, wherever that is; never refused."""
        return self._ask_named(TAIL_APPEND, key, size_bytes, **how)

    def _ask_named(
        self,
        op: int,
        key: str,
        size_bytes: int,
        *,
        client: Client,
        counter: int,
        object: int = CATALOG,
        evaluate: Callable[[], Any] | None = None,
    ) -> Exchange:
        return self.ask(Request(object, op, counter, size_bytes, key=key, evaluate=evaluate), client)
