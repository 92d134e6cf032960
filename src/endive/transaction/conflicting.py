"""How many manifest files a real conflict has to merge.

Owns that draw; the cost that follows is ``endive.transaction.rules``'s.
"""

from dataclasses import dataclass

from endive.distributions.portable import log
from endive.kernel import rule

CONFLICTING_FIXED = 0
CONFLICTING_EXPONENTIAL = 1
CONFLICTING_UNIFORM = 2
CONFLICTING_DISTRIBUTIONS = ("fixed", "exponential", "uniform")


@rule
def conflicting_manifests(distribution: int, mean: float, value: int, count_min: int, count_max: int, u: float) -> int:
    """Manifest files in conflict, ``u`` uniform in (0, 1)."""
    if distribution == CONFLICTING_FIXED:
        return value
    if distribution == CONFLICTING_UNIFORM:
        return count_min + int(u * (count_max - count_min + 1))
    drawn = int(-mean * log(u) + 0.5)
    return min(max(drawn, count_min), count_max)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictingManifests:
    """The distribution of that number."""

    distribution: str = "exponential"
    mean: float = 3.0
    value: int = 1
    count_min: int = 1
    count_max: int = 10

    def draw(self, u: float) -> int:
        """One draw."""
        code = CONFLICTING_DISTRIBUTIONS.index(self.distribution)
        return conflicting_manifests(code, self.mean, self.value, self.count_min, self.count_max, u)
