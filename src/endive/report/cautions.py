"""The warnings of an analysis, in words, one entry per kind.

What deserves a warning was decided by the analysis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from endive.report.axis_curve import named_label
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
    """Every kind of warning of a study, what weakens numbers before what they say."""
    rows = material.study.rows("warnings", scope=None)
    lines = []
    for kind in (*WARNING_NAMES, *sorted({row["warning"] for row in rows} - set(WARNING_NAMES))):
        alike = [row for row in rows if row["warning"] == kind]
        if alike:
            lines.append(_caution(material, kind, alike))
    return tuple(lines)


def _caution(material: Material, kind: str, rows: Sequence[Row]) -> Caution:
    placed = [row for row in rows if row["point"] is not None]
    points = len({row["point"] for row in placed})
    total = len(material.points.numbers)
    if not placed:
        text = " ".join(dict.fromkeys(str(row["text"]) for row in rows))
    elif len(placed) == 1:
        text = str(placed[0]["text"])
    else:
        seeds = any(row["seed"] is not None for row in placed)
        count = count_words(len(placed), "run") if seeds else f"{points:,} of {count_words(total, 'configuration')}"
        text = f"{count}. The first: {placed[0]['text']}"
    places = [f"{_place(material, row)}: {row['text']}" for row in placed]
    return Caution(
        kind=kind,
        name=WARNING_NAMES.get(kind, kind.replace("_", " ")),
        text=text,
        places=tuple(places[:_PLACES_MAX]) if len(places) > 1 else (),
        more=max(0, len(places) - _PLACES_MAX),
    )


def _place(material: Material, row: Row) -> str:
    place = material.points.index().get(row["point"])
    parts = []
    if place is not None:
        labels = [(axis, material.points.labels[axis.key][place]) for axis in material.layout.axes]
        parts = [f"{label} {axis.unit}" if axis.unit else named_label(axis, label) for axis, label in labels]
    if not parts:
        parts = [f"configuration {row['point']}"]
    if row["seed"] is not None:
        parts.append(f"seed {row['seed']}")
    return ", ".join(parts)
