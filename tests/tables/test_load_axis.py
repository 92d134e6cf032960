"""Which axis is the load, and which points lie on one curve."""

from itertools import product

import pytest

from endive.errors import ConfigError
from endive.tables.load_axis import find_load_axis

SCALE = "transaction.inter_arrival.scale"
TABLES = "catalog.num_tables"


def points_of(**axes):
    """The grid of these axes, last one fastest."""
    names = [name.replace("__", ".") for name in axes]
    return {index: dict(zip(names, values, strict=True)) for index, values in enumerate(product(*axes.values()))}


def curves(axis):
    return [place.curve for place in axis.placed]


def test_points_that_differ_in_load_only_form_a_curve():
    points = points_of(transaction__inter_arrival__scale=[10, 20], catalog__num_tables=[1, 2])

    found = find_load_axis(points, [SCALE, TABLES])

    assert (SCALE, (TABLES,)) == (found.key, found.series)
    assert [0, 1, 0, 1] == curves(found)
    assert [10.0, 10.0, 20.0, 20.0] == [place.load for place in found.placed]


def test_an_axis_that_the_load_decides_does_not_set_points_apart():
    points = {0: {SCALE: 10, "simulation.duration_ms": 600}, 1: {SCALE: 20, "simulation.duration_ms": 1200}}

    found = find_load_axis(points, [SCALE, "simulation.duration_ms"])

    assert () == found.series
    assert [0, 0] == curves(found)


def test_the_studys_own_name_of_a_load_is_taken_if_it_is_drawn_against():
    key = "source.appends.arrivals.per_s"
    points = {index: {"rate": rate, key: 2.0 * rate} for index, rate in enumerate((1.0, 2.0, 4.0))}

    assert "rate" == find_load_axis(points, ["rate", key], drawn="rate").key
    assert key == find_load_axis(points, ["rate", key]).key


def test_what_is_drawn_against_is_no_load_if_it_does_not_move_arrivals():
    points = points_of(transaction__inter_arrival__scale=[10, 20], catalog__num_tables=[1, 2, 3])

    assert SCALE == find_load_axis(points, [SCALE, TABLES], drawn=TABLES).key
    assert TABLES == find_load_axis(points, [SCALE, TABLES], wanted=TABLES).key  # the user's choice holds


def test_of_two_arrival_keys_the_one_with_more_values_is_the_load():
    first, second = "source.a.arrivals.period_ms", "source.b.arrivals.mean_ms"
    points = points_of(source__a__arrivals__period_ms=[1, 2], source__b__arrivals__mean_ms=[1, 2, 3])

    found = find_load_axis(points, [first, second])

    assert (second, (first,)) == (found.key, found.series)


def test_the_kind_of_arrivals_is_no_load():
    points = points_of(source__a__arrivals__kind=["poisson", "fixed"])

    found = find_load_axis(points, ["source.a.arrivals.kind"])

    assert found.key is None
    assert [0, 1] == curves(found)
    assert [None, None] == [place.load for place in found.placed]


def test_a_number_of_clients_is_a_closed_loop():
    points = points_of(source__a__arrivals__clients=[1, 2])
    assert find_load_axis(points, ["source.a.arrivals.clients"]).is_closed_loop
    assert not find_load_axis(points_of(transaction__inter_arrival__scale=[1, 2]), [SCALE]).is_closed_loop


def test_a_choice_that_is_no_number_is_refused():
    points = points_of(catalog__type=["cas", "append"])
    with pytest.raises(ConfigError, match=r"--load catalog\.type has values that are not numbers"):
        find_load_axis(points, ["catalog.type"], wanted="catalog.type")


def test_a_point_that_leaves_the_load_to_the_base_has_none():
    points = {0: {SCALE: 10, TABLES: 1}, 1: {SCALE: None, TABLES: 1}}
    assert [10.0, None] == [place.load for place in find_load_axis(points, [SCALE, TABLES]).placed]
