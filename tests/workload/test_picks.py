"""Laws of weighted picks without replacement, and of the subset of them that is written."""

import functools
import math
from collections import Counter
from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from endive.kernel import jitted
from endive.rng import uniform
from endive.workload.picks import (
    pick_another,
    pick_count,
    pick_distinct,
    pick_index,
    scan_remaining,
    split_written,
    tails_of,
    truncated_zipf_pmf,
    written_count,
    zipf_tails,
)

DRAWS = 20_000
LEAST_U = 2.0**-53
GREATEST_U = 1.0 - 2.0**-53
WRITE_COUNTER = 1 << 32

compiled_pick_distinct = jitted(pick_distinct)
compiled_split_written = jitted(split_written)


def picked(total: int, count: int, alpha: float, key: int) -> tuple[int, ...]:
    """By compiled code, which a test below holds equal to the interpreter's."""
    out = np.full(count, -1, dtype=np.int64)
    compiled_pick_distinct(_tails(total, alpha), 0, total, count, key, 0, out, 0)
    return tuple(out.tolist())


@functools.cache
def _tails(total: int, alpha: float) -> npt.NDArray[np.float64]:
    return np.array(zipf_tails(total, alpha))


def assert_frequency(probability: float, occurrences: int, draws: int) -> None:
    """Within four standard errors, or within four occurrences where the law of small numbers holds."""
    error = 4.0 * math.sqrt(probability * (1.0 - probability) / draws) + 4.0 / draws
    assert probability == pytest.approx(occurrences / draws, abs=error)


def set_probabilities(pmf: tuple[float, ...], count: int) -> dict[tuple[int, ...], float]:
    """Probability of each set of ``count``, by enumerating every order in which it can be picked."""
    probabilities = dict.fromkeys(combinations(range(len(pmf)), count), 0.0)
    for order in permutations(range(len(pmf)), count):
        probability, left = 1.0, 1.0
        for item in order:
            probability *= pmf[item] / left
            left -= pmf[item]
        probabilities[tuple(sorted(order))] += probability
    return probabilities


# ---- weights ---------------------------------------------------------------------------------------


def test_a_truncated_zipf_gives_rank_r_the_share_r_to_the_minus_alpha_of_the_ranks_up_to_t():
    norm = sum(rank**-1.5 for rank in range(1, 51))

    expected = [rank**-1.5 / norm for rank in range(1, 51)]

    assert expected == pytest.approx(truncated_zipf_pmf(50, 1.5), rel=1e-12)


def test_tails_sum_the_weights_from_the_last_one_up():
    assert (1.0, 0.75, 0.25, 0.0) == tails_of((0.25, 0.5, 0.25, 0.0))


def test_weights_near_the_smallest_float_pick_as_larger_ones_do():
    """1e-322 has four bits: a draw times such a sum is mostly rounded away, also to indices without weight."""
    tiny, usual = tails_of((5e-324, 0.0, 1.5e-323, 0.0)), tails_of((1.0, 0.0, 3.0, 0.0))
    draws = [number / 1000 for number in range(1000)]

    assert [pick_index(usual, 0, 4, u) for u in draws] == [pick_index(tiny, 0, 4, u) for u in draws]


# ---- one pick --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("u", "expected"), [(LEAST_U, 3), (0.2499, 3), (0.25, 1), (0.7499, 1), (0.75, 0), (GREATEST_U, 0)]
)
def test_a_pick_divides_the_unit_interval_by_weight_the_last_index_first(u, expected):
    tails = (9.0, *tails_of((0.25, 0.5, 0.0, 0.25)), 9.0)

    assert expected == pick_index(tails, 1, 4, u)


@pytest.mark.parametrize("only", range(4))
@pytest.mark.parametrize("u", [LEAST_U, 0.5, GREATEST_U])
def test_an_index_without_weight_is_never_picked(only, u):
    weights = [0.0] * 4
    weights[only] = 0.3

    assert only == pick_index(tails_of(weights), 0, 4, u)


# ---- counts ----------------------------------------------------------------------------------------


def test_a_fixed_count_is_that_count():
    assert 3 == pick_count(3, (), 0, 10, 1, 0)


def test_a_drawn_count_is_zipf_over_one_to_all():
    tails = zipf_tails(10, 1.5)
    counts = Counter(pick_count(0, tails, 0, 10, key, 0) for key in range(DRAWS))

    assert set(range(1, 11)) == set(counts)
    for index, probability in enumerate(truncated_zipf_pmf(10, 1.5)):
        assert_frequency(probability, counts[index + 1], DRAWS)


@pytest.mark.parametrize(("alpha", "mean"), [(1.5, 2.5164), (10.0, 1.0010)])
def test_a_zipf_of_ten_means_one_table_and_one_of_one_and_a_half_two_to_three_of_ten(alpha, mean):
    """The two workloads of the experiment plan."""
    pmf = truncated_zipf_pmf(10, alpha)

    assert mean == pytest.approx(sum((index + 1) * share for index, share in enumerate(pmf)), abs=5e-5)


@pytest.mark.parametrize(
    ("count", "fraction", "expected"), [(1, 0.0, 1), (1, 1.0, 1), (3, 0.5, 1), (4, 0.5, 2), (10, 1.0, 10)]
)
def test_the_written_share_is_rounded_down_but_never_to_none(count, fraction, expected):
    assert expected == written_count(count, fraction)


# ---- several picks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 1.5])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_sets_come_as_often_as_picking_one_after_another_says(alpha, count):
    expected = set_probabilities(truncated_zipf_pmf(4, alpha), count)
    counts = Counter(picked(4, count, alpha, key) for key in range(DRAWS))

    assert set(expected) == set(counts)
    for subset, probability in expected.items():
        assert_frequency(probability, counts[subset], DRAWS)


@pytest.mark.parametrize(
    ("target", "expected"), [(0.0, (1.0, 4)), (1.0, (2.0, 2)), (1.5, (2.0, 2)), (math.inf, (3.0, 0))]
)
def test_a_scan_adds_the_weights_not_yet_picked_until_they_exceed_its_target(target, expected):
    assert expected == scan_remaining((9.0, *zipf_tails(5, 0.0)), 1, 5, [7, 1, 3], 1, 2, target)


def test_the_scan_follows_thirty_two_tries_with_a_draw_of_its_own():
    """All but three of 1,000 tables are picked: rejection fails mostly, and the last of 33 draws decides."""
    left = [900, 500, 100]
    others = [table for table in range(1000) if table not in left]
    found, expected = [], []
    for key in range(300):
        tries = [pick_index(zipf_tails(1000, 0.0), 0, 1000, uniform(key, 5 + i)) for i in range(32)]
        by_scan = left[int(uniform(key, 5 + 32) * 3.0)]
        expected.append(next((table for table in tries if table in left), by_scan))
        found.append(pick_another(zipf_tails(1000, 0.0), 0, 1000, key, 5, others, 0, 997))

    assert expected == found


def test_pick_number_i_draws_at_thirty_three_times_i():
    tails = zipf_tails(10**6, 0.0)
    out = [-1] * 5

    pick_distinct(tails, 0, 10**6, 5, 8, 100, out, 0)

    assert sorted(pick_index(tails, 0, 10**6, uniform(8, 100 + 33 * i)) for i in range(5)) == out


def test_picking_all_of_them_draws_nothing():
    out = [-1] * 6

    pick_distinct((), 0, 4, 4, 0, 0, out, 1)

    assert [-1, 0, 1, 2, 3, -1] == out


@given(
    total=st.integers(1, 60),
    shares=st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)),
    alpha=st.sampled_from([0.0, 1.5, 10.0, 40.0]),
    key=st.integers(-(2**63), 2**63 - 1),
)
def test_interpreter_and_compiler_pick_the_same(total, shares, alpha, key):
    count = max(1, int(total * shares[0]))
    written = max(1, int(count * shares[1]))
    tails = zipf_tails(total, alpha)
    interpreted = [-1] * (count + 3)
    compiled = np.full(count + 3, -1, dtype=np.int64)

    pick_distinct(tails, 0, total, count, key, 7, interpreted, 2)
    split_written(interpreted, 2, count, written, key, WRITE_COUNTER)
    compiled_pick_distinct(np.array((9.0, *tails)), 1, total, count, key, 7, compiled, 2)
    compiled_split_written(compiled, 2, count, written, key, WRITE_COUNTER)

    assert interpreted == compiled.tolist()


# ---- the written subset ----------------------------------------------------------------------------


@given(
    items=st.lists(st.integers(0, 1000), min_size=1, max_size=50, unique=True).map(sorted),
    data=st.data(),
    key=st.integers(0, 2**62),
)
def test_a_split_keeps_every_item_and_leaves_both_parts_ascending(items, data, key):
    written = data.draw(st.integers(0, len(items)))
    out = [-1, *items, -1]

    split_written(out, 1, len(items), written, key, 0)

    assert [-1, -1] == [out[0], out[-1]]
    assert items == sorted(out[1:-1])
    assert sorted(out[1 : 1 + written]) == out[1 : 1 + written]
    assert sorted(out[1 + written : -1]) == out[1 + written : -1]


def test_every_subset_is_written_equally_often():
    counts: Counter[tuple[int, ...]] = Counter()
    for key in range(DRAWS):
        out = [10, 20, 30, 40, 50]
        split_written(out, 0, 5, 2, key, 0)
        counts[tuple(out[:2])] += 1

    assert set(combinations((10, 20, 30, 40, 50), 2)) == set(counts)
    for occurrences in counts.values():
        assert_frequency(0.1, occurrences, DRAWS)
