"""Which task counts which part, what travels, and what is said of a file that cannot be read."""

from __future__ import annotations

import pyarrow as pa
import pytest

from endive.errors import OutputError
from endive.pipeline.analysis.count_parts import Counting, count_task, part_rows
from endive.pipeline.analysis.count_rows import LATENCIES, OUTCOMES, ROW_SCHEMA, TIMELINE
from endive.pipeline.analysis.open_dataset import open_dataset


@pytest.mark.parametrize("cores", [1, 2, 64])
def test_every_run_that_ended_is_in_one_task_and_a_part_is_not_divided(swept, cores):
    found = open_dataset(swept)

    rows = part_rows(found, cores=cores).to_pylist()

    ended = {(row["study"], row["run_id"]) for row in found.runs.to_pylist() if row["status"] == "ok"}
    assert sorted(ended) == sorted((row["study"], row["run_id"]) for row in rows)
    parts = {(row["study"], row["part"]) for row in rows}
    assert len(parts) == len({(row["study"], row["part"], row["task"]) for row in rows})
    assert set(range(min(cores, len(parts)))) == {row["task"] for row in rows}


def test_counts_survive_the_way_into_common_rows_and_back():
    counts = pa.table(
        {
            "point": pa.array([0, 1], pa.int32()),
            "kind": ["fast_append", "merge_append"],
            "source": ["a", "b"],
            "latency": ["commit", "total"],
            "bin": [3, 4],
            "txns": [5, 6],
        }
    )

    rows = LATENCIES.rows("s", counts)

    assert rows.schema == ROW_SCHEMA
    assert counts.to_pylist() == LATENCIES.counts(rows).drop_columns(["study"]).to_pylist()
    assert [0, 0] == [kind.counts(rows).num_rows for kind in (TIMELINE, OUTCOMES)]


def test_counts_of_two_parts_are_added():
    counts = pa.table(
        {
            "point": pa.array([0], pa.int32()),
            **{name: ["x"] for name in LATENCIES.texts},
            "bin": [3],
            "txns": [5],
        }
    )
    rows = LATENCIES.rows("s", counts)

    assert [10] == LATENCIES.counts(pa.concat_tables([rows, rows]))["txns"].to_pylist()


@pytest.mark.parametrize("folder", ["transactions", "latencies"])
def test_a_page_that_was_damaged_after_the_check_is_named_by_the_worker(dataset, folder):
    tasks = part_rows(open_dataset(dataset), cores=1)
    path = sorted((dataset / folder / "study=mixed").glob("*.parquet"))[0]
    content = bytearray(path.read_bytes())
    content[40:400] = bytes(360)
    path.write_bytes(content)

    with pytest.raises(OutputError, match=rf"{path.name} is damaged and cannot be read .*Delete it and start the same"):
        list(count_task(Counting(str(dataset), 6), iter(tasks.to_batches())))
