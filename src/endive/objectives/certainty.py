"""How certain a verdict is: *met*, *missed*, or *inconclusive* with what would decide it.

The constants are what datasets and JSON hold; ``outcome_word`` is what people read.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from endive.objectives.fields import DURATION, SHARE
from endive.objectives.student import CONFIDENCE, normal_z

if TYPE_CHECKING:
    from endive.objectives.judge import Judged

MET: Final = "met"
NOT_MET: Final = "not met"
CANNOT_TELL: Final = "cannot tell"
INCONCLUSIVE: Final = "inconclusive"
_WORDS: Final = {MET: "met", NOT_MET: "missed", CANNOT_TELL: INCONCLUSIVE}
ONE_RUN: Final = "one run has no interval"
NO_TXN: Final = "no transaction ended in the window"
NO_COMMIT: Final = "no transaction committed in the window"
TOO_CLOSE: Final = "too close to the limit"
_OF_ENDED: Final = (("success_rate",), ("retries_mean",))  # means over txns that ended; others are over commits
MORE_MAX: Final = 1_000  # times as many txns: what is closer to its limit nobody waits for


def certainty_text(part: Judged) -> str:
    """Return ``met``, ``missed``, or ``inconclusive (needs about 390 more transactions)``."""
    if part.outcome != CANNOT_TELL:
        return outcome_word(part.outcome)
    return f"{INCONCLUSIVE} ({doubt_text(part)})"


def outcome_word(outcome: str) -> str:
    """Return the word for an outcome that people read."""
    return _WORDS.get(outcome, outcome)


def doubt_text(part: Judged) -> str:
    """Return why a comparison is inconclusive, or what would decide it."""
    estimate = part.found
    if estimate.value is None:
        field = part.subject.field
        return NO_TXN if field.is_of_data or field.path in _OF_ENDED else NO_COMMIT
    if estimate.runs == 1:
        return ONE_RUN
    more = more_txns(part)
    return TOO_CLOSE if more is None else f"needs about {more:,} more transactions"


def more_txns(part: Judged, confidence: float = CONFIDENCE) -> int | None:
    """Return how many more transactions would decide the comparison, to two digits; None if far too many."""
    figure, limit = part.found, part.limit
    if part.outcome != CANNOT_TELL or figure.value is None or not figure.txns or limit is None or figure.value == limit:
        return None
    if part.subject.field.unit == SHARE:
        needed = _txns_for_share(figure.value, limit, figure.design or 1.0, confidence)
    else:
        needed = figure.txns * _factor(part)
    more = needed - figure.txns
    if not 0.0 < more < MORE_MAX * figure.txns:
        return None
    digit = int(10 ** max(0, math.floor(math.log10(more)) - 1))
    return math.ceil(more / digit) * digit


def txns_to_tell(share: float, confidence: float = CONFIDENCE) -> float:
    """Return how many txns, none of which fails, show that a share is above ``share``."""
    return _txns_for_share(1.0, share, 1.0, confidence)


def _txns_for_share(share: float, limit: float, design: float, confidence: float) -> float:
    """Wilson's interval leaves a limit out once the two are further apart than the limit's own spread."""
    return design * normal_z(confidence) ** 2 * limit * (1.0 - limit) / (share - limit) ** 2


def _factor(part: Judged) -> float:
    """Return how many times as many txns bring the end of an interval to the limit: its reach falls with their root."""
    figure, limit = part.found, part.limit
    assert figure.value is not None
    assert limit is not None
    end = figure.high if limit > figure.value else figure.low
    if end is None:
        return math.inf
    if math.isinf(end):  # nothing that was seen bounds a percentile
        path = part.subject.field.path
        share = float(path[1].removeprefix("p")) / 100.0 if part.subject.field.unit == DURATION else 0.5
        return max(2.0, txns_to_tell(share) / (figure.txns or 1))
    return ((end - figure.value) / (limit - figure.value)) ** 2
