"""JSON, gzip and Avro from elsewhere, and calls that must end in time."""

import gzip
import threading
import zlib

import pyarrow as pa
import pytest

from endive.errors import IntakeError
from endive.intake import expand_gzip, is_deeper_than, parse_json, plain_avro, within
from endive.intake.avro import MAGIC, SCHEMA_BYTES_MAX, _encode


def refusal(call) -> str:
    with pytest.raises(IntakeError) as error:
        call()
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"{", "it is not JSON (Expecting property name enclosed in double quotes, at character 1)."),
        (b"\xff", "it is not UTF-8 text (byte 0)."),
        (b"[" * 50_000 + b"]" * 50_000, "it is nested more than 32 levels deep."),
        (b"[" * 34 + b"]" * 34, "it is nested more than 32 levels deep."),
        (b'{"a":' * 40 + b"1" + b"}" * 40, "it is nested more than 32 levels deep."),
        (b"NaN", "it is not JSON (NaN is no number of JSON's)."),
        (b"[-Infinity]", "it is not JSON (-Infinity is no number of JSON's)."),
        (b"9" * 5000, "it is not JSON (Exceeds the limit (4300 digits) for integer string conversion: "
         "value has 5000 digits)."),
        (b'"\\ud800"', "it holds half of a surrogate pair, which is no character."),
        (b'{"\\uDFFF": 1}', "it holds half of a surrogate pair, which is no character."),
        (b"[" + b"1," * 60 + b"1]", "it may hold more than 50 values; so many are not read."),
        (b" " * 200_001, "it has 200,001 bytes of JSON; at most 200,000 are read."),
    ],
    ids=range(12),
)  # fmt: skip
def test_what_is_no_json_or_too_much_of_it_is_refused_in_words(text, told):
    values_max = 50 if text.startswith(b"[1,") else 1_000_000

    assert told == refusal(lambda: parse_json(text, name="it", bytes_max=200_000, values_max=values_max))


def test_json_within_its_limits_is_its_values():
    assert {"a": [1, "\U0001f600"]} == parse_json('{"a": [1, "\\ud83d\\ude00"]}', name="it", bytes_max=100)


def test_depth_counts_objects_and_lists():
    assert (False, True) == (is_deeper_than([[[]]], 2), is_deeper_than([[[[]]]], 2))


def test_gzip_is_expanded_no_further_than_its_limit():
    content = gzip.compress(b"a" * 100) + gzip.compress(b"b" * 100)

    assert b"a" * 100 + b"b" * 100 == expand_gzip(content, bytes_max=200, name="it")
    assert "it expands to more than 199 bytes." == refusal(lambda: expand_gzip(content, bytes_max=199, name="it"))
    assert "ends too early" in refusal(lambda: expand_gzip(content[:-9], bytes_max=200, name="it"))


def avro(codec: bytes, blocks: list[tuple[int, bytes]]) -> bytes:
    header = {b"avro.schema": b'"string"', b"avro.codec": codec}
    entries = b"".join(_encode(len(part)) + part for pair in header.items() for part in pair)
    sync = b"s" * 16
    body = b"".join(_encode(count) + _encode(len(data)) + data + sync for count, data in blocks)
    return MAGIC + _encode(len(header)) + entries + _encode(0) + sync + body


def deflated(content: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush()


def zstandard(content: bytes) -> bytes:
    return bytes(pa.compress(content, codec="zstd", asbytes=True))


def snappy(content: bytes) -> bytes:
    return pa.compress(content, codec="snappy", asbytes=True) + b"crc!"


PACKERS = {b"null": bytes, b"deflate": deflated, b"snappy": snappy, b"zstandard": zstandard}


@pytest.mark.parametrize("codec", PACKERS)
def test_avro_is_expanded_within_its_limit_whatever_packed_it(codec):
    content = avro(codec, [(2, PACKERS[codec](b"\x02a\x02b")), (1, PACKERS[codec](b"\x02c"))])

    plain = plain_avro(content, bytes_max=6, records_max=3, name="it")

    assert (avro(b"null", [(2, b"\x02a\x02b"), (1, b"\x02c")]), 3) == plain
    assert "it expands to more than 5 bytes." == refusal(
        lambda: plain_avro(content, bytes_max=5, records_max=3, name="it")
    )


def test_a_schema_of_any_size_is_not_handed_on():
    wide = avro(b"null", []).replace(_encode(8) + b'"string"', _encode(SCHEMA_BYTES_MAX + 1) + b" " * (2**17 + 1))

    assert f"it has a schema of more than {2**17:,} bytes; so much is not read." == refusal(
        lambda: plain_avro(wide, bytes_max=1, records_max=1, name="it")
    )


@pytest.mark.parametrize("codec", [b"deflate", b"snappy", b"zstandard"])
def test_an_avro_bomb_does_not_go_off(codec):
    content = avro(codec, [(1, PACKERS[codec](b"\x00" * 50_000_000))])

    assert "it expands to more than 1,000 bytes." == refusal(
        lambda: plain_avro(content, bytes_max=1000, records_max=9, name="it")
    )


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "it is not an Avro file."),
        (avro(b"null", [(1, b"\x02a")])[:-3], "it is not a whole Avro file (it ends too early)."),
        (avro(b"null", [(1, b"\x02a")])[:-3] + b"xxx",
         "it is a damaged Avro file (a block does not end where it says)."),
        (avro(b"null", [(2**60, b"\x02a")]), f"it claims {2**60:,} records; at most 9 are read."),
        (avro(b"null", [(10, b"\x02a" * 10)]), "it claims 10 records; at most 9 are read."),
        (avro(b"lzma", [(1, b"\x02a")]), "it is compressed with 'lzma'; null, deflate, snappy and zstandard are read."),
        (MAGIC + b"\xff" * 20, "it is not a whole Avro file (it ends too early)."),
        (MAGIC + _encode(2**40), "it is not an Avro file (its header has too many entries)."),
    ],
    ids=range(8),
)  # fmt: skip
def test_what_is_no_avro_or_too_much_of_it_is_refused_in_words(content, told):
    assert told == refusal(lambda: plain_avro(content, bytes_max=100, records_max=9, name="it"))


def test_a_call_that_ends_in_time_gives_what_it_gives():
    assert 7 == within(5.0, lambda: 7, name="it")
    with pytest.raises(ZeroDivisionError):
        within(5.0, lambda: 1 // 0, name="it")


def test_a_call_that_does_not_end_is_given_up():
    end = threading.Event()

    assert "it gave no complete answer within 0.05 s." == refusal(lambda: within(0.05, end.wait, name="it"))
    end.set()
