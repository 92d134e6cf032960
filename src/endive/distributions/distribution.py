"""What every latency distribution answers, and how both engines draw from it.

A distribution holds no state and no generator: a draw is named by (key, counter), see
``endive.rng``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from endive.distributions.code import LONGEST_MS, TAIL_MIN, Component, FloatArray, draw_ms, draw_us, encode
from endive.distributions.code import slowest_us as slowest_of_code_us
from endive.distributions.portable import exp, log
from endive.distributions.sampled import draw, estimate_mean, next_key
from endive.distributions.slowest import slowest_code
from endive.distributions.sums import draw_sum_us, summed_code
from endive.errors import EngineError
from endive.rng import uniform

# Gauss-Legendre on (-1, 1), eight points: (node, weight), each at plus and minus.
_NODES = (
    (0.1834346424956498, 0.3626837833783620),
    (0.5255324099163290, 0.3137066458778873),
    (0.7966664774136267, 0.2223810344533745),
    (0.9602898564975363, 0.1012285362903763),
)
_NEGLIGIBLE = 1e-18
_BISECTIONS_MAX = 200


class LatencyDistribution(ABC):  # noqa: B024 - which method a subclass must have depends on the other
    """A latency in ms. One of your own needs ``sample()`` or ``quantile``; the reference engine then draws from it.

    A ``sample`` that takes a parameter is given a NumPy generator, seeded per run; ``quantile`` keeps draws named.

    Where a latency grows with the size of the object, ``mean``, ``variance``, ``quantile`` and ``cdf`` speak
    of size zero; ``at_size`` gives the distribution for another size.
    """

    min_latency_ms: float = 0.0
    _smallest_tail: ClassVar[float] = TAIL_MIN  # how far out ``_tail_quantile`` can tell tails apart

    is_sampled: ClassVar[bool] = False  # whether it has nothing but a ``sample`` of the user's own

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        has_quantile = cls.quantile is not LatencyDistribution.quantile
        cls.is_sampled = cls.sample is not LatencyDistribution.sample and not has_quantile

    def __new__(cls, *values: Any, **named: Any) -> Self:
        if cls.quantile is LatencyDistribution.quantile and not cls.is_sampled:
            raise EngineError(
                f"{cls.__name__} cannot be drawn from: give it sample(), which returns a latency in milliseconds, or "
                "quantile(p)."
            )
        return super().__new__(cls)

    def sample(self) -> float:
        """Return the next draw in ms."""
        return self.sample_ms(next_key(), 0)

    def quantile(self, p: float) -> float:
        """The latency in ms that a share ``p`` of draws does not exceed, 0 <= p <= 1."""
        raise EngineError(f"{type(self).__name__} has sample() alone, so nothing is known of its quantiles.")

    def mean(self) -> float:
        """The mean in ms, the floor's effect included."""
        return estimate_mean(self, self.sample) if self.is_sampled else self._moment(0.0, 1)

    def variance(self) -> float:
        """The variance in ms squared, the floor's effect included."""
        return self._moment(self.mean(), 2)

    def cdf(self, ms: float) -> float:
        """The share of draws that do not exceed ``ms``."""
        if self._tail_quantile(0.5, False) <= ms:
            return 1.0 - self._tail_at(ms, is_upper=True)
        return self._tail_at(ms, is_upper=False)

    def at_size(self, size_bytes: int) -> LatencyDistribution:
        """The distribution for an object of that size."""
        return self

    def with_floor(self, min_latency_ms: float) -> LatencyDistribution:
        """The same, with draws lifted to at least ``min_latency_ms``."""
        return self if min_latency_ms <= self.min_latency_ms else _Lifted(self, min_latency_ms)

    def parts(self) -> list[tuple[float, Component]] | None:
        """The weighted components of its code, floors included; None if only ``quantile`` is known."""
        return None

    def code(self) -> FloatArray | None:
        """The numbers that compiled loops draw from, not to be written to; None if there are no parts."""
        return self._code

    def slowest_code(self, count: int) -> FloatArray | None:
        """The code from which one draw is the slowest of ``count``; None if only ``slowest_us`` knows it."""
        parts = self.parts()
        return None if parts is None or count < 2 else slowest_code(parts, count)

    def summed_code(self, size_bytes: int = 0, parallel: int = 1) -> FloatArray | None:
        """The code for ``draw_sum_us``, of objects of that size; None if sums are drawn one by one.

        With ``parallel`` above one it sums the slowest of full batches. The tables are made once per process.
        """
        parts = self.parts()
        return None if parts is None else summed_code(parts, size_bytes, parallel)

    def sum_us(self, key: int, counter: int, count: int, size_bytes: int = 0, parallel: int = 1) -> int:
        """The sum of ``count`` draws, or of the slowest of ``count`` full batches, in whole microseconds."""
        code = self.summed_code(size_bytes, parallel)
        if code is not None:
            return draw_sum_us(code, 0, key, counter, count, size_bytes)
        places = range(counter, counter + count * parallel, parallel)
        return sum(self.slowest_us(key, place, parallel, size_bytes) for place in places)

    @property
    def is_built_in(self) -> bool:
        """Whether the compiled engine draws as this class does: not if it is the user's own, whatever it extends."""
        return type(self).__module__.split(".")[0] == "endive" and self.code() is not None

    def sample_ms(self, key: int, counter: int, size_bytes: int = 0) -> float:
        """The draw (key, counter) in ms, not rounded."""
        if self.is_sampled:
            return max(draw(self, self.sample), self.min_latency_ms)
        code = self._code
        if code is None:
            return self._value_ms(uniform(key, counter), size_bytes)
        return draw_ms(code, 0, key, counter, size_bytes)

    def sample_us(self, key: int, counter: int, size_bytes: int = 0) -> int:
        """The draw (key, counter) in whole microseconds."""
        if self.is_sampled:
            return int(self.sample_ms(key, counter, size_bytes) * 1000.0 + 0.5)
        code = self._code
        if code is None:
            return int(self._value_ms(uniform(key, counter), size_bytes) * 1000.0 + 0.5)
        return draw_us(code, 0, key, counter, size_bytes)

    def slowest_us(self, key: int, counter: int, count: int, size_bytes: int = 0) -> int:
        """The slowest of ``count`` parallel draws, in whole microseconds; may use ``count`` counters."""
        if self.is_sampled:
            return max(self.sample_us(key, counter + place, size_bytes) for place in range(max(1, count)))
        code = self._code
        if code is None:
            return self._slowest_without_code_us(key, counter, count, size_bytes)
        return slowest_of_code_us(code, 0, key, counter, count, size_bytes)

    @cached_property
    def _code(self) -> FloatArray | None:
        parts = self.parts()
        return None if parts is None else encode(parts)

    def _slowest_without_code_us(self, key: int, counter: int, count: int, size_bytes: int) -> int:
        if count <= 1:
            return self.sample_us(key, counter, size_bytes)
        p = exp(log(uniform(key, counter)) / count)
        return int(self._value_ms(min(p, 1.0 - TAIL_MIN), size_bytes) * 1000.0 + 0.5)

    def _value_ms(self, u: float, size_bytes: int) -> float:
        """What a uniform ``u`` is worth."""
        return min(max(self.at_size(size_bytes).quantile(u), self.min_latency_ms, 0.0), LONGEST_MS)

    def _tail_quantile(self, tail: float, is_upper: bool) -> float:
        """The quantile with ``tail`` <= 1/2 of the probability above (or below) it."""
        return max(self.quantile(1.0 - tail if is_upper else tail), self.min_latency_ms)

    def _moment(self, centre: float, power: int) -> float:
        """E[(X - centre)**power], by quadrature over octaves of the tail probability on both sides."""
        total = 0.0
        for is_upper in (False, True):
            end = 0.5
            part = math.inf
            while end > self._smallest_tail and abs(part) > _NEGLIGIBLE * abs(total):
                pieces = self._smooth_pieces(0.5 * end, end, is_upper)
                part = sum(self._integral(low, high, is_upper, centre, power) for low, high in pieces)
                total += part
                end *= 0.5
            total += end * (self._tail_quantile(end, is_upper) - centre) ** power
        return total

    def _integral(self, low: float, high: float, is_upper: bool, centre: float, power: int) -> float:
        half, middle = 0.5 * (high - low), 0.5 * (high + low)
        total = 0.0
        for node, weight in _NODES:
            for tail in (middle - half * node, middle + half * node):
                total += half * weight * (self._tail_quantile(tail, is_upper) - centre) ** power
        return total

    def _smooth_pieces(self, begin: float, end: float, is_upper: bool) -> list[tuple[float, float]]:
        """Split a range of tails where the floor takes hold, so that quadrature sees no kink."""

        def is_lifted(tail: float) -> bool:
            return self._tail_quantile(tail, is_upper) <= self.min_latency_ms

        if is_lifted(begin) == is_lifted(end):
            return [(begin, end)]
        low, high = begin, end
        while low < 0.5 * (low + high) < high:
            middle = 0.5 * (low + high)
            if is_lifted(middle) == is_lifted(begin):
                low = middle
            else:
                high = middle
        return [(begin, low), (low, end)]

    def _tail_at(self, ms: float, *, is_upper: bool) -> float:
        """The probability above (or up to) ``ms``, by bisection on its logarithm."""
        low, high = self._smallest_tail, 0.5
        if (self._tail_quantile(low, is_upper) <= ms) == is_upper:
            return 0.0
        for _ in range(_BISECTIONS_MAX):
            middle = math.sqrt(low * high)
            if not low < middle < high:
                break
            if (self._tail_quantile(middle, is_upper) <= ms) == is_upper:
                high = middle
            else:
                low = middle
        return high if is_upper else low


@dataclass(frozen=True)
class LatencyFamily(LatencyDistribution):
    """One of Endive's own families: it knows its quantile far into both tails, and its code."""

    _smallest_tail: ClassVar[float] = 2.0**-1000

    def parts(self) -> list[tuple[float, Component]]:
        return [(1.0, replace(self._component(), floor_ms=self.min_latency_ms))]

    @abstractmethod
    def _component(self) -> Component:
        """Its code, before the floor."""

    @abstractmethod
    def _unfloored(self, tail: float, is_upper: bool) -> float:
        """The quantile before the floor, with ``tail`` of the probability above (or below) it."""

    def _ends(self) -> tuple[float, float]:
        """The least and the greatest value before the floor; infinite if there is no greatest."""
        return 0.0, math.inf

    def quantile(self, p: float) -> float:
        """The latency that a share ``p`` does not exceed: the least at 0, the greatest (or infinity) at 1."""
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"p = {p!r} is not a probability; give a number from 0 to 1.")
        if p == 0.0 or p == 1.0:
            return max(self._ends()[int(p)], self.min_latency_ms)
        return self._tail_quantile(1.0 - p, True) if p > 0.5 else self._tail_quantile(p, False)

    def with_floor(self, min_latency_ms: float) -> LatencyFamily:
        changes = {"min_latency_ms": min_latency_ms}  # a field of every family
        return self if min_latency_ms <= self.min_latency_ms else replace(self, **changes)

    def _tail_quantile(self, tail: float, is_upper: bool) -> float:
        return max(self._unfloored(tail, is_upper), self.min_latency_ms)


@dataclass(frozen=True)
class _Lifted(LatencyDistribution):
    """A user's distribution under a floor that is not its own."""

    inner: LatencyDistribution
    min_latency_ms: float

    def sample_ms(self, key: int, counter: int, size_bytes: int = 0) -> float:
        return max(self.inner.sample_ms(key, counter, size_bytes), self.min_latency_ms)

    def sample_us(self, key: int, counter: int, size_bytes: int = 0) -> int:
        return int(self.sample_ms(key, counter, size_bytes) * 1000.0 + 0.5)

    def quantile(self, p: float) -> float:
        return max(self.inner.quantile(p), self.min_latency_ms)

    def at_size(self, size_bytes: int) -> LatencyDistribution:
        return _Lifted(self.inner.at_size(size_bytes), self.min_latency_ms)


def check_number(
    name: str, value: float, *, least: float = 0.0, greatest: float = LONGEST_MS, is_least_excluded: bool = False
) -> None:
    """Refuse a parameter that is no number or outside its range; without another bound, it is a time."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if is_number and least <= value <= greatest and not (is_least_excluded and value == least):
        return
    allowed = f"a number {'above' if is_least_excluded else 'of at least'} {least:g}"
    if greatest < LONGEST_MS or (is_number and value > greatest):
        allowed += f" and at most {greatest:g}"
    raise ValueError(f"{name} = {value!r} is not allowed; give {allowed}.")
