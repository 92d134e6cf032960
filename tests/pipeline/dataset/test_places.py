"""Which place a name means, and what Spark calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from endive.errors import OutputError
from endive.pipeline.dataset import store_path
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


def test_anything_else_is_a_folder():
    assert Path("out/a:b") == place_of("out/a:b")
    assert Path("/out/a") == place_of("file:///out/a") == place_of("file:/out/a")


@pytest.mark.parametrize("url", ["ftp://bucket/out", "hdfs://host:8020/out", "s3://", "abfss://container/out"])
def test_a_store_that_nobody_knows_is_refused(url):
    with pytest.raises(OutputError, match=r"is no place for a dataset\. Name a folder .* s3://BUCKET/PREFIX .* gs://"):
        place_of(url)


def test_spark_is_told_of_a_store_that_is_not_amazons(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:5000")

    assert "s3a://lake/a" == spark_path(StorePath("lake", "a"))
    assert {"fs.s3a.endpoint": "http://127.0.0.1:5000", "fs.s3a.path.style.access": "true"} == spark_options(
        StorePath("lake", "a")
    )
    assert {} == spark_options(Path("out"))
