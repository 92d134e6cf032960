"""The axes of a study: which key takes which values.

Values are a list, ``{range = [start, stop, step]}`` or ``{log = [start, stop, count]}``; a table of axes has quoted
keys or TOML's dotted ones. Axes are combined in ``endive.config.study.study``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from endive.config.keys import SOURCE, known_keys, nearest_key
from endive.config.problems import show
from endive.config.reading.overrides import plain_copy, split_key
from endive.config.reading.recipe import recipes
from endive.config.toml_text import key_text, value_text
from endive.errors import ConfigError
from endive.objectives.duration import parse_duration_ms

VALUES_MAX: Final = 100_000  # of one axis
LOG_DIGITS: Final = 6  # of the values of a log range: the same on every machine, and readable
SCALE_MIN: Final = 1e-12  # of a step, and of an end of a log range
RANGE: Final = "range"
LOG: Final = "log"
WHOLE: Final = "whole"

# What a sweep decides itself, and why it is no axis.
DECIDED_ELSEWHERE: Final = {
    "simulation.seed": "repetitions are set by seeds = .. (a count or a list)",
    "simulation.output_path": "a sweep writes into the folder given with --out",
    "experiment.label": "a label changes no result",
}


@dataclass(frozen=True, slots=True)
class Axis:
    """A key, or a name of the study's own, and the values it takes."""

    key: str
    values: tuple[Any, ...]


def leaves(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The entries of a table of dotted keys, whether the dots are inside quotes or TOML's own.

    What a quoted key holds is its value, also if it is a table.
    """
    for name, item in table.items():
        quoted = name if "." in name else key_text(name)
        key = f"{prefix}.{quoted}" if prefix else quoted
        if isinstance(item, Mapping) and "." not in name and not _is_spec(item):
            yield from leaves(item, key)
        else:
            yield key, item


def _is_spec(item: Mapping[str, Any]) -> bool:
    """Whether a table says the values of an axis, rather than hold further keys."""
    return isinstance(item.get(RANGE, item.get(LOG)), list) and set(item) <= {RANGE, LOG, WHOLE}


def read_axis(key: str, item: Any, where: str) -> Axis:
    """One axis; anything but a list or a range is a ConfigError."""
    if isinstance(item, Mapping) and (RANGE in item or LOG in item):
        values = _range_values(item, f"{where}: {key}")
    elif isinstance(item, list):
        values = [_milliseconds(key, plain_copy(value)) for value in item]
    else:
        raise ConfigError(
            f"{where}: {key} = {show(item)} must be a list, {{range = [start, stop, step]}} or "
            "{log = [start, stop, count]}. A single value belongs into [base] or [set]."
        )
    if not values:
        raise ConfigError(f"{where}: {key} has no values, so the grid would be empty.")
    if len(values) > VALUES_MAX:
        raise ConfigError(f"{where}: {key} has {len(values):,} values; {VALUES_MAX:,} are allowed.")
    return Axis(key, tuple(values))


def _milliseconds(key: str, value: Any) -> Any:
    """A duration as text in milliseconds, so that an axis of times is one of numbers; anything else as it is."""
    is_time = key == "ms" or key.endswith((".ms", "_ms"))
    milliseconds = parse_duration_ms(value) if is_time and isinstance(value, str) else None
    return value if milliseconds is None else milliseconds


def repeated_value(axis: Axis) -> Any:
    seen: set[str] = set()
    for value in axis.values:
        text = value_text(value)
        if text in seen:
            return value
        seen.add(text)
    return None


def _range_values(spec: Mapping[str, Any], where: str) -> list[int | float]:
    if RANGE in spec and LOG in spec:
        raise ConfigError(f"{where} gives both range and log; choose one.")
    is_whole = spec.get(WHOLE, False)
    if not isinstance(is_whole, bool):
        raise ConfigError(f"{where}: whole = {show(is_whole)} must be true or false.")
    name = RANGE if RANGE in spec else LOG
    numbers = spec.get(name)
    meaning = "[start, stop, step]" if name == RANGE else "[start, stop, count]"
    if not isinstance(numbers, list) or len(numbers) != 3 or not all(_is_number(number) for number in numbers):
        raise ConfigError(f"{where}: {name} = {show(numbers)} must be {meaning}, three numbers.")
    values = _linear(numbers, where) if name == RANGE else _logarithmic(numbers, where)
    if is_whole:
        values = list(dict.fromkeys(int(value + 0.5) for value in values))
    return values


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 2**53


def _linear(numbers: list[Any], where: str) -> list[int | float]:
    """``stop`` is included if a step meets it; in decimal arithmetic, so that steps of 0.1 give 0.3."""
    start, stop, step = (Decimal(repr(number)) for number in numbers)
    if step != 0 and abs(step) < Decimal(SCALE_MIN):
        raise ConfigError(f"{where}: range = {show(numbers)} needs a step of at least {SCALE_MIN:g}.")
    if step == 0 or (stop - start) / step < 0:
        raise ConfigError(f"{where}: range = {show(numbers)} never reaches {show(numbers[1])} in its steps.")
    count = int((stop - start) / step) + 1
    if count > VALUES_MAX:
        raise ConfigError(f"{where}: range = {show(numbers)} has {count:,} values; {VALUES_MAX:,} are allowed.")
    is_int = all(isinstance(number, int) for number in numbers)
    values = (start + index * step for index in range(count))
    return [int(value) if is_int else float(value) for value in values]


def _logarithmic(numbers: list[Any], where: str) -> list[int | float]:
    """Evenly spaced on a logarithmic axis, both ends included, to ``LOG_DIGITS`` significant digits."""
    start, stop, count = numbers
    if start < SCALE_MIN or stop < SCALE_MIN or start == stop:
        raise ConfigError(f"{where}: log = {show(numbers)} needs two different ends above 0, at least {SCALE_MIN:g}.")
    if not isinstance(count, int) or not 2 <= count <= VALUES_MAX:
        raise ConfigError(f"{where}: log = {show(numbers)} needs a count from 2 to {VALUES_MAX:,}.")
    ratio = stop / start
    inner = [float(f"{start * ratio ** (i / (count - 1)):.{LOG_DIGITS - 1}e}") for i in range(1, count - 1)]
    values = [start, *inner, stop]
    is_int = isinstance(start, int) and isinstance(stop, int) and all(value == int(value) for value in values)
    return [int(value) if is_int else float(value) for value in values]


def key_problem(key: str, where: str) -> str | None:
    """Why a configuration has no such key, or None if it has."""
    try:
        parts = split_key(key)
    except ConfigError as error:
        return f"{where}: {error}"
    plain = ".".join(parts)
    if plain in DECIDED_ELSEWHERE:
        return f"{where}: '{key}' cannot be set here: {DECIDED_ELSEWHERE[plain]}."
    pattern = ".".join([SOURCE, "*", *parts[2:]]) if parts[0] == SOURCE and len(parts) > 2 else plain
    if pattern in known_keys() or (parts[0] == SOURCE and len(parts) == 3 and parts[2] in _recipe_parameters()):
        return None
    guess = nearest_key(plain)
    hint = f" Did you mean '{guess}'?" if guess else " 'endive config schema' lists them."
    return f"{where}: '{key}' is not a key of a configuration.{hint}"


@lru_cache(maxsize=1)
def _recipe_parameters() -> frozenset[str]:
    """The parameters of all recipes; whether the source has that recipe is told when the point is read."""
    return frozenset(parameter.name for recipe in recipes().values() for parameter in recipe.parameters)
