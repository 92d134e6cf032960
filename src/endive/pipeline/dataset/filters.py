"""Spark's filters on what is known of a run before it is simulated.

SQL's rules hold: a comparison with null is not true.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from pyspark.sql import datasource as ds

_COMPARISONS: Final[dict[type, Callable[[Any, Any], bool]]] = {
    ds.EqualTo: operator.eq,
    ds.GreaterThan: operator.gt,
    ds.GreaterThanOrEqual: operator.ge,
    ds.LessThan: operator.lt,
    ds.LessThanOrEqual: operator.le,
    ds.In: lambda value, choices: value in choices,
    ds.StringStartsWith: lambda value, text: value.startswith(text),
    ds.StringEndsWith: lambda value, text: value.endswith(text),
    ds.StringContains: lambda value, text: text in value,
}


def can_decide(one: Any, known: Collection[str]) -> bool:
    """Whether a filter is about known columns only, and of a kind that is understood."""
    if isinstance(one, ds.Not):
        return can_decide(one.child, known)
    is_understood = type(one) in _COMPARISONS or isinstance(one, (ds.EqualNullSafe, ds.IsNull, ds.IsNotNull))
    return is_understood and ".".join(one.attribute) in known


def matches(one: Any, values: Mapping[str, Any]) -> bool:
    """Whether a filter that can be decided holds for a run."""
    return _holds(one, values) is True


def _holds(one: Any, values: Mapping[str, Any]) -> bool | None:
    """True, False or unknown."""
    if isinstance(one, ds.Not):
        child = _holds(one.child, values)
        return None if child is None else not child
    value = values[".".join(one.attribute)]
    if isinstance(one, ds.IsNull):
        return value is None
    if isinstance(one, ds.IsNotNull):
        return value is not None
    if isinstance(one, ds.EqualNullSafe):
        return bool(value == one.value)
    if value is None or one.value is None:
        return None
    return bool(_COMPARISONS[type(one)](value, one.value))
