"""Real tables, written by PyIceberg, read through its catalogs and by their metadata files."""

import hashlib

import pytest

from endive.errors import ObservationError
from endive.observation.tables.catalogs import open_catalog, read_metadata_file, read_table, table_names
from endive.observation.tables.io_properties import guard_properties, unguarded_properties

pytest.importorskip("pyiceberg")


def contents(folder) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def refusal(call) -> str:
    with pytest.raises(ObservationError) as error:
        call()
    return str(error.value)


def test_a_table_is_read_with_its_writers_and_manifests_and_nothing_of_it_changes(real_table):
    before = contents(real_table.folder)

    opened = open_catalog("real", real_table.properties)
    history = read_table(opened, "db.events")
    opened.catalog.engine.dispose()

    # The last one is two snapshots of one commit, a delete and an append (``Transaction.overwrite``).
    assert ["append"] * 6 + ["overwrite", "overwrite"] == [commit.operation for commit in history.commits]
    assert {"pyiceberg-job0", "pyiceberg-job1", "pyiceberg"} == {commit.writer for commit in history.commits}
    assert [1, 2, 3, 4, 5, 6] == [commit.manifests for commit in history.commits[:6]]
    assert ("sql", "file", 2) == (history.catalog_kind, history.location, history.shape.format_version)
    assert before == contents(real_table.folder)


def test_the_metadata_file_says_the_same_as_the_catalog(real_table):
    history = read_table(open_catalog("real", real_table.properties), "db.events")

    assert history.commits == read_metadata_file(real_table.metadata_location, {}).commits


def test_a_namespace_and_a_catalog_name_all_their_tables(real_table):
    opened = open_catalog("real", real_table.properties)

    assert sorted(table_names(opened, "db")) == sorted(table_names(opened, None)) == ["db.empty", "db.events"]


def test_a_table_that_is_not_there_is_refused_with_names_near_it(real_table):
    opened = open_catalog("real", real_table.properties)

    expected = "catalog 'real' has no table or namespace 'db.event'. Near it: db.events"
    assert refusal(lambda: table_names(opened, "db.event")).startswith(expected)


def test_a_catalog_that_is_not_configured_is_refused_with_names_near_it(monkeypatch):
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", "sqlite://")

    text = refusal(lambda: open_catalog("lakes", {}))

    assert text.startswith("no catalog is called 'lakes'. Did you mean 'lake'? PyIceberg's configuration")


def test_a_metadata_file_that_is_not_there_is_refused_with_the_name_beside_it(real_table):
    wrong = real_table.metadata_location.replace(".metadata.json", ".metadata.jso")

    assert f"Did you mean '{real_table.metadata_location}'?" in refusal(lambda: read_metadata_file(wrong, {}))


def test_no_credential_is_in_the_message_of_a_catalog_that_refuses():
    properties = {"type": "rest", "uri": "http://bob:hunter22@127.0.0.1:9/", "token": "tok-secret-9"}

    text = refusal(lambda: open_catalog("far", properties))

    assert text.startswith("catalog 'far' cannot be read: ")
    assert not [word for word in ("hunter22", "tok-secret-9", "bob") if word in text]


def test_the_partitions_that_hold_files_are_counted(tmp_path):
    import pyarrow as pa
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("real", uri=f"sqlite:///{tmp_path / 'catalog.db'}", warehouse=str(tmp_path / "files"))
    catalog.create_namespace("db")
    rows = pa.table({"day": ["mon", "tue", "tue", "wed"], "id": [1, 2, 3, 4]})
    table = catalog.create_table("db.days", rows.schema)
    with table.update_spec() as change:
        change.add_identity("day")
    table.append(rows)
    table.append(rows)
    table.delete("day = 'wed'")

    history = read_table(
        open_catalog("real", {"type": "sql", "uri": f"sqlite:///{tmp_path / 'catalog.db'}"}), "db.days"
    )
    catalog.engine.dispose()

    assert (2, 4) == (history.shape.partitions, history.shape.data_files)
    assert [3, 3, 1] == [commit.changed_partitions for commit in history.commits]


@pytest.mark.lengthy
def test_a_table_of_glue_is_read_from_its_catalog_and_its_store(monkeypatch):
    """moto answers for Glue and S3."""
    server_module = pytest.importorskip("moto.server")
    glue = pytest.importorskip("pyiceberg.catalog.glue")
    import boto3
    import pyarrow as pa

    for key, value in {"ACCESS_KEY_ID": "local", "SECRET_ACCESS_KEY": "local", "DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(f"AWS_{key}", value)
    server = server_module.ThreadedMotoServer(port=0, verbose=False)
    server.start()
    try:
        place = f"http://127.0.0.1:{server.get_host_and_port()[1]}"
        boto3.client("s3", endpoint_url=place).create_bucket(Bucket="lake")
        keys = {"s3.endpoint": place, "s3.region": "us-east-1", "warehouse": "s3://lake/w", "glue.endpoint": place}
        catalog = glue.GlueCatalog("cloud", **keys, **{"glue.region": "us-east-1"})
        catalog.create_namespace("db")
        rows = pa.table({"id": [1, 2, 3]})
        table = catalog.create_table("db.events", rows.schema)
        for _ in range(3):
            table.append(rows)

        opened = open_catalog("cloud", {"type": "glue", "glue.region": "us-east-1", **keys})
        history = read_table(opened, "db.events")
    finally:
        server.stop()

    assert ("glue", "s3", ["append"] * 3) == (
        history.catalog_kind,
        history.location,
        [commit.operation for commit in history.commits],
    )
    assert [1, 2, 3] == [commit.manifests for commit in history.commits]


@pytest.mark.parametrize(
    ("given", "region"),
    [
        ({"s3.endpoint": "http://127.0.0.1:9000"}, "us-east-1"),
        ({"s3.endpoint": "http://127.0.0.1:9000", "s3.region": "here"}, "here"),
        ({"s3.endpoint": "http://127.0.0.1:9000", "client.region": "there"}, None),
        ({}, None),
    ],
)
def test_amazon_is_not_asked_for_the_region_of_a_bucket_that_lies_elsewhere(monkeypatch, given, region):
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)

    assert region == unguarded_properties(guard_properties(given)).get("s3.region")
