"""Configurations whose commit latency rests on assumed figures, and what nobody gave: a latency, an overlap.

The sentences are those of every other answer (``endive.answers.caveats``).
Which figures a configuration uses is ``endive.simulation.knowledge``'s, and the share ``endive.results.knowledge``'s.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import pyarrow.compute as pc

from endive.answers.caveats import caveats_of_config
from endive.config import parse_config
from endive.config.catalog_profile import UNSAID
from endive.errors import EndiveError
from endive.pipeline.analysis.open_dataset import Dataset
from endive.pipeline.analysis.scopes import ALL
from endive.results.knowledge import ASSUMED_SHARE_MAX, UNSAID_SENTENCE, KnownFigure, assumed_part
from endive.simulation.knowledge import figures_of_config

Row = Mapping[str, Any]
Place = tuple[str, int]  # study and point


def assumption_rows(
    configs: Mapping[Place, str], phases: Iterable[Row], requests: Iterable[Row]
) -> list[dict[str, Any]]:
    """Rows of the table of warnings; ``configs`` are resolved configurations as JSON."""
    phases_ms: dict[Place, dict[str, float | None]] = {}
    for row in _whole(phases):
        phases_ms.setdefault((row["study"], row["point"]), {})[row["phase"]] = row["mean_ms"]
    counts: dict[Place, dict[str, dict[str, float]]] = {}
    for row in _whole(requests):
        of_object = counts.setdefault((row["study"], row["point"]), {}).setdefault(row["object"], {})
        of_object[row["operation"]] = row["per_committed_txn"] or 0.0
    found: list[dict[str, Any]] = []
    unsaid: dict[str, None] = {}
    caveats: dict[tuple[str, str, str], None] = {}
    for (study, point), text in configs.items():
        place = (study, point)
        figures = known_figures(text)
        part = assumed_part(figures, phases_ms.get(place, {}), counts.get(place, {}))
        if part is not None and part.share > ASSUMED_SHARE_MAX:
            found.append(_row(study, "assumed_figures", part.share, part.sentence(), point=point))
        if any(figure.of == UNSAID for figure in figures):
            unsaid[study] = None
        for code, sentence in _caveats(text):
            caveats[study, code, sentence] = None
    found += [_row(study, code, None, sentence) for study, code, sentence in caveats]
    return found + [_row(study, "unsaid_catalog_latency", None, UNSAID_SENTENCE) for study in unsaid]


def _caveats(text: str) -> tuple[tuple[str, str], ...]:
    """What answers say of this configuration; nothing if it cannot be read any more."""
    try:
        return caveats_of_config(parse_config(json.loads(text)))
    except EndiveError:
        return ()


def _whole(rows: Iterable[Row]) -> Iterator[Row]:
    return (row for row in rows if row["scope"] == ALL)


def _row(study: str, code: str, value: float | None, text: str, **place: Any) -> dict[str, Any]:
    return {"study": study, **place, "warning": code, "value": value, "text": text}


def known_figures(text: str) -> tuple[KnownFigure, ...]:
    """The latencies that a configuration, given as JSON, uses, and how well each is known."""
    return _figures(*_parts(text))


def _parts(text: str) -> tuple[str, str]:
    """The sections that decide on figures, as text; most points of a study share them."""
    config = json.loads(text)
    return json.dumps(config["storage"]), json.dumps(config["catalog"])


@lru_cache(maxsize=512)
def _figures(storage: str, catalog: str) -> tuple[KnownFigure, ...]:
    """Nothing, if the profile is not there any more or the configuration needs more than these two sections."""
    try:
        return figures_of_config(parse_config({"storage": json.loads(storage), "catalog": json.loads(catalog)}))
    except EndiveError:
        return ()


def first_configuration(dataset: Dataset, study: str) -> dict[str, Any]:
    """``configuration``, ``config_hash``, ``seeds`` and ``known`` of the study's first point."""
    runs = dataset.runs.filter(pc.equal(dataset.runs["study"], study)).select(["point", "seed", "config_hash"])
    rows = sorted(runs.to_pylist(), key=lambda row: (row["point"], row["seed"]))
    first = rows[0]
    text = dataset.configs[study, first["point"]]
    return {
        "configuration": json.loads(text),
        "config_hash": first["config_hash"],
        "seeds": sorted({row["seed"] for row in rows}),
        "known": [figure.to_dict() for figure in known_figures(text)],
    }
