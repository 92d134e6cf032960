"""``endive measure``: an S3 server and a catalog of PyIceberg's, both real, both left as they were."""

import pytest
from tests.observation.conftest import real_table
from typer.testing import CliRunner

from endive.cli.main import app
from endive.config import parse_config, read_toml
from endive.storage import load_profile

pytestmark = pytest.mark.lengthy

__all__ = ["real_table"]


def invoke(*arguments: object):
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture(scope="module")
def s3():
    """moto's S3 server with one bucket."""
    server_module = pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    server = server_module.ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    keys = {"aws_access_key_id": "AKIATEST1234", "aws_secret_access_key": "hunter-22-abc", "region_name": "us-east-1"}
    client = boto3.client("s3", endpoint_url=endpoint, **keys)
    client.create_bucket(Bucket="measured")  # of its own: servers of one process share their buckets
    yield endpoint, client
    server.stop()


def options(endpoint: str) -> list[str]:
    given = {
        "endpoint": endpoint,
        "access_key_id": "AKIATEST1234",
        "secret_access_key": "hunter-22-abc",
        "region": "us-east-1",
    }
    return [part for key, value in given.items() for part in ("--property", f"{key}={value}")]


def test_an_s3_store_becomes_a_profile_without_a_credential_and_without_a_trace(s3, tmp_path):
    pytest.importorskip("obstore")
    endpoint, client = s3
    out = tmp_path / "mine.toml"

    result = invoke(
        "measure", "store", "s3://measured/x", *options(endpoint), "--max-requests", 600, "--yes", "--out", out
    )

    assert 0 == result.exit_code, result.output
    profile = load_profile(str(out))
    assert {"read", "write", "cas"} == {name for name in ("read", "write", "cas") if name in out.read_text()}
    assert "measured" == profile.vintage
    assert not [word for word in ("hunter-22-abc", "AKIATEST1234") if word in out.read_text() + result.output]
    assert "Contents" not in client.list_objects_v2(Bucket="measured")
    parse_config({"storage": {"provider": str(out)}})


def test_a_bucket_that_is_not_there_is_one_line_and_no_file(s3, tmp_path):
    pytest.importorskip("obstore")
    endpoint, _ = s3

    result = invoke("measure", "store", "s3://none/x", *options(endpoint), "--yes", "--out", tmp_path / "mine.toml")

    assert 2 == result.exit_code
    assert 1 == len([line for line in result.stderr.splitlines() if line.startswith("error:")])
    assert "Traceback" not in result.output
    assert not (tmp_path / "mine.toml").exists()


def test_an_address_that_is_none_is_one_line(tmp_path):
    pytest.importorskip("obstore")

    result = invoke("measure", "store", "nowhere://x", "--yes", "--out", tmp_path / "mine.toml")

    assert 2 == result.exit_code
    assert "'nowhere://x' is not a store that can be opened" in result.stderr


def test_a_catalog_is_measured_with_a_scratch_table_that_is_gone_afterwards(real_table, tmp_path):
    from pyiceberg.catalog import load_catalog

    out = tmp_path / "catalog.toml"
    scratch = ["--property", f"warehouse={tmp_path / 'scratch'}"]

    result = invoke("measure", "catalog", "real", *real_table.options, *scratch, "--yes", "--out", out)

    assert 0 == result.exit_code, result.output
    profile = read_toml(out)
    assert {"catalog", "measured"} == profile.keys()
    assert "service" == parse_config({"catalog": profile["catalog"]}).catalog.type
    catalog = load_catalog("real", **real_table.properties)
    assert [("db",)] == catalog.list_namespaces()
    assert [] == [path for path in (tmp_path / "scratch").rglob("*") if path.is_file()]
