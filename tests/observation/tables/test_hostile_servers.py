"""A stranger's server: a REST catalog or an object store that answers without end, drop by drop, or from elsewhere."""

import json
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.intake.servers import DRIPPING, ENDLESS, REDIRECTING, serving
from typer.testing import CliRunner

from endive.cli.main import app
from endive.errors import IntakeError, ObservationError
from endive.observation.measurement.store_guard import keep_to_its_hosts, refuse_without_credentials
from endive.observation.tables.allowed_places import parse_places
from endive.observation.tables.catalogs import open_catalog, read_metadata_file, read_table, table_names
from endive.observation.tables.io_properties import GUARDED, IMPLEMENTATION

pytest.importorskip("pyiceberg")
pytest.importorskip("obstore")

SECONDS = 0.2  # for a server that never ends; others are given what a busy machine takes
WALL_S_MAX = 60.0  # of a machine that may be busy: a server that drips would hold us for ever


@pytest.fixture(autouse=True)
def little(monkeypatch):
    monkeypatch.setattr("endive.observation.tables.rest_catalog.FILE_BYTES_MAX", 1_000_000)
    monkeypatch.setattr("endive.observation.tables.catalogs.BYTES_MAX", 1_000_000)


def refusal(call) -> str:
    begin_s = time.monotonic()
    with pytest.raises(ObservationError) as error:
        call()
    assert WALL_S_MAX > time.monotonic() - begin_s
    return str(error.value)


def catalog_at(uri: str, **more):
    seconds_max = SECONDS if uri.endswith(DRIPPING) else WALL_S_MAX
    return open_catalog("far", {"type": "rest", "uri": uri, **more}, seconds_max=seconds_max)


# ---- catalogs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (ENDLESS, "catalog 'far': the server 127.0.0.1 answers more than 1,000,000 bytes; so much is not read."),
        (DRIPPING, "catalog 'far': the server 127.0.0.1 gave no complete answer within 0.2 s."),
    ],
)
def test_a_catalog_that_does_not_end_is_given_up(path, told):
    with serving() as (address, _):
        assert told == refusal(lambda: catalog_at(address + path))


def test_a_catalog_that_redirects_elsewhere_is_not_followed():
    with serving(answers={"*": b"{}"}) as (other, asked), serving(elsewhere=f"{other}/v1/config") as (address, _):
        told = refusal(lambda: catalog_at(address + REDIRECTING))

    assert "catalog 'far': the server 127.0.0.1 leads elsewhere: the server sends on to " in told
    assert [] == asked


def config_with(overrides: dict[str, object], section: str = "overrides") -> bytes:
    return json.dumps({"defaults": {}, "overrides": {}} | {section: overrides}).encode()


FORBIDDEN = {
    "auth": {"type": "custom", "impl": "subprocess.Popen", "custom": {"args": ["touch", "PWNED"]}},
    "uri": "http://127.0.0.1:1/",
    "oauth2-server-uri": "http://127.0.0.1:1/",
    "credential": "a:b",
    "token": "t",
    "header.Authorization": "Bearer t",
    "ssl": {"cabundle": False},
    "ssl.cabundle": "false",
    "rest.sigv4-enabled": "true",
    "rest.signing-name": "execute-api",
    "py-io-impl": "antigravity.Fly",
    "py-catalog-impl": "antigravity.Fly",
}


@pytest.mark.parametrize("section", ["defaults", "overrides"])
@pytest.mark.parametrize("key", FORBIDDEN)
@pytest.mark.parametrize("command", ["observe", "measure"])
def test_a_servers_configuration_runs_no_code_and_sends_no_secret(key, section, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AWS_SESSION_TOKEN", "session-token")
    with serving(answers={"*": b'{"access_token": "t", "token_type": "bearer"}'}) as (other, asked_elsewhere):
        value = other if "uri" in key else FORBIDDEN[key]
        token = b'{"access_token": "t", "token_type": "bearer"}'
        answers = {"/v1/config": config_with({key: value}, section), "/v1/oauth/tokens": token}
        with serving(answers=answers) as (address, asked):
            given = ["type=rest", f"uri={address}", "credential=id:client-secret", "s3.session-token=session-token"]
            given = [option for option in given if not option.startswith(f"{key}=") or key == "uri"]
            options = [part for each in given for part in ("--property", each)]
            start = (
                ["observe", "db.t", "--catalog", "x"] if command == "observe" else ["measure", "catalog", "x", "--yes"]
            )
            answer = CliRunner().invoke(app, [*start, *options])

    assert 2 == answer.exit_code
    assert f"its server sets '{key}', which only you may set." in " ".join(answer.stderr.split())
    assert [] == asked_elsewhere
    assert {"/v1/oauth/tokens", "/v1/config"} >= set(asked)
    assert [] == list(tmp_path.iterdir())


def test_a_server_may_say_how_its_paths_are_formed_and_repeat_the_users_own_address():
    answers = {"/v1/config": b""}
    with serving(answers=answers) as (address, _):
        told = {"prefix": "team", "warehouse": "w", "uri": f"{address}/", "s3.region": "eu-west-1", "made.up": "x"}
        answers["/v1/config"] = config_with(told)
        opened = catalog_at(address, warehouse="mine")

    properties = opened.catalog.properties
    assert {"prefix": "team", "warehouse": "w", "s3.region": "eu-west-1"} == {
        key: properties[key] for key in ("prefix", "warehouse", "s3.region")
    }
    assert address == properties["uri"]
    assert "made.up" not in properties


@pytest.mark.parametrize("section", ["defaults", "overrides"])
def test_what_no_list_names_is_not_taken_from_a_server(section):
    """A key that nobody has forbidden either, such as one of a later release of the client."""
    with serving(answers={"/v1/config": config_with({"made.up": "x", "s3.role-arn": "y"}, section)}) as (address, _):
        opened = catalog_at(address)

    assert {"made.up", "s3.role-arn"}.isdisjoint(opened.catalog.properties)


@pytest.mark.parametrize("key", ["s3.region", "adls.account-name"])
def test_a_name_that_becomes_part_of_a_host_is_a_name(key):
    with serving(answers={"/v1/config": config_with({key: "x.elsewhere.example/"})}) as (address, _):
        assert f"sets {key} to 'x.elsewhere.example/'" in refusal(lambda: catalog_at(address))


def test_neither_a_server_nor_a_table_chooses_which_code_is_imported():
    with serving(answers={"/v1/config": config_with({})}) as (address, _):
        opened = catalog_at(address)

    told = {
        IMPLEMENTATION: "antigravity.Fly",
        "s3.retry-strategy-impl": "antigravity.Fly",
        "auth.manager": "antigravity",
    }
    files = opened.catalog._load_file_io(told, "/tables/t")

    assert GUARDED == opened.catalog.properties[IMPLEMENTATION]
    assert "GuardedFileIO" == type(files).__name__
    assert not set(told.values()) & set(map(str, files.properties.values()))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("s3.endpoint", "http://elsewhere.example:9000/"),
        ("s3.endpoint", "elsewhere.example:9000"),
        ("s3.proxy-uri", "http://elsewhere.example:9000"),
        ("s3.endpoint", "https://ec2-1-2-3-4.us-west-2.compute.amazonaws.com:9000"),
        ("s3.endpoint", "https://abc.execute-api.us-west-2.amazonaws.com:443"),
        ("s3.endpoint", "http://s3.us-west-2.amazonaws.com:80"),
        ("s3.endpoint", "https://elsewhere.example:443#.s3.us-west-2.amazonaws.com"),
        ("gcs.service.host", "http://amazonaws.com.elsewhere.example:9000"),
        ("adls.account-host", "elsewhere.example:9000"),
    ],
)
def test_neither_a_server_nor_a_table_chooses_which_host_files_are_read_from(key, value):
    plain, sent_on = ({"defaults": {}, "overrides": given} for given in ({}, {key: value}))
    with serving(answers={"/v1/config": json.dumps(plain).encode()}) as (address, _):
        opened = catalog_at(address)
        named = catalog_at(address, **{key: value})
        allowed = parse_places([value if "://" in value else f"https://{value}"])
        also = open_catalog("far", {"type": "rest", "uri": address}, allowed=allowed, seconds_max=WALL_S_MAX)
    with serving(answers={"/v1/config": json.dumps(sent_on).encode()}) as (address, _):
        assert f"its server sets {key} to http" in refusal(lambda: catalog_at(address))

    with pytest.raises(IntakeError, match=r"which was not asked for: --allow http"):
        opened.catalog._load_file_io({key: value}, "s3://b/t")
    harmless = {"s3.endpoint": "https://s3.eu-west-1.amazonaws.com", "owner.uri": value, "s3.signer.endpoint": "/sign"}
    for each, told in ((named, {key: value}), (also, {key: value}), (opened, harmless)):
        assert each.catalog._load_file_io(told, "s3://b/t")


def test_a_list_of_tables_whose_pages_do_not_end_is_given_up():
    page = json.dumps({"namespaces": [["db"]], "next-page-token": "again"}).encode()
    config = b'{"defaults": {}, "overrides": {}}'
    with serving(answers={"/v1/config": config, "/v1/namespaces": page}) as (address, _):
        opened = replace(catalog_at(address), seconds_max=SECONDS)
        told = refusal(lambda: table_names(opened, "nowhere"))

    assert "catalog 'far': its list of tables gave no complete answer within 0.2 s." == told


def test_the_catalog_of_another_machine_names_no_file_of_this_one():
    table = SimpleNamespace(metadata_location="file:///etc/passwd", io=None)
    with serving(answers={"/v1/config": b'{"defaults": {}, "overrides": {}}'}) as (address, _):
        opened = catalog_at(address)
    opened.catalog.load_table = lambda name: table
    opened.catalog.uri = "https://far.example/"

    assert "its server names a file of this machine, not read." in refusal(lambda: read_table(opened, "db.t"))


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (ENDLESS, "is larger than 1,000,000 bytes; so much is not read."),
        (DRIPPING, "gave no complete answer within 0.2 s."),
        (REDIRECTING, "leads elsewhere: the server sends on to http://169.254.169.254, not followed."),
        ("/nowhere", "cannot be read: the server answers 404 Not Found."),
    ],
)
def test_metadata_from_a_server_is_bounded(path, told):
    with serving(elsewhere="http://169.254.169.254/latest") as (address, _):
        seconds_max = SECONDS if path == DRIPPING else WALL_S_MAX
        assert told in refusal(lambda: read_metadata_file(f"{address}{path}", {}, seconds_max=seconds_max))


# ---- stores ------------------------------------------------------------------------------------------


def measure(url: str, endpoint: str, tmp_path):
    given = {"endpoint": endpoint, "access_key_id": "a", "secret_access_key": "b", "region": "us-east-1"}
    options = [part for key, value in given.items() for part in ("--property", f"{key}={value}")]
    command = ["measure", "store", url, *options, "--yes", "--out", str(tmp_path / "out.toml")]
    return CliRunner().invoke(app, command)


@pytest.mark.parametrize(
    ("bucket", "told"),
    [
        (ENDLESS, "the store's answer to a GET is larger than 1,024 bytes; so much is not read."),
        (DRIPPING, "gave no complete answer within 0.2 s."),
        (REDIRECTING, "the store's answer to a GET leads elsewhere: the server sends on to http://169.254.169.254"),
        ("/other", "the store returns other bytes than were written to it, so it is not measured."),
    ],
)
def test_a_store_that_does_not_answer_for_itself_is_not_measured(bucket, told, tmp_path, monkeypatch):
    if bucket == DRIPPING:
        monkeypatch.setattr("endive.observation.measurement.store_guard.SECONDS_MAX", SECONDS)
    answers = {"*": b"x" * 1024} if bucket == "/other" else {}
    begin_s = time.monotonic()
    with serving(elsewhere="http://169.254.169.254/latest", answers=answers) as (address, _):
        answer = measure(f"s3:/{bucket}/p", address, tmp_path)

    assert 2 == answer.exit_code
    assert told in " ".join(answer.stderr.split())
    assert WALL_S_MAX > time.monotonic() - begin_s
    assert not (tmp_path / "out.toml").exists()


def test_a_store_that_redirects_once_it_is_measured_leads_nowhere(tmp_path, monkeypatch):
    monkeypatch.setattr("endive.observation.measurement.store_probe.rehearse", lambda *_: None)
    monkeypatch.setattr("endive.observation.measurement.store_probe.CLEANING_PAUSE_S", 0.0)
    with serving(answers={"*": b"x"}) as (other, asked):
        elsewhere = other.replace("127.0.0.1", "localhost")
        with serving(elsewhere=f"{elsewhere}/latest") as (address, _):
            answer = measure(f"s3:/{REDIRECTING}/p", address, tmp_path)

    assert [] == asked
    assert 2 == answer.exit_code
    assert not (tmp_path / "out.toml").exists()


@pytest.mark.parametrize(
    ("url", "options", "environ", "hosts"),
    [
        ("s3://b", {"endpoint": "http://minio.example:9000"}, {}, "minio.example"),
        ("s3://b", {}, {"AWS_ENDPOINT_URL": "https://minio.example"}, "minio.example"),
        ("gs://b", {}, {"X_URL": "https://elsewhere.example"}, "googleapis.com"),
        (
            "s3://b--use1-az4--x-s3",
            {"region": "us-west-2"},
            {},
            "169.254.170.2,169.254.170.23,s3.dualstack.us-west-2.amazonaws.com,s3.us-west-2.amazonaws.com,"
            "s3express-use1-az4.us-west-2.amazonaws.com,sts.amazonaws.com,sts.us-west-2.amazonaws.com",
        ),
        (
            "az://c",
            {"msi_endpoint": "http://169.254.169.254/x"},
            {},
            "169.254.169.254,core.windows.net,fabric.microsoft.com,login.microsoftonline.com",
        ),
        ("s3://b", {}, {"https_proxy": "http://proxy.example"}, None),
        ("memory:///", {}, {}, None),
    ],
)
def test_a_store_reaches_the_hosts_that_were_named_or_its_providers(url, options, environ, hosts):
    assert hosts == keep_to_its_hosts(url, options, {**environ, "X": "1"}).get("proxy_excludes")


@pytest.mark.parametrize(
    ("url", "environ", "missing"),
    [
        ("s3://b", {}, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is not set"),
        ("s3://b", {"AWS_ACCESS_KEY_ID": "a"}, "AWS_SECRET_ACCESS_KEY is not set"),
        ("s3://b", {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": ""}, "AWS_SECRET_ACCESS_KEY is not set"),
        ("gs://b", {}, "GOOGLE_SERVICE_ACCOUNT is not set"),
        ("az://c", {"AZURE_STORAGE_ACCOUNT_NAME": "a"}, "AZURE_STORAGE_ACCOUNT_KEY is not set"),
    ],
)
def test_a_store_without_credentials_is_told_which_variables_are_missing(url, environ, missing, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))

    assert missing in refusal(lambda: refuse_without_credentials(url, {}, environ))


@pytest.mark.parametrize(
    ("url", "options", "environ"),
    [
        ("s3://b", {"access_key_id": "a", "secret_access_key": "b"}, {}),
        ("s3://b", {"aws_access_key_id": "a"}, {"AWS_SECRET_ACCESS_KEY": "b"}),
        ("s3://b", {"skip_signature": "true"}, {}),
        ("s3://b", {"metadata_endpoint": "http://169.254.169.254"}, {}),
        ("gs://b", {}, {"GOOGLE_APPLICATION_CREDENTIALS": "key.json"}),
        ("az://c", {"account_name": "a", "sas_token": "s"}, {}),
        ("memory:///", {}, {}),
    ],
)
def test_a_store_with_credentials_is_opened(url, options, environ):
    refuse_without_credentials(url, options, {**environ, "X": "1"})
