"""An estimate: a figure, the interval it lies in, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Estimate:
    """``value`` is None where nothing could be measured; the ends are None where the interval is not known."""

    value: float | None
    low: float | None = None
    high: float | None = None
    txns: int | None = None  # how many it was measured on
    runs: int | None = None  # in how many runs
    design: float | None = None  # of a share: how many txns tell as much as one would if all were independent

    @property
    def is_known(self) -> bool:
        return self.value is not None and self.low is not None and self.high is not None

    def times(self, factor: float) -> Estimate:
        value, low, high = (None if part is None else part * factor for part in (self.value, self.low, self.high))
        return replace(self, value=value, low=low, high=high)

    @staticmethod
    def exactly(value: float) -> Estimate:
        return Estimate(value, value, value)
