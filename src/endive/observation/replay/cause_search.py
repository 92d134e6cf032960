"""If the model does not explain a table: which single change of what was assumed explains most of it?

Each change is replayed with few seeds, and judged by how far off its figures are and those that tell causes apart
(``evidence_of``), beside what too few commits leave open. Changes that explain as much are named with it. What is found
is where to look next, not a proof: two assumptions that are wrong can hide each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from endive.errors import EndiveError
from endive.observation.replay.changes import PACE, Change, changes_of
from endive.observation.replay.figures import COMMIT_P50, Figure

ERROR_CAP: Final = 10.0  # one figure that is far off does not outweigh all others
GAIN_MIN: Final = 1.0  # less tells nothing apart: chance makes as much in one of twenty tables
_PACE: Final = (
    "Some minutes were slow for everybody: look what else ran on the machine, the store or the network then. "
    "endive replay --fit goes by it."
)

Figures = Sequence[tuple[str, Figure]]  # by source


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of one change: the figures of the verdict, and those that tell causes apart."""

    figures: Figures
    evidence: Figures


Try = Callable[[Mapping[str, Any]], Trial]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """A change that explains as much as another one."""

    key: str
    words: str
    look: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The change that explains most."""

    key: str
    words: str
    agree: int
    before: int
    total: int
    look: str
    rivals: tuple[Rival, ...] = ()  # changes of something else that explain as much

    @property
    def text(self) -> str:
        """As a sentence, what explains as much if anything does, and what to do next."""
        if self.agree <= self.before:
            text = f"No single change makes more figures agree; with {self.words} the others are nearer."
        else:
            text = (
                f"One change explains most: with {self.words}, {self.agree} of {self.total} figures agree instead of "
                f"{self.before}."
            )
        if self.rivals:
            text += f" What was seen does not tell it from {' or '.join(rival.words for rival in self.rivals)}."
        return " ".join([text, *dict.fromkeys((self.look, *(rival.look for rival in self.rivals)))])


def find_cause(
    document: Mapping[str, Any],
    attempt: Try,
    scratch: Path,
    *,
    is_measured: bool,
    whole: AbstractSet[str] = frozenset(),
    attempt_uneven: Try | None = None,
) -> Cause | None:
    """The single change that explains most; None if none is better than what is assumed.

    Of sources in ``whole``, durations are of statements with their work. ``attempt_uneven`` goes by the pace that was
    seen, if that was uneven.
    """
    before = attempt(document)
    late_ms = _late_ms(before.figures, whole)
    changes = [(each, attempt) for each in changes_of(document, scratch, is_measured=is_measured, late_ms=late_ms)]
    if attempt_uneven is not None:
        words = "requests as slow by the minute as the attempts seen"
        changes.append((Change(key=PACE, words=words, document=document, look=_PACE), attempt_uneven))
    best: dict[str, tuple[float, Change, Trial]] = {}  # of each key
    for change, own_attempt in changes:
        try:
            trial = own_attempt(change.document)
        except EndiveError:
            continue  # a change that the rest of the configuration does not allow
        left = unexplained(trial)
        if change.key not in best or left < best[change.key][0]:
            best[change.key] = left, change, trial
    ordered = sorted(best.values(), key=lambda each: each[0])
    if not ordered or ordered[0][0] > unexplained(before) - GAIN_MIN:
        return None
    left, change, trial = ordered[0]
    return Cause(
        key=change.key,
        words=change.words,
        look=change.look,
        agree=sum(figure.holds for _, figure in trial.figures),
        before=sum(figure.holds for _, figure in before.figures),
        total=len(trial.figures),
        rivals=tuple(
            Rival(key=other.key, words=other.words, look=other.look)
            for own_left, other, _ in ordered[1:]
            if own_left < left + GAIN_MIN
        ),
    )


def unexplained(trial: Trial) -> float:
    """How much a change leaves unexplained: squares of errors, of large ones twice their size; at most ten each."""
    errors = (figure.error_beyond_doubt for _, figure in (*trial.figures, *trial.evidence))
    return sum(error**2 if error <= 1.0 else min(ERROR_CAP, 2.0 * error - 1.0) for error in errors)


def _late_ms(figures: Figures, names: AbstractSet[str]) -> dict[str, float]:
    """By how much longer than in the model the usual statement took."""
    return {
        name: figure.real - figure.model
        for name, figure in figures
        if name in names and figure.name == COMMIT_P50 and math.isfinite(figure.model)
    }


def misfit(figures: Figures) -> float:
    """Figures that disagree, and how far: each at most ten times what is allowed."""
    return sum(0.0 if figure.holds else min(ERROR_CAP, figure.error) for _, figure in figures)
