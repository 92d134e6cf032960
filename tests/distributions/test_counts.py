"""Numbers that are drawn: fixed, uniform, or exponential within bounds."""

import math
from collections import Counter

import pytest

from endive.distributions.counts import CountDistribution

GRID = [(i + 0.5) / 10_000 for i in range(10_000)]


def counts(**figures: object) -> Counter[int]:
    distribution = CountDistribution(**figures)  # type: ignore[arg-type]
    return Counter(distribution.draw(u) for u in GRID)


@pytest.mark.parametrize("value", [0, 1, 5])
def test_a_fixed_number_is_that_number(value):
    assert {value: 10_000} == counts(distribution="fixed", value=value)


def test_a_uniform_number_is_each_of_its_values_equally_often():
    assert dict.fromkeys(range(1, 11), 1000) == counts(distribution="uniform", count_min=1, count_max=10)


def test_an_exponential_number_is_rounded_and_stays_within_its_bounds():
    """Mean of an exponential X of mean 3, rounded and cut to 1..10: 1 plus the sum of P(X > n - 1/2), n = 2..10."""
    drawn = counts(distribution="exponential", mean=3.0, count_min=1, count_max=10)

    assert set(range(1, 11)) == set(drawn)
    mean = sum(n * count for n, count in drawn.items()) / 10_000
    assert 1.0 + sum(math.exp(-(n - 0.5) / 3.0) for n in range(2, 11)) == pytest.approx(mean, abs=1e-3)
    assert 1.0 - math.exp(-0.5) == pytest.approx(drawn[1] / 10_000, abs=1e-3)


def test_weights_are_those_of_the_draws() -> None:
    law = {"distribution": "exponential", "mean": 3.0, "count_min": 1, "count_max": 10}
    shares = [count / 10_000 for _, count in sorted(counts(**law).items())]

    assert shares == pytest.approx(CountDistribution(**law).weights(10), abs=2e-4)
    assert (0.25, 0.25, 0.5) == CountDistribution(distribution="uniform", count_min=1, count_max=4).weights(3)
    assert (0.0, 1.0, 0.0) == CountDistribution(distribution="fixed", value=2).weights(3)


def test_weights_of_counts_that_begin_above_one_are_those_of_the_draws():
    """Whatever rounds to less than the least number counts as the least."""
    law = CountDistribution(distribution="exponential", mean=2.0, count_min=3, count_max=6)
    beyond = [math.exp(-(number + 0.5) / 2.0) for number in (3, 4, 5)]
    expected = (0.0, 0.0, 1.0 - beyond[0], beyond[0] - beyond[1], beyond[1] - beyond[2], beyond[2])

    assert expected == pytest.approx(law.weights(6))
    drawn = counts(distribution="exponential", mean=2.0, count_min=3, count_max=6)
    assert [drawn[number] / 10_000 for number in (3, 4, 5, 6)] == pytest.approx(expected[2:], abs=1e-3)
