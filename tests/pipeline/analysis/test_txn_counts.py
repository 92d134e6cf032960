"""Which txns count, the first instant of the window and not the one after its last; and the bins of their counts."""

import numpy as np
import pyarrow as pa
import pytest

from endive.pipeline.analysis.txn_counts import place_of_count_sql, with_window
from endive.tables.run_counts import largest_count, place_of_count, run_windows, smallest_count

TXNS = (
    "study string, run_id string, status string, submit_ms double, end_ms double, reason string, in_flight_stage string"
)
ROWS = [
    ("committed", 2_000.0, 2_000.001),  # submitted too early by a microsecond; committed in time
    ("committed", 2_000.001, 8_000.0),  # submitted in time; committed too late by a microsecond
    ("aborted", 7_999.999, 7_999.999),
    ("committed", 8_000.0, 8_000.0),
    ("in_flight", 5_000.0, None),
]
EXPECTED = [(False, True), (True, False), (True, False), (False, False), (True, False)]


@pytest.fixture
def txns(spark):
    return spark.createDataFrame([("s", "r", *row, None, None) for row in ROWS], TXNS)


def told(frame):
    rows = frame.toArrow().to_pylist()
    rows.sort(key=lambda row: ROWS.index((row["status"], row["submit_ms"], row["end_ms"])))
    return [(row["in_window"], row["is_commit_in_window"]) for row in rows]


def windows(spark, **run):
    usual = {"study": "s", "run_id": "r", "point": 0, "seed": 1, "status": "ok", "duration_ms": 10_000.0}
    row = {**usual, "window_start_ms": 2_000.001, "window_end_ms": 8_000.0, **run}
    return spark.createDataFrame(run_windows(pa.Table.from_pylist([row])))


def test_the_window_is_half_open_to_the_microsecond(spark, txns):
    assert EXPECTED == told(txns.transform(with_window, windows(spark)))


@pytest.mark.parametrize("run", [{"status": "failed"}, {"study": "other"}])
def test_txns_of_runs_that_failed_or_are_not_known_are_left_out(spark, txns, run):
    assert [] == told(txns.transform(with_window, windows(spark, **run)))


NUMBERS = np.array([*range(100_000), 2**20 - 1, 2**20, 3 * 2**19 - 1, 3 * 2**19, 2**31 - 1, 2**31, 2**52 + 1])
ENDS = [end + step for power in range(2, 40) for end in (2**power, 3 * 2 ** (power - 1)) for step in (-1, 0)]


def expected(value):
    if value < 4:
        return value, value
    half = 1 << (value.bit_length() - 2)
    return value // half * half, value // half * half + half - 1


def test_counts_below_four_have_bins_of_their_own_and_octaves_above_have_two():
    low = smallest_count(place_of_count(NUMBERS))

    found = list(zip(low.tolist(), largest_count(low).tolist(), strict=True))
    assert [expected(int(number)) for number in NUMBERS] == found
    places = place_of_count(NUMBERS[:100_000])  # bins are numbered one after another
    assert list(range(int(places[-1]) + 1)) == sorted(set(places.tolist()))


def test_spark_finds_the_same_bins(spark):
    numbers = spark.createDataFrame([(int(number),) for number in [*NUMBERS[::97], *ENDS]], "number bigint")

    rows = numbers.selectExpr("number", f"{place_of_count_sql('number')} as place").toArrow()

    assert place_of_count(rows["number"].to_numpy()).tolist() == rows["place"].to_pylist()
