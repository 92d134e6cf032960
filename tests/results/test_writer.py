"""A result file appears whole or not at all."""

import errno
import os
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from endive.errors import OutputError
from endive.results import TRANSACTION_SCHEMA, ResultWriter, columns_of, to_record_batch, writer
from endive.results import schema as s
from endive.results.writer import refuse_foreign_file

METADATA = {"endive.seed": "42", "endive.engine": "reference"}


@pytest.fixture
def batch(four_outcomes):
    return to_record_batch(columns_of(*four_outcomes), ("stream", "nightly"))


@pytest.fixture
def big_batch(make_row):
    """40,000 txns whose bytes do not compress, so that a row group fills Python's write buffer."""
    rows = np.repeat(make_row().reshape(1, -1), 40_000, axis=0)
    noise = np.arange(40_000, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    rows[:, s.ROW_FIELDS.index("bytes_read")] = noise.view(np.int64)
    return to_record_batch(columns_of(rows, np.zeros(40_000, np.int64)), ("stream",))


@pytest.fixture
def full_disk(monkeypatch):
    """Every file created from now on is backed by the kernel's full device."""
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")

    def create(path):
        path.symlink_to("/dev/full")
        return open(path, "wb")

    monkeypatch.setattr(writer, "_create", create)


def write(path, *batches) -> None:
    with ResultWriter(path) as result:
        result.start(METADATA)
        for batch in batches:
            result.write(batch)
        result.close()


def test_what_is_written_is_what_is_read_by_arrow_and_by_others(tmp_path, batch):
    write(tmp_path / "t.parquet", batch, batch)

    table = pq.read_table(tmp_path / "t.parquet")
    assert table.to_pylist() == batch.to_pylist() * 2
    assert table.schema.equals(TRANSACTION_SCHEMA)
    assert table.schema.field("end_ms").metadata[b"unit"] == b"ms"
    assert pq.read_schema(tmp_path / "t.parquet").metadata[b"endive.seed"] == b"42"
    assert pq.read_metadata(tmp_path / "t.parquet").metadata[b"endive.engine"] == b"reference"


def test_a_run_without_txns_is_a_file_without_rows(tmp_path):
    write(tmp_path / "t.parquet")

    assert pq.read_table(tmp_path / "t.parquet").num_rows == 0


def test_small_batches_are_gathered_into_large_row_groups(tmp_path, big_batch):
    write(tmp_path / "t.parquet", big_batch, *(big_batch.slice(i * 100, 100) for i in range(300)))

    file = pq.ParquetFile(tmp_path / "t.parquet").metadata
    assert [file.row_group(i).num_rows for i in range(file.num_row_groups)] == [65_536, 4_464]


def test_how_txns_were_batched_does_not_show_in_the_file(tmp_path, big_batch):
    write(tmp_path / "whole.parquet", big_batch, big_batch)
    write(tmp_path / "parts.parquet", *(big_batch.slice(i * 1_000, 1_000) for i in range(40)), big_batch)

    assert (tmp_path / "whole.parquet").read_bytes() == (tmp_path / "parts.parquet").read_bytes()


def test_nothing_is_under_the_final_name_before_close(tmp_path, big_batch):
    with ResultWriter(tmp_path / "t.parquet") as result:
        result.start(METADATA)
        result.write(big_batch)
        result.write(big_batch)
        (temporary,) = tmp_path.iterdir()
        assert temporary.name.startswith(".t.parquet.")
        result.close()

    assert [entry.name for entry in tmp_path.iterdir()] == ["t.parquet"]


def test_a_run_that_fails_leaves_no_trace_and_the_earlier_file_alone(tmp_path, batch):
    path = tmp_path / "t.parquet"
    for left in ([], [path]):
        result = ResultWriter(path)
        result.start(METADATA)
        result.write(batch)
        with pytest.raises(KeyboardInterrupt), result:
            raise KeyboardInterrupt
        assert list(tmp_path.iterdir()) == left
        write(path, batch)

    assert pq.read_table(path).num_rows == 4


def test_an_existing_file_is_replaced_by_one_with_the_permissions_of_any_new_file(tmp_path, batch):
    path = tmp_path / "t.parquet"
    path.write_text("not parquet")
    (tmp_path / "other").touch()
    write(path, batch)

    assert pq.read_table(path).num_rows == 4
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (".", "it is a folder; name a file in it."),
        ("pipe", "it exists and is not a regular file; choose another name."),
        ("missing/t.parquet", "the folder does not exist; create it first."),
        ("file/t.parquet", "a part of the path is a file, not a folder."),
    ],
)
def test_a_place_that_takes_no_file_is_refused_before_anything_runs(tmp_path, name, problem):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError) as caught:
        ResultWriter(tmp_path / name)

    assert str(caught.value) == f"Cannot write {tmp_path / name}: {problem}"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (errno.EACCES, "permission denied; choose a folder you may write to"),
        (errno.EROFS, "the file system is read-only; choose another folder"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_what_the_system_refuses_is_told_with_what_to_do(tmp_path, monkeypatch, code, text):
    def refuse(*_args, **_kwargs):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OutputError, match=text):
        ResultWriter(tmp_path / "t.parquet")


def test_a_disk_full_while_txns_arrive_is_told_and_leaves_no_trace(tmp_path, big_batch, full_disk):
    result = ResultWriter(tmp_path / "t.parquet")
    result.start(METADATA)
    result.write(big_batch)
    with pytest.raises(OutputError, match=r"t\.parquet: the disk is full; free some space or write elsewhere"):
        result.write(big_batch)

    assert list(tmp_path.iterdir()) == []


def test_a_disk_full_at_the_end_or_during_a_small_file_is_told_and_leaves_no_trace(tmp_path, batch, full_disk):
    with ResultWriter(tmp_path / "t.parquet") as result:
        result.start(METADATA)
        result.write(batch)
        with pytest.raises(OutputError, match="the disk is full"):
            result.close()
    with pytest.raises(OutputError, match="the disk is full"):
        writer.write_atomically(tmp_path / "summary.json", b"{}")

    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_result_is_not_replaced_unasked(tmp_path, batch):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"notes\.txt: it exists and is no result of Endive's\. Use --force"):
        refuse_foreign_file(tmp_path / "notes.txt")

    write(tmp_path / "t.parquet", batch)
    refuse_foreign_file(tmp_path / "t.parquet")
    refuse_foreign_file(tmp_path / "new.parquet")


def test_what_a_killed_run_left_of_a_file_is_removed_by_the_next(tmp_path, batch):
    left = tmp_path / ".t.parquet.1-dead.tmp"
    left.write_bytes(b"half")
    long_ago_s = time.time() - 60
    os.utime(left, (long_ago_s, long_ago_s))

    write(tmp_path / "t.parquet", batch)

    assert ["t.parquet"] == sorted(path.name for path in tmp_path.iterdir())
