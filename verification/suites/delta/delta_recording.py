"""The recordings of Delta's clients: read, and a story's requests as a bill.

A request is a word such as ``GET commit+1`` or ``PUT commit+1!412``; requests that were under way together are joined
by ``|`` (``rigs/delta/log_names.py``).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

DATA: Final = Path(__file__).parent / "data"
RS: Final = "rs"
SPARK: Final = "spark"
OBJECTS: Final = {
    "commit": "commit_file",
    "checkpoint": "checkpoint",
    "last_checkpoint": "last_checkpoint",
    "crc": "checksum",
}
OPERATIONS: Final = {"GET": "read", "PUT": "write", "HEAD": "head", "DELETE": "delete"}
LIST: Final = "commit_file.list"
HINT_READ: Final = "last_checkpoint.read"
NO_HINT: Final = "HEAD last_checkpoint!404"  # a GET that finds nothing, by a client of a file system
CREATE: Final = "commit_file.create"
CHECKSUM_READ: Final = "checksum.read"
BARE: Final = ", no checksum"
BULK_DELETE: Final = "POST"  # of expired files of the log
# What a client of a file system asks besides: whether a path is there, and drafts that are renamed.
OF_THE_FILE_SYSTEM: Final = re.compile(r"PROBE|HEAD .*|.* (crc_draft|log)(!\d+)?|POST .*")
_WORD: Final = re.compile(r"(?P<method>[A-Z]+)(?: (?P<kind>[a-z_]+)(?P<version>[+-]\d+)?)?(?:!(?P<status>\d+))?")

Bill = Counter[str]


class Story(NamedTuple):
    """One operation and what disturbs it; ``older`` commits were made before its table was loaded."""

    operation: str
    mode: str = ""
    behind: int = 0
    lost: tuple[int, ...] = ()
    commits: int = 0  # the version it makes, or how many a loaded table has; 0 where it does not matter
    interval: int = 0  # commits per checkpoint; 0 for the client's own
    is_cold: bool = False  # a session that has not seen the table
    is_bare: bool = False  # the newest version has no checksum, as it begins or at the commit of who wins

    @classmethod
    def of(cls, key: str) -> Story:
        """From the recording's key: ``append, p = 3 / behind 2, lost 1, a checkpoint every 5``."""
        operation, *parts = key.split(" / ")
        told = parts[-1].removesuffix(BARE)
        lost = re.search(r"lost (\d+)((?:, \d+)*)(?:, (\d+) times)?", told)
        counts: tuple[int, ...] = ()
        if lost is not None:
            times = re.search(r"lost (\d+), (\d+) times", told)
            listed = tuple(int(each) for each in re.findall(r"\d+", lost[0]))
            counts = (int(times[1]),) * int(times[2]) if times else listed
        return cls(
            operation=operation,
            mode=parts[0] if len(parts) > 1 else "",
            behind=_figure(r"behind (\d+)", told),
            lost=counts,
            commits=_figure(r"commit (\d+)|(\d+) commits", told),
            interval=_figure(r"a checkpoint every (\d+)", told),
            is_cold=told == "cold",
            is_bare=parts[-1].endswith(BARE),
        )


def _figure(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(next(each for each in found.groups() if each)) if found else 0


def read(client: str, what: str) -> dict[str, Any]:
    """A recording: its head, and ``entries``."""
    document = json.loads((DATA / f"{client}_{what}.json").read_text(encoding="utf-8"))
    return dict(document)


def bill(words: Sequence[str]) -> Bill:
    """Requests for the log by object and operation; those for data, and a file system's own, are left out."""
    found: Bill = Counter()
    for word in (each for group in words for each in group.split(" | ")):
        name = _name(word)
        if name is not None:
            found[name] += 1
    return found


def rounds(words: Sequence[str]) -> int:
    """How many requests of the log follow each other, those under way together counted once."""
    return sum(any(_name(each) is not None for each in group.split(" | ")) for group in words)


def own_part(words: Sequence[str]) -> Sequence[str]:
    """What follows the beginning of a statement: from its data on, or from the first question for the next commit."""
    for at, group in enumerate(words):
        if group.startswith("PUT data"):
            return words[at:]
    first = next(at for at, group in enumerate(words) if re.search(r"HEAD commit\+\d+!404", group))
    return words[first:]


def _name(word: str) -> str | None:
    match = _WORD.fullmatch(word)
    if match is None or match["kind"] == "data" or OF_THE_FILE_SYSTEM.fullmatch(word):
        return None
    if match["method"] == "LIST":
        return LIST
    if word == BULK_DELETE:
        return "commit_file.delete"
    if match["kind"] == "commit" and match["method"] == "PUT":
        return CREATE
    return f"{OBJECTS[match['kind']]}.{OPERATIONS[match['method']]}"


def difference(expected: Mapping[str, int], actual: Mapping[str, int]) -> str:
    """Which counts differ: real, then simulated."""
    names = sorted(expected.keys() | actual.keys())
    return ", ".join(
        f"{name} {expected.get(name, 0)} real, {actual.get(name, 0)} simulated"
        for name in names
        if expected.get(name, 0) != actual.get(name, 0)
    )
