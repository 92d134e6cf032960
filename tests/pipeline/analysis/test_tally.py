"""Bins of counts, and tallies that add up."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as sf

from endive.pipeline.analysis.frames import Frames
from endive.pipeline.analysis.open_dataset import open_dataset
from endive.pipeline.analysis.tally import TALLY_SUMS, bin_high, bin_low, tallied
from endive.pipeline.recount.zero_columns import zero_columns

pytestmark = pytest.mark.spark


def test_counts_below_four_have_bins_of_their_own_and_octaves_above_have_two(spark):
    numbers = [*range(33), 2**20 - 1, 2**20, 3 * 2**19 - 1, 3 * 2**19, 2**31, 2**31 - 1]
    rows = spark.createDataFrame([(number,) for number in numbers], "value bigint")

    found = rows.select("value", bin_low(sf.col("value")).alias("low")).withColumn("high", bin_high(sf.col("low")))

    def expected(value):
        if value < 4:
            return value, value
        half = 1 << (value.bit_length() - 2)
        return value // half * half, value // half * half + half - 1

    assert {number: expected(number) for number in numbers} == {
        row["value"]: (row["low"], row["high"]) for row in found.toArrow().to_pylist()
    }


def test_every_number_lies_in_its_bin(spark):
    found = spark.range(0, 100_000).select("id", bin_low(sf.col("id")).alias("low"))
    wrong = found.where((sf.col("id") < sf.col("low")) | (sf.col("id") > bin_high(sf.col("low"))))
    assert 0 == wrong.count()


def test_columns_known_to_be_zero_need_not_be_read(spark, swept):
    dataset = open_dataset(swept)
    frames = Frames(spark, dataset, bins=1, objectives={})
    zero = zero_columns(dataset)

    read, skipped = (
        tallied(frames.txns, TALLY_SUMS, zero_or_none).groupBy().agg(*(sf.sum(name).alias(name) for name in TALLY_SUMS))
        for zero_or_none in ((), zero)
    )

    assert read.toArrow().to_pylist() == skipped.toArrow().to_pylist()
    assert len(zero) > 20
    assert {"append_physical_success", "requests_log_read"} <= zero
    assert not {"requests_catalog_read", "bytes_read", "false_conflicts"} & zero
