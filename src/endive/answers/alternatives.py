"""One load under each value of a choice: in every table format, on every store, behind every kind of catalog.

A table format takes a turn per client that commits to it. A value that the configuration refuses keeps its turn and
says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from endive.answers.limit import Limit, find_limit
from endive.answers.variation import LOAD, Base, ConfigLike, base_of
from endive.config.keys import choices_at
from endive.config.reading.format_switch import DELTA, FORMAT_KEY, ICEBERG
from endive.errors import ConfigError, ObjectiveError

CLIENTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Iceberg": {FORMAT_KEY: ICEBERG},
    "Delta Spark": {FORMAT_KEY: DELTA, "delta.client": "spark"},
    "delta-rs": {FORMAT_KEY: DELTA, "delta.client": "delta_rs"},
}


@dataclass(frozen=True, slots=True)
class Turn:
    """What one value makes of the configuration, or why it makes nothing."""

    name: str
    base: Base | None
    problem: str = ""


def turns_of(config: ConfigLike, key: str, overrides: Mapping[str, Any]) -> tuple[Turn, ...]:
    """The configuration under each value of a choice; overrides that only another format reads wait for its turn."""
    named = CLIENTS if key == FORMAT_KEY else {value: {key: value} for value in choices_at(key)}
    return tuple(_turn(config, name, {**overrides, **values}) for name, values in named.items())


def _turn(config: ConfigLike, name: str, values: Mapping[str, Any]) -> Turn:
    try:
        return Turn(name, base_of(config, values))
    except ConfigError as error:
        return Turn(name, None, error.problems[0])


def number_and_choice(keys: list[str]) -> tuple[str, str | None]:
    """Which of the keys that are varied is the number whose limit is asked for, and which the choice it depends on."""
    choices = [key for key in keys if choices_at(key)]
    numbers = [key for key in keys if key not in choices]
    if len(numbers) > 1 or len(choices) > 1:
        many = numbers if len(numbers) > 1 else choices
        raise ObjectiveError(
            f"--vary takes one number and one choice, not both of {' and '.join(many[:2])}. Ask twice."
        )
    return (numbers or [LOAD])[0], next(iter(choices), None)


def find_limits(turns: tuple[Turn, ...], key: str, **options: Any) -> tuple[tuple[Turn, Limit | str], ...]:
    """The limit of a number in each turn, or a sentence that says why there is none."""
    limits: list[tuple[Turn, Limit | str]] = []
    for turn in turns:
        if turn.base is None:
            limits.append((turn, turn.problem))
            continue
        try:
            limits.append((turn, find_limit(turn.base, key, **options)))
        except ObjectiveError as error:
            limits.append((turn, str(error)))
    return tuple(limits)
