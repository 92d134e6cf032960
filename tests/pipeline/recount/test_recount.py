"""Every figure derived from txns is the one the sweep wrote, and a wrong one is found."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.pipeline.swept import reseal_summaries

from endive.pipeline.analysis.open_dataset import open_dataset
from endive.pipeline.dataset.figure_columns import FIGURES
from endive.pipeline.recount.recount import BRACKETS, COUNTS, recount

pytestmark = pytest.mark.spark


def test_txns_give_every_figure_again_to_the_last_bit(spark, swept):
    found = recount(spark, open_dataset(swept))

    assert [] == [each for each in found if each.equal != each.values]
    studies = {study: {each.figure for each in found if each.study == study} for study in ("mixed", "sampled", "bare")}
    assert {*FIGURES, COUNTS, BRACKETS} == studies["mixed"] == studies["sampled"]
    assert {BRACKETS} == studies["bare"]
    values = {(each.study, each.figure): each.values for each in found}
    groups = pq.ParquetFile(swept / "groups/study=mixed/groups.parquet").read()
    assert values["mixed", "success_rate"] == 11 + groups.num_rows  # runs that ended, and their groups
    assert values["sampled", "success_rate"] == 3 * 3  # one seed of three points, by all, operation type and source


def changed(path, column, row, change):
    """Rewrite one value of a small file."""
    table = pq.ParquetFile(path).read()
    values = table[column].to_pylist()
    values[row] = change(values[row])
    place = table.column_names.index(column)
    pq.write_table(
        table.set_column(place, table.schema.field(place), pa.array(values, table.schema.types[place])), path
    )


def test_a_figure_that_differs_in_its_last_bit_is_found(spark, dataset):
    changed(dataset / "runs/study=mixed/runs.parquet", "commit_latency_p95_ms", 2, lambda value: value * (1 + 2**-52))
    reseal_summaries(dataset)

    found = [each for each in recount(spark, open_dataset(dataset)) if each.equal != each.values]

    assert [("mixed", "commit_latency_p95_ms", 1)] == [
        (each.study, each.figure, each.values - each.equal) for each in found
    ]
    run_id = pq.ParquetFile(dataset / "runs/study=mixed/runs.parquet").read()["run_id"][2].as_py()
    assert found[0].difference.startswith(f"{run_id} all all: ")


def test_a_percentile_outside_its_bin_is_found_without_txns(spark, dataset):
    changed(dataset / "runs/study=bare/runs.parquet", "total_latency_p50_ms", 0, lambda value: 10 * value)
    reseal_summaries(dataset)

    found = [each for each in recount(spark, open_dataset(dataset)) if each.equal != each.values]

    assert [("bare", BRACKETS, 1)] == [(each.study, each.figure, each.values - each.equal) for each in found]


def test_a_count_on_the_grid_that_is_one_too_high_is_found(spark, dataset):
    opened = open_dataset(dataset)  # which would not open the changed file
    path = sorted((dataset / "latencies/study=sampled").glob("*.parquet"))
    kept = set(
        pc.unique(
            pq.ParquetFile(sorted((dataset / "transactions/study=sampled").glob("*"))[0]).read()["run_id"]
        ).to_pylist()
    )
    for file in path:
        runs = pq.ParquetFile(file).read()["run_id"].to_pylist()
        if runs and runs[0] in kept:
            changed(file, "txns", 0, lambda value: value + 1)
            break

    found = {each.figure: each.values - each.equal for each in recount(spark, opened) if each.difference}

    assert 1 == found[COUNTS]
