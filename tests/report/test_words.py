"""How numbers are written."""

import pytest

from endive.report.words import round_ticks, with_interval


@pytest.mark.parametrize(
    ("most", "ticks"),
    [(2.2, [0, 0.5, 1, 1.5, 2]), (6, [0, 1, 2, 3, 4, 5, 6]), (7, [0, 2, 4, 6]), (0.123, [0, 0.05, 0.1])],
)
def test_ticks_from_zero_are_round(most, ticks):
    assert ticks == pytest.approx(round_ticks(most))


def test_a_rate_that_people_count_by_the_hour_is_said_so_even_if_it_is_none():
    assert "0 per hour [0, 0.360]" == with_interval(
        {"committed_per_s": 0.0, "committed_per_s_ci95_low": 0.0, "committed_per_s_ci95_high": 0.0001},
        "committed_per_s",
    )
