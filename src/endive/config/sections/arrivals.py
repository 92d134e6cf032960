"""When a source submits txns: the table ``arrivals``, one class for each kind."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from endive.config.sections.distribution import Distribution, Fixed, Spec
from endive.config.values import (
    GAP_MS_MAX,
    GAP_MS_MIN,
    Flag,
    Forms,
    GapMs,
    LatencyMs,
    Milliseconds,
    Number,
    Sigma,
    Table,
    Text,
    Whole,
    key,
    refusal,
    rising,
    variants,
)

CLIENTS_MAX = 1_000_000

PerSecond = Annotated[float, Number(1000.0 / GAP_MS_MAX, 1000.0 / GAP_MS_MIN)]


_THINK_FORMS = Annotated[
    Annotated[LatencyMs, Tag("<number>")] | Annotated[Distribution, Tag("<table>")],
    Discriminator(lambda value: "<table>" if isinstance(value, (dict, Table)) else "<number>"),
    AfterValidator(lambda value: Fixed(ms=value) if isinstance(value, float) else value),
]
ThinkTime = Annotated[Spec, Forms("a number of milliseconds or a distribution table", _THINK_FORMS)]


class Poisson(Table):
    """A Poisson process: exponential gaps."""

    kind: Literal["poisson"] = "poisson"
    per_s: PerSecond | None = key(None, "Rate, instead of mean_ms.")
    mean_ms: GapMs = key(
        lambda data: 1000.0 / (data.get("per_s") or 1.0), "Mean gap; this or per_s is required.", "none"
    )

    @model_validator(mode="after")
    def _has_one_rate(self) -> Self:
        given = {"mean_ms", "per_s"} & self.model_fields_set
        if len(given) != 1:
            state = "both are given" if given else "none is given"
            raise refusal(f"needs exactly one of mean_ms, per_s; {state}.", shows_value=False)
        return self


class FixedGap(Table):
    """The same gap every time."""

    kind: Literal["fixed"] = "fixed"
    ms: GapMs = Field(description="Gap.")


class UniformGap(Table):
    """Gaps equally likely between two ends."""

    kind: Literal["uniform"] = "uniform"
    low_ms: Milliseconds = Field(description="Shortest gap.")
    high_ms: GapMs = Field(description="Longest gap.")

    _is_ordered = rising("low_ms", "high_ms")


class LognormalGap(Table):
    """Lognormal gaps by their true mean."""

    kind: Literal["lognormal"] = "lognormal"
    mean_ms: GapMs = Field(description="Mean gap.")
    sigma: Sigma = Field(description="Standard deviation of the logarithm of the gap.")


class Closed(Table):
    """A closed loop: each client submits, waits for the end, thinks, and submits again."""

    kind: Literal["closed"] = "closed"
    clients: Annotated[int, Whole(1, CLIENTS_MAX)] = Field(description="Clients.")
    think_ms: ThinkTime = key(
        Fixed(ms=0.0), "Pause between the end of a txn and the next: a number or a distribution table.", "0.0"
    )


def refuse_long_jitter(table: Any) -> Any:
    """Submissions keep their order only if none is moved by a whole period."""
    if table.jitter_ms >= table.period_ms:
        raise refusal(f"must be less than period_ms = {table.period_ms}.", key="jitter_ms")
    return table


class Periodic(Table):
    """At fixed times, each moved by some jitter: a compaction every five minutes."""

    kind: Literal["periodic"] = "periodic"
    period_ms: GapMs = Field(description="Time from one submission to the next.")
    offset_ms: Milliseconds = key(0.0, "Time of the first one.")
    jitter_ms: Milliseconds = key(0.0, "Each one is up to this much later.")

    _keeps_its_order = model_validator(mode="after")(refuse_long_jitter)


class Jobs(Table):
    """Jobs that each submit once per period: 30 streaming jobs, each every 30 s.

    A job does not overlap with itself: one that is still busy at its next tick submits when it is done, and is on
    time again at the tick after that.
    """

    kind: Literal["jobs"] = "jobs"
    jobs: Annotated[int, Whole(1, CLIENTS_MAX)] = Field(description="Jobs.")
    period_ms: GapMs = Field(description="Time from one tick of a job to its next.")
    phase: Literal["random", "spread", "together"] = key(
        "random", "When in the period each job ticks: at a moment drawn for it, evenly spread, or all at once."
    )
    jitter_ms: Milliseconds = key(0.0, "Each submission is up to this much later than its tick.")

    _keeps_its_order = model_validator(mode="after")(refuse_long_jitter)


class Trace(Table):
    """Submissions at the times a file lists."""

    kind: Literal["trace"] = "trace"
    path: Text = Field(description="The file; a relative path starts at the folder of the configuration.")
    source: Text | None = key(None, "Only the rows whose column `source` says this.", "all rows")
    one_at_a_time: Flag = key(
        False, "Whether the rows are those of one client: it submits none before the one before has ended."
    )


ARRIVALS: tuple[type[Table], ...] = (Poisson, FixedGap, UniformGap, LognormalGap, Closed, Periodic, Jobs, Trace)


def _spell_kind(value: Any) -> Any:
    return {**value, "kind": "poisson"} if isinstance(value, dict) and value.get("kind") == "exponential" else value


_FORMS: Any = Annotated[
    variants("kind", ARRIVALS, '{kind = "poisson", mean_ms = 100.0}'),
    BeforeValidator(_spell_kind),
]
Arrivals = Annotated[
    Poisson | FixedGap | UniformGap | LognormalGap | Closed | Periodic | Jobs | Trace,
    Forms("an arrivals table", _FORMS),
]
