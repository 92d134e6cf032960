"""A small S3 on this machine: it keeps objects in memory, logs every request, delays it, and can be interrupted.

Several doors (ports) lead to the same objects, one per kind of client, so that a victim's requests are told from its
rivals'. It does not check signatures, and knows of formats only how their objects are named (``object_kind`` for
Iceberg; a rig of another format gives its own).
"""

from __future__ import annotations

import hashlib
import socketserver
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any, BinaryIO, Final, cast
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree

from rigs.java.wire import HttpRequest, answer, read_request

METHODS: Final = ("GET", "LIST", "HEAD", "PUT", "DELETE", "POST")


DelaysMs = Mapping[str, float]  # by method, or by "METHOD kind", which wins
BeforeRequest = Callable[["LoggedRequest"], None]


def object_kind(key: str) -> str:
    """What kind of Iceberg object a key names."""
    name = key.rsplit("/", 1)[-1]
    if name.endswith(".metadata.json") or name.endswith(".metadata.json.gz"):
        return "metadata"
    if name.startswith("snap-"):
        return "manifest_list"
    if name.endswith(".avro") and "-m" in name:
        return "manifest"
    return "data"


@dataclass(slots=True)
class LoggedRequest:
    """One request: which door, what was asked, when it came and when its answer left."""

    door: str
    method: str
    kind: str
    key: str
    begin_s: float
    end_s: float = 0.0
    status: int = 0
    position: int = 0  # what ``ObjectServer.position`` said when it came
    query: str = ""


@dataclass(slots=True)
class Door:
    """A port of the server, and what is done to the requests that come through it."""

    name: str
    port: int
    delays_ms: DelaysMs = field(default_factory=dict)
    before: BeforeRequest | None = None
    is_logged: bool = True
    way_out: float = 0.0  # the share of a delay that passes before the server decides

    def delay_s(self, method: str, kind: str) -> float:
        """How long a request is kept waiting before it is answered."""
        ms = self.delays_ms.get(f"{method} {kind}", self.delays_ms.get(method, 0.0))
        return ms / 1000.0


class _Listener(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, server: ObjectServer, name: str) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.objects = server
        self.door = Door(name, self.server_address[1])


class _Connection(socketserver.StreamRequestHandler):
    wbufsize = -1
    disable_nagle_algorithm = True

    def handle(self) -> None:
        listener = cast(_Listener, self.server)
        reader, writer = cast(BinaryIO, self.rfile), cast(BinaryIO, self.wfile)
        try:
            while True:
                request = read_request(reader, writer)
                if request is None:
                    return
                writer.write(listener.objects.serve(listener.door, request))
                writer.flush()
        except (TimeoutError, ConnectionError, ValueError):
            return  # the client has gone


class ObjectServer:
    """Objects in memory behind one or more doors; a context manager that closes them."""

    def __init__(self, kind_of: Callable[[str], str] = object_kind) -> None:
        self.objects: dict[str, bytes] = {}
        self.modified_s: dict[str, float] = {}  # when each was put: Delta expires its log by it
        self._kind_of = kind_of
        self.log: list[LoggedRequest] = []
        self.position: Callable[[], int] = int  # asked at each logged request, to order it among other events
        self._listeners: list[_Listener] = []
        self._lock = threading.Lock()

    def __enter__(self) -> ObjectServer:
        return self

    def __exit__(self, *_: object) -> None:
        for listener in self._listeners:
            listener.shutdown()
            listener.server_close()

    def open_door(self, name: str) -> Door:
        """A new port to the same objects."""
        listener = _Listener(self, name)
        self._listeners.append(listener)
        threading.Thread(target=listener.serve_forever, args=(0.05,), name=f"s3-{name}", daemon=True).start()
        return listener.door

    def take_log(self) -> list[LoggedRequest]:
        """The requests logged since the last call."""
        with self._lock:
            taken, self.log = self.log, []
        return taken

    def serve(self, door: Door, request: HttpRequest) -> bytes:
        """Answer one request after its delay; what ``door.before`` does happens first and is no part of it."""
        key = unquote(urlsplit(request.target).path).lstrip("/")
        method = "LIST" if request.method == "GET" and _is_list(request) else request.method
        entry = LoggedRequest(door.name, method, self._kind_of(key), key, 0.0, query=urlsplit(request.target).query)
        if door.is_logged:
            entry.position = self.position()
        if door.before is not None:
            door.before(entry)
        entry.begin_s = time.perf_counter()
        delay_s = door.delay_s(entry.method, entry.kind)
        if door.way_out and delay_s:
            time.sleep(door.way_out * delay_s)
        status, headers, body = self._act(request, key)
        left_s = delay_s - (time.perf_counter() - entry.begin_s)
        if left_s > 0:
            time.sleep(left_s)
        entry.status = status
        entry.end_s = time.perf_counter()
        if door.is_logged:
            self.note(entry)
        return answer(status, body, headers, is_head=request.method == "HEAD")

    def note(self, entry: LoggedRequest) -> None:
        """Put a request into the log; a catalog server on the same machine notes its own."""
        with self._lock:
            self.log.append(entry)

    def _act(self, request: HttpRequest, key: str) -> tuple[int, dict[str, str], bytes]:
        if request.method == "PUT":
            return self._put(request, key)
        if request.method == "DELETE":
            self.objects.pop(key, None)
            return 204, {}, b""
        if request.method == "POST":
            return self._delete_many(request)
        if request.method == "GET" and _is_list(request):
            return self._list(request)
        body = self.objects.get(key)
        if body is None:
            error = b"<Error><Code>NoSuchKey</Code><Message>no such object</Message></Error>"
            return 404, {"Content-Type": "application/xml"}, error
        headers = {
            "ETag": _etag(body),
            "Accept-Ranges": "bytes",
            "Content-Type": "application/octet-stream",
            "Last-Modified": formatdate(self.modified_s.get(key, 0.0), usegmt=True),
        }
        asked = request.headers.get("range")
        if asked and request.method == "GET":
            first, last = _range(asked, len(body))
            headers["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
            return 206, headers, body[first : last + 1]
        return 200, headers, body

    def _put(self, request: HttpRequest, key: str) -> tuple[int, dict[str, str], bytes]:
        """Write, copy, or create if there is none: ``If-None-Match: *`` is decided under the lock.

        The refusal has the words of Google's store: Delta's ``GCSLogStore`` looks for them.
        """
        source = request.headers.get("x-amz-copy-source")
        body = request.body if source is None else self.objects[unquote(source).lstrip("/")]
        with self._lock:
            if request.headers.get("if-none-match") == "*" and key in self.objects:
                error = b"<Error><Code>PreconditionFailed</Code><Message>412 Precondition Failed</Message></Error>"
                return 412, {"Content-Type": "application/xml"}, error
            self.objects[key] = body
            self.modified_s[key] = time.time()
        if source is None:
            return 200, {"ETag": _etag(body)}, b""
        root = ElementTree.Element("CopyObjectResult")
        ElementTree.SubElement(root, "LastModified").text = self._modified(key)
        ElementTree.SubElement(root, "ETag").text = _etag(body)
        return 200, {"Content-Type": "application/xml"}, ElementTree.tostring(root)

    def _list(self, request: HttpRequest) -> tuple[int, dict[str, str], bytes]:
        """The keys of a bucket that begin with a prefix, behind ``start-after``, all at once; folders by delimiter."""
        target = urlsplit(request.target)
        bucket = unquote(target.path).strip("/")
        asked = {name: texts[0] for name, texts in parse_qs(target.query).items()}
        prefix, delimiter, after = (asked.get(name, "") for name in ("prefix", "delimiter", "start-after"))
        root = ElementTree.Element("ListBucketResult")
        ElementTree.SubElement(root, "IsTruncated").text = "false"
        folders: set[str] = set()
        with self._lock:
            found = {key: body for key, body in self.objects.items() if key.startswith(f"{bucket}/{prefix}")}
        for key, body in sorted(found.items()):
            name = key[len(bucket) + 1 :]
            rest = name[len(prefix) :]
            if delimiter and delimiter in rest:
                folders.add(prefix + rest[: rest.index(delimiter) + 1])
            elif name > after:
                entry = ElementTree.SubElement(root, "Contents")
                fields = {"Key": name, "LastModified": self._modified(key)}
                for field_name, text in {**fields, "ETag": _etag(body), "Size": str(len(body))}.items():
                    ElementTree.SubElement(entry, field_name).text = text
        for folder in sorted(folders):
            ElementTree.SubElement(ElementTree.SubElement(root, "CommonPrefixes"), "Prefix").text = folder
        return 200, {"Content-Type": "application/xml"}, ElementTree.tostring(root)

    def _modified(self, key: str) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(self.modified_s.get(key, 0.0)))

    def _delete_many(self, request: HttpRequest) -> tuple[int, dict[str, str], bytes]:
        """The bulk delete: an XML list of keys of one bucket."""
        bucket = unquote(urlsplit(request.target).path).strip("/")
        root = ElementTree.Element("DeleteResult")
        for node in ElementTree.fromstring(request.body).iter():
            if node.tag.rsplit("}", 1)[-1] == "Key" and node.text:
                self.objects.pop(f"{bucket}/{node.text}", None)
                ElementTree.SubElement(ElementTree.SubElement(root, "Deleted"), "Key").text = node.text
        return 200, {"Content-Type": "application/xml"}, ElementTree.tostring(root)


def _is_list(request: HttpRequest) -> bool:
    return "list-type=2" in urlsplit(request.target).query


def _etag(body: bytes) -> str:
    """What S3 gives as the ETag of a single PUT; the SDK compares it with a digest of its own."""
    return f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'


def _range(asked: str, size_bytes: int) -> tuple[int, int]:
    """First and last byte of a ``Range`` header: ``bytes=a-b``, ``bytes=a-`` or ``bytes=-n``."""
    first, _, last = asked.removeprefix("bytes=").partition("-")
    if not first:
        return max(0, size_bytes - int(last)), size_bytes - 1
    return int(first), min(int(last) if last else size_bytes - 1, size_bytes - 1)


def s3_properties(door: Door) -> dict[str, Any]:
    """Catalog properties that make ``S3FileIO`` talk to a door."""
    return {
        "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "s3.endpoint": f"http://127.0.0.1:{door.port}",
        "s3.path-style-access": "true",
        "s3.access-key-id": "local",
        "s3.secret-access-key": "local",
        "client.region": "us-east-1",
        "warehouse": "s3://warehouse/",
    }
