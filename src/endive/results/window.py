"""The measurement window: which txns count, and for how many seconds.

Warm-up and cool-down have their default lengths from the configuration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Txns submitted in ``[start_us, end_us)`` count."""

    duration_us: int
    warmup_us: int
    cooldown_us: int

    @classmethod
    def of_ms(cls, *, duration_ms: float, warmup_ms: float, cooldown_ms: float) -> Window:
        """The window of a run configured in milliseconds, each rounded once."""
        return cls(
            duration_us=int(duration_ms * 1000.0 + 0.5),
            warmup_us=int(warmup_ms * 1000.0 + 0.5),
            cooldown_us=int(cooldown_ms * 1000.0 + 0.5),
        )

    @property
    def start_us(self) -> int:
        """First microsecond that counts."""
        return self.warmup_us

    @property
    def end_us(self) -> int:
        """First microsecond that no longer counts."""
        return self.duration_us - self.cooldown_us

    @property
    def length_us(self) -> int:
        """Microseconds that count; 0 if warm-up and cool-down leave none."""
        return max(0, self.end_us - self.start_us)

    def contains(self, times_us: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which of these instants lie in the window."""
        return (times_us >= self.start_us) & (times_us < self.end_us)

    def per_s(self, count: int) -> float | None:
        """``count`` per second of window; None if the window is empty."""
        return count * 1_000_000 / self.length_us if self.length_us else None

    def to_dict(self) -> dict[str, Any]:
        """The window in milliseconds, as reported with every result."""
        return {
            "duration_ms": self.duration_us / 1000.0,
            "warmup_ms": self.warmup_us / 1000.0,
            "cooldown_ms": self.cooldown_us / 1000.0,
            "start_ms": self.start_us / 1000.0,
            "end_ms": self.end_us / 1000.0,
            "length_s": self.length_us / 1_000_000,
        }

    def to_metadata(self) -> dict[str, str]:
        """What a file must say for its txns to be measured again."""
        named = {"duration_ms": self.duration_us, "warmup_ms": self.warmup_us, "cooldown_ms": self.cooldown_us}
        return {f"endive.{name}": str(time_us / 1000.0) for name, time_us in named.items()}
