"""What the README and the guides say, held to runs like the claims of the documents.

``data/page_claims.toml`` quotes the sentences, word for word, and says of which runs which objectives must then hold.
Tables and outputs on the pages are printed by the commands beside them; ``make docs`` runs those.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from endive.answers.estimates import judge_samples
from endive.answers.replicate import Replicator
from endive.answers.variation import base_of
from endive.config.reading.overrides import parse_overrides
from endive.config.slo import objective_of
from endive.objectives.verdict_text import estimate_text
from verification.suites.claims.ruling import FAILS, HOLDS, Claim, Ruling

ROOT: Final = Path(__file__).parents[3]
FILE: Final = Path(__file__).parents[1] / "data" / "page_claims.toml"
SEEDS: Final = 4


@dataclass(frozen=True, slots=True)
class Repetition:
    """The command that repeats a run."""

    command: str


def quoted_claims() -> tuple[Claim, ...]:
    """Every quoted sentence with the runs that decide it."""
    quoted = tomllib.loads(FILE.read_text(encoding="utf-8"))["claim"]
    return tuple(
        Claim(claim["name"], claim["page"], claim["says"], HOLDS, partial(_decide, claim["runs"])) for claim in quoted
    )


def _decide(runs: Sequence[Mapping[str, Any]]) -> Ruling:
    """All objectives hold, by what their runs say in the mean."""
    are_met, told, repetitions = [], [], []
    with Replicator() as replicator:
        for run in runs:
            seeds, changes = run.get("seeds", SEEDS), run.get("set", [])
            config = base_of(_document(ROOT / run["file"])).with_values(parse_overrides(changes))
            first = config.simulation.seed
            verdict = judge_samples(
                objective_of(config, run["that"]), replicator.samples(config, range(first, first + seeds))
            )
            figures = {str(part.subject): estimate_text(part.subject.field, part.found) for part in verdict.parts}
            told.append("; ".join(f"`{name}` is {text}" for name, text in figures.items()) + _changed(changes))
            are_met.append(verdict.holds is True)
            words = [f"endive run {run['file']} --seeds {seeds}", *(f"--set '{change}'" for change in changes)]
            repetitions.append(Repetition(" ".join(words)))
    return Ruling(HOLDS if all(are_met) else FAILS, ". ".join(told) + ".", tuple(repetitions))


def _document(file: Path) -> Any:
    """A configuration, or what a study varies."""
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    return document["base"] if "study" in document else file


def _changed(changes: Sequence[str]) -> str:
    return f" with `{', '.join(changes)}`" if changes else ""
