"""The model of Delta beside what its clients were recorded to do: a few cells of each suite, and that they can fail."""

from __future__ import annotations

import pytest

from verification.suites.delta import rs_loops
from verification.suites.delta.delta_pairs import Cell
from verification.suites.delta.delta_pairs import compare as compare_pair
from verification.suites.delta.delta_recording import RS, SPARK, Story, bill, read, rounds
from verification.suites.delta.delta_requests import compare
from verification.suites.delta.rs_thrown import compare as compare_thrown

STORIES = {
    RS: (
        "load / 7 commits, a checkpoint every 5",
        "append, p = 3 / lost 2, 2",
        "append, p = 3 / commit 9, a checkpoint every 5",
        "append, p = 3 / behind 6, a checkpoint every 5",
        "compact, p = 3 / lost 1",
    ),
    SPARK: (
        "load / 13 commits",
        "insert, p = 3 / copy-on-write / cold",
        "insert, p = 3 / copy-on-write / lost 1, 1",
        "insert, p = 3 / copy-on-write / commit 10",
        "delete, A / copy-on-write / lost 1",
        "load / 13 commits, no checksum",
        "insert, p = 3 / copy-on-write / behind 2, no checksum",
        "insert, p = 3 / copy-on-write / lost 5, no checksum",
        "insert, p = 3 / copy-on-write / lost 7, no checksum",
        "delete, A / copy-on-write / behind 7, no checksum",
    ),
}
PAIRS = {
    RS: (
        ("append, p = 3", "delete, B"),
        ("append, p = 3", "compact, p = 3"),
        ("delete, B", "update, A"),
        ("compact, p = 3", "compact, p = 3"),
        ("merge, p = 3", "append, p = 3"),
    ),
    SPARK: (
        ("insert, p = 3", "optimize, p = 3"),
        ("delete, A", "insert, p = 3"),
        ("delete, A", "insert, p = 9"),
        ("insert, p = 3 from p = 9", "delete, a row of p = 9"),
    ),
}


@pytest.mark.parametrize(("client", "key"), [(client, key) for client, keys in STORIES.items() for key in keys])
def test_requests_are_those_of_the_recording(client, key):
    told = read(client, "requests")["entries"][key]

    assert [] == [check for check in compare(client, Story.of(key), told) if not check.holds]


@pytest.mark.parametrize(
    "key",
    [
        "compact, p = 3 / commit 12, behind 4, lost 3, a checkpoint every 2",
        "append, p = 9 / commit 5, lost 1, 3, 2, a checkpoint every 3",
        "update, B / commit 12, behind 1, lost 3, a checkpoint every 4",
        "merge, by id alone / commit 12, behind 4, lost 1, a checkpoint every 4",
    ],
)
def test_requests_of_a_story_that_nobody_chose_are_those_of_the_recording(key):
    told = read(RS, "held_out")["entries"][key]

    assert [] == [check for check in compare(RS, Story.of(key), told) if not check.holds]


def test_a_request_more_is_told():
    key = "append, p = 3 / lost 2, 2"
    told = read(RS, "requests")["entries"][key]
    more = {**told, "requests": [*told["requests"], "GET commit+5"]}

    counts, in_a_row = compare(RS, Story.of(key), more)

    assert (False, False) == (counts.holds, in_a_row.holds)
    assert "commit_file.read 15 real, 14 simulated" in counts.note


@pytest.mark.parametrize(("client", "pair"), [(client, pair) for client, pairs in PAIRS.items() for pair in pairs])
def test_verdicts_are_those_of_the_recording(client, pair):
    mode = () if client == RS else ("copy-on-write",)
    key = " / ".join((*mode, "Serializable", *pair))
    told = read(client, "pairs")["entries"][key]
    cell = Cell.of(key)

    assert compare_pair(client, cell, told).holds
    other = "failed" if told["outcome"] == "committed" else "committed"
    if not told.get("removed_twice"):
        assert not compare_pair(client, cell, {**told, "outcome": other}).holds


def test_a_story_is_read_from_its_key():
    lost = Story.of("append, p = 3 / behind 2, lost 1")
    assert ("append, p = 3", 2, (1,)) == (lost.operation, lost.behind, lost.lost)
    assert (1,) * 14 == Story.of("append, p = 3 / lost 1, 14 times").lost
    loaded = Story.of("load / 8 commits, a checkpoint every 5")
    assert (8, 5) == (loaded.commits, loaded.interval)
    assert "deletion vectors" == Story.of("delete, A / deletion vectors / fresh").mode
    bare = Story.of("insert, p = 3 / copy-on-write / cold, no checksum")
    assert (True, True) == (bare.is_cold, bare.is_bare)


def test_a_bill_leaves_data_and_the_file_system_out():
    words = ["PUT data", "PROBE", "HEAD log!404", "LIST", "GET commit+1 | GET commit+2", "PUT commit+3!412", "PUT crc"]

    counted = {"commit_file.list": 1, "commit_file.read": 2, "commit_file.create": 1, "checksum.write": 1}
    assert counted == dict(bill(words))
    assert 4 == rounds(words)


def test_every_failure_of_the_loops_is_one_of_lost_races():
    document = read(RS, "loops")
    codes = {row[6] for cell in document["cells"] for run in cell["runs"] for row in run["txns"]}

    assert {"committed", "retries exhausted"} == {document["endings"][code] for code in codes}
    most = max(row[5] for cell in document["cells"] for run in cell["runs"] for row in run["txns"])
    assert 16 == most
    assert {1, 2, 4, 8, 16} == {cell["writers"] for cell in document["cells"] if cell["way"] == rs_loops.KEEP}


def test_a_client_that_cleans_the_log_up_loads_its_table_again():
    stories = [each for each in read(RS, "thrown")["entries"] if "POST" in each["requests"]]

    assert [] != stories
    assert [] == [check for each in stories for check in compare_thrown(each) if not check.holds]
