"""What a source does about a txn that failed: ``after_failure``, a word or a table."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from endive.config.values import Milliseconds, OneOf, Table, Whole

RERUNS_MAX = 1_000


class AfterFailure(Table):
    """What follows a txn that did not commit."""

    kind: Annotated[Literal["lost", "carried", "restart", "rerun"], OneOf()] = Field(
        "lost",
        description="lost: nothing, and what it wrote is gone; carried: its files go with the next commit (Kafka "
        "Connect up to 1.11); restart: the client goes down, loads its table anew and submits what was not committed "
        "after delay_ms (Flink); rerun: whoever scheduled it runs it again, up to `times` times, pause_ms after each "
        "failure (dbt, Airflow).",
    )
    delay_ms: Milliseconds | None = Field(
        None,
        description="From the failure until the client that restarts submits again.",
        json_schema_extra={"default_text": "none: it must be given"},
    )
    times: Annotated[int, Whole(1, RERUNS_MAX)] = Field(3, description="Most reruns of one txn.")
    pause_ms: Milliseconds = Field(300_000.0, description="From the failure until it is run again.")
    unknown: Annotated[Literal["checked", "again"], OneOf()] = Field(
        "checked",
        description="After commit_state_unknown: the next commit looks whether the one before is in the table's "
        "history and leaves out what is there (Flink by checkpoint, Kafka Connect by offsets), or writes it again.",
    )


def _spell_out(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


Aftermath = Annotated[AfterFailure, BeforeValidator(_spell_out)]
