"""The storage provider's interface: one request, as a value, and one method that asks it.

Which operations there are is in ``endive.storage.requests``, what they cost in ``endive.storage.profile``; the two legs
of a request and the state of contended objects are in ``endive.storage.object_store``.
"""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from typing import Any, Final, NamedTuple

from endive.distributions import LatencyDistribution
from endive.distributions.sampled import next_key
from endive.errors import EngineError, UnsupportedOperationError
from endive.storage.caller import CallerClock, in_ms
from endive.storage.client import Client, Clock
from endive.storage.profile_file import names_supporting
from endive.vocabulary import (
    APPEND,
    CAS,
    CATALOG,
    CREATE,
    DELETE,
    HEAD,
    LIST,
    OBJECTS,
    OPERATIONS,
    READ,
    TAIL_APPEND,
    WRITE,
)


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
Process = Generator[float, None, StorageResult] | Exchange  # of a caller outside a run: in milliseconds

_METHODS: Final = {"read": READ, "write": WRITE, "cas": CAS, "append": APPEND, "tail_append": TAIL_APPEND}
_OTHER_METHODS: Final = (
    *(name for name in OPERATIONS if name not in _METHODS),
    *("read_batch", "write_batch", "head_batch"),  # were overridden once
)


class StorageProvider(ABC):
    """An object store with latency on every operation.

    One of your own is a profile file, or a subclass with ``read``, ``write`` and what else it has of ``cas``,
    ``append`` and ``tail_append``: generators that yield milliseconds and return a ``StorageResult`` (refactoring
    specification, section 1). The server evaluates such a request half-way through its first delay.

    Inside, a request is a generator that yields integer microseconds; a subclass may define ``ask`` instead.
    ``evaluate`` is called at the instant the server evaluates the request, after the request leg: what it returns is
    all a client may learn, and whether a conditional request succeeded. Latencies are drawn from ``client.key`` at the
    request's ``counter`` and a few places after it, never from how events interleave.

    """

    name: str

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        own = vars(cls)
        ignored = [name for name in _OTHER_METHODS if name in own]
        if ignored:
            raise EngineError(
                f"{cls.__name__} defines {', '.join(ignored)}, which no engine calls. Define read, write, cas, append "
                "and tail_append, or ask(request, client)."
            )
        by_operation = [name for name in _METHODS if name in own]
        if by_operation and "ask" not in own:
            _serve_by_operation(cls)

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

    _clock: Clock | None = None

    def attach(self, clock: Clock) -> None:
        """Bind to the engine's clock and forget every simulation before this one."""
        self._clock = clock
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

    def read(self, key: str, expected_size_bytes: int, **how: Any) -> Process:
        """Read an object."""
        return self._ask_named(READ, key, expected_size_bytes, **how)

    def write(self, key: str, size_bytes: int, **how: Any) -> Process:
        """Write an object unconditionally."""
        return self._ask_named(WRITE, key, size_bytes, **how)

    def cas(self, key: str, expected_version: int, size_bytes: int, **how: Any) -> Process:
        """Replace an object if it still has ``expected_version``: ``evaluate`` decides and installs."""
        return self._ask_named(CAS, key, size_bytes, **how)

    def append(self, key: str, offset: int, size_bytes: int, **how: Any) -> Process:
        """Append to an object if it still ends at ``offset``: ``evaluate`` decides and installs."""
        return self._ask_named(APPEND, key, size_bytes, **how)

    def tail_append(self, key: str, size_bytes: int, **how: Any) -> Process:
        """Append to the end of an object, wherever that is; never refused."""
        return self._ask_named(TAIL_APPEND, key, size_bytes, **how)

    def _ask_named(
        self,
        op: int,
        key: str,
        size_bytes: int,
        *,
        client: Client | None = None,
        counter: int = 0,
        object: int = CATALOG,
        evaluate: Callable[[], Any] | None = None,
    ) -> Process:
        """Ask in the name of a client, in microseconds; without one as a caller outside a run, in milliseconds."""
        if client is not None:
            return self.ask(Request(object, op, counter, size_bytes, key=key, evaluate=evaluate), client)
        is_conditional = op in (CAS, APPEND, TAIL_APPEND)
        evaluate = evaluate or ((lambda: True) if is_conditional else None)
        if self._clock is None:
            self.attach(self.caller_clock)
        request = Request(object, op, counter, size_bytes, key=key, evaluate=evaluate)
        return in_ms(self.ask(request, Client(next_key(), 0, self.caller_clock)), self.caller_clock)

    @property
    def caller_clock(self) -> CallerClock:
        """The clock of calls from outside a run."""
        if "_caller_clock" not in vars(self):
            self._caller_clock = CallerClock()
        return self._caller_clock


# ---- providers that serve each operation by a method of its own -------------------------------------------------

# What no method is named for is served, and takes as long, as what is.
_SERVED_AS: Final = {HEAD: READ, LIST: READ, DELETE: WRITE, CREATE: CAS}
_ARGUMENTS: Final = {READ: 1, WRITE: 1, CAS: 2, APPEND: 2, TAIL_APPEND: 1}  # after the key


def _serve_by_operation(cls: type[StorageProvider]) -> None:
    """Make a class with a method for each operation a provider, or reject it."""
    if not getattr(cls.ask, "__isabstractmethod__", False) and cls.ask is not _ask_by_operation:
        overridden = ", ".join(name for name in _METHODS if name in vars(cls))
        raise EngineError(
            f"{cls.__name__} overrides {overridden} of a provider whose requests all come through ask(request, "
            "client). Override ask, or make the class a subclass of StorageProvider itself."
        )
    has = {name for name in _METHODS if getattr(cls, name) is not getattr(StorageProvider, name)}
    for name in ("read", "write"):
        if name not in has:
            raise EngineError(
                f"{cls.__name__} has no {name}: a provider needs read(key, expected_size_bytes) and "
                "write(key, size_bytes), generators that yield milliseconds."
            )
    for name in has:
        if not inspect.isgeneratorfunction(getattr(cls, name)) and not _raises_at_once(getattr(cls, name)):
            raise EngineError(
                f"{cls.__name__}.{name} must be a generator that yields milliseconds and returns a StorageResult."
            )
    cls.name = getattr(cls, "name", cls.__name__)
    cls._served = frozenset(_METHODS[name] for name in has)  # type: ignore[attr-defined]
    for name in ("ask", "supports", "latency", "leg_share"):
        if name not in vars(cls):
            setattr(cls, name, globals()[f"_{name}_by_operation"])


def _raises_at_once(method: Any) -> bool:
    """Return whether a method only says that its operation is not supported (refactoring specification, 1.2)."""
    return "UnsupportedOperationError" in method.__code__.co_names


def _supports_by_operation(self: Any, op: int) -> bool:
    op = _SERVED_AS.get(op, op)
    if op not in self._served:
        return False
    name = f"supports_{OPERATIONS[op]}"
    is_said = name in _METHOD_FLAGS and getattr(type(self), name) is not getattr(StorageProvider, name)
    return bool(getattr(self, name)) if is_said else True


_METHOD_FLAGS: Final = ("supports_cas", "supports_append", "supports_tail_append")


def _latency_by_operation(self: Any, object: int, op: int, success: bool = True) -> LatencyDistribution:
    raise EngineError(f"{type(self).__name__} draws its own latencies; no distribution of {OPERATIONS[op]} is known.")


def _leg_share_by_operation(self: Any, op: int) -> float:
    return 0.5


def _ask_by_operation(self: Any, request: Request, client: Client) -> Exchange:
    """Send requests one after another, or the slowest of each batch; the last one is evaluated."""
    self.require(request.op)
    return _drive(self, request, client)


def _drive(self: Any, request: Request, client: Client) -> Exchange:
    op = _SERVED_AS.get(request.op, request.op)
    total_us, observed = 0, None
    for first in range(0, request.count, request.parallel):
        size = min(request.parallel, request.count - first)
        client.note(request.object, request.op, request.size_bytes, size)
        delays = max((_delays_us(self, op, request) for _ in range(size)), key=sum)
        is_last = first + request.parallel >= request.count
        for place, delay_us in enumerate(delays):
            if place == 0 and is_last and request.evaluate is not None:
                leg_us = delay_us // 2
                yield leg_us
                observed = request.evaluate()
                delay_us -= leg_us
            yield delay_us
            total_us += delay_us
    is_conditional = op in (CAS, APPEND) and request.evaluate is not None
    return StorageResult(bool(observed) if is_conditional else True, total_us / 1000.0, request.size_bytes, observed)


def _delays_us(self: Any, op: int, request: Request) -> list[int]:
    """Return the delays that a method of the user's asks for, in microseconds."""
    name = OPERATIONS[op]
    key = request.key or OBJECTS[request.object]
    arguments = (key, request.size_bytes) if _ARGUMENTS[op] == 1 else (key, 0, request.size_bytes)
    process = getattr(self, name)(*arguments)
    delays: list[int] = []
    while True:
        try:
            delay_ms = next(process)
        except StopIteration as ended:
            if not isinstance(ended.value, StorageResult):
                raise EngineError(
                    f"{type(self).__name__}.{name} returned {ended.value!r}; it must return a StorageResult."
                ) from None
            return delays or [0]
        delays.append(delay_us_of(delay_ms, f"{type(self).__name__}.{name}"))


def delay_us_of(delay_ms: Any, where: str) -> int:
    """Return a delay that a user's generator asks for in microseconds; anything but a number of ms is rejected."""
    is_number = isinstance(delay_ms, int | float) and not isinstance(delay_ms, bool)
    if not is_number or not math.isfinite(delay_ms) or delay_ms < 0:
        raise EngineError(f"{where} yielded {delay_ms!r}; it must yield a number of milliseconds, 0 or more.")
    return int(delay_ms * 1000.0 + 0.5)
