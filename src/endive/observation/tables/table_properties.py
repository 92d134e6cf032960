"""The table properties that decide how a commit is made: read as Iceberg reads them, or left out with a note.

Others are not looked at; they may hold what nobody should copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from endive.config.printable import printable
from endive.config.sections.source import RETRIES_MAX

INT_MAX: Final = 2**31 - 1  # Iceberg reads these with PropertyUtil.propertyAsInt
LONG_MAX: Final = 2**63 - 1  # and these with propertyAsLong
WAIT_MS_MAX: Final = 1.0e9  # of a pause; 11 days
TIMEOUT_MS_MAX: Final = 2**53 / 1000.0  # of transaction.total_timeout_ms
# Property -> the largest value Iceberg takes, and the largest that a configuration takes.
NUMBERS: Final[Mapping[str, tuple[int, float]]] = {
    "commit.retry.num-retries": (INT_MAX, RETRIES_MAX),
    "commit.retry.min-wait-ms": (INT_MAX, WAIT_MS_MAX),
    "commit.retry.max-wait-ms": (INT_MAX, WAIT_MS_MAX),
    "commit.retry.total-timeout-ms": (INT_MAX, TIMEOUT_MS_MAX),
    "commit.manifest.min-count-to-merge": (INT_MAX, INT_MAX),
    "history.expire.min-snapshots-to-keep": (INT_MAX, INT_MAX),
    "history.expire.max-snapshot-age-ms": (LONG_MAX, LONG_MAX),
}
ISOLATION: Final = ("serializable", "snapshot")
MODES: Final = ("copy-on-write", "merge-on-read")
WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "commit.manifest-merge.enabled": ("true", "false"),
    "write.merge.isolation-level": ISOLATION,
    "write.delete.isolation-level": ISOLATION,
    "write.update.isolation-level": ISOLATION,
    "write.merge.mode": MODES,
    "write.delete.mode": MODES,
}
_SHOWN_MAX: Final = 40


def read_properties(given: Mapping[str, Any]) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    """Name and value of those that are known and make sense; a note on every other of them."""
    known, notes = [], []
    for name in (*NUMBERS, *WORDS):
        if given.get(name) is None:
            continue
        value = _number(name, given[name]) if name in NUMBERS else _word(name, given[name])
        if value is None:
            shown = printable(str(given[name]))[:_SHOWN_MAX]
            notes.append(f"the table property {name} = '{shown}' makes no sense to Iceberg; its default is taken.")
        else:
            known.append((name, value))
    return tuple(known), notes


def _number(name: str, value: Any) -> str | None:
    text = str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    largest, taken = NUMBERS[name]
    if not (text.isascii() and text.isdecimal() and len(text) < len(str(LONG_MAX)) + 1) or int(text) > largest:
        return None
    return text if int(text) <= taken else f"{taken:.0f}"


def _word(name: str, value: Any) -> str | None:
    text = str(value).lower() if isinstance(value, (str, bool)) else ""
    return text if text in WORDS[name] else None
