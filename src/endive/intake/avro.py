"""Avro files, expanded with a limit: the same records in blocks that are not compressed.

An Avro library expands a block before anybody can ask how large it is, and believes the number of records that it
claims. What leaves this module can be given to one. Format: Apache Avro 1.11, "Object Container Files".
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from typing import Final

from endive.errors import IntakeError

MAGIC: Final = b"Obj\x01"
SYNC_BYTES: Final = 16
CODEC: Final = "avro.codec"
SCHEMA: Final = "avro.schema"
SCHEMA_BYTES_MAX: Final = 2**17  # a library walks it field by field, for every file; Iceberg's have about 10,000
_HEADER_ENTRIES_MAX: Final = 100
_SHIFT_MAX: Final = 63


def plain_avro(content: bytes, *, bytes_max: int, records_max: int, name: str) -> tuple[bytes, int]:
    """An Avro container file with the codec ``null``, and its records; IntakeError if it is damaged or too large."""
    source = io.BytesIO(content)
    try:
        header, sync = _header(source, name)
        if len(header.get(SCHEMA, b"")) > SCHEMA_BYTES_MAX:
            raise IntakeError(name, f"has a schema of more than {SCHEMA_BYTES_MAX:,} bytes; so much is not read.")
        codec = header.get(CODEC, b"null").decode("ascii", "replace")
        written = io.BytesIO()
        _write_header(written, {**header, CODEC: b"null"}, sync)
        left, records = bytes_max, 0
        for count, block in _blocks(source, sync, name):
            data = _expand(block, codec, left, name)
            left -= len(data)
            records += max(1, count)  # an empty block takes its time too
            if left < 0:
                raise IntakeError(name, f"expands to more than {bytes_max:,} bytes.")
            if count > len(data) or records > records_max:  # a record has at least one byte
                raise IntakeError(name, f"claims {records:,} records; at most {records_max:,} are read.")
            written.write(_encode(count) + _encode(len(data)) + data + sync)
    except EOFError:
        raise IntakeError(name, "is not a whole Avro file (it ends too early).") from None
    return written.getvalue(), records


def _header(source: io.BytesIO, name: str) -> tuple[dict[str, bytes], bytes]:
    if source.read(len(MAGIC)) != MAGIC:
        raise IntakeError(name, "is not an Avro file.")
    header: dict[str, bytes] = {}
    while (count := _decode(source)) != 0:
        if count < 0:  # the size of the entries in bytes follows
            count = -count
            _decode(source)
        if len(header) + count > _HEADER_ENTRIES_MAX:
            raise IntakeError(name, "is not an Avro file (its header has too many entries).")
        for _ in range(count):
            key = _take(source, _decode(source)).decode("utf-8", "replace")
            header[key] = _take(source, _decode(source))
    return header, _take(source, SYNC_BYTES)


def _write_header(written: io.BytesIO, header: dict[str, bytes], sync: bytes) -> None:
    written.write(MAGIC + _encode(len(header)))
    for key, value in header.items():
        encoded = key.encode()
        written.write(_encode(len(encoded)) + encoded + _encode(len(value)) + value)
    written.write(_encode(0) + sync)


def _blocks(source: io.BytesIO, sync: bytes, name: str) -> Iterator[tuple[int, bytes]]:
    """Each block: how many records it claims, and its bytes as they lie in the file."""
    end = len(source.getbuffer())
    while source.tell() < end:
        count, size = _decode(source), _decode(source)
        block = _take(source, size)
        if count < 0 or _take(source, SYNC_BYTES) != sync:
            raise IntakeError(name, "is a damaged Avro file (a block does not end where it says).")
        yield count, block


def _expand(block: bytes, codec: str, bytes_max: int, name: str) -> bytes:
    """A block without its compression, cut one byte beyond the limit."""
    import pyarrow as pa

    if codec == "null":
        return block
    try:
        if codec == "deflate":
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(block, bytes_max + 1)
        if codec == "zstandard":
            with pa.CompressedInputStream(pa.BufferReader(block), "zstd") as stream:
                return bytes(stream.read(bytes_max + 1))
        if codec == "snappy":  # it says first how large it is; four bytes of a checksum follow
            size = _varint(io.BytesIO(block))
            if size > bytes_max:
                return bytes(bytes_max + 1)
            return bytes(pa.decompress(block[:-4], decompressed_size=size, codec="snappy", asbytes=True))
    except (zlib.error, OSError, ValueError) as error:
        raise IntakeError(name, f"is a damaged Avro file ({error}).") from None
    raise IntakeError(name, f"is compressed with '{codec[:20]}'; null, deflate, snappy and zstandard are read.")


def _take(source: io.BytesIO, size: int) -> bytes:
    content = source.read(size) if size >= 0 else b""
    if len(content) != size:
        raise EOFError
    return content


def _decode(source: io.BytesIO) -> int:
    """A whole number in Avro's zig-zag coding."""
    value = _varint(source)
    return (value >> 1) ^ -(value & 1)


def _varint(source: io.BytesIO) -> int:
    """A whole number, seven bits to a byte."""
    value = shift = 0
    while True:
        (byte,) = _take(source, 1)
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value
        shift += 7
        if shift > _SHIFT_MAX:
            raise EOFError


def _encode(number: int) -> bytes:
    rest = number << 1
    encoded = bytearray()
    while rest >= 0x80:
        encoded.append((rest & 0x7F) | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)
