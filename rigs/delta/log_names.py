"""The names of Delta's objects in a store, and a request for one as one word."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from rigs.java.object_server import LoggedRequest, ObjectServer

_COMMIT: Final = re.compile(r"_delta_log/(\d{20})\.json$")
PROBE: Final = re.compile(r"max-keys=[12]\b")
_CHECKPOINT: Final = re.compile(r"_delta_log/(\d{20})\.checkpoint\b.*\.parquet$")


def object_kind(key: str) -> str:
    """What kind of Delta object a key names."""
    if "/" not in key:
        return "list"
    if _COMMIT.search(key):
        return "commit"
    if _CHECKPOINT.search(key):
        return "checkpoint"
    if key.endswith("_last_checkpoint"):
        return "last_checkpoint"
    if key.endswith(".crc") or ".crc." in key:
        return "crc" if key.endswith(".crc") else "crc_draft"
    if "/_delta_log" in key:
        return "log"
    return "data"


def word_of(entry: LoggedRequest, base: int) -> str:
    """A request as one word: ``GET commit+1`` is the commit after the base version, ``!412`` an answer not of 2xx."""
    if PROBE.search(entry.query):
        return "PROBE"  # whether a folder has anything in it, asked by S3A
    kind = entry.kind
    found = _COMMIT.search(entry.key) or _CHECKPOINT.search(entry.key)
    if found is not None:
        kind = f"{kind}{int(found[1]) - base:+d}"
    said = "" if 200 <= entry.status < 300 else f"!{entry.status}"
    return f"{entry.method} {kind}{said}" if kind != "list" else f"{entry.method}{said}"


def words_of(entries: Iterable[LoggedRequest], base: int) -> list[str]:
    """In the order they came; requests that were under way together make one word, joined by ``|``."""
    found: list[list[str]] = []
    end_s = 0.0
    for entry in sorted(entries, key=lambda entry: entry.begin_s):
        word = word_of(entry, base)
        if entry.begin_s < end_s:
            found[-1].append(word)
        else:
            found.append([word])
        end_s = max(end_s, entry.end_s)
    return [" | ".join(sorted(group)) for group in found]


def newest_version(server: ObjectServer, table: str) -> int:
    """The newest version of a table, read off the keys."""
    found = (_COMMIT.search(key) for key in list(server.objects) if key.startswith(table + "/"))
    return max(int(match[1]) for match in found if match is not None)


def removed_twice(server: ObjectServer, table: str, base: int) -> int:
    """How many files the commits after ``base`` took out of a table more than once."""
    counted: Counter[str] = Counter()
    for key, body in list(server.objects.items()):
        found = _COMMIT.search(key) if key.startswith(table + "/") else None
        if found is not None and int(found[1]) > base:
            actions = [json.loads(line) for line in body.splitlines()]
            added = {each["add"]["path"] for each in actions if "add" in each}  # the same file with a new vector
            removed = {each["remove"]["path"] for each in actions if "remove" in each}
            counted.update(removed - added)
    return sum(count > 1 for count in counted.values())
