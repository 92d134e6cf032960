"""The quick halves of the suites that need nothing but Endive; ``endive verify`` runs them whole."""

from __future__ import annotations

import numpy as np
import pytest

from endive.verification import Options, find_suite, run_suite
from endive.verification.theory.cycle import SAMPLES, _Attempt, draw, sample_cycle
from endive.verification.theory.queues import erlang_c


@pytest.mark.lengthy
@pytest.mark.parametrize(("name", "checks"), [("stores", 205), ("theory", 18), ("claims", 33)])
def test_the_quick_half_of_a_suite_is_right(name, checks):
    (outcome,) = run_suite(find_suite(name), Options(is_quick=True))

    assert [] == [check for check in outcome.checks if not check.holds]
    assert checks == len(outcome.checks)


def test_one_worker_is_found_busy_as_often_as_it_works():
    assert 0.6 == pytest.approx(erlang_c(1, 0.6), rel=1e-12)
    assert 0.5094 == pytest.approx(erlang_c(4, 3.0), abs=1e-4)  # tables of Erlang's C


def test_the_first_of_attempts_of_equal_length_comes_one_gap_after_the_shortest():
    same = np.full(SAMPLES, 100.0)
    nothing = dict.fromkeys(("read", "leg", "swap", "refusal", "delay", "penalty"), np.zeros(SAMPLES))
    attempt = _Attempt(build=same, throttling_ms=0.0, contention_ms=0.0, share_of_read=0.5, **nothing)

    assert 100.0 + 1.0 / 0.05 == pytest.approx(sample_cycle(attempt, 0.05).mean_ms, rel=0.01)


def test_a_mixture_is_drawn_by_its_weights_whatever_they_sum_to():
    parts = [{"weight": weight, "distribution": "fixed", "ms": ms} for weight, ms in ((0.6, 1.0), (0.3, 2.0))]

    drawn = draw(np.random.default_rng(1), {"distribution": "mixture", "components": parts})

    assert 2 / 3 == pytest.approx(float((drawn == 1.0).mean()), abs=0.01)
