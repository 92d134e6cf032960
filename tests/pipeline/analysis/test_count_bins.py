"""Bins of counts: one per value below four, then two to an octave."""

from __future__ import annotations

import numpy as np

from endive.pipeline.analysis.txn_counts import (
    largest_count,
    place_of_count,
    place_of_count_sql,
    smallest_count,
)

NUMBERS = np.array([*range(100_000), 2**20 - 1, 2**20, 3 * 2**19 - 1, 3 * 2**19, 2**31 - 1, 2**31, 2**52 + 1])
ENDS = [end + step for power in range(2, 40) for end in (2**power, 3 * 2 ** (power - 1)) for step in (-1, 0)]


def expected(value):
    if value < 4:
        return value, value
    half = 1 << (value.bit_length() - 2)
    return value // half * half, value // half * half + half - 1


def test_counts_below_four_have_bins_of_their_own_and_octaves_above_have_two():
    low = smallest_count(place_of_count(NUMBERS))

    assert [expected(int(number)) for number in NUMBERS] == list(
        zip(low.tolist(), largest_count(low).tolist(), strict=True)
    )


def test_bins_are_numbered_one_after_another():
    places = place_of_count(NUMBERS[:100_000])

    assert list(range(int(places[-1]) + 1)) == sorted(set(places.tolist()))


def test_spark_finds_the_same_bins(spark):
    numbers = spark.createDataFrame([(int(number),) for number in [*NUMBERS[::97], *ENDS]], "number bigint")

    rows = numbers.selectExpr("number", f"{place_of_count_sql('number')} as place").toArrow()

    assert place_of_count(rows["number"].to_numpy()).tolist() == rows["place"].to_pylist()
