"""Slow minutes are found by how long attempts took, and a replay goes by them."""

from dataclasses import replace

import numpy as np
import pytest
from tests.observation.replay.test_replay import ATTEMPT_MS, START_US, STORE, appends

from endive.observation.exact_intervals import chi_square_95
from endive.observation.folder import TraceRow, read_findings, read_trace, write_folder
from endive.observation.folder_memory import given_document
from endive.observation.observe import observe
from endive.observation.replay.pace import EVEN, Pace, find_pace
from endive.observation.replay.stage import Stage
from endive.observation.replay.trace import as_observed

START_MS = START_US / 1000.0
SLOW = Pace(begin_ms=START_MS, factors=(1.0, 3.0, 0.5))


def logged(pace: Pace, seed: int, minutes: int = 10, per_minute: int = 20) -> list[TraceRow]:
    """Attempts of two sources whose usual times differ, at that pace, with a spread of 0.4."""
    chance = np.random.default_rng(seed)
    times_ms = np.sort(chance.uniform(0.0, 60_000.0 * minutes, minutes * per_minute))
    rows = []
    for place, when_ms in enumerate(times_ms):
        attempts = int(1 + chance.geometric(0.7))
        window = int(when_ms // 60_000.0)
        factor = pace.factors[window] if window < len(pace.factors) else 1.0
        took_ms = (100.0, 900.0)[place % 2] * factor * float(np.exp(0.4 * chance.standard_normal()))
        rows.append(
            TraceRow(
                begin_us=START_US + 1000 * round(when_ms),
                operation="append",
                source=f"s{place % 2}",
                duration_ms=attempts * took_ms,
                runtime_ms=None,
                attempts=attempts,
                is_committed=True,
                reason="",
            )
        )
    return rows


def test_the_clocks_agree_outside_the_windows_and_differ_by_the_factors_inside():
    times_ms = START_MS + np.array([-5.0, 0.0, 60_000.0, 90_000.0, 120_000.0, 180_000.0, 190_000.0])

    even_ms = SLOW.to_even(times_ms)

    assert [-5.0, 0.0, 60_000.0, 70_000.0, 80_000.0, 200_000.0, 210_000.0] == pytest.approx(even_ms - START_MS)
    assert times_ms == pytest.approx(SLOW.to_real(even_ms))
    assert 7.0 == EVEN.to_even(7.0) == EVEN.to_real(7.0)


def test_planted_slow_minutes_are_found_within_their_noise():
    planted = Pace(begin_ms=START_MS, factors=(0.5, 0.5, 0.5, 4.0, 4.0, 1.0, 1.0, 1.0, 1.0, 1.0))

    found = find_pace(logged(planted, seed=1))

    assert np.log(planted.factors) == pytest.approx(np.log(found.factors), abs=3.0 * 0.4 / np.sqrt(20))
    assert found.text.startswith("Requests took 0.41 to 3.7 times as long as usual, by windows of 60 s; longest from ")


def test_an_even_pace_is_seldom_called_uneven_and_hardly_ever_by_much():
    paces = [find_pace(logged(EVEN, seed)) for seed in range(100)]

    assert 11 >= sum(pace != EVEN for pace in paces) > 0  # a test for 5 %: binomial, 99 %
    assert 2 >= sum(bool(pace.text) for pace in paces)


def test_durations_without_attempts_tell_nothing_of_the_pace():
    planted = Pace(begin_ms=START_MS, factors=(0.2, 5.0) * 5)
    rows = logged(planted, seed=1)

    assert find_pace(rows) != EVEN
    assert EVEN == find_pace([replace(row, attempts=None) for row in rows])


def test_chi_square_is_near_its_tables():
    assert [5.99, 16.92, 43.77] == pytest.approx([chi_square_95(each) for each in (2, 9, 30)], rel=0.01)


def test_a_commit_takes_as_many_times_longer_as_its_minute_is_slow(tmp_path):
    """Every ten seconds one; the second minute is three times as slow, the third twice as fast."""
    (folder,) = write_folder(tmp_path / "seen", [observe(appends(18, is_submission=False))])
    assumed = (*STORE, 'source."unknown".operation_types={fast_append=1.0}')
    document = given_document(folder, profile=None, catalog_profile=None, assumed=assumed)
    rows = read_trace(folder)
    stage = Stage(rows, read_findings(folder), SLOW)

    (run, _) = stage.run(document, 2, tmp_path)["unknown"]

    assert [1.0] * 5 == pytest.approx(run.durations_ms[:5] / ATTEMPT_MS)
    assert [3.0] * 4 == pytest.approx(run.durations_ms[7:11] / ATTEMPT_MS)
    assert [0.5] * 5 == pytest.approx(run.durations_ms[13:] / ATTEMPT_MS)
    assert as_observed(document, rows, tmp_path / "t.csv", pace=SLOW).begin_ms < START_MS
