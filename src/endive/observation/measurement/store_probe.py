"""An object store measured: GET, PUT, HEAD, DELETE at a few sizes, and swaps of one object by many clients.

Everything happens below one new prefix, which is emptied whatever happens. Requests are not retried while they are
measured: a failure is counted, and too many of them end the measurement.
"""

from __future__ import annotations

import importlib
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from endive.errors import IntakeError, ObservationError
from endive.observation.measurement.clients import run_clients, time_call
from endive.observation.measurement.probe_plan import CLIENTS, REHEARSED, SIZES_BYTES, ProbePlan
from endive.observation.measurement.store_guard import keep_to_its_hosts, refuse_without_credentials, rehearse
from endive.observation.secrets import redact

PREFIX: Final = "endive-measure-"
FAILURES_MAX: Final = 5
CLIENT_OPTIONS: Final = {"allow_http": True, "connect_timeout": "5s", "timeout": "20s"}
CLEANING_TRIES: Final = 3
CLEANING_PAUSE_S: Final = 1.0
EXTRA: Final = "Install obstore: pip install 'endive[lake]'."
Progress = Callable[[int, int], None]


@dataclass(slots=True, kw_only=True)
class Measured:
    """Latencies in ms by operation and size, and of swaps by clients; failures by name."""

    latencies_ms: dict[tuple[str, int], list[float]] = field(default_factory=dict)
    swaps: dict[int, SwapStep] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    requests: int = REHEARSED
    is_written: bool = False  # something lies in the store


@dataclass(slots=True, kw_only=True)
class SwapStep:
    """Clients that swap one object: each reads its version, then writes on condition that it still holds."""

    seconds: float = 0.0
    success_ms: list[float] = field(default_factory=list)
    refused_ms: list[float] = field(default_factory=list)
    head_ms: list[float] = field(default_factory=list)

    @property
    def puts(self) -> int:
        """Conditional puts, whether they succeeded or were refused."""
        return len(self.success_ms) + len(self.refused_ms)

    @property
    def refused_share(self) -> float:
        """Of the puts; nothing of none."""
        return len(self.refused_ms) / max(1, self.puts)

    @property
    def per_s(self) -> float:
        """Successes per second."""
        return len(self.success_ms) / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """The same place twice: without retries to measure it, with retries to clean it."""

    probed: Any
    cleaned: Any


def library(module: str = "") -> Any:
    """obstore, or the one line that says how to get it."""
    try:
        return importlib.import_module(f"obstore{module}")
    except ImportError as error:
        raise ObservationError(f"obstore cannot be imported ({error}). {EXTRA}") from None


def open_store(url: str, options: dict[str, str]) -> Stores:
    """The place a URL names, by obstore; credentials are those of the environment or of ``options``."""
    from_url = library(".store").from_url
    refuse_without_credentials(url, options)
    is_far = url.startswith(("s3", "http", "az", "gs"))
    client = {"client_options": {**CLIENT_OPTIONS, **keep_to_its_hosts(url, options)}} if is_far else {}
    try:
        probed = from_url(url, retry_config={"max_retries": 0}, **client, **options) if client else from_url(url)
        cleaned = from_url(url, retry_config={"max_retries": 3}, **client, **options) if client else probed
    except Exception as error:
        text = redact(str(error).splitlines()[0], options.values())
        raise ObservationError(f"'{redact(url)}' is not a store that can be opened: {text}.") from None
    return Stores(probed=probed, cleaned=cleaned)


def probe(stores: Stores, plan: ProbePlan, *, seconds_max: float, progress: Progress) -> Measured:
    """Measure, and leave nothing behind; what the store refuses is one line."""
    measured = Measured()
    end_s = time.monotonic() + seconds_max
    with _scratch(stores, measured) as prefix:
        try:
            rehearse(library(), stores.probed, prefix)
            measured.is_written = True
            _serial(stores.probed, prefix, plan, measured, end_s, progress)
            if plan.swaps:
                _check_conditions(stores.probed, prefix, measured)
                for clients in CLIENTS:
                    if time.monotonic() >= end_s:
                        break
                    measured.swaps[clients] = _swap_step(stores.probed, prefix, clients, plan.swaps, measured, end_s)
                    progress(measured.requests, plan.total)
        except ObservationError:
            raise
        except IntakeError as error:
            raise ObservationError(str(error)) from None
        except Exception as error:
            raise ObservationError(_reason(error)) from None
    return measured


@contextmanager
def _scratch(stores: Stores, measured: Measured) -> Iterator[str]:
    """A prefix of our own; emptied at the end, also after an error or an interrupt, if anything was written to it."""
    obstore = library()
    prefix = f"{PREFIX}{secrets.token_hex(6)}"
    try:
        yield prefix
    finally:
        problem = ""
        for turn in range(CLEANING_TRIES if measured.is_written else 0):
            try:
                paths = [entry["path"] for batch in obstore.list(stores.cleaned, prefix=prefix) for entry in batch]
                if paths:
                    obstore.delete(stores.cleaned, paths)
                problem = ""
                break
            except Exception as error:
                problem = redact(str(error).splitlines()[0])
                time.sleep(CLEANING_PAUSE_S * turn)
        if problem:
            raise ObservationError(f"objects below '{prefix}/' could not be removed ({problem}). Remove that prefix.")


def _reason(error: Exception) -> str:
    name = type(error).__name__
    text = redact(str(error).splitlines()[0] if str(error) else name)
    if name in ("PermissionDeniedError", "UnauthenticatedError"):
        return f"no permission: {text}. Reading, writing, listing and deleting below one prefix are needed."
    if name in ("NotFoundError", "FileNotFoundError"):
        return f"there is no such bucket or container: {text}."
    return f"the store failed: {text}."


def _serial(store: Any, prefix: str, plan: ProbePlan, measured: Measured, end_s: float, progress: Progress) -> None:
    """One client, one request after another; each object is written, asked for, read and removed."""
    obstore = library()
    for size in SIZES_BYTES:
        content = os.urandom(size)
        for index in range(plan.samples):
            if time.monotonic() >= end_s:
                return
            path = f"{prefix}/{size}-{index}"
            _count(measured, "put", size, obstore.put, store, path, content)
            _count(measured, "head", size, obstore.head, store, path)
            _count(measured, "get", size, _read, obstore, store, path, size)
            _count(measured, "delete", size, obstore.delete, store, path)
            progress(measured.requests, plan.total)


def _read(obstore: Any, store: Any, path: str, size: int) -> None:
    """Read an object to its end, and no further than it was written."""
    read = 0
    for part in obstore.get(store, path).stream():
        read += len(part)
        if read > size:
            break
    if read != size:
        raise ObservationError(f"the store returns other bytes than were written to it: {size:,} became {read:,}.")


def _count(measured: Measured, operation: str, size: int, call: Callable[..., Any], *given: Any) -> None:
    measured.requests += 1
    try:
        took_ms, _ = time_call(call, *given)
    except Exception as error:
        _tolerate(measured, error)
        return
    measured.latencies_ms.setdefault((operation, size), []).append(took_ms)


def _tolerate(measured: Measured, error: Exception) -> None:
    """A store may fail now and then, but not from the beginning, nor often, nor for want of a permission."""
    name = type(error).__name__
    measured.failures[name] = measured.failures.get(name, 0) + 1
    if (
        measured.requests < REHEARSED + 2
        or sum(measured.failures.values()) > FAILURES_MAX
        or name.startswith(("Permission", "Unauth"))
    ):
        raise error


# ---- conditional puts ----------------------------------------------------------------------------------


def _check_conditions(store: Any, prefix: str, measured: Measured) -> None:
    """A store must take a put on the current version and refuse one on an old version."""
    obstore = library()
    path = f"{prefix}/condition"
    first = obstore.put(store, path, b"1")
    measured.requests += 3
    advice = "No catalog can keep its pointer in such a store; measure the rest of it with --no-swaps."
    try:
        obstore.put(store, path, b"2", mode=_version(first))
    except Exception as error:
        text = redact(str(error).splitlines()[0])
        raise ObservationError(f"the store refuses conditional puts ({text}). {advice}") from None
    try:
        obstore.put(store, path, b"3", mode=_version(first))
    except Exception:
        return
    raise ObservationError(f"the store took a put on a version that was no longer current. {advice}")


def _version(meta: Any) -> dict[str, Any]:
    return {key: meta[key] for key in ("e_tag", "version") if meta.get(key) is not None}


def _swap_step(store: Any, prefix: str, clients: int, swaps: int, measured: Measured, end_s: float) -> SwapStep:
    """So many puts in all by so many clients, each as fast as it can."""
    obstore = library()
    path = f"{prefix}/swap-{clients}"
    obstore.put(store, path, b"0")
    step = SwapStep()

    def swap() -> None:
        head_ms, meta = time_call(obstore.head, store, path)
        begin_s = time.perf_counter()
        times = step.success_ms
        try:
            obstore.put(store, path, secrets.token_bytes(64), mode=_version(meta))
        except Exception as error:
            if type(error).__name__ not in ("PreconditionError", "AlreadyExistsError"):
                _tolerate(measured, error)
                return
            times = step.refused_ms
        times.append(1000.0 * (time.perf_counter() - begin_s))
        step.head_ms.append(head_ms)

    try:
        step.seconds = run_clients(clients, swaps, end_s, swap)
    finally:
        measured.requests += 2 * len(step.head_ms) + 1
    return step
