"""Vectors: compiled code reads and writes the numbers at an address, and checks the index where it is told to."""

import numba
import numpy as np
import pytest
from numba.core import config

from endive.vectors import bytes_at, floats_at, int32s_at, ints_at


@pytest.mark.parametrize(
    ("vector_at", "scalar"),
    [(ints_at, np.int64), (int32s_at, np.int32), (bytes_at, np.uint8), (floats_at, np.float64)],
)
def test_what_is_written_lies_in_the_array_and_what_lies_there_is_read(vector_at, scalar):
    @numba.njit
    def double(address, count):
        numbers = vector_at(address, count)
        for place in range(count):
            numbers[place] *= 2
        return numbers[count - 1]

    numbers = np.array([1, 2, 3], scalar)
    assert 6 == double(numbers.ctypes.data, 3)
    assert [2, 4, 6] == numbers.tolist()


@pytest.mark.parametrize("index", [-1, 3])
def test_an_index_outside_is_an_error_where_bounds_are_checked(monkeypatch, index):
    monkeypatch.setattr(config, "BOUNDSCHECK", 1)

    @numba.njit
    def read(address, count, index):
        return ints_at(address, count)[index]

    numbers = np.array([7, 8, 9])
    assert 9 == read(numbers.ctypes.data, 3, 2)
    with pytest.raises(IndexError, match="outside of a Vector"):
        read(numbers.ctypes.data, 3, index)
