"""A stranger's table: whatever its metadata says, ``endive observe`` ends with a folder or with one line."""

import gzip
import json
import os
import threading
import time
from typing import Any

import pytest
from tests.intake.test_documents import avro
from tests.observation.conftest import metadata, snapshot
from typer.testing import CliRunner

from endive.cli.main import app
from endive.errors import IntakeError
from endive.observation.tables.allowed_places import NOWHERE_ELSE

pytest.importorskip("pyiceberg")
from endive.observation.tables.guarded_io import GuardedFileIO
from endive.observation.tables.manifests import ManifestFiles

READ, REFUSED = 0, 2
LIST = avro(b"null", [(4, b"\x02a" * 4)])
SECONDS_MAX = 10.0
DEEP = 100_000


def five(manifest_list: str = "") -> list[dict[str, Any]]:
    return [snapshot(n, 60_000 * n, **{"manifest-list": manifest_list}) for n in range(1, 6)]


def table(**more: Any) -> bytes:
    """A harmless table of five commits, with some members replaced; nothing in it lies elsewhere."""
    return json.dumps({**json.loads(metadata(five(), location="/tables/t")), **more}).encode()


def with_snapshot(**more: Any) -> bytes:
    """The same, with members of one snapshot replaced; ``...`` takes one out."""
    plain = five()
    plain[2] = {key: value for key, value in {**plain[2], **more}.items() if value is not ...}
    return metadata(plain, location="/tables/t")


def without(key: str) -> bytes:
    return json.dumps({name: value for name, value in json.loads(table()).items() if name != key}).encode()


def raw(text: str) -> bytes:
    """A harmless table with one member more, written as it is."""
    return table().rstrip(b"}") + b", " + text.encode() + b"}"


def having(name: str, value: Any, **more: Any) -> bytes:
    """The same with one property."""
    return table(properties={name: value, **more})


def summary(**given: Any) -> bytes:
    return with_snapshot(summary={"operation": "append", **given})


HARMLESS = {
    "no properties": without("properties"),
    "properties are null": table(properties=None),
    "no partition specs": without("partition-specs"),
    "partition specs are null": table(**{"partition-specs": None}),
    "one spec of format 1": table(**{"format-version": 1, "partition-specs": None, "partition-spec": [{"name": "d"}]}),
    "a spec without fields": table(**{"partition-specs": [{"spec-id": 0}]}),
    "a spec with null fields": table(**{"partition-specs": [{"spec-id": 0, "fields": None}]}),
    "no default spec": without("default-spec-id"),
    "no current snapshot": without("current-snapshot-id"),
    "the current snapshot is null": table(**{"current-snapshot-id": None}),
    "the current snapshot is -1": table(**{"current-snapshot-id": -1}),
    "no location": without("location"),
    "the location is null": table(location=None),
    "the metadata log is null": table(**{"metadata-log": None}),
    "retries are no number": having("commit.retry.num-retries", "x"),
    "retries are negative": having("commit.retry.num-retries", "-3"),
    "retries are null": having("commit.retry.num-retries", None),
    "retries are the largest integer": having("commit.retry.num-retries", "2147483647"),
    "retries have 5,000 digits": having("commit.retry.num-retries", "9" * 5000),
    "retries are a list": having("commit.retry.num-retries", ["4"]),
    "a wait is infinite": having("commit.retry.min-wait-ms", "inf"),
    "waits contradict each other": having("commit.retry.min-wait-ms", "90000", **{"commit.retry.max-wait-ms": "100"}),
    "the timeout is no number": having("commit.retry.total-timeout-ms", "1h"),
    "merging is neither on nor off": having("commit.manifest-merge.enabled", "maybe"),
    "merging is a boolean": having("commit.manifest-merge.enabled", False),
    "the count to merge is no number": having("commit.manifest.min-count-to-merge", "many"),
    "the count to merge is the largest": having("commit.manifest.min-count-to-merge", "2147483647"),
    "an isolation level of no kind": having("write.merge.isolation-level", "\x1b[31m"),
    "a property that names a class": having("py-io-impl", "os.path"),
    "no parent": with_snapshot(**{"parent-snapshot-id": ...}),
    "the parent is null": with_snapshot(**{"parent-snapshot-id": None}),
    "no sequence number": with_snapshot(**{"sequence-number": ...}),
    "the sequence number is null": with_snapshot(**{"sequence-number": None}),
    "no manifest list": with_snapshot(**{"manifest-list": ...}),
    "the manifest list is null": with_snapshot(**{"manifest-list": None}),
    "a count is no number": summary(**{"added-data-files": "some"}),
    "a count is a number": summary(**{"added-data-files": 3}),
    "a count has 5,000 digits": summary(**{"total-data-files": "9" * 5000}),
    "a count in Arabic digits": summary(**{"added-data-files": "٣"}),
    "a count is an object": summary(**{"added-data-files": {"n": 1}}),
    "a writer that colours the terminal": summary(**{"app-id": "\x1b[31mred\x1b[0m"}),
    "a writer of half a character": summary(**{"app-id": "\ud800"}),
    "a writer with a comma and a quote": summary(**{"app-id": 'a","b\n'}),
    "a writer of 100,000 letters": summary(**{"app-id": "w" * 100_000}),
    "an attempt of 5,000 digits": with_snapshot(**{"manifest-list": f"/m/snap-1-{'9' * 5000}-a.avro"}),
    "all at one moment": metadata([snapshot(n, 0, **{"manifest-list": ""}) for n in range(1, 6)]),
    "in the year 1970": metadata([{**snapshot(n, 0), "timestamp-ms": n, "manifest-list": ""} for n in range(1, 6)]),
    "names that are not known": raw('"encryption-keys": 7, "statistics": [[]]'),
    "twice the same member": raw('"properties": {}'),
    "gzipped": gzip.compress(table()),
    "gzipped in two members": gzip.compress(table()[:100]) + gzip.compress(table()[100:]),
}
HOSTILE = {
    "empty": b"",
    "branches that are a number": raw('"refs": 7'),
    "one byte": b"{",
    "not text": b"\xff\xfe\x00",
    "a list": b"[]",
    "a number": b"7",
    "a byte order mark": b"\xef\xbb\xbf" + table(),
    "cut short": table()[:-20],
    "more after the end of a member": raw('"x": 1 2'),
    "a name that is a number": b"{1: 2}",
    "no format": without("format-version"),
    "the format is a text": table(**{"format-version": "2"}),
    "the format is true": table(**{"format-version": True}),
    "the format is 2.0": table(**{"format-version": 2.0}),
    "the format is a list": table(**{"format-version": [2]}),
    "the format is of the future": table(**{"format-version": 9}),
    "the format has 5,000 digits": raw(f'"format-version": {"9" * 5000}'),
    "properties are a list": table(properties=[1]),
    "properties are a text": table(properties="x"),
    "partition specs are an object": table(**{"partition-specs": {"0": 1}}),
    "partition specs hold a number": table(**{"partition-specs": [1]}),
    "fields are a text": table(**{"partition-specs": [{"spec-id": 0, "fields": "x"}]}),
    "the metadata log is a number": table(**{"metadata-log": 7}),
    "the location is a list": table(location=["x"]),
    "the current snapshot is a text": table(**{"current-snapshot-id": "5"}),
    "snapshots are null": table(snapshots=None),
    "snapshots are a number": table(snapshots=7),
    "snapshots are an object": table(snapshots={"a": 1}),
    "no snapshots": table(snapshots=[]),
    "a snapshot is null": table(snapshots=[None]),
    "a snapshot is a list": table(snapshots=[[1]]),
    "a snapshot is empty": table(snapshots=[{}]),
    "two snapshots only": metadata([snapshot(1, 0, **{"manifest-list": ""}), snapshot(2, 9, **{"manifest-list": ""})]),
    "no summary": with_snapshot(summary=...),
    "the summary is null": with_snapshot(summary=None),
    "the summary is a text": with_snapshot(summary="append"),
    "an operation that is none": with_snapshot(summary={"operation": "\x1b]0;x\x07"}),
    "an operation that is a list": with_snapshot(summary={"operation": ["append"]}),
    "no time": with_snapshot(**{"timestamp-ms": ...}),
    "the time is a text": with_snapshot(**{"timestamp-ms": "noon"}),
    "the time is negative": with_snapshot(**{"timestamp-ms": -1}),
    "the time is beyond the calendar": with_snapshot(**{"timestamp-ms": 2**62}),
    "the time is a fraction": with_snapshot(**{"timestamp-ms": 1.5}),
    "the time is infinite": table().replace(b'"timestamp-ms": 1', b'"timestamp-ms": 1e999, "x": 1', 1),
    "the time is not a number": table().replace(b'"timestamp-ms": 1', b'"timestamp-ms": NaN, "x": 1', 1),
    "the time is true": with_snapshot(**{"timestamp-ms": True}),
    "no id": with_snapshot(**{"snapshot-id": ...}),
    "the id is a text": with_snapshot(**{"snapshot-id": "1"}),
    "the id is beyond 64 bits": with_snapshot(**{"snapshot-id": 2**70}),
    "the parent is a text": with_snapshot(**{"parent-snapshot-id": "x"}),
    "the sequence number is a list": with_snapshot(**{"sequence-number": [1]}),
    "the manifest list is a number": with_snapshot(**{"manifest-list": 7}),
    "deep lists": lambda: raw(f'"x": {"[" * DEEP}{"]" * DEEP}'),
    "deep objects": lambda: raw('"x": ' + '{"a":' * DEEP + "1" + "}" * DEEP),
    "a deep snapshot": b'{"format-version": 2, "snapshots": [' + b"[" * DEEP + b"]" * DEEP + b"]}",
    "millions of empty lists": lambda: raw(f'"x": [{"[]," * 7_000_000}[]]'),
    "broken gzip": gzip.compress(table())[:-30],
    "gzip of nothing": b"\x1f\x8b" + b"\x00" * 50,
    "a gzip bomb": lambda: gzip.compress(b" " * (129 * 2**20), 1),
    "a gzip bomb of members": lambda: gzip.compress(b" " * 2**20, 9) * 150,
}
ALL = [*((name, READ) for name in HARMLESS), *((name, REFUSED) for name in HOSTILE)]


def observe(path, tmp_path, *options: str):
    return CliRunner().invoke(app, ["observe", str(path), "--out", str(tmp_path / "out"), *options])


def test_there_are_more_than_a_hundred_of_them():
    assert 100 < len(ALL)


@pytest.fixture(autouse=True)
def no_page(monkeypatch):
    monkeypatch.setattr("endive.cli.observe._page", lambda: None)


@pytest.fixture(scope="module", autouse=True)
def warm(tmp_path_factory):
    """What is fitted is simulated; that the model is compiled first, once, is not what the limit is for."""
    folder = tmp_path_factory.mktemp("warm")
    (folder / "v1.metadata.json").write_bytes(HARMLESS["no properties"])
    observe(folder / "v1.metadata.json", folder)


@pytest.mark.parametrize(("name", "code"), ALL, ids=[name for name, _ in ALL])
def test_metadata_is_read_or_refused_in_one_line(name, code, tmp_path):
    path = tmp_path / "v1.metadata.json"
    content = {**HARMLESS, **HOSTILE}[name]
    path.write_bytes(content() if callable(content) else content)
    begin_s = time.process_time()

    answer = observe(path, tmp_path)

    assert code == answer.exit_code, answer.output
    assert SECONDS_MAX > time.process_time() - begin_s
    assert "\x1b" not in answer.output
    if code == REFUSED:
        assert answer.stderr.startswith("error: ")
        assert 1 == answer.stderr.count("\n")
        assert not (tmp_path / "out").exists()
    else:
        written = [each.read_text(encoding="utf-8") for each in (tmp_path / "out").iterdir()]
        assert not any("\x1b" in text for text in written)


# ---- what is no file, and what lies elsewhere --------------------------------------------------------


def test_a_pipe_and_a_device_are_refused_and_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")

    for path in (tmp_path / "pipe.json", "/dev/zero"):
        answer = observe(path, tmp_path)

        assert REFUSED == answer.exit_code
        assert "is not a regular file but a pipe or a device." in answer.stderr


@pytest.mark.parametrize("location", ["/dev/zero", "PIPE", "FOLDER", "/nowhere/x.avro", "\x00"])
def test_a_manifest_list_that_is_no_file_is_a_note(tmp_path, location):
    os.mkfifo(tmp_path / "pipe.avro")
    named = {"PIPE": str(tmp_path / "pipe.avro"), "FOLDER": str(tmp_path)}.get(location, location)
    path = tmp_path / "v1.metadata.json"
    path.write_bytes(metadata(five(named)))
    begin_s = time.process_time()

    answer = observe(path, tmp_path)

    assert READ == answer.exit_code, answer.output
    assert "not all manifest lists could be read" in " ".join(answer.stderr.split())
    assert SECONDS_MAX > time.process_time() - begin_s


def test_a_path_in_a_table_does_not_speak_to_the_terminal(tmp_path):
    path = tmp_path / "v1\nwritten to elsewhere.metadata.json"
    for named in ("/no/\x1b[31m\nnote: x.avro", "s3://\x1b[31m/x"):
        path.write_bytes(metadata(five(named)))

        answer = observe(path, tmp_path)

        assert READ == answer.exit_code, answer.output
        assert "\x1b" not in answer.output
        assert not [line for line in answer.output.splitlines() if line.startswith(("note: x", "written to else"))]


def test_a_record_with_millions_of_parts_takes_no_more_than_its_time(tmp_path, monkeypatch):
    monkeypatch.setattr("endive.observation.tables.manifests.SECONDS_MAX", 0.2)
    files = ManifestFiles(GuardedFileIO(), NOWHERE_ELSE)
    end = threading.Event()

    assert [7] == files.decode(lambda: [7], "quick")
    for _ in range(2):  # the second has no time left
        with pytest.raises(IntakeError, match="'slow' gave no complete answer within"):
            files.decode(lambda: end.wait() or [], "slow")
    end.set()
    assert 0.0 == files._seconds_left


@pytest.mark.parametrize(("bytes_max", "records_max"), [(10_000, 9), (2 * len(LIST), 1_000)])
def test_a_list_that_every_snapshot_names_counts_every_time(tmp_path, monkeypatch, bytes_max, records_max):
    monkeypatch.setattr("endive.observation.tables.manifests.BYTES_MAX", bytes_max)
    monkeypatch.setattr("endive.observation.tables.manifests.RECORDS_MAX", records_max)
    (tmp_path / "list.avro").write_bytes(LIST)
    files = ManifestFiles(GuardedFileIO(), NOWHERE_ELSE.also(str(tmp_path)))

    for _ in range(2):
        files.new_input(str(tmp_path / "list.avro"))

    with pytest.raises(IntakeError):
        files.new_input(str(tmp_path / "list.avro"))
    assert files.afresh().new_input(str(tmp_path / "list.avro"))


@pytest.mark.parametrize("location", ["s3://bucket/l.avro", "gs://b/l.avro", "https://10.0.0.1/l", "hdfs://n/l"])
def test_a_local_file_does_not_lead_to_the_network_unless_it_is_allowed_by_name(tmp_path, monkeypatch, location):
    opened = []
    monkeypatch.setattr(
        "endive.observation.tables.guarded_io.load_file_io", lambda *given: opened.append(given) or 1 / 0
    )
    path = tmp_path / "v1.metadata.json"
    path.write_bytes(metadata(five(location)))
    host = "/".join(location.split("/")[:3])

    answer = observe(path, tmp_path)
    assert READ == answer.exit_code, answer.output
    assert [] == opened
    assert f"Allow it: --allow {host}" in " ".join(answer.stderr.split())

    assert READ == observe(path, tmp_path, "--allow", host).exit_code
    assert opened


def test_an_allowed_place_is_a_scheme_and_a_host(tmp_path):
    answer = observe(tmp_path / "x.json", tmp_path, "--allow", "bucket")

    assert (REFUSED, "error: --allow 'bucket' is not SCHEME://HOST, as in s3://bucket.\n") == (
        answer.exit_code,
        answer.stderr,
    )
