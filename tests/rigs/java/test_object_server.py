"""The local S3: what it keeps, what it logs, and that it can be interrupted."""

import http.client
import re
import threading
import time

import pytest
from tests.waiting import PATIENCE_S

from rigs.java.object_server import ObjectServer, object_kind


@pytest.fixture
def server():
    with ObjectServer() as server:
        yield server


@pytest.fixture
def door(server):
    return server.open_door("door")


def ask(door, method, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", door.port, timeout=PATIENCE_S)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("warehouse/db/t/metadata/00003-5e.metadata.json", "metadata"),
        ("warehouse/db/t/metadata/snap-812-2-7f.avro", "manifest_list"),
        ("warehouse/db/t/metadata/7f-m0.avro", "manifest"),
        ("warehouse/db/t/data/00000.parquet", "data"),
    ],
)
def test_an_object_is_known_by_its_name(key, kind):
    assert kind == object_kind(key)


def test_what_is_put_through_one_door_is_read_through_another(server):
    first, second = server.open_door("first"), server.open_door("second")

    assert (200, b"") == ask(first, "PUT", "/warehouse/a", b"0123456789")
    assert (200, b"0123456789") == ask(second, "GET", "/warehouse/a")
    assert (206, b"3456") == ask(second, "GET", "/warehouse/a", Range="bytes=3-6")
    assert (206, b"89") == ask(second, "GET", "/warehouse/a", Range="bytes=-2")
    assert (200, b"") == ask(second, "HEAD", "/warehouse/a")


def test_a_deleted_object_is_gone(door):
    for name in "abc":
        ask(door, "PUT", f"/warehouse/{name}", b"x")

    assert (204, b"") == ask(door, "DELETE", "/warehouse/a")
    many = b"<Delete><Object><Key>b</Key></Object><Object><Key>nowhere</Key></Object></Delete>"
    assert 200 == ask(door, "POST", "/warehouse?delete", many)[0]
    assert [404, 404, 200] == [ask(door, "GET", f"/warehouse/{name}")[0] for name in "abc"]


def test_the_sdks_own_chunks_are_taken_out_of_a_body(door):
    body = b"5;chunk-signature=1\r\nhello\r\n1\r\n!\r\n0\r\nx-amz-checksum-crc32:AAAA\r\n\r\n"

    ask(door, "PUT", "/warehouse/a", body, x_amz_content_sha256="STREAMING-UNSIGNED-PAYLOAD-TRAILER")

    assert (200, b"hello!") == ask(door, "GET", "/warehouse/a")


def test_every_request_is_logged_with_its_door_and_kind(server):
    victim, silent = server.open_door("victim"), server.open_door("silent")
    silent.is_logged = False
    ask(victim, "PUT", "/warehouse/snap-1-1-a.avro", b"x")
    ask(silent, "GET", "/warehouse/snap-1-1-a.avro")
    ask(victim, "GET", "/warehouse/nowhere")

    log = [(entry.door, entry.method, entry.kind, entry.status) for entry in server.take_log()]
    assert [("victim", "PUT", "manifest_list", 200), ("victim", "GET", "data", 404)] == log
    assert [] == server.take_log()


def test_a_rival_can_write_before_a_victims_request_is_answered(server):
    victim, rival = server.open_door("victim"), server.open_door("rival")
    ask(rival, "PUT", "/warehouse/a", b"old")

    def interrupt(entry):
        if entry.method == "GET":
            ask(rival, "PUT", "/warehouse/a", b"new")

    victim.before = interrupt

    assert (200, b"new") == ask(victim, "GET", "/warehouse/a")


def test_a_delay_by_method_and_kind_wins_over_one_by_method(door):
    door.delays_ms = {"GET": 20.0, "GET manifest": 5.0}

    asked = (("GET", "manifest"), ("GET", "data"), ("PUT", "data"))
    assert [0.005, 0.02, 0.0] == [door.delay_s(method, kind) for method, kind in asked]


def test_a_conditional_put_creates_once(server, door):
    assert 200 == ask(door, "PUT", "/lake/t/1.json", b"a", If_None_Match="*")[0]
    assert 412 == ask(door, "PUT", "/lake/t/1.json", b"b", If_None_Match="*")[0]
    assert b"a" == server.objects["lake/t/1.json"]


def test_a_list_begins_behind_a_name_and_stops_at_folders(server, door):
    for name in ("t/1", "t/2", "t/3", "t/deep/4"):
        ask(door, "PUT", f"/lake/{name}", b"x")

    _, told = ask(door, "GET", "/lake?list-type=2&prefix=t/&delimiter=/&start-after=t/1")

    assert [b"t/2", b"t/3"] == re.findall(rb"<Key>(.*?)</Key>", told)
    assert [b"t/deep/"] == re.findall(rb"<Prefix>(.*?)</Prefix>", told)
    assert "LIST" == server.take_log()[-1].method


def test_an_object_was_modified_when_it_was_put(server, door):
    ask(door, "PUT", "/lake/a", b"x")

    _, told = ask(door, "GET", "/lake?list-type=2&prefix=a")

    assert time.strftime("%Y-%m-%d").encode() in told
    assert abs(server.modified_s["lake/a"] - time.time()) < 60


def test_a_door_decides_on_the_way(server):
    slow, fast = server.open_door("slow"), server.open_door("fast")
    slow.delays_ms, slow.way_out = {"PUT": 600.0}, 0.5
    asking = threading.Thread(target=ask, args=(slow, "PUT", "/lake/a", b"late"), kwargs={"If_None_Match": "*"})

    asking.start()
    is_early = ask(fast, "PUT", "/lake/a", b"early", If_None_Match="*")[0]
    asking.join()

    assert 200 == is_early
    assert b"early" == server.objects["lake/a"]
