"""The warnings of an analysis, in words, one entry per kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from endive.report.material import Material
from endive.report.reading import Row
from endive.report.words import WARNING_NAMES, count_words

_PLACES_MAX: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Caution:
    """One kind of warning and where it applies."""

    kind: str
    name: str
    text: str
    places: tuple[str, ...]
    more: int  # places that are not listed


def cautions(material: Material) -> tuple[Caution, ...]:
    """Return every kind of warning of a study, what weakens numbers before what they say."""
    by_kind: dict[str, list[Row]] = {kind: [] for kind in WARNING_NAMES}
    for row in sorted(material.study.rows("warnings", scope=None), key=lambda row: str(row["warning"])):
        by_kind.setdefault(row["warning"], []).append(row)
    return tuple(_caution(material, kind, rows) for kind, rows in by_kind.items() if rows)


def _caution(material: Material, kind: str, rows: Sequence[Row]) -> Caution:
    located = [row for row in rows if row["point"] is not None]
    if len(located) < 2:
        text = " ".join(dict.fromkeys(str(row["text"]) for row in located or rows))
    else:
        points, total = len({row["point"] for row in located}), len(material.points.numbers)
        has_seeds = any(row["seed"] is not None for row in located)
        of_all = f"{points:,} of {count_words(total, 'configuration')}"
        text = f"{count_words(len(located), 'run') if has_seeds else of_all}. The first: {located[0]['text']}"
    places = [f"{_place(material, row)}: {row['text']}" for row in located]
    return Caution(
        kind=kind,
        name=WARNING_NAMES.get(kind, kind.replace("_", " ")),
        text=text,
        places=tuple(places[:_PLACES_MAX]) if len(places) > 1 else (),
        more=max(0, len(places) - _PLACES_MAX),
    )


def _place(material: Material, row: Row) -> str:
    place = material.points.index().get(row["point"])
    words = "" if place is None else material.points.words(place)
    seed = "" if row["seed"] is None else f"seed {row['seed']}"
    return ", ".join(part for part in (words or f"configuration {row['point']}", seed) if part)
