"""Axes as columns."""

from __future__ import annotations

import pyarrow as pa
import pytest

from endive.errors import ConfigError
from endive.pipeline.sweep.plan import Run, axis_fields, axis_values


def runs(*values: dict) -> list[Run]:
    return [
        Run(run_id=str(point), point=point, seed=1, config_hash="", config="", values=each, txns=1.0)
        for point, each in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("values", "kind", "cells"),
    [
        ([1, 2], pa.int64(), [1, 2]),
        ([1, 2.5], pa.float64(), [1.0, 2.5]),
        ([True, False], pa.bool_(), [True, False]),
        (["a", "b"], pa.string(), ["a", "b"]),
        ([True, 1], pa.string(), ["true", "1"]),
        (["none", 3], pa.string(), ["none", "3"]),
        ([{"mean": 5}, [1, "x"]], pa.string(), ["{ mean = 5 }", '[1, "x"]']),
    ],
)
def test_a_column_has_the_type_of_its_values(values, kind, cells):
    (field,) = axis_fields(["a.b"], runs(*({"a.b": value} for value in values)))

    assert (field.name, field.type) == ("a.b", kind)
    assert [axis_values([field], {"a.b": value})["a.b"] for value in values] == cells


def test_an_axis_a_point_does_not_have_is_null():
    fields = axis_fields(["a.b", "c.d"], runs({"a.b": 1}, {"c.d": "x"}))

    assert axis_values(fields, {"a.b": 1}) == {"a.b": 1, "c.d": None}


def test_an_axis_named_like_a_column_of_the_results_is_refused():
    with pytest.raises(ConfigError, match="'success_rate' is the name of a column of the results; rename it"):
        axis_fields(["success_rate"], runs({"success_rate": 1}))
