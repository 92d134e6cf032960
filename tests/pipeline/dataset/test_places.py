"""Which place a name means, and what Spark calls it."""

from pathlib import Path

import pytest

from endive.errors import OutputError
from endive.pipeline.dataset import hdfs_path, store_path
from endive.pipeline.dataset.hdfs_path import HdfsPath
from endive.pipeline.dataset.places import place_of, spark_options, spark_path
from endive.pipeline.dataset.store_path import StorePath


@pytest.mark.parametrize("name", ["s3://lake/a/b", "s3a://lake/a/b/", Path("s3://lake/a/b"), "S3:/lake//a/b"])
def test_a_url_of_s3_is_a_prefix_of_a_bucket_however_it_is_written(name):
    assert StorePath("lake", "a/b") == place_of(name)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("gs://lake/a/b/", StorePath("lake", "a/b", "gs")),
        ("gcs://lake/a/b", StorePath("lake", "a/b", "gs")),
        ("abfss://lake@me.dfs.core.windows.net/a/b", StorePath("lake@me.dfs.core.windows.net", "a/b", "abfss")),
        (Path("abfs://lake@me.dfs.core.windows.net/a/b"), StorePath("lake@me.dfs.core.windows.net", "a/b", "abfss")),
    ],
)
def test_other_stores_are_known_under_the_names_that_spark_gives_them(name, place):
    found = place_of(name)

    assert place == found
    assert spark_path(found) == str(found)
    assert place_of(str(found / "x")) == found / "x"
    assert found == (found / "x").parent
    pytest.importorskip("obstore")
    assert type(store_path._store(f"{place.scheme}://{place.bucket}")).__name__ in ("GCSStore", "AzureStore")


def test_a_folder_of_hdfs_is_known_by_its_name_node_as_spark_knows_it(monkeypatch):
    place = place_of("hdfs://node:8020/a/b/")

    assert HdfsPath("node:8020", "a/b", "hdfs") == place
    assert "hdfs://node:8020/a/b/x" == spark_path(place / "x")
    assert place == place_of(str(place / "x")).parent


def test_hdfs_without_the_library_of_hadoop_says_what_is_missing(monkeypatch, tmp_path):
    def without_library(*arguments, **options):
        raise OSError("Unable to load libhdfs: libhdfs.so: cannot open shared object file")

    monkeypatch.setenv("ARROW_LIBHDFS_DIR", str(tmp_path))
    monkeypatch.setattr(hdfs_path, "provide_java", lambda: None)
    monkeypatch.setattr(hdfs_path.fs, "HadoopFileSystem", without_library)

    with pytest.raises(OutputError, match=r"^hdfs://node:1 is reached through Hadoop's libhdfs.so, and there is none"):
        place_of("hdfs://node:1/a").exists()


def test_a_folder_is_no_folder_of_the_file_system_that_a_cluster_takes_for_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert f"file://{tmp_path}/out" == spark_path(Path("out"))


def test_anything_else_is_a_folder():
    assert Path("out/a:b") == place_of("out/a:b")
    assert Path("/out/a") == place_of("file:///out/a") == place_of("file:/out/a")


@pytest.mark.parametrize(
    "url", ["ftp://bucket/out", "hdfs:///out", "dbfs:/out", "s3://", Path("s3://"), "abfss://container/out"]
)
def test_a_store_that_nobody_knows_is_refused(url):
    told = r"is no place for a dataset\. Name a folder .*hdfs://NAMENODE.* s3://BUCKET/PREFIX .*gs://"
    with pytest.raises(OutputError, match=told):
        place_of(url)


def test_spark_is_told_of_a_store_that_is_not_amazons(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:5000")

    place, address = StorePath("lake", "a"), {"fs.s3a.endpoint": "http://127.0.0.1:5000"}
    assert "s3a://lake/a" == spark_path(place)
    assert {**address, "fs.s3a.path.style.access": "true"} == spark_options(place)
    assert {} == spark_options(Path("out"))
