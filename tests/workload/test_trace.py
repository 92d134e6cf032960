"""What a trace file may hold, and how a bad one is refused: file, row, column, value, what to do."""

from __future__ import annotations

import tomllib
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from endive.errors import TraceError
from endive.workload import TraceLog, read_trace

KINDS = (
    "fast_append, merge_append, validated_overwrite, rewrite_files, rewrite_manifests, expire_snapshots, blind_append, "
    "append_after_read, merge, optimize"
)
REFUSED = tomllib.loads((Path(__file__).parent / "refused_traces.toml").read_text(encoding="utf-8"))


@pytest.fixture
def write(tmp_path: Path):
    def write(content: str) -> Path:
        path = tmp_path / "trace.csv"
        path.write_text(content, encoding="utf-8")
        return path

    return write


def refusal(path: Path, total_tables: int = 3) -> str:
    with pytest.raises(TraceError) as error:
        read_trace(path, total_tables=total_tables)
    return str(error.value).replace(str(path), "FILE")


def test_a_trace_of_submissions_alone_leaves_the_rest_to_be_drawn(write):
    log = read_trace(write("submit_ms\n0.0004\n0.0006\n0.0014\n1.5\n"), total_tables=1)

    nothing = (-1, -1, -1, -1)
    assert TraceLog(submit_us=(0, 1, 1, 1500), kinds=nothing, runtimes_us=nothing, tables=nothing) == log


def test_every_column_is_read_and_an_empty_cell_is_left_to_be_drawn(write):
    log = read_trace(
        write("table,runtime_ms,submit_ms,kind\n2,10.5,0,rewrite_files\n,,7, fast_append \n0,0,9,\n"), total_tables=3
    )

    expected = TraceLog(submit_us=(0, 7000, 9000), kinds=(3, 0, -1), runtimes_us=(10_500, -1, 0), tables=(2, -1, 0))
    assert expected == log


def test_parquet_says_the_same_as_csv(write, tmp_path):
    columns = {
        "submit_ms": [0.0, 7.25],
        "kind": ["merge_append", None],
        "runtime_ms": [None, 3.0],
        "table": pa.array([1, None], pa.int32()),
    }
    pq.write_table(pa.table(columns), tmp_path / "trace.parquet")
    csv = write("submit_ms,kind,runtime_ms,table\n0.0,merge_append,,1\n7.25,,3.0,\n")

    assert read_trace(csv, total_tables=2) == read_trace(tmp_path / "trace.parquet", total_tables=2)


@pytest.mark.parametrize(("content", "message"), REFUSED.items())
def test_a_bad_trace_is_refused(write, content, message):
    assert message.replace("KINDS", KINDS) == refusal(write(content))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("none.csv", None, "trace FILE does not exist. Check the path of the source's arrivals."),
        ("trace.json", None, "trace FILE ends in '.json'. Give a file that ends in .csv or .parquet."),
        ("trace.parquet", b"submit_ms\n1\n", "trace FILE cannot be read as Parquet: "),
        ("trace.csv", b"submit_ms\n\xff\n", "trace FILE cannot be read as CSV: "),
    ],
)
def test_a_file_that_holds_no_trace_is_refused(tmp_path, name, content, expected):
    if content is not None:
        (tmp_path / name).write_bytes(content)

    message = refusal(tmp_path / name)
    assert message == expected if content is None else message.startswith(expected)


@pytest.mark.parametrize("cell", [1.5, True])
def test_a_parquet_table_must_be_a_whole_number(tmp_path, cell):
    path = tmp_path / "trace.parquet"
    pq.write_table(pa.table({"submit_ms": [0], "table": [cell]}), path)

    assert (
        f"trace FILE, row 1, column table = {cell!r}. "
        "Give a whole number from 0 to 2; catalog.num_tables is 3. Or give names throughout." == refusal(path)
    )


def test_iso_times_iceberg_operations_and_table_names_are_taken_as_they_are(write):
    log = read_trace(
        write(
            "timestamp,operation,table,duration,attempts,outcome\n"
            "2026-03-01T12:00:00Z,append,db.events,210,1,committed\n"
            "2026-03-01T13:00:00.250+01:00,replace,db.orders,900,2,committed\n"
            "2026-03-01T12:00:01,overwrite,db.events,,,\n"
            "2026-03-01 12:00:02,delete,,,,\n"
        ),
        total_tables=2,
    )

    nothing = (-1, -1, -1, -1)
    expected = TraceLog(
        submit_us=(0, 250_000, 1_000_000, 2_000_000), kinds=(1, 3, 2, 2), runtimes_us=nothing, tables=(0, 1, 0, -1)
    )
    assert expected == log


def test_a_parquet_file_of_timestamps_says_the_same_as_iso_times(write, tmp_path):
    moments = [datetime(2026, 3, 1, 12, 0, 0, 250_000), datetime(2026, 3, 1, 12, 0, 1, 500_001)]
    pq.write_table(pa.table({"timestamp": moments, "table": ["a", "b"]}), tmp_path / "trace.parquet")
    csv = write("timestamp,table\n2026-03-01T12:00:00.250Z,a\n2026-03-01T12:00:01.500001Z,b\n")

    log = read_trace(csv, total_tables=2)

    assert (0, 1_250_001) == log.submit_us
    assert log == read_trace(tmp_path / "trace.parquet", total_tables=2)


def test_the_sources_of_one_file_keep_their_distance_in_time(write):
    path = write(
        "timestamp,source,table\n2026-03-01T12:00:00Z,a,x\n2026-03-01T12:00:03Z,b,y\n2026-03-01T12:00:04Z,b,x\n"
    )

    assert ((3_000_000, 4_000_000), (1, 0)) == (
        (log := read_trace(path, total_tables=2, source="b")).submit_us,
        log.tables,
    )


def test_a_source_that_the_file_does_not_name_is_refused(write):
    path = write("submit_ms,source\n0,a\n1,b\n")

    with pytest.raises(TraceError) as error:
        read_trace(path, total_tables=1, source="c")

    assert f"trace {path} has no row of source 'c'. Its sources are a, b." == str(error.value)
