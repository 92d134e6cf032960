"""A REST catalog in which half is forbidden: what may be read is observed, and what may not is told."""

import json
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.intake.servers import Handler, listening
from typer.testing import CliRunner

from endive.cli.main import app

pytest.importorskip("pyiceberg")
TABLES = {"open": ("events", "orders", "hidden", "secret"), "closed": ("salaries",)}
DENIED = {"open.hidden", "open.secret"}


@pytest.fixture
def catalog(real_table):
    """Two namespaces; one may not be listed, and of the other's four tables two may not be loaded."""
    location = real_table.metadata_location
    metadata = json.loads(Path(location.removeprefix("file://")).read_text())

    class Answers(Handler):
        def do_GET(self) -> None:  # noqa: N802
            status, body = answer(self.path.partition("?")[0].strip("/").split("/"))
            self.send(status, json.dumps(body).encode(), Content_Type="application/json")

        do_HEAD = do_GET  # noqa: N815

    def answer(words: list[str]) -> tuple[int, dict]:
        forbidden = {"error": {"message": "not yours", "type": "ForbiddenException", "code": 403}}
        match words[1:]:
            case ["config"]:
                return 200, {"defaults": {}, "overrides": {}}
            case ["namespaces"]:
                return 200, {"namespaces": [[name] for name in TABLES]}
            case ["namespaces", namespace, "tables"]:
                if namespace == "closed":
                    return 403, forbidden
                return 200, {"identifiers": [{"namespace": [namespace], "name": name} for name in TABLES[namespace]]}
            case ["namespaces", namespace, "tables", name]:
                if namespace == "closed" or f"{namespace}.{name}" in DENIED:
                    return 403, forbidden
                return 200, {"metadata-location": location, "metadata": metadata, "config": {}}
        return 404, {"error": {"message": "no such thing", "type": "NoSuchThing", "code": 404}}

    with listening(ThreadingHTTPServer(("127.0.0.1", 0), Answers)) as address:
        yield ["--catalog", "half", "--property", "type=rest", "--property", f"uri={address}"]


def observe(*words: object):
    return CliRunner().invoke(app, ["observe", *(str(word) for word in words)])


@pytest.mark.lengthy
def test_what_may_be_read_is_observed_and_what_may_not_is_told(catalog, tmp_path):
    result = observe(*catalog, "--json", "--out", tmp_path / "seen")

    assert 0 == result.exit_code, result.output
    assert ["open.events", "open.orders"] == [each["table"] for each in json.loads(result.stdout)["tables"]]
    left_out = [line for line in result.stderr.splitlines() if line.startswith("left out: ")]
    assert ["namespace 'closed'", "table 'open.hidden'", "table 'open.secret'"] == [
        line.removeprefix("left out: ").partition(" of catalog")[0] for line in left_out
    ]
    assert all("no permission (ForbiddenError" in line for line in left_out)


@pytest.mark.parametrize("name", ["closed", "open.hidden"])
def test_what_was_asked_for_alone_and_may_not_be_read_is_one_line(catalog, tmp_path, name):
    result = observe(name, *catalog, "--out", tmp_path / "seen")

    assert 2 == result.exit_code
    assert 1 == len(result.stderr.strip().splitlines()), result.stderr
    assert "no permission (ForbiddenError" in result.stderr
    assert not (tmp_path / "seen").exists()
