"""Percentiles: NumPy's numbers, exactly."""

import numpy as np
import pytest

from endive.pipeline.analysis.latencies_from_txns import PERCENTILE_COLUMNS, exact_percentiles

pytestmark = pytest.mark.spark

LATENCIES = "study string, run_id string, kind string, source string, commit_us bigint, total_us bigint"


def numpy_percentiles(values):
    values = np.asarray(values, np.int64)
    return [float(x) / 1000.0 for x in (*np.percentile(values, (50, 95, 99)), *np.percentile(3 * values, (50, 95, 99)))]


def test_exact_percentiles_are_numpys_whatever_the_size_of_the_group(spark):
    sizes = (1, 2, 3, 20, 21, 101, 997)
    drawn = {count: np.random.default_rng(count).lognormal(12.0, 1.0, count).astype(np.int64) for count in sizes}

    rows = [
        ("s", f"r{count}", "fast_append", "a", int(value), 3 * int(value))
        for count, values in drawn.items()
        for value in values
    ]

    found = exact_percentiles(spark.createDataFrame(rows, LATENCIES)).where("scope = 'all'").toArrow().to_pylist()

    expected = {f"r{count}": numpy_percentiles(values) for count, values in drawn.items()}
    assert expected == {row["run_id"]: [row[name] for name in PERCENTILE_COLUMNS] for row in found}
