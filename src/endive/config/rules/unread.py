"""Keys that were given but have no effect: refused, because a flag that does nothing is a lie.

A key that was written once and holds in several places (a default of ``[transaction]``, a latency of several requests)
is refused only if it has no effect in any of them. The reasons are in ``endive.config.rules.key_effects``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from endive.config.keys import SECTIONS, SOURCE
from endive.config.problems import Path, Problem, Spelt, dotted, show, value_at
from endive.config.rules.key_effects import Unread, unread_keys, unread_source_keys
from endive.config.simulation_config import SimulationConfig

# The append design prints these figures beside table_metadata_inlined = true.
TOLERATED: Final = (("storage", "T_TABLE_METADATA"),)


def unread_problems(config: SimulationConfig, document: Spelt) -> list[Problem]:
    """One problem for each key or table of the document that has no effect."""
    unread: dict[Path, Unread] = {tuple(key.split(".")): reason for key, reason in unread_keys(config).items()}
    for index, source in enumerate(config.sources):
        for key, reason in unread_source_keys(source, config, index).items():
            unread[SOURCE, index, *key.split(".")] = reason
    problems: dict[Path, Problem] = {}
    for path in unread:
        written = document.written(path)
        if written not in problems and _is_refused(path, unread, document):
            problems[written] = _problem(path, [unread[copy] for copy in document.copies(path)], document)
    order = {name: place for place, name in enumerate((*SECTIONS, SOURCE))}
    told = [
        written for written in problems if not any(written[:length] in problems for length in range(1, len(written)))
    ]
    return [problems[written] for written in sorted(told, key=lambda written: order[str(written[0])])]


def _is_refused(path: Path, unread: Mapping[Path, Unread], document: Spelt) -> bool:
    """Whether a key is given, and wherever it holds it has no effect, in a way that is not tolerated."""
    holder = value_at(document, path[:-1])
    if not isinstance(holder, Mapping) or path[-1] not in holder or holder[str(path[-1])] == {}:
        return False  # a table without a key gives none; a study writes it where a choice leaves the table out
    if document.written(path)[:2] in TOLERATED:
        return False
    reasons = [unread.get(copy) for copy in document.copies(path)]
    return all(reason is not None and not reason.is_tolerated for reason in reasons)


def _problem(path: Path, reasons: Sequence[Unread], document: Spelt) -> Problem:
    value = value_at(document, path)
    key = dotted(path, document)
    head = key if isinstance(value, Mapping) else f"{key} = {show(value)}"
    because = ", and ".join(dict.fromkeys(reason.because for reason in reasons))
    about = tuple(place for reason in reasons for place in reason.about)
    return Problem(f"{head} has no effect here: {because}. Remove it.", path, about)
