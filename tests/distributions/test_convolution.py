"""Squaring a law by its transform: exact on whole numbers, the mean kept by every step."""

import math

import numpy as np
import pytest

from endive.distributions.convolution import CELLS_MAX, _trim, square


def mean(shares: np.ndarray) -> float:
    return math.fsum(share * index for index, share in enumerate(shares.tolist()))


def test_two_dice_make_the_triangle() -> None:
    shares, first, halvings = square(np.full(6, 1.0 / 6.0))

    assert (0, 0) == (first, halvings)
    assert [n / 36.0 for n in (1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1)] == pytest.approx(shares.tolist(), abs=1e-15)


def test_a_law_that_becomes_too_wide_is_coarsened_and_keeps_its_mean() -> None:
    shares = np.linspace(1.0, 3.0, CELLS_MAX)
    shares /= math.fsum(shares.tolist())

    coarse, first, halvings = square(shares)

    assert 1 == halvings
    assert coarse.size <= CELLS_MAX
    assert 2.0 * mean(shares) == pytest.approx(first + 2.0 * mean(coarse), rel=1e-11)


def test_ends_without_weight_are_put_on_the_first_and_last_cell_kept() -> None:
    kept, first, halvings = _trim(np.array([1e-14, -1e-17, 1e-13, 0.25, 0.5, 0.25, 1e-13]))

    assert (3, 0) == (first, halvings)
    assert [0.25, 0.5, 0.25] == pytest.approx(kept.tolist(), abs=2e-13)
    assert 1.0 == pytest.approx(math.fsum(kept.tolist()), abs=1e-16)
