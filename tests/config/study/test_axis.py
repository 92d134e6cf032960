"""The values of one axis, in every way they may be written."""

import pytest

from endive.config.study.axis import key_problem, leaves, read_axis
from endive.errors import ConfigError


def values(item: object) -> list[object]:
    return list(read_axis("a.b", item, "axes").values)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ([3, 1, 2], [3, 1, 2]),
        ({"range": [10, 50, 10]}, [10, 20, 30, 40, 50]),
        ({"range": [10, 45, 10]}, [10, 20, 30, 40]),
        ({"range": [0.1, 0.5, 0.1]}, [0.1, 0.2, 0.3, 0.4, 0.5]),
        ({"range": [5, 1, -2]}, [5, 3, 1]),
        ({"range": [1, 2, 0.25], "whole": True}, [1, 2]),
        ({"log": [10, 1000, 3]}, [10, 100, 1000]),
        ({"log": [1000, 10, 3]}, [1000, 100, 10]),
        ({"log": [1, 50, 4]}, [1.0, 3.68403, 13.5721, 50.0]),
        ({"log": [1, 50, 4], "whole": True}, [1, 4, 14, 50]),
        ({"log": [1, 3, 6], "whole": True}, [1, 2, 3]),
    ],
)
def test_values(item, expected):
    found = values(item)

    assert (expected, [type(value) for value in expected]) == (found, [type(value) for value in found])


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        ([], "has no values, so the grid would be empty"),
        (5, "must be a list, {range = [start, stop, step]} or {log = [start, stop, count]}"),
        ({"range": [1, 5]}, "range = [1, 5] must be [start, stop, step], three numbers"),
        ({"range": [1, 5, 0]}, "never reaches 5"),
        ({"range": [1, 5, -1]}, "never reaches 5"),
        ({"range": [1, 5, "x"]}, "three numbers"),
        ({"range": [0, 1, 1e-9]}, "values; 100,000 are allowed"),
        ({"log": [0, 5, 3]}, "needs two different ends above 0"),
        ({"log": [5e-324, 1, 3]}, "needs two different ends above 0, at least 1e-12"),
        ({"range": [0, 1, 5e-324]}, "needs a step of at least 1e-12"),
        ({"log": [5, 5, 3]}, "needs two different ends above 0"),
        ({"log": [1, 5, 1]}, "needs a count from 2 to 100,000"),
        ({"log": [1, 5, 2.5]}, "needs a count from 2 to 100,000"),
        ({"log": [1, 5, 3], "range": [1, 5, 1]}, "gives both range and log"),
        ({"log": [1, 5, 3], "whole": 1}, "whole = 1 must be true or false"),
    ],
)
def test_values_that_cannot_be_used_are_refused(item, problem):
    with pytest.raises(ConfigError) as caught:
        values(item)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("key", "item", "expected"),
    [
        ("source.merge.arrivals.period_ms", ["30s", "1h30min", 5], [30_000.0, 5_400_000.0, 5]),
        ("source.merge.runtime.ms", ["2min"], [120_000.0]),
        ("source.merge.runtime.ms", ["fast"], ["fast"]),
        ("storage.provider", ["5s"], ["5s"]),
    ],
)
def test_an_axis_of_durations_is_one_of_numbers(key, item, expected):
    assert expected == list(read_axis(key, item, "axes").values)


def test_dots_may_be_in_quotes_or_tomls_own():
    table = {
        "catalog": {"num_tables": [1, 2], "partitions": {"num_partitions": {"range": [1, 3, 1]}}},
        "transaction.retry": [4],
        "source": {"my writers": {"retry": [1]}},
        "load": {"log": [1, 10, 2]},
    }

    assert dict(leaves(table)) == {
        "catalog.num_tables": [1, 2],
        "catalog.partitions.num_partitions": {"range": [1, 3, 1]},
        "transaction.retry": [4],
        'source."my writers".retry': [1],
        "load": {"log": [1, 10, 2]},
    }


def test_what_a_quoted_key_holds_is_its_value_also_if_it_is_a_table():
    assert dict(leaves({"transaction.runtime": {"mean": 5}})) == {"transaction.runtime": {"mean": 5}}


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("catalog.num_tables", None),
        ("source.writers.retry", None),
        ('source."my writers".arrivals.clients', None),
        ("transaction.inter_arrival.scale", None),
        ("source.streams.trigger_interval_ms", None),
        (
            "source.streams.trigger_intervals",
            "axes: 'source.streams.trigger_intervals' is not a key of a configuration. "
            "'endive config schema' lists them.",
        ),
        (
            "catalog.num_table",
            "axes: 'catalog.num_table' is not a key of a configuration. Did you mean 'catalog.num_tables'?",
        ),
        (
            "simulation.seed",
            "axes: 'simulation.seed' cannot be set here: repetitions are set by seeds = .. (a count or a list).",
        ),
        ("a b", "axes: 'a b' is not a key. Write names joined by dots, as in catalog.num_tables."),
    ],
)
def test_a_key_is_known_or_there_is_a_reason(key, problem):
    assert problem == key_problem(key, "axes")
