"""The grid of latencies: every value has one bin, and a bin is narrow."""

import numpy as np

from endive.results.latency_grid import BINS_PER_OCTAVE, bin_high_us, bin_low_us, bins_of


def test_small_values_have_bins_of_their_own():
    values = np.arange(2 * BINS_PER_OCTAVE)

    assert values.tolist() == bins_of(values).tolist()
    assert values.tolist() == bin_low_us(values).tolist()
    assert values.tolist() == bin_high_us(values).tolist()


def test_bins_follow_each_other_without_a_gap():
    bins = np.arange(40 * BINS_PER_OCTAVE)

    assert (bin_high_us(bins)[:-1] + 1).tolist() == bin_low_us(bins)[1:].tolist()


def test_every_value_lies_in_its_bin_also_beside_powers_of_two():
    powers = np.int64(1) << np.arange(1, 50, dtype=np.int64)
    values = np.concatenate([powers - 1, powers, powers + 1, np.arange(100_000), 7 * powers // 3])
    bins = bins_of(values)

    assert (bin_low_us(bins) <= values).all()
    assert (values <= bin_high_us(bins)).all()


def test_a_bin_is_at_most_a_128th_of_its_value_wide():
    bins = np.arange(1, 40 * BINS_PER_OCTAVE)
    widths = bin_high_us(bins) - bin_low_us(bins) + 1

    assert (widths[bins >= BINS_PER_OCTAVE] * 128 <= bin_low_us(bins)[bins >= BINS_PER_OCTAVE]).all()
