"""``[catalog.service.lock]``: what clients of a pointer catalog take before they look at the pointer and swap it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from endive.config.catalog_profile import DYNAMODB, catalog_profile
from endive.config.distribution import Distribution
from endive.config.values import Milliseconds, Number, OneOf, Table

# Kind -> first pause, its growth, longest pause. Iceberg 1.9 to 1.11: ``MetastoreLock``, ``LockManagers``.
LOCK_WAITS = {"hive": (50.0, 1.5, 5_000.0), "dynamodb": (5_000.0, 1.0, 5_000.0)}


def _wait(place: int) -> Any:
    return lambda data: LOCK_WAITS[data.get("kind", "hive")][place]


class TableLock(Table):
    """A lock on each table; a client asks for it with its metadata written, and gives it back after the swap."""

    kind: Annotated[Literal["hive", "dynamodb"], OneOf()] = Field(
        "hive",
        description="hive: the metastore queues those who ask, and each asks again until it is its turn; dynamodb: "
        "Glue's optional lock manager, which queues nobody: whoever sees the lock held waits out lease_ms, tries to "
        "take it, and pauses.",
    )
    wait_ms: Milliseconds = Field(
        default_factory=_wait(0),
        description="Pause before it asks again, at first, plus up to a tenth of it "
        "(`iceberg.hive.lock-check-min-wait-ms`, `lock.acquire-interval-ms`).",
        json_schema_extra={"default_text": "50; 5000 with dynamodb"},
    )
    multiplier: Annotated[float, Number(1, 1000)] = Field(
        default_factory=_wait(1),
        description="Growth of the pause.",
        json_schema_extra={"default_text": "1.5; 1 with dynamodb"},
    )
    wait_max_ms: Milliseconds = Field(
        default_factory=_wait(2),
        description="Longest pause (`iceberg.hive.lock-check-max-wait-ms`).",
        json_schema_extra={"default_text": "5000"},
    )
    lease_ms: Milliseconds = Field(15_000.0, description="Lease of a lock that is held (`lock.heartbeat-timeout-ms`).")
    timeout_ms: Milliseconds = Field(
        180_000.0,
        description="How long it asks (`iceberg.hive.lock-timeout-ms`, `lock.acquire-timeout-ms`). With hive the "
        "attempt then has failed and is retried, with dynamodb the txn has.",
    )
    latency: Distribution = Field(
        default_factory=lambda: catalog_profile(DYNAMODB).latency,
        description="Latency of one request to DynamoDB; Hive's are catalog.latency.",
        json_schema_extra={"default_text": "DynamoDB's"},
    )
