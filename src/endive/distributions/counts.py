"""Numbers of things that are drawn: manifests a real conflict has to merge, data files an operation touches.

What follows from such a number is the format's business (``endive.formats``).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from endive.distributions.portable import exp, log
from endive.kernel import rule
from endive.record import Float, Int8, Int64, Record, record

COUNT_DISTRIBUTIONS: Final = ("fixed", "exponential", "uniform")
COUNT_FIXED, COUNT_EXPONENTIAL, COUNT_UNIFORM = range(len(COUNT_DISTRIBUTIONS))


@record
class Counting(Record):
    """What the rule reads: the distribution by code, and its figures."""

    mean: Float
    value: Int64
    count_min: Int64
    count_max: Int64
    distribution: Int8


@rule
def draw_count(counting: Counting, u: float) -> int:
    """How many, ``u`` uniform in (0, 1)."""
    if counting.distribution == COUNT_FIXED:
        return counting.value
    if counting.distribution == COUNT_UNIFORM:
        return counting.count_min + int(u * (counting.count_max - counting.count_min + 1))
    drawn = int(-counting.mean * log(u) + 0.5)
    return min(max(drawn, counting.count_min), counting.count_max)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountDistribution:
    """The distribution of such a number, by name."""

    distribution: str = "exponential"
    mean: float = 3.0
    value: int = 1
    count_min: int = 1
    count_max: int = 10

    @property
    def counting(self) -> Counting:
        """As the rule reads it."""
        return Counting(
            mean=self.mean,
            value=self.value,
            count_min=self.count_min,
            count_max=self.count_max,
            distribution=COUNT_DISTRIBUTIONS.index(self.distribution),
        )

    def draw(self, u: float) -> int:
        """One draw."""
        return draw_count(self.counting, u)

    def weights(self, total: int) -> tuple[float, ...]:
        """How likely each number from 1 to ``total`` is; what lies outside counts as the nearest of them."""
        weights = [0.0] * total
        for number, weight in self._probabilities():
            weights[min(max(number, 1), total) - 1] += weight
        return tuple(weights)

    def _probabilities(self) -> Iterator[tuple[int, float]]:
        if self.distribution == "fixed":
            yield self.value, 1.0
            return
        numbers = range(self.count_min, self.count_max + 1)
        for number in numbers:
            if self.distribution == "uniform":
                yield number, 1.0 / len(numbers)
                continue
            above = 1.0 if number == self.count_min else exp(-(number - 0.5) / self.mean)
            beyond = 0.0 if number == self.count_max else exp(-(number + 0.5) / self.mean)
            yield number, above - beyond
