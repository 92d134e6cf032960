"""A key of a store answers like a path of a disk."""

import pytest
from tests.pipeline.object_store import refusing_store, store

from endive.pipeline.dataset.store_path import StorePath

__all__ = ["refusing_store", "store"]


def test_names_are_those_of_a_path():
    path = StorePath("lake", "a/b") / "part-1.parquet"

    assert ("part-1.parquet", "part-1", ".parquet") == (path.name, path.stem, path.suffix)
    assert "s3://lake/a/b" == str(path.parent)
    assert "s3://lake" == str(StorePath("lake", ""))


def test_a_folder_is_there_when_something_lies_below_it(store):
    before = (store.exists(), store.is_dir(), store.is_file())
    (store / "a" / "one").write(b"1")

    assert (False, False, False) == before
    assert (True, True, False) == (store.exists(), store.is_dir(), store.is_file())
    assert not (store / "a" / "on").exists()  # the beginning of a name is not a folder


def test_what_lies_below_is_found_by_name_near_and_far(store):
    for name in ("a/one.json", "a/two.parquet", "b/one.json", "c.json"):
        (store / name).write(name.encode())

    def found(pattern):
        return [path.key.removeprefix("tests/out/") for path in store.glob(pattern)]

    assert ["a", "b", "c.json"] == sorted(found("*"))
    assert ["a/one.json", "b/one.json"] == found("**/one.*")
    assert ["a/one.json", "a/two.parquet", "b/one.json", "c.json"] == found("**/*")


def test_an_object_is_read_whole_by_size_and_from_the_middle(store):
    (store / "x").write(bytes(range(100)))

    with (store / "x").open() as stream:
        stream.seek(-3, 2)
        end = stream.read()

    assert 100 == (store / "x").stat().st_size
    assert bytes(range(100)) == (store / "x").read_bytes()
    assert bytes([97, 98, 99]) == end


def test_a_version_is_replaced_once(store):
    (store / "x").write_version(b"first", None)
    with pytest.raises(FileExistsError):
        (store / "x").write_version(b"also first", None)
    _, version = (store / "x").read_version()
    assert (store / "x").write_version(b"second", version) == (store / "x").read_version()[1]

    with pytest.raises(FileExistsError):
        (store / "x").write_version(b"also second", version)

    assert b"second" == (store / "x").read_bytes()


def test_what_is_gone_is_missing_and_taking_all_away_takes_only_what_lies_below(store):
    (store / "a" / "one").write(b"1")
    (store / "ab").write(b"2")
    (store / "a").remove_all()
    (store / "a" / "one").unlink(missing_ok=True)

    with pytest.raises(FileNotFoundError):
        (store / "a" / "one").unlink()
    with pytest.raises(FileNotFoundError):
        (store / "a" / "one").read_bytes()
    assert b"2" == (store / "ab").read_bytes()


def test_a_refusal_is_a_permission_error(refusing_store):
    for request in (refusing_store.stat, refusing_store.read_bytes, refusing_store.is_dir, refusing_store.remove_all):
        with pytest.raises(PermissionError):
            request()
    with pytest.raises(PermissionError):
        refusing_store.write(b"x")
