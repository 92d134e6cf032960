"""Which sources of a configuration are streams, whose data arrive all the time and whose freshness is measured."""

from __future__ import annotations

from endive.config import SimulationConfig
from endive.config.sections.source import SourceConfig
from endive.config.sections.stream import stream_problem
from endive.results.freshness import Stream


def streams_of(config: SimulationConfig) -> tuple[Stream, ...]:
    """Every stream there is."""
    return tuple(_build(source, index) for index, source in enumerate(config.sources) if stream_problem(source) is None)


def _build(source: SourceConfig, index: int) -> Stream:
    aftermath, bound_ms = source.after_failure, source.fresh_within_ms
    return Stream(
        source=index,
        clients=getattr(source.arrivals, "jobs", 0),
        start_us=int(source.start_ms * 1000.0 + 0.5),
        is_carried=aftermath.kind in ("carried", "restart"),
        is_written_again=aftermath.unknown == "again",
        bound_us=None if bound_ms is None else int(bound_ms * 1000.0 + 0.5),
    )
