"""Why a commit failed and what it had read, from the exception its client was told.

Classes are Iceberg's (``org.apache.iceberg.exceptions``) and PyIceberg's; what is none of theirs keeps its own name.
"""

from __future__ import annotations

import re
from typing import Final

from endive.config.printable import printable
from endive.vocabulary import REASONS

TEXT_MAX: Final = 2_000
NAME_MAX: Final = 60
# The first that is found in the text decides, so the particular stand before the general.
_TOLD: Final = (
    (re.compile(r"Cannot determine history between"), "history_expired"),
    (re.compile(r"Runtime file filtering is not possible"), "table_moved"),
    (
        re.compile(
            r"ValidationException|Found (?:new )?conflicting (?:delete )?files|Found concurrently added DV"
            r"|[Ff]ound new (?:position )?delete for replaced data file|Missing required files to delete"
            r"|Cannot commit, missing data files"
        ),
        "validation_exception",
    ),
    (re.compile(r"CommitStateUnknown|commit state unknown", re.IGNORECASE), "commit_state_unknown"),
    (
        re.compile(
            r"CommitFailedException|Requirement failed|has been updated by another process"
            r"|Cannot commit .*(?:stale|changed|already exists)|\b409\b"
        ),
        "retries_exhausted",
    ),
    (re.compile(r"Timeout(?:Exception|Error)|timed out", re.IGNORECASE), "timeout"),
    (
        re.compile(r"S3Exception|SlowDown|ServiceUnavailable|UncheckedIOException|StorageException|\b50[0-4]\b"),
        "storage_failed",
    ),
)
_MATCHING: Final = re.compile(r"records matching (.{1,400}?)(?::\s*\[|$)")
_CLASS: Final = re.compile(r"(?:[\w$]+\.)*([A-Z][\w$]*(?:Exception|Error))|^\[([A-Z][A-Z_.0-9]+)\]")


def reason_of(text: str) -> str:
    """One of ``REASONS``, or the name of the exception; empty of an empty text."""
    short = text.strip()[:TEXT_MAX]
    if short in REASONS or not short:
        return short
    for pattern, reason in _TOLD:
        if pattern.search(short):
            return reason
    named = _CLASS.search(short)
    return printable(next(filter(None, named.groups())) if named else short.split(":")[0])[:NAME_MAX]


def read_of(text: str) -> str:
    """What the failed statement had read: ``true`` is the table, another filter some of its partitions."""
    match = _MATCHING.search(text[:TEXT_MAX])
    if match is None:
        return ""
    return "table" if match.group(1).strip() == "true" else "partitions"
