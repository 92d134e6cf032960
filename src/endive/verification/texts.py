"""Numbers, errors and cells of a check as short texts, the same on a terminal and on a page.

Owns rounding and signs. Refuses to own tables and colours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from endive.verification.suite import RELATIVE, SHOWN, Check, Value


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
        return "equal" if check.error is None else "-"
    return f"{100.0 * check.allowed:.3g} %" if check.measure == RELATIVE else f"{check.allowed:.3g} points"


def cell_text(check: Check) -> str:
    """Which cell: s3, cas, 4 clients."""
    return ", ".join(f"{name} {value_text(value)}" for name, value in check.what.items())


def worst_of(checks: Sequence[Check]) -> Check:
    """The one that is furthest off, among those that are judged if any is; a wrong one before all others."""
    judged = [check for check in checks if check.verdict != SHOWN]
    return max(judged or checks, key=lambda check: (not check.holds, abs(check.error or 0.0)))


def limits_text(checks: Sequence[Check]) -> str:
    """The limits of checks of one kind: each of two, or from the least to the largest."""
    judged = sorted((check for check in checks if check.verdict != SHOWN), key=lambda check: check.allowed or 0.0)
    limits = list(dict.fromkeys(allowed_text(check) for check in judged))
    return " / ".join(limits) if len(limits) <= 2 else f"{limits[0]} to {limits[-1]}"
