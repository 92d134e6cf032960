"""Whether a source is a stream: jobs or regular txns that add data, whose freshness can be told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from endive.config.sections.source import SourceConfig

STREAM_ARRIVALS: Final = ("jobs", "periodic")
APPENDS: Final = ("fast_append", "merge_append", "blind_append", "append_after_read")
OVERWRITES: Final = ("validated_overwrite", "merge")  # which add rows unless told otherwise


def stream_problem(source: SourceConfig | None) -> str | None:
    """Why a source is no stream, and what to do; None if it is one."""
    assert source is not None
    return stream_problem_of(source.model_dump())


def stream_problem_of(source: Mapping[str, Any]) -> str | None:
    """The same for a source as plain values."""
    arrivals, weights = source["arrivals"]["kind"], source["operation_types"]
    adding = {*APPENDS, *OVERWRITES} if source.get("adds_rows", True) else {*APPENDS}
    kinds = {kind for kind, weight in weights.items() if weight}
    if not kinds & adding:
        return "its txns add no data. Ask for the freshness of a source that appends or merges."
    if kinds - adding:
        return "some of its txns add no data. Give those a source of their own."
    if arrivals not in STREAM_ARRIVALS:
        return (
            f"arrivals of kind '{arrivals}' are not regular, so its txns have no data of their own. Choose arrivals "
            'such as {kind = "jobs", jobs = 1, period_ms = 60000}.'
        )
    return None
