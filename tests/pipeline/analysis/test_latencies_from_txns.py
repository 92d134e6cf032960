"""Percentiles: NumPy's numbers, exactly."""

import numpy as np
import pytest

from endive.pipeline.analysis.latencies_from_txns import PERCENTILE_COLUMNS, exact_percentiles

pytestmark = pytest.mark.spark

LATENCIES = "study string, run_id string, kind string, source string, commit_us bigint, total_us bigint"


def latencies(spark, groups):
    """``{(run_id, kind, source): commit latencies}``; total latency is three times as long."""
    rows = [("s", *group, int(value), 3 * int(value)) for group, values in groups.items() for value in values]
    return spark.createDataFrame(rows, LATENCIES)


def by_group(frame):
    return {
        (row["run_id"], row["scope"], row["name"]): [row[name] for name in PERCENTILE_COLUMNS]
        for row in frame.toArrow().to_pylist()
    }


def numpy_percentiles(values):
    values = np.asarray(values, np.int64)
    return [float(x) / 1000.0 for x in (*np.percentile(values, (50, 95, 99)), *np.percentile(3 * values, (50, 95, 99)))]


def test_exact_percentiles_are_numpys_whatever_the_size_of_the_group(spark):
    sizes = (1, 2, 3, 20, 21, 101, 997)
    drawn = {count: np.random.default_rng(count).lognormal(12.0, 1.0, count).astype(np.int64) for count in sizes}

    groups = {(f"r{count}", "fast_append", "a"): values for count, values in drawn.items()}
    found = by_group(exact_percentiles(latencies(spark, groups)))

    expected = {count: numpy_percentiles(values) for count, values in drawn.items()}
    assert expected == {count: found[f"r{count}", "all", "all"] for count in sizes}


def test_each_run_operation_type_and_source_has_its_own(spark):
    groups = {
        ("r", "fast_append", "a"): range(1, 100),
        ("r", "fast_append", "b"): range(1000, 1300, 3),
        ("r", "merge_append", "a"): range(50, 5000, 7),
        ("other", "fast_append", "a"): [5],
    }
    of_run = {group: values for group, values in groups.items() if group[0] == "r"}

    found = by_group(exact_percentiles(latencies(spark, groups)))

    def joined(place, name):
        return [value for group, values in of_run.items() if name in ("all", group[place]) for value in values]

    expected = {("r", "all", "all"): numpy_percentiles(joined(0, "all"))}
    expected |= {
        ("r", "operation", kind): numpy_percentiles(joined(1, kind)) for kind in ("fast_append", "merge_append")
    }
    expected |= {("r", "source", source): numpy_percentiles(joined(2, source)) for source in ("a", "b")}
    alone = numpy_percentiles([5])
    others = (("all", "all"), ("operation", "fast_append"), ("source", "a"))
    assert {**expected, **{("other", *group): alone for group in others}} == found
