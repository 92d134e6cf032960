"""A trace of requests as text and as attempts."""

from __future__ import annotations

import pytest

from verification.suites.java.request_trace import Recorded, Request, bill, from_text, split_attempts, to_text


@pytest.mark.parametrize(
    "text", ["", "Cr", "Cr Mr mw Lh Lr Lw Mw Cr Cs", "Cr 20(Lh Lr) 20(mr) 2(mw) Lw Mw 2(Cr)", "Cr Sr Lw Cs Sr Sw Sr"]
)
def test_a_trace_is_the_same_after_writing_and_reading(text):
    assert text == to_text(from_text(text))


def test_runs_of_one_and_of_two_requests_are_counted():
    requests = [Request("manifest_list", "head"), Request("manifest_list", "read")] * 3 + [
        Request("manifest", "read")
    ] * 4

    assert "3(Lh Lr) 4(mr)" == to_text(requests)


def texts(trace: str, outcome: str) -> list[str]:
    return [to_text(attempt) for attempt in split_attempts(from_text(trace), outcome)]


def test_a_jdbc_attempt_ends_with_the_read_that_refuses_it_or_with_the_swap():
    trace = "Cr Mr mw Lh Lr Lw Mw Cr Cr Mr Lh Lr Lw Mw Cr Cs Ld Cr Mr"

    expected = ["Cr Mr mw Lh Lr Lw Mw Cr", "Cr Mr Lh Lr Lw Mw Cr Cs", "Ld Cr Mr"]
    assert expected == texts(trace, "committed")


def test_a_rest_attempt_ends_with_what_the_server_does_about_the_commit():
    trace = "Cr Sr mw Lh Lr Lw Cs Sr Cr Sr Lh Lr Lw Cs Sr Sw Sr Ld"

    expected = ["Cr Sr mw Lh Lr Lw Cs Sr", "Cr Sr Lh Lr Lw Cs Sr Sw Sr", "Ld"]
    assert expected == texts(trace, "committed")


def test_an_attempt_that_fails_validation_ends_before_the_first_delete():
    trace = "Cr Mr 5(Lh Lr) 7(mr) 3(mw) Lw Mw Cr Cr Mr 6(Lh Lr) 6(mr) Ld 3(md)"

    expected = ["Cr Mr 5(Lh Lr) 7(mr) 3(mw) Lw Mw Cr", "Cr Mr 6(Lh Lr) 6(mr)", "Ld 3(md)"]
    assert expected == texts(trace, "validation_exception")


def test_an_exhausted_txn_ends_with_its_deletes():
    assert ["Cr Lh Lr Lw Mw Cr", "Ld md"] == texts("Cr Lh Lr Lw Mw Cr Ld md", "retries_exhausted")


def test_a_bill_counts_the_metadata_a_server_writes_and_not_what_it_reads():
    assert {"catalog.read": 1, "catalog.cas": 1, "metadata.write": 1} == bill(from_text("Cr Sr Cs Sr Sw"))


def test_a_recording_is_the_same_after_writing_and_reading():
    recorded = Recorded(outcome="committed", attempts=(from_text("Cr Lw Mw Cr Cs"), from_text("Cr Mr")))

    assert recorded == Recorded.from_dict(recorded.to_dict())
