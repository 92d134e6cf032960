"""Tallies that add up."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as sf

from endive.pipeline.analysis.open_dataset import open_dataset
from endive.pipeline.recount.recount import windowed_txns
from endive.pipeline.recount.tally import TALLY_SUMS, tallied
from endive.pipeline.recount.zero_columns import zero_columns

pytestmark = pytest.mark.spark


def test_columns_known_to_be_zero_need_not_be_read(spark, swept):
    dataset = open_dataset(swept)
    txns = windowed_txns(spark, dataset, dataset.run_frame(spark))
    zero = zero_columns(dataset)

    read, skipped = (
        tallied(txns, zero_or_none).groupBy().agg(*(sf.sum(name).alias(name) for name in TALLY_SUMS))
        for zero_or_none in ((), zero)
    )

    assert read.toArrow().to_pylist() == skipped.toArrow().to_pylist()
    assert len(zero) > 20
    assert {"append_physical_success", "requests_log_head"} <= zero
    assert not {"requests_catalog_read", "bytes_read", "false_conflicts"} & zero
