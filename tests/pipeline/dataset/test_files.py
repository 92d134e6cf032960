"""Places: what a name means, whole writes, and the words of a store in plain language."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from endive.errors import OutputError
from endive.pipeline.dataset import files
from endive.pipeline.dataset.files import Place, place_errors, place_of, spark_options, spark_path, store_errors


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("out", Place("", "out")),
        ("/data/out", Place("", "/data/out")),
        ("file:///data/out", Place("", "/data/out")),
        ("s3://lake/a/b/", Place("lake", "a/b", "s3")),
        ("s3a://lake/a", Place("lake", "a", "s3")),
        ("s3:/lake/a", Place("lake", "a", "s3")),  # a Path has lost the second slash
        ("gcs://lake/a", Place("lake", "a", "gs")),
        ("abfs://c@a.dfs.core.windows.net/x", Place("c@a.dfs.core.windows.net", "x", "abfss")),
        ("hdfs://node:9000/x/y", Place("node:9000", "x/y", "hdfs")),
        ("hdfs:///x/y", Place("", "x/y", "hdfs")),
    ],
)
def test_a_name_means_a_place(name, place):
    assert place == place_of(name) == place_of(place)


@pytest.mark.parametrize("name", ["ftp://host/x", "dbfs:/x", "abfss://account/x", "s3://"])
def test_a_name_of_no_known_kind_is_refused(name):
    with pytest.raises(OutputError, match="is no place for a dataset"):
        place_of(name)


def test_names_are_joined_and_taken_apart_as_those_of_a_path(tmp_path):
    for place in (place_of(tmp_path), place_of("s3://lake/a")):
        below = place / "b" / "c.txt"
        assert ("c.txt", "c", f"{place}/b/c.txt", place / "b") == (below.name, below.stem, str(below), below.parent)


def test_a_folder_is_asked_and_changed(tmp_path):
    root = place_of(tmp_path)
    folder = root / "x" / "y"
    assert not folder.exists()

    folder.mkdir()
    (folder / "a.txt").write(b"one")
    (folder / "b.bin").write(b"two")

    assert (True, False, True) == (folder.is_dir(), folder.is_file(), (folder / "a.txt").is_file())
    assert ["a.txt"] == [place.name for place in folder.children("*.txt")]
    assert {folder / "a.txt": 3, folder / "b.bin": 3} == root.sizes()
    assert b"one" == (folder / "a.txt").read_bytes() == (folder / "a.txt").read_bytes(3)
    with pytest.raises(ValueError, match="more than 2 bytes"):
        (folder / "a.txt").read_bytes(2)
    (folder / "a.txt").unlink()
    (folder / "a.txt").unlink()
    (root / "x").remove_tree()
    assert {} == root.sizes()


def test_spark_names_a_folder_by_its_scheme_and_a_bucket_by_its_connector(monkeypatch):
    for name in files.ENDPOINT_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert "file:///data/out" == spark_path(place_of("/data/out"))
    assert "s3a://lake/out" == spark_path(place_of("s3://lake/out"))
    assert {} == spark_options(place_of("s3://lake/out"))
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert "http://127.0.0.1:9" == spark_options(place_of("s3://lake/out"))["fs.s3a.endpoint"]
    assert {} == spark_options(place_of("/data/out"))


@pytest.mark.parametrize(
    ("error", "number"),
    [
        (OSError("When testing: AWS Error ACCESS_DENIED during HeadObject: secret=hunter"), errno.EACCES),
        (PermissionError("403"), errno.EACCES),
        (OSError("When testing: AWS Error NETWORK_CONNECTION during HeadObject"), errno.EIO),
    ],
)
def test_what_a_store_says_is_said_as_a_disk_would_say_it(error, number):
    with (
        pytest.raises(OSError, match=r"permission denied|the store says") as told,
        store_errors(place_of("s3://lake/out")),
    ):
        raise error
    assert (number, "s3://lake/out") == (told.value.errno, told.value.filename)


def test_an_error_of_a_place_is_one_line_that_says_what_to_do(tmp_path):
    place = place_of("s3://lake/out")
    message = r"^Cannot write s3://lake/out: the store says: .*NETWORK.*\.$"
    with pytest.raises(OutputError, match=message), place_errors(place), store_errors(place):
        raise OSError("AWS Error NETWORK_CONNECTION")
    with pytest.raises(OutputError, match="the disk is full"), place_errors(place_of(tmp_path)):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_temporary_files_of_dead_processes_are_removed(tmp_path):
    import os

    for name in (".a.1-ab.tmp", "deep/.b.1-ab.tmp", "kept.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
        os.utime(tmp_path / name, (0, 0))

    files.remove_abandoned(place_of(tmp_path))

    assert ["kept.parquet"] == [path.name for path in Path(tmp_path).rglob("*") if path.is_file()]
