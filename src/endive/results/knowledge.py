"""How well the figures behind a result are known, and how much of the commit latency rests on assumed ones.

The words are ``endive.vocabulary``'s; where a figure comes from is said in the profiles of stores and catalogs; which
of them a simulation uses is gathered in ``endive.simulation.knowledge``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from endive.config.catalog_profile import UNSAID
from endive.vocabulary import ASSUMED

ASSUMED_SHARE_MAX: Final = 0.1  # of the mean commit latency; above it a result says so
UNSAID_SENTENCE: Final = (
    "The catalog's latency is not given, so 1 ms is assumed. Name the service by catalog.profile "
    "(`endive catalogs` lists them), or give catalog.latency."
)
_SOURCES_MAX: Final = 2  # as many are named in the sentence

_UNASKED: Final = "runtime"  # the phase that is no part of a commit


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFigure:
    """The latency of one kind of request: whose, its mean at size zero, how well it is known and who says so."""

    of: str
    object: str
    operation: str
    mean_ms: float
    known: str
    source: str
    phases: frozenset[str] = frozenset()  # of a commit, in which a txn waits for it

    def to_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        return {name: value for name, value in asdict(self).items() if name != "phases"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AssumedPart:
    """The part of the mean commit latency that rests on assumed figures, and those figures, the weightiest first."""

    share: float
    figures: tuple[KnownFigure, ...]

    def sentence(self) -> str:
        """One line for a reader of the result."""
        by_source: dict[tuple[str, str], list[str]] = {}
        for figure in self.figures:
            operations = by_source.setdefault((figure.of, figure.source), [])
            if figure.operation not in operations:
                operations.append(figure.operation)
        named = [
            f"{of} {_join_words(operations)} ({source})"
            for (of, source), operations in list(by_source.items())[:_SOURCES_MAX]
        ]
        more = f"; and {len(by_source) - _SOURCES_MAX} more" if len(by_source) > _SOURCES_MAX else ""
        return (
            f"Assumed figures make up about {100 * self.share:.0f} % of the commit latency: {'; '.join(named)}{more}. "
            "Measure them and give your own."
        )


def _join_words(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def sent_figures(figures: Iterable[KnownFigure], counts: Mapping[str, Mapping[str, int]]) -> tuple[KnownFigure, ...]:
    """The figures of requests that were sent, by counts of requests per object and operation."""
    return tuple(figure for figure in figures if counts.get(figure.object, {}).get(figure.operation))


def assumed_part(
    figures: Iterable[KnownFigure], phases_ms: Mapping[str, float | None], counts: Mapping[str, Mapping[str, float]]
) -> AssumedPart | None:
    """How much of the commit latency rests on assumed figures; None if nothing was committed.

    ``phases_ms`` is the mean time in each phase of committed txns. A phase is divided among the requests it waits for
    by their number times their mean latency, so the share is an estimate where a phase has several.
    """
    commit_ms = sum(mean_ms or 0.0 for phase, mean_ms in phases_ms.items() if phase != _UNASKED)
    if not commit_ms:
        return None
    assumed_ms: dict[KnownFigure, float] = {}
    weights = {figure: counts.get(figure.object, {}).get(figure.operation, 0) * figure.mean_ms for figure in figures}
    for phase, mean_ms in phases_ms.items():
        awaited = {figure: weight for figure, weight in weights.items() if weight and phase in figure.phases}
        for figure, weight in awaited.items():
            if figure.known == ASSUMED:
                part_ms = (mean_ms or 0.0) * weight / sum(awaited.values())
                assumed_ms[figure] = assumed_ms.get(figure, 0.0) + part_ms
    weightiest = sorted(assumed_ms, key=lambda figure: -assumed_ms[figure])
    return AssumedPart(share=sum(assumed_ms.values()) / commit_ms, figures=tuple(weightiest))


def assumption_warnings(
    figures: Iterable[KnownFigure], phases_ms: Mapping[str, float | None], counts: Mapping[str, Mapping[str, float]]
) -> list[str]:
    """The lines on assumed figures: one if they make up more than a tenth, one if a catalog's latency is unsaid."""
    figures = tuple(figures)
    part = assumed_part(figures, phases_ms, counts)
    lines = [] if part is None or part.share <= ASSUMED_SHARE_MAX else [part.sentence()]
    if any(figure.of == UNSAID for figure in figures):
        lines.append(UNSAID_SENTENCE)
    return lines
