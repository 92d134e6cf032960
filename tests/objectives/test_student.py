"""Student's t, against published tables."""

import itertools
import math

import pytest

from endive.objectives.student import student_t, student_ts

# Two-sided 95 %: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2, column 0.975.
PUBLISHED = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 9: 2.262, 10: 2.228, 29: 2.045, 30: 2.042, 60: 2.000}
PUBLISHED |= {99: 1.984, 100: 1.984}


@pytest.mark.parametrize(("degrees", "expected"), PUBLISHED.items())
def test_the_reach_of_the_interval_is_that_of_published_tables(degrees, expected):
    assert expected == round(student_t(degrees), 3)


def test_one_and_two_degrees_have_closed_forms():
    assert math.isclose(math.tan(0.475 * math.pi), student_t(1), rel_tol=1e-13)
    assert math.isclose(0.95 * math.sqrt(2 / (1 - 0.95**2)), student_t(2), rel_tol=1e-13)


def test_the_expansion_takes_over_without_a_step():
    steps = [student_t(degrees) - student_t(degrees + 1) for degrees in range(96, 103)]
    assert all(0.97 < later / earlier < 0.985 for earlier, later in itertools.pairwise(steps))


def test_many_degrees_approach_the_normal_distribution():
    assert math.isclose(1.959963984540054, student_t(10_000_000), rel_tol=1e-6)


def test_between_whole_degrees_it_is_straight_in_their_reciprocals():
    assert math.isclose((student_t(2) + student_t(3)) / 2, student_t(2.4), rel_tol=1e-12)


def test_an_array_has_the_same_quantiles_and_none_below_one_degree():
    found = student_ts([0.0, 1.0, 2.4, 15.0, 200.5])

    assert math.isnan(found[0])
    assert [student_t(1), student_t(2.4), student_t(15), student_t(200.5)] == pytest.approx(found[1:], rel=1e-12)
