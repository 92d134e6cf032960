"""Mixture latency: each draw comes from one of several distributions, chosen by weight.

One uniform makes a draw: its place among the weights chooses the component, its place within that weight the value. A
component of a user's own leaves the whole mixture to the reference engine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from endive.distributions.code import TAIL_MIN, Component
from endive.distributions.distribution import LatencyDistribution, check_number

_BISECTIONS_MAX = 200
WEIGHT_MAX = 1.0e15


@dataclass(frozen=True)
class MixtureLatency(LatencyDistribution):
    """A draw from ``components[i][1]`` with probability proportional to ``components[i][0]``."""

    components: tuple[tuple[float, LatencyDistribution], ...]
    min_latency_ms: float = 0.0

    def __post_init__(self) -> None:
        components = tuple((weight, latency) for weight, latency in self.components)
        object.__setattr__(self, "components", components)
        check_number("min_latency_ms", self.min_latency_ms)
        if not components:
            raise ValueError("components = [] is not allowed; give at least one weighted distribution.")
        for weight, latency in components:
            check_number("components: weight", weight, greatest=WEIGHT_MAX, is_least_excluded=True)
            if not isinstance(latency, LatencyDistribution):
                raise ValueError(f"components: {latency!r} is not allowed; give a latency distribution.")

    def mean(self) -> float:
        return sum(share * latency.mean() for share, latency in self._shares)

    def variance(self) -> float:
        centre = self.mean()
        return sum(share * (latency.variance() + (latency.mean() - centre) ** 2) for share, latency in self._shares)

    def cdf(self, ms: float) -> float:
        return sum(share * latency.cdf(ms) for share, latency in self._shares)

    def quantile(self, p: float) -> float:
        """The least ms with ``cdf(ms) >= p``; it lies between the components' own quantiles."""
        own = [latency.quantile(p) for _, latency in self._shares]
        low, high = min(own), max(own)
        if p == 0.0 or p == 1.0:
            return low if p == 0.0 else high
        if self.cdf(low) >= p:
            return low
        for _ in range(_BISECTIONS_MAX):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            if self.cdf(middle) >= p:
                high = middle
            else:
                low = middle
        return high

    def at_size(self, size_bytes: int) -> MixtureLatency:
        sized = tuple((weight, latency.at_size(size_bytes)) for weight, latency in self.components)
        return replace(self, components=sized)

    def with_floor(self, min_latency_ms: float) -> MixtureLatency:
        return self if min_latency_ms <= self.min_latency_ms else replace(self, min_latency_ms=min_latency_ms)

    def parts(self) -> list[tuple[float, Component]] | None:
        parts: list[tuple[float, Component]] = []
        for share, latency in self._shares:
            own = latency.parts()
            if own is None:
                return None
            whole = sum(weight for weight, _ in own)
            parts += [(share * weight / whole, part) for weight, part in own]
        return parts

    @cached_property
    def _shares(self) -> tuple[tuple[float, LatencyDistribution], ...]:
        """The components with weights that sum to one, each under the mixture's floor."""
        total = sum(weight for weight, _ in self.components)
        return tuple((w / total, latency.with_floor(self.min_latency_ms)) for w, latency in self.components)

    def _slowest_without_code_us(self, key: int, counter: int, count: int, size_bytes: int) -> int:
        """A uniform's value does not rise with it here, so the slowest is sought among ``count`` draws."""
        return max(self.sample_us(key, counter + index, size_bytes) for index in range(max(count, 1)))

    def _value_ms(self, u: float, size_bytes: int) -> float:
        begin = 0.0
        chosen = 0
        while chosen < len(self._shares) - 1 and u >= begin + self._shares[chosen][0]:
            begin += self._shares[chosen][0]
            chosen += 1
        share, latency = self._shares[chosen]
        rest = min(max((u - begin) / share, TAIL_MIN), 1.0 - TAIL_MIN)
        return latency._value_ms(rest, size_bytes)
