"""Another hour for a job that runs by the clock, so that it is done while nobody is at work whom it can defeat."""

from __future__ import annotations

from typing import Final

from endive.config.sections.arrivals import Periodic
from endive.config.sections.source import SourceConfig
from endive.distributions.from_table import from_table

SPARE: Final = 0.1  # of the work, for the commit and for runs that take longer
SPARE_MS: Final = 60_000.0
UPKEEP: Final = frozenset({"rewrite_files", "rewrite_manifests", "expire_snapshots", "optimize"})  # may run less often


def shift_away(victim: SourceConfig, rival: SourceConfig) -> dict[str, float] | None:
    """Period and offset of a rival that starts when the victim is done; None if the clock cannot keep them apart.

    The rival keeps its period if it finds room between two runs of the victim. Else it runs once for each of them, if
    all it does is upkeep: what brings data cannot bring them once a night instead.
    """
    if not isinstance(victim.arrivals, Periodic) or not isinstance(rival.arrivals, Periodic):
        return None
    begin_ms, busy_ms = victim.arrivals.offset_ms, _busy_ms(victim)
    needs_ms = busy_ms + _busy_ms(rival)
    clock_ms = victim.arrivals.period_ms
    periods_ms = [rival.arrivals.period_ms]
    if UPKEEP.issuperset(kind for kind, weight in rival.operation_types.model_dump().items() if weight):
        periods_ms.append(max(clock_ms, rival.arrivals.period_ms))
    for period_ms in periods_ms:
        shorter_ms, longer_ms = sorted((clock_ms, period_ms))
        if shorter_ms < needs_ms or longer_ms % shorter_ms:
            continue
        offset_ms = (begin_ms + busy_ms) % period_ms
        if (period_ms, offset_ms) == (rival.arrivals.period_ms, rival.arrivals.offset_ms):
            return None
        return {"period_ms": period_ms, "offset_ms": offset_ms}
    return None


def _busy_ms(source: SourceConfig) -> float:
    """From the earliest start of a run to its end, with something to spare."""
    assert isinstance(source.arrivals, Periodic)
    work_ms = from_table(source.runtime.model_dump(exclude_none=True), "runtime").quantile(0.99)
    return source.arrivals.jitter_ms + work_ms + max(SPARE_MS, SPARE * work_ms)
