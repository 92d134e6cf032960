"""Why most txns of a source fail, in a sentence: what they lose to, and whether trying again can help.

How single txns fail is a story (``endive.answers.stories``); which lever removes a cause is advice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from endive.config.sections.source import SourceConfig

MOST: Final = 0.5  # of the txns that ended
READ_TABLE: Final = (
    "it has read the whole table, so any file that others add after its scan fails it at its first attempt. Retries "
    "cannot help"
)
SENTENCES: Final = {
    "validation_exception": "others changed what it has read or touches. Iceberg does not retry that",
    "retries_exhausted": "each of its {attempts:,} attempts lost to a commit that landed while it was being built",
    "timeout": "its attempts lost to other commits until its time was up",
    "table_moved": "the table moved between planning and filtering its files, before any attempt",
    "history_expired": "a snapshot between its start and the newest one was expired meanwhile",
    "storage_failed": "the store throttled a request at every try",
    "concurrent_append": "others added files where it has read. Delta Lake does not retry that",
    "concurrent_delete_read": "others removed files that it has read. Delta Lake does not retry that",
    "concurrent_delete_delete": "others removed files that it removes too. Delta Lake does not retry that",
    "log_cleaned_up": "commits that it had not seen yet were cleaned up, so it has to load the table anew",
}


def why_it_fails(source: SourceConfig, txns: Mapping[str, Any]) -> str | None:
    """One sentence if most txns of a source fail, about the commonest way in which they do."""
    aborted: Mapping[str, int] = txns["aborted"]
    failed = sum(aborted.values())
    if failed <= MOST * (failed + txns["committed"]):
        return None
    reason = max(aborted, key=lambda name: aborted[name])
    is_read = source.read == "table" and source.isolation == "serializable"
    sentence = READ_TABLE if is_read and reason == "validation_exception" else SENTENCES.get(reason)
    return None if sentence is None else f"{source.name}: {sentence.format(attempts=source.retry + 1)}."
