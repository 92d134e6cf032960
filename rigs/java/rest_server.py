"""A REST catalog on this machine: HTTP in Python, every decision by Iceberg's own ``CatalogHandlers`` in the JVM.

Behind it stands a JDBC catalog whose requests for metadata objects come through a door of their own.
"""

from __future__ import annotations

import json
import socketserver
import threading
import time
from typing import Any, BinaryIO, Final, Protocol, cast
from urllib.parse import unquote, urlsplit

from rigs.java.object_server import BeforeRequest, LoggedRequest, ObjectServer
from rigs.java.wire import HttpRequest, answer, read_request

DOOR: Final = "rest"
_STATUS: Final = {"CommitFailedException": 409, "NoSuchTableException": 404, "ValidationException": 400}
_JSON: Final = {"Content-Type": "application/json"}


class _Listener(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, catalog: RestCatalogServer) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.catalog = catalog


class _Connection(socketserver.StreamRequestHandler):
    wbufsize = -1
    disable_nagle_algorithm = True

    def handle(self) -> None:
        catalog = cast(_Listener, self.server).catalog
        reader, writer = cast(BinaryIO, self.rfile), cast(BinaryIO, self.wfile)
        try:
            while True:
                request = read_request(reader, writer)
                if request is None:
                    return
                writer.write(catalog.serve(request))
                writer.flush()
        except (ConnectionError, ValueError):
            return  # the client has gone


class Jvm(Protocol):
    """Where Iceberg runs: a JVM of our own, or Spark's."""

    iceberg: Any  # the package org.apache.iceberg

    def identifier(self, name: str) -> Any:
        """The name of a table, in Java."""


class RestCatalogServer:
    """Serves one catalog; a context manager that stops. What ``before`` does happens before a request is answered."""

    def __init__(self, jvm: Jvm, backing: Any, objects: ObjectServer) -> None:
        self.before: BeforeRequest | None = None
        self._jvm = jvm
        self._backing = backing
        self._objects = objects
        self._handlers = jvm.iceberg.rest.CatalogHandlers
        self._listener = _Listener(self)
        self.uri = f"http://127.0.0.1:{self._listener.server_address[1]}"

    def __enter__(self) -> RestCatalogServer:
        threading.Thread(target=self._listener.serve_forever, args=(0.05,), name="rest", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown()
        self._listener.server_close()

    def serve(self, request: HttpRequest) -> bytes:
        """Answer one request, and note it if it concerns a table."""
        path = unquote(urlsplit(request.target).path)
        if path.endswith("/v1/config"):
            return answer(200, b'{"defaults": {}, "overrides": {}}', _JSON)
        door, _, _ = path.strip("/").partition("/v1/")
        entry = LoggedRequest(door or DOOR, request.method, "catalog", path, time.perf_counter())
        if self.before is not None:
            self.before(entry)
        status, body = self._act(request, path.rsplit("/", 1)[-1])
        entry.status, entry.end_s = status, time.perf_counter()
        self._objects.note(entry)
        return answer(status, body, _JSON)

    def _act(self, request: HttpRequest, table: str) -> tuple[int, bytes]:
        """Load a table (GET) or commit to it (POST)."""
        name = self._jvm.identifier(table)
        rest = self._jvm.iceberg.rest
        try:
            if request.method == "GET":
                response = self._handlers.loadTable(self._backing, name)
            else:
                change = rest.requests.UpdateTableRequestParser.fromJson(request.body.decode("utf-8"))
                response = self._handlers.updateTable(self._backing, name, change)
        except Exception as error:
            return _refusal(error)
        return 200, rest.responses.LoadTableResponseParser.toJson(response).encode("utf-8")


def _refusal(error: Any) -> tuple[int, bytes]:
    """An exception of the JVM as the REST specification wants it."""
    cause = getattr(error, "java_exception", None)
    if cause is None:
        raise error
    name = str(cause.getClass().getSimpleName())
    status = _STATUS.get(name, 500)
    document = {"error": {"message": str(cause.getMessage()), "type": name, "code": status}}
    return status, json.dumps(document).encode("utf-8")
