"""Long answers of a REST server, which here is PyIceberg's own SQL catalog behind a few lines of HTTP."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from tests.intake.servers import Handler, listening
from typer.testing import CliRunner

from endive.cli.main import app
from endive.config import read_toml
from endive.observation.measurement import catalog_probe
from endive.observation.tables.allowed_places import NOWHERE_ELSE

SNAPSHOTS = 300
MS_PER_MIB = 400.0


class Server(ThreadingHTTPServer):
    """Answers of ``catalog``, each later by its size; ``commits`` are the actions of every commit."""

    daemon_threads = True

    def __init__(self, catalog, *, leaves_out: bool, refuses: bool, location: str = "") -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.location = location  # named in the place of the table's own
        self.catalog, self.leaves_out, self.refuses = catalog, leaves_out, refuses
        self.lock = threading.Lock()  # SQLite
        self.commits: list[list[str]] = []
        self.drops: list[str] = []  # the query of each request to drop a table

    def table(self, name) -> dict[str, object]:
        table = self.catalog.load_table(name)
        told = json.loads(table.metadata.model_dump_json(by_alias=True))
        if self.leaves_out:
            told["snapshots"] = []
        if self.location:
            folder = self.location.format(table=name[-1])
            told["location"] = folder
            return {"metadata-location": f"{folder}/metadata/v1.json", "metadata": told, "config": {}}
        return {"metadata-location": table.metadata_location, "metadata": told, "config": {}}

    def act(self, method: str, path: list[str], body: bytes) -> tuple[int, dict[str, object]]:
        from pyiceberg.table import CommitTableRequest

        match method, path:
            case "GET", ["v1", "config"]:
                return 200, {"defaults": {}, "overrides": {}}
            case "POST", ["v1", "namespaces"]:
                self.catalog.create_namespace(tuple(json.loads(body)["namespace"]))
                return 200, {"namespace": json.loads(body)["namespace"], "properties": {}}
            case "DELETE", ["v1", "namespaces", space]:
                self.catalog.drop_namespace(space)
                return 204, {}
            case "POST", ["v1", "namespaces", space, "tables"]:
                from pyiceberg.schema import Schema

                asked = json.loads(body)
                schema = Schema.model_validate(asked["schema"])
                self.catalog.create_table((space, asked["name"]), schema, properties=asked["properties"])
                return 200, self.table((space, asked["name"]))
            case "POST", ["v1", "namespaces", space, "tables", table]:
                request = CommitTableRequest.model_validate_json(body)
                actions = [each.action for each in request.updates]
                self.commits.append(actions)
                if self.refuses and "add-snapshot" in actions:
                    return 400, {"error": {"message": "too large", "type": "BadRequestException", "code": 400}}
                self.catalog.commit_table(self.catalog.load_table((space, table)), (), tuple(request.updates))
                return 200, self.table((space, table))
            case (("GET" | "HEAD"), ["v1", "namespaces", space, "tables", table]):
                if not self.catalog.table_exists((space, table)):
                    return 404, {"error": {"message": "none", "type": "NoSuchTableException", "code": 404}}
                return 200, self.table((space, table))
            case "DELETE", ["v1", "namespaces", space, "tables", table]:
                self.catalog.drop_table((space, table))
                return 204, {}
        raise AssertionError((method, path))


class Answer(Handler):
    server: Server

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.server.lock:
            if self.command == "DELETE" and "/tables/" in self.path:
                self.server.drops.append(urlsplit(self.path).query)
            status, told = self.server.act(self.command, urlsplit(self.path).path.strip("/").split("/"), body)
        text = json.dumps(told).encode() if status != 204 else b""
        time.sleep(MS_PER_MIB / 1000.0 * len(text) / 2**20)
        self.send(status, text)

    do_GET = do_POST = do_HEAD = do_DELETE = answer  # noqa: N815, the names http.server asks for


@contextmanager
def serving(tmp_path, **how: bool | str) -> Iterator[Server]:
    sql = pytest.importorskip("pyiceberg.catalog.sql")
    catalog = sql.SqlCatalog(
        "own", uri=f"sqlite:///{tmp_path / 'c.db'}?check_same_thread=false", warehouse=str(tmp_path / "files")
    )
    server = Server(catalog, **({"leaves_out": False, "refuses": False} | how))
    with listening(server):
        yield server
    catalog.engine.dispose()


@pytest.fixture(autouse=True)
def little(monkeypatch):
    for name, count in {"SNAPSHOTS": SNAPSHOTS, "LOADS": 4, "COMMITS": 2, "SAMPLES": 3}.items():
        monkeypatch.setattr(catalog_probe, name, count)


def measure(server: Server, out):
    uri = f"http://127.0.0.1:{server.server_address[1]}"
    arguments = ["measure", "catalog", "own", "--property", "type=rest", "--property", f"uri={uri}"]
    return CliRunner().invoke(app, [*arguments, "--yes", "--out", str(out)])


@pytest.mark.lengthy
def test_a_mib_of_snapshots_costs_what_the_server_takes_for_it_and_they_are_gone_afterwards(tmp_path):
    with serving(tmp_path) as server:
        result = measure(server, tmp_path / "own.toml")
        left = server.catalog.list_namespaces()

    assert 0 == result.exit_code, result.output
    assert [["add-snapshot"] * SNAPSHOTS, ["remove-snapshots"]] == [
        actions for actions in server.commits if actions != ["set-properties"]
    ]
    found = read_toml(tmp_path / "own.toml")["catalog"]["service"]["answer_ms_per_mib"]
    # More is SQLite, JSON and PyIceberg; less if the short answers were held up, on a machine that may be busy.
    assert MS_PER_MIB / 2 < found < 20 * MS_PER_MIB
    assert "of them PyIceberg's own parsing" in result.output
    assert [] == left
    assert ["purgeRequested=True"] == server.drops


@pytest.mark.parametrize("how", ["leaves_out", "refuses"])
def test_a_server_that_takes_no_such_list_or_does_not_send_it_is_told_and_has_no_figure(tmp_path, how):
    with serving(tmp_path, **{how: True}) as server:
        result = measure(server, tmp_path / "own.toml")
        left = server.catalog.list_namespaces()

    assert 0 == result.exit_code, result.output
    assert "answer_ms_per_mib" not in read_toml(tmp_path / "own.toml")["catalog"]["service"]
    assert "refused by the server, or left out of its answer; not measured" in result.output
    assert [] == left


@pytest.mark.parametrize("location", ["{victim}", "{victim}/{{table}}/..", "file://{victim}", "{link}/{{table}}-link"])
def test_a_folder_that_the_server_names_is_neither_deleted_nor_written_to(location, tmp_path):
    victim = tmp_path / "victim"
    (victim / "metadata").mkdir(parents=True)
    (victim / "metadata" / "v1.json").write_text("{}")
    (victim / "precious.txt").write_text("precious")
    before = {path: path.stat().st_mtime_ns for path in [victim, *victim.rglob("*")]}

    with serving(tmp_path, location=location.format(victim=victim, link=tmp_path)) as server:
        result = measure(server, tmp_path / "own.toml")

    assert before == {path: path.stat().st_mtime_ns for path in [victim, *victim.rglob("*")]}
    assert result.exit_code in (0, 2)
    assert "Traceback" not in result.output


def test_files_of_a_table_elsewhere_than_its_own_folder_are_not_deleted(tmp_path):
    opened = SimpleNamespace(kind="rest", allowed=NOWHERE_ELSE, catalog=SimpleNamespace(uri="https://far.example"))
    here = SimpleNamespace(kind="sql", allowed=NOWHERE_ELSE, catalog=SimpleNamespace(uri=""))
    name = "db.endive_measure_0123abcd"
    (tmp_path / "endive_measure_0123abcd").symlink_to(tmp_path / "other")

    def is_own(location: str, catalog=opened) -> bool:
        return catalog_probe.is_own_location(catalog, name, location)

    assert is_own("s3://bucket/wh/db/endive_measure_0123abcd/metadata/x.json")
    assert is_own(f"{tmp_path}/db.db/endive_measure_0123abcd/metadata/x.json", here)
    assert not is_own("s3://bucket/wh/db/other/metadata/x.json")
    assert not is_own("s3://bucket/wh/db/endive_measure_0123abcd/../other/x.json")
    assert not is_own("s3://bucket/wh/db/other/endive_measure_0123abcd")
    assert not is_own("s3://endive_measure_0123abcd/wh/x.json")
    assert not is_own(f"{tmp_path}/db.db/endive_measure_0123abcd/metadata/x.json")
    assert not is_own(f"{tmp_path}/endive_measure_0123abcd/metadata/x.json", here)
