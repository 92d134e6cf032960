"""Why most txns of a source fail, in a sentence: what they lose to, and whether trying again can help.

And whether the catalog is the bottleneck, where it is said how many calls it takes. How single txns fail is a story
(``endive.answers.stories``); which lever removes a cause is advice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from endive.config import SimulationConfig
from endive.config.sections.distribution import Distribution
from endive.config.sections.source import SourceConfig
from endive.distributions import from_table

MOST: Final = 0.5  # of the txns that ended
BUSY: Final = 0.8  # of the calls that a catalog takes: beyond it they wait for twice as long as one takes, and more
READ_TABLE: Final = (
    "it has read the whole table, so any file that others add after its scan fails it at its first attempt. Retries "
    "cannot help"
)
READ_TABLE_DELETES: Final = (
    "it has read the whole table and is merge-on-read, so rows that others delete after its scan, anywhere in the "
    "table, fail it at either isolation level. Copy-on-write minds its own files only"
)
READ_PARTITIONS: Final = "others wrote to partitions it has read, after its scan. Iceberg does not retry that"
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
    sentence = _failed_validation(source) if reason == "validation_exception" else SENTENCES.get(reason)
    return None if sentence is None else f"{source.name}: {sentence.format(attempts=source.retry + 1)}."


def _failed_validation(source: SourceConfig) -> str:
    """What fails it, as far as what it has read says so."""
    is_serializable = source.isolation == "serializable"
    if source.read == "table" and is_serializable:
        return READ_TABLE
    if source.read == "table" and source.overwrite == "row_delta" and source.checks == "all":
        return READ_TABLE_DELETES
    if source.read == "partitions" and is_serializable:
        return READ_PARTITIONS
    return SENTENCES["validation_exception"]


def calls_taken_per_s(config: SimulationConfig) -> float | None:
    """How many calls a second the catalog takes, of all tables together; None if nothing limits them."""
    service = config.catalog.service
    if config.catalog.type != "service" or service.calls_per_s is not None or not service.workers:
        return service.calls_per_s if config.catalog.type == "service" else None
    time_ms = _mean_ms(service.time)
    return 1000.0 * service.workers / time_ms if time_ms else None


def _mean_ms(table: Distribution | None) -> float:
    return 0.0 if table is None else from_table(table.to_table(), "catalog").mean()


def _waited_share(config: SimulationConfig, figures: Mapping[str, Any], per_txn: float) -> float:
    """At least so much of the mean commit latency is spent waiting for the catalog's turn, not for its work."""
    service, latency_ms = config.catalog.service, figures["commit_latency_ms"]["mean"]
    call_ms = max(_mean_ms(config.catalog.latency), _mean_ms(service.commit_latency))
    call_ms += _mean_ms(service.time) if service.calls_per_s is None else 1000.0 / service.calls_per_s
    at_catalog_ms = sum(figures["phases_ms"][phase] for phase in ("catalog_read", "commit"))
    return max(0.0, at_catalog_ms - per_txn * call_ms) / latency_ms if latency_ms else 0.0


def how_busy_is_catalog(config: SimulationConfig, figures: Mapping[str, Any], length_us: int) -> str | None:
    """Whether the catalog is the bottleneck, in a sentence, if it takes so many calls a second and no more."""
    taken, txns = calls_taken_per_s(config), figures["txns"]
    ended = txns["committed"] + sum(txns["aborted"].values())
    calls = sum(figures["requests"]["counts"].get("catalog", {}).values())
    if taken is None or not ended or not calls or not length_us:
        return None
    per_txn = calls / ended
    asked = per_txn * txns["submitted"] / (length_us / 1e6)
    share, waited = asked / taken, _waited_share(config, figures, per_txn)
    busy = f"catalog: asked for {asked:.3g} calls a second of the {taken:.3g} it takes ({100 * share:.0f} %)"
    room = f"A txn makes {per_txn:.1f} calls, so there is room for {taken / per_txn:.3g} txns a second"
    if share < BUSY and waited >= MOST:
        return (
            f"{busy}, and yet it is the bottleneck: they come at once, and {100 * waited:.0f} % of the commit latency "
            f"is waiting for it. {room}; begin fewer of them together."
        )
    return f"{busy}: it is {'' if share >= BUSY else 'not '}the bottleneck. {room}, on however many tables."
