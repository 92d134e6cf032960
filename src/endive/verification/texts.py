"""Numbers, errors and cells of a check as short texts, the same on a terminal and on a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from endive.verification.suite import RELATIVE, RIGHT, SHOWN, UNCLEAR, WRONG, Check, Value

EQUAL: Final = "equal"  # the limit of a check that may not be off at all


def value_text(value: Value) -> str:
    """Four significant digits, thousands apart; counts in full."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return _float_text(value)
    return value


def _float_text(value: float) -> str:
    if not math.isfinite(value):
        return "none"
    if value == 0.0:
        return "0"
    decimals = max(0, 3 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(decimals, 6)}f}"


def error_text(check: Check) -> str:
    """With its sign: positive where the model says more than it should."""
    if check.error is None:
        return "-" if check.holds else "differs"
    if not math.isfinite(check.error):
        return "none"
    return f"{100.0 * check.error:+.2f} %" if check.measure == RELATIVE else f"{check.error:+.2f} points"


def allowed_text(check: Check) -> str:
    """How far it may be off."""
    if check.allowed is None:
        return EQUAL if check.error is None else "-"
    scale, unit = (100.0, "%") if check.measure == RELATIVE else (1.0, "points")
    doubt = f" ± {_two_digits(scale * check.doubt)}" if check.doubt else ""
    return f"{scale * check.allowed:.3g}{doubt} {unit}"


def doubtful_text(check: Check) -> str:
    """An error with its doubt, and the cell: +31.08 ± 30 % (writers 16)."""
    error, unit = error_text(check).split(" ")
    doubt = _two_digits(check.doubt * (100.0 if check.measure == RELATIVE else 1.0))
    return f"{error} ± {doubt} {unit} ({cell_text(check)})"


def _two_digits(value: float) -> str:
    return f"{value:.0f}" if value >= 100.0 else f"{value:.2g}"


def cell_text(check: Check) -> str:
    """Which cell: s3, cas, 4 clients."""
    return ", ".join(f"{name} {value_text(value)}" for name, value in check.what.items() if value != "")


def worst_of(checks: Sequence[Check]) -> Check:
    """The one that is furthest off, among those that are judged if any is; a wrong one before all others."""
    judged = [check for check in checks if check.verdict != SHOWN]
    return max(judged or checks, key=lambda check: (not check.holds, abs(check.error or 0.0)))


def worst_verdict(judged: Sequence[Check]) -> str:
    """Of checks of one kind: wrong before unclear before right; shown if none is judged."""
    verdicts = {check.verdict for check in judged}
    return next((verdict for verdict in (WRONG, UNCLEAR, RIGHT) if verdict in verdicts), SHOWN)


def limits_text(checks: Sequence[Check]) -> str:
    """The limits of checks of one kind: each of two, or from the least to the largest."""
    judged = sorted((check for check in checks if check.verdict != SHOWN), key=lambda check: check.allowed or 0.0)
    limits = list(dict.fromkeys(allowed_text(replace(check, doubt=0.0)) for check in judged))
    return " / ".join(limits) if len(limits) <= 2 else f"{limits[0]} to {limits[-1]}"
