"""An observed history run through the model: what comes out beside what was seen, and if they differ, why.

Where a duration or a number of attempts is known it is compared, else the gaps between commits. Every figure has two
intervals: how well the history knows it, and how far equal runs of the model lie apart.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from endive.answers.variation import scale_source
from endive.config import apply_overrides, parse_overrides
from endive.errors import ConfigError
from endive.observation.folder import STORE_FILE, read_findings, read_trace
from endive.observation.folder_memory import given_document
from endive.observation.replay.figures import Figure, Seen
from endive.observation.replay.stage import Stage

SEEDS: Final = 20
TXNS_MAX: Final = 2_000_000  # in all runs of a replay; a long history is run with fewer seeds
FIT: Final = "--fit"
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Model beside reality."""

    table: str
    sources: Mapping[str, tuple[Figure, ...]]
    runs: int
    is_changed: bool  # by --scale or --set: then a third column says what would happen
    document: Mapping[str, Any]  # with all that was given

    @property
    def figures(self) -> list[tuple[str, Figure]]:
        """Every figure with its source."""
        return [(name, figure) for name, figures in self.sources.items() for figure in figures]

    @property
    def wrong(self) -> list[tuple[str, Figure]]:
        """Figures that speak against the model, worst first."""
        wrong = [(name, figure) for name, figure in self.figures if not (figure.holds or figure.is_unclear)]
        return sorted(wrong, key=lambda pair: -pair[1].error)

    @property
    def explains(self) -> bool:
        """Whether something was compared, and nothing that was seen speaks against the model."""
        return bool(self.figures) and not self.wrong

    @property
    def memory(self) -> dict[str, Any]:
        """What the folder remembers of it."""
        return {
            "table": self.table,
            "explains": self.explains,
            "agree": sum(figure.holds for _, figure in self.figures),
            "unclear": sum(figure.is_unclear for _, figure in self.figures),
            "total": len(self.figures),
            "rest": [_beside(name, figure) for name, figure in self.wrong],
        }

    @property
    def verdict(self) -> str:
        """Does the model explain what was seen, and if not, where, and which assumption would explain most."""
        total = len(self.figures)
        unclear = sum(figure.is_unclear for _, figure in self.figures)
        if not total:
            return f"Nothing of {self.table} can be compared: its history is too short."
        if not self.wrong:
            short = f"; of {unclear} too few commits were seen to tell" if unclear else ""
            return (
                f"The model explains what you saw on {self.table}: {total - unclear} of {total} figures agree{short}."
            )
        return (
            f"The model does not explain what you saw on {self.table}: {len(self.wrong)} of {total} figures disagree, "
            f"most of all {_beside(*self.wrong[0])}."
        )


def _beside(name: str, figure: Figure) -> str:
    return f"{figure.name} of {name} ({figure.real:,.4g} {figure.unit} seen, {figure.model:,.4g} in the model)"


def replay(
    folder: Path,
    *,
    profile: str | None = None,
    catalog_profile: Path | None = None,
    assumed: Sequence[str] = (),
    scale: float = 1.0,
    overrides: Sequence[str] = (),
    seeds: int = SEEDS,
    is_fitted: bool = False,
    progress: Progress = lambda done, total: None,
) -> Replay:
    """The history of one observed table, run by the model; ``scale`` and ``overrides`` add what would happen if.

    With ``is_fitted`` the store's latency is fitted to the commits that were seen, and the profile kept in the folder.
    """
    findings = read_findings(folder)
    rows = read_trace(folder)
    document = given_document(folder, profile=profile, catalog_profile=catalog_profile, assumed=assumed)
    stage = Stage(rows, findings)
    is_changed = scale != 1.0 or bool(overrides)
    runs = max(2, min(seeds, TXNS_MAX // max(1, len(rows))))
    total = runs * (2 if is_changed else 1)
    with tempfile.TemporaryDirectory(prefix="endive-replay-") as scratch:
        place = Path(scratch)
        if is_fitted:
            is_given = catalog_profile is not None or any(each.startswith("catalog.") for each in assumed)
            document = stage.fit(document, folder / STORE_FILE, place, is_catalog_fitted=not is_given)
        base = stage.run(document, runs, place, lambda done: progress(done, total))
        changed: dict[str, list[Seen]] = {}
        if is_changed:
            what_if = apply_overrides(scale_writers(document, scale), parse_overrides(overrides))
            changed = stage.run_ahead(what_if, document, runs, place, lambda done: progress(runs + done, total))
    return Replay(
        table=findings["table"],
        sources=stage.compare(base, changed),
        runs=runs,
        is_changed=is_changed,
        document=document,
    )


def scale_writers(document: Mapping[str, Any], scale: float) -> dict[str, Any]:
    """The same configuration with ``scale`` times the writers: what ``endive replay --scale 2`` means.

    Clients of a closed loop are multiplied. Of another source there are so many copies, ``name~2`` and on; a part of a
    copy submits that much less often.
    """
    if not 0.01 <= scale <= 1000.0:
        raise ConfigError(f"--scale {scale:g} is not allowed. Give a number from 0.01 to 1000.")
    changed = apply_overrides(document, {})
    changed["source"] = [part for source in changed["source"] for part in _copies(source, scale)]
    return changed


def _copies(source: dict[str, Any], scale: float) -> list[dict[str, Any]]:
    if source["arrivals"]["kind"] == "closed":
        return [scale_source(source, scale)]
    whole, rest = int(scale), scale - int(scale)
    shares = [1.0] * whole + ([rest] if rest > 1e-9 else [])
    copies = []
    for number, share in enumerate(shares, start=1):
        copy = scale_source(source, share)
        copy["name"] = source["name"] if number == 1 else f"{source['name']}~{number}"
        if copy["arrivals"]["kind"] == "periodic" and number > 1:  # nobody starts clocks together
            late_ms = copy["arrivals"]["period_ms"] * (number - 1) / len(shares)
            copy["arrivals"]["offset_ms"] = copy["arrivals"].get("offset_ms", 0.0) + late_ms
        copies.append(copy)
    return copies
