"""The arithmetic of a conditional request: exact figures, and the same ones when compiled."""

import pytest

from endive.kernel import jitted
from endive.storage import contention
from endive.storage.contention import NO_TXN


def test_the_request_leg_is_the_share_cut_to_whole_microseconds():
    assert contention.request_leg_us(10_001, 0.5) == 5_000
    assert contention.request_leg_us(65_200, 0.965) == 62_918
    assert contention.request_leg_us(7, 0.0) == 0
    assert contention.request_leg_us(7, 1.0) == 7


def test_the_answer_takes_what_the_request_leg_left_of_the_latency():
    assert contention.answer_leg_us(10_000, 4_000, 0) == 6_000
    assert contention.answer_leg_us(10_000, 4_000, 250) == 6_250


def test_a_refusal_faster_than_the_request_leg_is_answered_at_once():
    assert contention.answer_leg_us(3_000, 4_000, 0) == 0
    assert contention.answer_leg_us(3_000, 4_000, 250) == 250


def test_an_object_takes_a_request_when_it_is_free():
    assert contention.admitted_us(100, 0) == 100
    assert contention.admitted_us(100, 100) == 100
    assert contention.admitted_us(100, 101) == 101


def test_a_success_frees_the_object_after_the_spacing():
    assert contention.next_free_us(500, 1_000_000) == 1_000_500


@pytest.mark.parametrize(
    ("now_us", "last_us", "last_txn", "txn_id", "window_us", "expected"),
    [
        (100, 90, 1, 2, 10, True),  # at the edge of the window
        (100, 89, 1, 2, 10, False),  # beyond it
        (100, 100, 1, 2, 10, True),  # at the same instant
        (100, 90, 2, 2, 10, False),  # its own request
        (5, 0, NO_TXN, 2, 10, False),  # the first request of all
        (100, 100, 1, 2, 0, False),  # no window
    ],
)
def test_a_request_is_contended_only_by_a_rival_within_the_window(
    now_us, last_us, last_txn, txn_id, window_us, expected
):
    assert contention.is_contended(now_us, last_us, last_txn, txn_id, window_us) is expected


def test_the_spacing_is_the_inverse_of_the_limit_and_zero_without_one():
    assert contention.write_spacing_us(1.0) == 1_000_000
    assert contention.write_spacing_us(125.0) == 8_000
    assert contention.write_spacing_us(3.0) == 333_333
    assert contention.write_spacing_us(0.0) == 0


def test_compiled_code_computes_the_same():
    request_leg_us, answer_leg_us = contention.request_leg_us, contention.answer_leg_us
    admitted_us, next_free_us, is_contended = (contention.admitted_us, contention.next_free_us, contention.is_contended)

    @jitted
    def whole(latency_us, share, refusal_us, penalty_us, next_free, spacing_us, last_us, last_txn, window_us):
        leg_us = request_leg_us(latency_us, share)
        now_us = admitted_us(leg_us, next_free)
        contended = is_contended(now_us, last_us, last_txn, 7, window_us)
        answer_us = answer_leg_us(refusal_us, leg_us, penalty_us)
        return leg_us, now_us, contended, answer_us, next_free_us(now_us, spacing_us)

    for case in [
        (65_207, 0.965, 65_000, 0, 0, 0, 0, NO_TXN, 5_800),
        (14_533, 0.717, 9_000, 6_100, 12_345, 8_000, 11_000, 3, 5_800),
    ]:
        assert whole.py_func(*case) == whole(*case)
