"""HTTP/1.1 as the AWS SDK speaks it: a request read from a socket, an answer written to it.

Headers, bodies with a length, chunked bodies, the SDK's own chunks inside a body. It knows no object and no rule of S3;
see ``rigs.java.object_server``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import BinaryIO, Final

HEADER_BYTES_MAX: Final = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request, its body complete and decoded; header names in small letters."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


def read_request(reader: BinaryIO, writer: BinaryIO) -> HttpRequest | None:
    """The next request on the connection, or None if the peer has closed it."""
    line = reader.readline(HEADER_BYTES_MAX)
    if not line.strip():
        return None
    method, target, _ = line.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while True:
        line = reader.readline(HEADER_BYTES_MAX)
        if line in (b"\r\n", b"\n", b""):
            break
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        writer.flush()
    return HttpRequest(method=method, target=target, headers=headers, body=_read_body(reader, headers))


def _read_body(reader: BinaryIO, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = _read_chunks(reader)
    else:
        body = reader.read(int(headers.get("content-length", "0")))
    if headers.get("x-amz-content-sha256", "").startswith("STREAMING-"):
        return _strip_sdk_chunks(body)
    return body


def _read_chunks(reader: BinaryIO) -> bytes:
    parts = []
    while True:
        size_bytes = int(reader.readline(HEADER_BYTES_MAX).split(b";")[0], 16)
        if size_bytes == 0:
            break
        parts.append(reader.read(size_bytes))
        reader.readline(HEADER_BYTES_MAX)
    while reader.readline(HEADER_BYTES_MAX).strip():
        pass  # trailers
    return b"".join(parts)


def _strip_sdk_chunks(body: bytes) -> bytes:
    """The payload of an ``aws-chunked`` body: size in hexadecimal, signature, bytes; checksums trail."""
    parts: list[bytes] = []
    at = 0
    while True:
        end = body.index(b"\r\n", at)
        size_bytes = int(body[at:end].split(b";")[0], 16)
        if size_bytes == 0:
            return b"".join(parts)
        parts.append(body[end + 2 : end + 2 + size_bytes])
        at = end + 2 + size_bytes + 2


def answer(status: int, body: bytes = b"", headers: Mapping[str, str] | None = None, *, is_head: bool = False) -> bytes:
    """The bytes of an answer; a HEAD's carries the length of a body it does not have."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    given = dict(headers or {})
    if status != HTTPStatus.NO_CONTENT:
        given.setdefault("Content-Length", str(len(body)))
    lines.extend(f"{name}: {value}" for name, value in given.items())
    head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
    return head if is_head else head + body
