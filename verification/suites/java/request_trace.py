"""A trace of requests: what was asked of which object, attempt by attempt, as values and as short text.

Recordings are kept as text: ``Cr Mr Lh Lr mw Lw Mw Cr Cs`` is a pointer read, a metadata read, HEAD and GET of a
manifest list, a manifest, a list and a metadata object written, the pointer read once more and swapped; ``20(Lh Lr)``
is twenty times the two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

OBJECT_LETTERS: Final = {
    "catalog": "C",
    "metadata": "M",
    "manifest_list": "L",
    "manifest": "m",
    "data": "d",
    "server_metadata": "S",  # the metadata object, asked for by a REST catalog's server
}
OPERATION_LETTERS: Final = {"read": "r", "write": "w", "head": "h", "delete": "d", "cas": "s", "bulk_delete": "b"}
_OBJECTS: Final = {letter: name for name, letter in OBJECT_LETTERS.items()}
_OPERATIONS: Final = {letter: name for name, letter in OPERATION_LETTERS.items()}
_REPEATED: Final = re.compile(r"(\d+)\(([^)]*)\)|(\S+)")

Bill = Mapping[str, int]  # "manifest_list.read" -> requests


class Request(NamedTuple):
    """One request: of what, and what."""

    object: str
    operation: str

    @property
    def code(self) -> str:
        """Two letters."""
        return OBJECT_LETTERS[self.object] + OPERATION_LETTERS[self.operation]


VALIDATION_EXCEPTION: Final = "validation_exception"
SWAP: Final = Request("catalog", "cas")
POINTER_READ: Final = Request("catalog", "read")
LIST_WRITE: Final = Request("manifest_list", "write")
METADATA_WRITE: Final = Request("metadata", "write")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """How a victim's commit ended, and its requests: one sequence per attempt, then those after the last one."""

    outcome: str
    attempts: tuple[tuple[Request, ...], ...]

    def to_dict(self) -> dict[str, object]:
        """As JSON."""
        return {"outcome": self.outcome, "attempts": [to_text(requests) for requests in self.attempts]}

    @classmethod
    def from_dict(cls, document: Mapping[str, object]) -> Recorded:
        """From JSON."""
        attempts = document["attempts"]
        assert isinstance(attempts, list)
        return cls(outcome=str(document["outcome"]), attempts=tuple(from_text(text) for text in attempts))


def split_attempts(
    requests: Sequence[Request], outcome: str, *, built_with: Request = LIST_WRITE
) -> tuple[tuple[Request, ...], ...]:
    """Attempts by their last word with the catalog; what follows the last one comes last.

    An attempt that reached the catalog has written a manifest list (or what ``built_with`` says) and ends with a swap
    and what a REST server does about it, or (JDBC) with the read of the pointer that showed it had moved: the first one
    after the metadata object was written, if no swap follows. One that failed validation has written nothing, and ends
    before the first DELETE.
    """
    attempts: list[list[Request]] = [[]]
    is_built = is_written = is_ended = False
    for at, request in enumerate(requests):
        is_of_server = request.object == "server_metadata" or request == METADATA_WRITE
        if is_ended and not is_of_server:
            attempts.append([])
            is_built = is_written = is_ended = False
        attempts[-1].append(request)
        is_built = is_built or request == built_with
        is_written = is_written or (is_built and request == METADATA_WRITE)
        is_refused = is_written and request == POINTER_READ and tuple(requests[at + 1 : at + 2]) != (SWAP,)
        is_ended = is_ended or (is_built and (request == SWAP or is_refused))
    if outcome == VALIDATION_EXCEPTION:
        last = attempts.pop()
        end = next((at for at, request in enumerate(last) if request.operation == "delete"), len(last))
        attempts.extend((last[:end], last[end:]))
    elif is_ended:
        attempts.append([])
    return tuple(tuple(attempt) for attempt in attempts)


def bill(requests: Sequence[Request]) -> Bill:
    """Requests by object and operation, a server's writes of metadata among them.

    What a REST catalog's server reads to answer is left out: it is part of how long the catalog takes.
    """
    names = [f"{request.object.removeprefix('server_')}.{request.operation}" for request in requests]
    reads = [request == ("server_metadata", "read") for request in requests]
    return Counter(name for name, is_left_out in zip(names, reads, strict=True) if not is_left_out)


def to_text(requests: Sequence[Request]) -> str:
    """Two letters each, runs of one or two of them counted."""
    codes = [request.code for request in requests]
    parts: list[str] = []
    at = 0
    while at < len(codes):
        times, width = max((_run(codes, at, width), width) for width in (1, 2))
        unit = " ".join(codes[at : at + width])
        parts.append(f"{times}({unit})" if times > 1 else codes[at])
        at += times * width if times > 1 else 1
    return " ".join(parts)


def _run(codes: Sequence[str], at: int, width: int) -> int:
    """How often the ``width`` codes from ``at`` stand there one after another."""
    unit = codes[at : at + width]
    times = 1
    while codes[at + times * width : at + (times + 1) * width] == unit:
        times += 1
    return times


def from_text(text: str) -> tuple[Request, ...]:
    """The requests of ``to_text``."""
    requests: list[Request] = []
    for times, unit, single in _REPEATED.findall(text):
        codes = unit.split() * int(times) if times else [single]
        requests.extend(Request(_OBJECTS[code[0]], _OPERATIONS[code[1]]) for code in codes)
    return tuple(requests)
