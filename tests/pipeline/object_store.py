"""A store for tests: moto's S3 server, as the environment names it, and a server that refuses everything."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from endive.pipeline.dataset import files
from endive.pipeline.dataset.files import Place, place_of

BUCKET = "lake"
SETTINGS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "hunter-22-abc", "AWS_REGION": "us-east-1"}


def enter(patch: pytest.MonkeyPatch, endpoint: str) -> None:
    """Let this process, and what it starts, find its store there."""
    for name, value in {**SETTINGS, "AWS_ENDPOINT_URL": endpoint}.items():
        patch.setenv(name, value)
    files._file_system.cache_clear()


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """The address of the server."""
    server_module = pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    server = server_module.ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "hunter-22-abc", "region_name": "us-east-1"}
    boto3.client("s3", endpoint_url=endpoint, **keys).create_bucket(Bucket=BUCKET)
    yield endpoint
    server.stop()


@pytest.fixture
def s3_store(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """An empty prefix of the bucket of a server."""
    enter(monkeypatch, s3_endpoint)
    place = place_of(f"s3://{BUCKET}/tests/out")
    place.remove_tree()
    yield place
    files._file_system.cache_clear()


class _Refusal(BaseHTTPRequestHandler):
    def _refuse(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
        self.send_response(403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _refuse  # noqa: N815

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def refusing_store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A bucket in which nobody may do anything."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Refusal)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    enter(monkeypatch, f"http://127.0.0.1:{server.server_address[1]}")
    yield place_of("s3://secret/out")
    server.shutdown()
    server.server_close()
    files._file_system.cache_clear()
