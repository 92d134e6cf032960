"""Selectors as a user calls them."""

import pytest

from endive.errors import ConfigError
from endive.workload import (
    PartitionSelector,
    TableSelector,
    UniformPartitionSelector,
    UniformTableSelector,
    ZipfPartitionSelector,
    ZipfTableSelector,
)

ALL = [
    UniformTableSelector(0.5),
    UniformPartitionSelector(0.5),
    ZipfTableSelector(1.5, 0.5),
    ZipfPartitionSelector(1.5, 0.5),
]


def test_a_selector_has_the_specifications_defaults():
    assert ALL == [UniformTableSelector(), UniformPartitionSelector(), ZipfTableSelector(), ZipfPartitionSelector()]


@pytest.mark.parametrize("selector", ALL)
def test_half_of_the_selected_are_written(selector):
    for key in range(200):
        read, written = selector.select(6, 10, key=key, counter=0, write_counter=1 << 24)

        assert (6, 3) == (len(read), len(written))
        assert written <= read <= set(range(10))


def test_the_write_set_is_drawn_apart_from_the_read_set():
    selector = UniformTableSelector(0.2)
    selections = [selector.select(5, 50, key=1, counter=0, write_counter=1000 + i) for i in range(50)]

    assert 1 == len({read for read, _ in selections})
    assert 5 == len({written for _, written in selections})


def test_table_and_partition_selectors_are_told_apart():
    assert [True, False, True, False] == [isinstance(selector, TableSelector) for selector in ALL]
    assert [False, True, False, True] == [isinstance(selector, PartitionSelector) for selector in ALL]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ZipfTableSelector(-1.0, 0.5), "alpha = -1.0: must be a finite number, 0 (uniform) or above."),
        (lambda: ZipfTableSelector(float("nan"), 0.5), "alpha = nan: must be a finite number, 0 (uniform) or above."),
        (lambda: UniformTableSelector(1.1), "write_fraction = 1.1: must lie between 0 and 1."),
        (
            lambda: UniformTableSelector(0.5).select(4, 3, key=0, counter=0, write_counter=9),
            "4 of 3 cannot be selected: choose a count between 1 and 3.",
        ),
    ],
)
def test_impossible_selections_are_refused(make, message):
    with pytest.raises(ConfigError) as refusal:
        make()

    assert message == str(refusal.value)
