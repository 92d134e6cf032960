"""Filters of Spark on what is known before a run: SQL's rules, null included."""

import pytest

ds = pytest.importorskip("pyspark.sql.datasource")

from endive.pipeline.dataset.filters import can_decide, matches  # noqa: E402

ROW = {"catalog.num_tables": 5, "commit.protocol": "merge", "load": None}
TABLES, PROTOCOL, LOAD = ("catalog.num_tables",), ("commit.protocol",), ("load",)


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (ds.EqualTo(TABLES, 5), True),
        (ds.EqualTo(TABLES, 5.0), True),
        (ds.EqualTo(TABLES, 6), False),
        (ds.Not(ds.EqualTo(TABLES, 6)), True),
        (ds.GreaterThan(TABLES, 5), False),
        (ds.GreaterThanOrEqual(TABLES, 5), True),
        (ds.LessThan(TABLES, 5), False),
        (ds.LessThanOrEqual(TABLES, 5), True),
        (ds.In(TABLES, (1, 5)), True),
        (ds.Not(ds.In(TABLES, (1, 5))), False),
        (ds.StringStartsWith(PROTOCOL, "me"), True),
        (ds.StringEndsWith(PROTOCOL, "me"), False),
        (ds.StringContains(PROTOCOL, "erg"), True),
        (ds.IsNull(LOAD), True),
        (ds.IsNotNull(LOAD), False),
        (ds.EqualTo(LOAD, 1), False),
        (ds.Not(ds.EqualTo(LOAD, 1)), False),
        (ds.EqualNullSafe(LOAD, None), True),
        (ds.EqualNullSafe(TABLES, 5), True),
        (ds.Not(ds.EqualNullSafe(LOAD, 1)), True),
    ],
)
def test_a_filter_holds_as_in_sql(one, expected):
    assert can_decide(one, ROW)
    assert expected is matches(one, ROW)


def test_what_is_measured_cannot_be_decided_before_the_run():
    assert not can_decide(ds.GreaterThan(("success_rate",), 0.5), ROW)
    assert not can_decide(ds.Not(ds.IsNull(("success_rate",))), ROW)
