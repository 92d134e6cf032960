"""Distribution tables as written: ``{distribution = "lognormal", median_ms = 27.0, sigma = 0.62}``.

It samples nothing and computes no quantile: ``to_table()`` gives the mapping that ``endive.distributions.from_table``
turns into an object.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter, model_validator

from endive.config.values import (
    LATENCY_MS_MAX,
    Check,
    Forms,
    LatencyMs,
    LogMean,
    Number,
    PerMibMs,
    PositiveLatencyMs,
    PositiveWeight,
    Sigma,
    Table,
    key,
    refusal,
    rising,
    variants,
)

QUANTILE_P = Number(0, 1)
QUANTILE_MS = Number(0, ceiling=LATENCY_MS_MAX, unit="milliseconds")
SEED_FLOOR_MS = 1.0  # experiment plan: latencies are normal distributions truncated at 1 ms
STDDEV_MS_MIN = 1.0e-6  # a thousandth of the clock's tick; the cut in deviations stays a finite number
TRUNCATION_STDDEVS_MAX = 30.0  # a truncation farther above the mean leaves nothing to sample


class Spec(Table):
    """A distribution that has been described but not built."""

    def to_table(self) -> dict[str, Any]:
        """The full table ``endive.distributions.from_table`` reads; absent keys were not given."""
        values = ((key, getattr(self, key)) for key in self.ordered_fields())
        return {key: value for key, value in values if value is not None}


class Family(Spec):
    """Keys that every family takes."""

    min_latency_ms: LatencyMs | None = key(
        None, "Floor applied after sampling; the distribution's mean and quantiles include it."
    )


class Fixed(Family):
    """Always the same."""

    distribution: Literal["fixed"] = "fixed"
    ms: LatencyMs = Field(description="The value, every time.")


class Lognormal(Family):
    """Lognormal by mu, by median or by mean: three different parameters, exactly one of which is given."""

    distribution: Literal["lognormal"] = "lognormal"
    mu: LogMean | None = key(None, "Mean of the logarithm of the value in ms.")
    median_ms: PositiveLatencyMs | None = key(None, "Median, shift_ms included.")
    mean_ms: PositiveLatencyMs | None = key(None, "True mean, shift_ms included.")
    sigma: Sigma = Field(description="Standard deviation of the logarithm; 0 makes it constant.")
    shift_ms: LatencyMs | None = key(None, "Added to every value.")
    latency_per_mib_ms: PerMibMs | None = key(None, "Growth of the median per MiB; needs median_ms.")

    @model_validator(mode="after")
    def _has_one_location(self) -> Self:
        given = [key for key in ("mu", "median_ms", "mean_ms") if getattr(self, key) is not None]
        if len(given) != 1:
            locations = f"given: {', '.join(given)}" if given else "none is given"
            raise refusal(f"needs exactly one of mu, median_ms, mean_ms; {locations}.", shows_value=False)
        location_ms = self.mean_ms if self.median_ms is None else self.median_ms
        if location_ms is not None and self.shift_ms is not None and location_ms <= self.shift_ms:
            raise refusal(f"must be greater than shift_ms = {self.shift_ms}, which it includes.", key=given[0])
        if self.latency_per_mib_ms is not None and self.median_ms is None:
            raise refusal("needs median_ms, which it makes grow.", key="latency_per_mib_ms")
        return self


class SizeBased(Family):
    """Base plus a rate per MiB, with lognormal noise around that value."""

    distribution: Literal["size_based"] = "size_based"
    base_latency_ms: PositiveLatencyMs = Field(description="Latency of an empty object.")
    latency_per_mib_ms: PerMibMs = Field(description="Added per MiB of the object.")
    sigma: Sigma = Field(description="Standard deviation of the logarithm of the noise; 0 means none.")


class TruncatedNormal(Family):
    """Normal with the mass below ``min_ms`` removed."""

    distribution: Literal["truncated_normal"] = "truncated_normal"
    mean_ms: LatencyMs = Field(description="Mean before truncation.")
    stddev_ms: LatencyMs = Field(description="Standard deviation before truncation; 0 makes it constant.")
    min_ms: LatencyMs = key(0.0, "No value lies below this.")

    @model_validator(mode="after")
    def _has_mass_left(self) -> Self:
        refuse_bad_normal(self.mean_ms, self.stddev_ms, self.min_ms, "mean_ms")
        return self


class Exponential(Family):
    """Exponential."""

    distribution: Literal["exponential"] = "exponential"
    mean_ms: PositiveLatencyMs = Field(description="Mean.")


class Uniform(Family):
    """Equally likely between two ends."""

    distribution: Literal["uniform"] = "uniform"
    low_ms: LatencyMs = Field(description="Lower end.")
    high_ms: LatencyMs = Field(description="Upper end.")

    _is_ordered = rising("low_ms", "high_ms")


class Gamma(Family):
    """Gamma by its mean and shape."""

    distribution: Literal["gamma"] = "gamma"
    mean_ms: PositiveLatencyMs = Field(description="Mean.")
    shape: Annotated[float, Number(0.1, 10_000)] = Field(description="Shape; 1 is the exponential distribution.")


@dataclass(frozen=True, slots=True)
class Quantiles(Check):
    """A list of pairs ``[p, ms]``, p strictly rising, ms never falling."""

    words = "a list of pairs [p, ms], p rising between 0 and 1 and ms never falling"

    def check(self, value: object) -> tuple[tuple[float, float], ...]:
        if not isinstance(value, (list, tuple)) or not value:
            raise refusal(f"must be {self.describe()}.")
        pairs: list[tuple[float, float]] = []
        for pair in value:
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise refusal(f"must be {self.describe()}.")
            p, ms = QUANTILE_P.check(pair[0]), QUANTILE_MS.check(pair[1])
            if pairs and (p <= pairs[-1][0] or ms < pairs[-1][1]):
                raise refusal(f"must rise, but [{p}, {ms}] follows [{pairs[-1][0]}, {pairs[-1][1]}].")
            pairs.append((p, ms))
        return tuple(pairs)


class Empirical(Family):
    """Through the quantiles a user measured: straight lines between them, level beyond them."""

    distribution: Literal["empirical"] = "empirical"
    quantiles: Annotated[tuple[tuple[float, float], ...], Quantiles()] = Field(
        description="What was measured, as [[0.5, 12.0], [0.99, 80.0]]."
    )


EXAMPLE = '{distribution = "fixed", ms = 50.0}'
SIMPLE_FAMILIES: tuple[type[Family], ...] = (
    *(Fixed, Lognormal, SizeBased, TruncatedNormal, Exponential, Uniform, Gamma, Empirical),
)


def refuse_bad_normal(mean_ms: float, stddev_ms: float, min_ms: float, key: str) -> None:
    """A normal whose mass lies wholly below the truncation has no values; a spread that no clock can show is refused.

    ``key`` is that of the mean.
    """
    if 0.0 < stddev_ms < STDDEV_MS_MIN:
        raise refusal(f"must be 0 or at least {STDDEV_MS_MIN:g}.", key=key.replace("mean", "stddev"))
    if mean_ms + TRUNCATION_STDDEVS_MAX * stddev_ms < min_ms:
        raise refusal(f"leaves nothing above the truncation at {min_ms} ms. Raise it.", key=key)


_SIMPLE_FORMS = variants("distribution", SIMPLE_FAMILIES, EXAMPLE)
SimpleDistribution = Annotated[Spec, Forms("a distribution table", _SIMPLE_FORMS)]


class Component(Table):
    """One component of a mixture: ``{weight = 0.9, distribution = "fixed", ms = 5.0}``."""

    weight: PositiveWeight
    drawn: SimpleDistribution = Field(alias="<component>")

    @model_validator(mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        if not isinstance(value, dict) or "<component>" in value:
            return value
        rest = {key: item for key, item in value.items() if key != "weight"}
        weight = {"weight": value["weight"]} if "weight" in value else {}
        return {**weight, "<component>": rest}


class Mixture(Family):
    """One of several distributions, chosen by weight at every draw."""

    distribution: Literal["mixture"] = "mixture"
    components: tuple[Component, ...] = Field(
        strict=False, description="Distribution tables, each with a weight; a mixture holds no mixtures."
    )

    @model_validator(mode="after")
    def _is_not_empty(self) -> Self:
        if not self.components:
            raise refusal("must hold at least one component.", key="components")
        return self

    def to_table(self) -> dict[str, Any]:
        """Components as they are written: the weight beside the distribution's own keys."""
        components = [{"weight": item.weight, **item.drawn.to_table()} for item in self.components]
        floor = {} if self.min_latency_ms is None else {"min_latency_ms": self.min_latency_ms}
        return {"distribution": "mixture", "components": components, **floor}


FAMILIES: tuple[type[Family], ...] = (*SIMPLE_FAMILIES, Mixture)
Distribution = Annotated[Spec, Forms("a distribution table", variants("distribution", FAMILIES, EXAMPLE))]

_DISTRIBUTION: TypeAdapter[Spec] = TypeAdapter(Distribution)


def spell_out(spec: Spec) -> Spec:
    """A short form as the distribution it stands for, so that equal meanings are equal values."""
    return spec if isinstance(spec, Family) else _DISTRIBUTION.validate_python(spec.to_table())


def read_distribution(table: dict[str, Any]) -> Spec:
    """A distribution table as the value it describes."""
    return _DISTRIBUTION.validate_python(table)
