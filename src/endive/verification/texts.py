"""Numbers, errors and cells of a check as short texts, the same on a terminal and on a page.

Owns rounding and signs. Refuses to own tables and colours.
"""

from __future__ import annotations

import math

from endive.verification.suite import RELATIVE, Check, Value


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
