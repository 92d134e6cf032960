"""Pairs of victim and rival: what was recorded, the page made of it, and the model held against it."""

from __future__ import annotations

from pathlib import Path

import pytest

from endive.verification.pages import csv_text
from verification import upgrade
from verification.conflicts import PAGE, rows_text, text
from verification.suites.java import modelled_pair
from verification.suites.java.conflict_page import letter
from verification.suites.java.java_pairs import compare
from verification.suites.java.pair_recording import RecordedPair, read_pairs, write_pairs
from verification.suites.java.pair_sheets import RIVALS, SHEETS, all_pairs
from verification.suites.java.pairs import BEFORE, DURING, SAME_FILE, Pair
from verification.suites.java.request_recording import RELEASES, SAMPLED
from verification.suites.java.request_trace import Recorded, from_text
from verification.suites.java.upgrade_page import upgrade_rows
from verification.suites.pyiceberg.met_table import FILE, met_rows

RECORDINGS = {release: read_pairs(release).pairs for release in (*RELEASES, *SAMPLED)}
RECORDED = RECORDINGS[RELEASES[-1]]
VICTIM = {victim.name: victim for sheet in SHEETS for victim in sheet.victims}


def pair(victim: str, rival: str, touches: str, count: int = 1, when: str = BEFORE) -> Pair:
    met = next(each for each in RIVALS if (each.name, each.touches) == (rival, touches))
    return Pair(victim=VICTIM[victim], rival=met, count=count, when=when)


def verdict(*names: object) -> str:
    return letter(RECORDED[pair(*names).key])


@pytest.mark.parametrize("release", RECORDINGS)
def test_every_pair_was_recorded_at_every_release_and_some_at_the_sampled_ones_and_nothing_else(release):
    recorded, pairs = set(RECORDINGS[release]), {each.key for each in all_pairs()}

    assert recorded <= pairs
    assert recorded == pairs or release in SAMPLED


REFERRING = ("row_delta referring serializable", "row_delta referring snapshot")
WITHOUT_PREDICATE = tuple(f"{form} serializable, read the table" for form in ("row_delta referring", "overwrite_files"))
VECTORS = tuple(f"{version}row_delta delete snapshot, read its partition" for version in ("", "v3 "))
EXPIRED = ("append, then expire_snapshots", "another partition")


@pytest.mark.parametrize(
    ("letters", "victims", "rival"),
    [
        pytest.param("XX", REFERRING, ("overwrite_files", SAME_FILE), id="a merge whose file was overwritten"),
        pytest.param("XX", REFERRING, ("rewrite_files", SAME_FILE), id="a merge whose file was compacted"),
        pytest.param("DD", WITHOUT_PREDICATE, ("append", "another partition"), id="a merge without a predicate"),
        pytest.param(
            "r.",
            ("rewrite_files", "rewrite_files sequenced"),
            ("upsert", "rows the victim read"),
            id="a compaction with the starting sequence number survives an upsert on its files",
        ),
        pytest.param(".V", VECTORS, ("row_delta delete", SAME_FILE), id="a file takes one vector"),
        pytest.param("A.", ("row_delta serializable", "rewrite_files"), (*EXPIRED, 1), id="an expired start"),
        pytest.param("AH", ("row_delta serializable", "rewrite_files"), (*EXPIRED, 3), id="a hole in the history"),
    ],
)
def test_who_fails_beside_whom_and_of_what(letters, victims, rival):
    assert [*letters] == [verdict(victim, *rival) for victim in victims]


def test_two_compactions_of_one_file_do_not_both_commit():
    found = RECORDED[pair("rewrite_files", "rewrite_files", SAME_FILE).key]

    assert ("ValidationException", 1) == (found.exception, found.attempts)
    assert found.message.startswith("Missing required files to delete")


def test_appends_never_make_a_compaction_or_an_append_fail():
    victims = ("fast_append", "merge_append", "rewrite_files")

    assert {"."} == {
        letter(each)
        for key, each in RECORDED.items()
        if key.startswith(tuple(f"{name} / append," for name in victims)) and "expire" not in key
    }


def test_every_failure_has_a_letter():
    assert [] == [(key, each.message) for key, each in RECORDED.items() if letter(each) == "?"]


def test_the_page_is_what_the_recordings_give():
    assert Path(PAGE).read_text(encoding="utf-8") == text()
    assert PAGE.with_suffix(".csv").read_text(encoding="utf-8") == rows_text()
    assert PAGE.with_name(FILE).read_text(encoding="utf-8") == csv_text(met_rows())


def test_the_page_on_the_upgrade_is_what_the_recordings_give():
    rows = csv_text(upgrade_rows(read_pairs(RELEASES[0]), read_pairs(RELEASES[-1])))

    assert upgrade.PAGE.read_text(encoding="utf-8") == upgrade.text()
    assert upgrade.PAGE.with_suffix(".csv").read_text(encoding="utf-8") == rows


def test_a_recording_is_the_same_after_writing_and_reading(tmp_path):
    recording = read_pairs(RELEASES[-1])
    write_pairs(recording, tmp_path)

    assert recording == read_pairs(RELEASES[-1], tmp_path)


@pytest.mark.parametrize("release", RECORDINGS)
def test_verdicts_of_releases_differ_where_1_10_began_to_look_for_delete_files_that_are_replaced(release):
    other = RECORDINGS[release]
    beside = "replacing deletes / rewrite_deletes, a file the victim touches / 1 before / jdbc"
    differing = [f"row_delta referring {level}, {beside}" for level in ("serializable", "snapshot")]

    assert len(other) > 400
    assert (differing if release == "1.9.2" else []) == [
        key for key, each in other.items() if letter(each) != letter(RECORDED[key])
    ]


JUDGED = [
    pair("row_delta referring serializable, read the table", "append", "another partition"),
    pair("row_delta referring snapshot, read the table", "row_delta delete", "another partition"),
    pair("row_delta referring serializable, read its partition", "append", "another partition", 3),
    pair("overwrite_files serializable, read its partition", "row_delta delete", "another partition", 1, DURING),
    pair("v3 row_delta delete snapshot, read its partition", "row_delta delete", SAME_FILE, 1, DURING),
    pair("v3 row_delta delete serializable, read its partition", "row_delta delete", "another partition", 3),
    pair("merge_append, in a Transaction", "append", "another partition"),
    pair("fast_append, in a Transaction", "append", "its partition"),
    pair("row_delta referring snapshot, read its partition, in a Transaction", "append", "another partition", 3),
    pair("rewrite_files sequenced, in a Transaction", "row_delta", "another partition", 1, DURING),
    pair("rewrite_files sequenced", "upsert", "rows the victim read"),
    pair("v3 upsert with positions unchecked", "row_delta", "another partition", 3),
    pair("v3 upsert with positions unchecked", "append, then expire_snapshots", "another partition"),
    pair("rewrite_files", "row_delta", "another partition", 3),
    pair("fast_append", "append", "its partition"),
    pair("replace_partitions serializable", "append", "another partition", 3),
    pair("replace_partitions snapshot", "rewrite_files", "another file of its partition"),
    pair("replace_partitions snapshot", "rewrite_files", "another partition"),
    pair("replace_partitions serializable", "append", "its partition"),
    pair("replace_partitions", "append", "its partition"),
    pair("overwrite_filter serializable", "append", "another partition", 3),
    pair("overwrite_filter snapshot", "append", "its partition"),
    pair("delete_where", "append", "another partition"),
    pair("row_delta serializable", "append", "rows the victim read"),
    pair("row_delta serializable", "upsert", "its partition", 3),
    pair("overwrite_files snapshot", "append", "its partition", 1, DURING),
    pair("rewrite_files", "append", "another partition", 3),
    pair("row_delta serializable", "replace_partitions", "its partition"),
    pair("row_delta delete serializable", "row_delta", "its partition"),
    pair("fast_append, in a Transaction", "append, then expire_snapshots", "another partition"),
    pair("overwrite_files unchecked", "rewrite_files", SAME_FILE),
    pair("expire_snapshots", "append", "another partition"),
]


@pytest.mark.parametrize(
    ("met", "release"),
    [(met, release) for met in JUDGED for release in RECORDINGS if met.key in RECORDINGS[release]],
    ids=lambda each: getattr(each, "key", each),
)
def test_the_model_ends_and_asks_as_iceberg_does(met, release):
    check = compare(met, RECORDINGS[release][met.key], modelled_pair.play(met, release))

    assert ("right", "") == (check.verdict, check.note)


def test_a_pair_the_model_has_no_words_for_is_shown_and_not_judged():
    met = pair("row_delta referring serializable", "rewrite_files", SAME_FILE)

    check = compare(met, RECORDED[met.key], None)

    assert ("shown", "not modelled yet") == (check.verdict, check.note)


def test_another_verdict_is_wrong():
    met = pair("fast_append", "append", "its partition")
    real = Recorded(outcome="committed", attempts=(from_text("Cr Lw Mw Cr Cs"), from_text("Cr Mr")))
    failed = Recorded(outcome="validation_exception", attempts=real.attempts)

    check = compare(met, RecordedPair(recorded=real, exception="", message="", reads=({}, {})), failed)

    assert ("wrong", "attempts: ends validation_exception, not committed") == (check.verdict, check.note)
