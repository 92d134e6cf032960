"""The values of the axes as typed columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from endive.config.toml_text import value_text
from endive.errors import ConfigError
from endive.pipeline.dataset.figure_columns import RESERVED
from endive.pipeline.sweep.plan import Run


def axis_fields(names: Sequence[str], runs: Sequence[Run]) -> tuple[pa.Field, ...]:
    """One column per axis or derived key, typed by the values the runs have."""
    taken = [name for name in names if name in RESERVED]
    if taken:
        raise ConfigError([f"axes: '{name}' is the name of a column of the results; rename it." for name in taken])
    points: dict[int, Mapping[str, Any]] = {run.point: run.values for run in runs}
    return tuple(
        pa.field(name, _type_of(values[name] for values in points.values() if name in values)) for name in names
    )


def axis_values(fields: Iterable[pa.Field], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of one run, as their columns hold them; null where a point leaves an axis to the base."""
    return {field.name: _cell(field, values.get(field.name)) for field in fields}


def _type_of(values: Iterable[Any]) -> pa.DataType:
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    if kinds and kinds <= {int, float}:
        return pa.float64()
    return pa.string()


def _cell(field: pa.Field, value: Any) -> Any:
    if value is None:
        return None
    if field.type == pa.float64():
        return float(value)
    if field.type == pa.string() and not isinstance(value, str):
        return value_text(value)
    return value
