"""How figures are rounded for people."""

import pytest

from endive.cli.tables import ms, number, rate, rate_words, share, size


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0, "0.000"), (9.9994, "9.999"), (10, "10.00"), (123.45, "123.5"), (12_345.6, "12,346")],
)
def test_a_rate_keeps_three_digits_that_matter(value, text):
    assert rate(value) == text


@pytest.mark.parametrize(("value", "text"), [(None, "-"), (0.0, "0.0"), (99.94, "99.9"), (1234.5, "1,234")])
def test_milliseconds_have_tenths_below_a_hundred(value, text):
    assert ms(value) == text


@pytest.mark.parametrize(("value", "text"), [(None, "-"), (0.0, "0.0 %"), (0.9949, "99.5 %"), (1.0, "100.0 %")])
def test_a_share_is_a_percentage(value, text):
    assert share(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (999, "999 bytes"),
        (1_000, "1.0 kB"),
        (2_500_000, "2.5 MB"),
        (3 * 10**9, "3.0 GB"),
        (4 * 10**15, "4,000.0 TB"),
    ],
)
def test_a_size_has_the_largest_unit_that_fits(value, text):
    assert size(value) == text


def test_no_figure_is_a_dash():
    assert (number(None, 2), number(1234.567, 2)) == ("-", "1,234.57")


@pytest.mark.parametrize(("per_s", "text"), [(1.271, "1.271 txns/s"), (12.1 / 3600, "12.1 txns/h"), (None, "- txns/s")])
def test_a_rate_has_one_unit(per_s, text):
    assert text == rate_words(per_s, " txns")
