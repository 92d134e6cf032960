"""Problems of many points as few lines: each once, with the values of the axes that bring it about.

The sentences themselves come from the configuration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from endive.config.problems import show

Values = Mapping[str, Any]


def explain(refused: Mapping[str, Sequence[Values]], total: int) -> list[str]:
    """One line per problem: which combinations have it, and what it is."""
    return [f"{_cause(having, total)}: {problem}" for problem, having in refused.items()]


def _cause(having: Sequence[Values], total: int) -> str:
    """The values all these combinations share, or that it is all combinations."""
    if len(having) == total:
        return "in every combination" if total > 1 else _list_values(having[0]) or "in the only combination"
    shared = {
        key: value
        for key, value in having[0].items()
        if all(key in other and other[key] == value for other in having[1:])
    }
    if len(having) == 1:
        return _list_values(shared)
    count = f"{len(having):,} of {total:,} combinations"
    return f"{_list_values(shared)} ({count})" if shared else f"{count}, the first with {_list_values(having[0])}"


def _list_values(values: Values) -> str:
    return ", ".join(f"{key} = {show(value)}" for key, value in values.items())
