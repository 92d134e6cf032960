"""Durations as people write them."""

import pytest

from endive.objectives import duration_text, parse_duration_ms


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("250ms", 250.0),
        ("5s", 5_000.0),
        ("5 s", 5_000.0),
        ("0.5s", 500.0),
        ("30min", 1_800_000.0),
        ("30m", 1_800_000.0),
        ("1h30min", 5_400_000.0),
        ("1h 30min", 5_400_000.0),
        ("2d", 172_800_000.0),
        ("1_000us", 1.0),
    ],
)
def test_a_duration_is_the_sum_of_its_parts_in_milliseconds(text, ms):
    assert ms == parse_duration_ms(text)


@pytest.mark.parametrize("text", ["", " ", "5", "s", "5 parsecs", "5s later", "-5s", "1.s"])
def test_anything_else_is_no_duration(text):
    assert parse_duration_ms(text) is None


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0.0, "0 ms"),
        (12.34, "12.3 ms"),
        (250.0, "250 ms"),
        (1_000.0, "1 s"),
        (5_432.0, "5.43 s"),
        (90_000.0, "90 s"),
        (1_800_000.0, "30 min"),
        (9_000_000.0, "2.50 h"),
    ],
)
def test_a_duration_is_told_in_the_unit_people_would_choose(ms, text):
    assert text == duration_text(ms)
