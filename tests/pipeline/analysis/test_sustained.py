"""The sustained load of a curve, from configurations made by hand."""

import pyarrow as pa
import pytest

from endive.tables.load_axis import LoadAxis, PlacedPoint
from endive.tables.sustained import find_sustained

RATES = ("offered_per_s", "committed_per_s", "committed_in_window_per_s", "success_rate")
TYPES = {"point": "int32", "meets_objective": "bool", **dict.fromkeys(RATES, "float64")}
TEXTS = dict.fromkeys(("study", "scope", "name", "verdict", "misses"), "string")
CONFIGURATIONS = pa.schema({**TYPES, **TEXTS})


def judged(points, *, scope="all", verdict="cannot tell"):
    """Points as (offered per s, what it misses or None); '?' stands for nothing measured."""
    rows = [
        {
            "study": "s",
            "point": point,
            "scope": scope,
            "name": scope,
            "offered_per_s": offered,
            "committed_per_s": offered * 0.9,
            "committed_in_window_per_s": offered * 0.8,
            "success_rate": 0.8,
            "verdict": verdict,
            "meets_objective": None if misses == "?" else misses is None,
            "misses": None if misses == "?" else misses,
        }
        for point, (offered, misses) in enumerate(points)
    ]
    return pa.Table.from_pylist(rows, CONFIGURATIONS)


def one_curve(count, loads=None, key=None):
    """``count`` points on one curve, by their offered rate, or by the load if ``key`` is a number of clients."""
    placed = tuple(PlacedPoint(point=point, curve=0, load=(loads or {}).get(point)) for point in range(count))
    return {"s": LoadAxis(key=key, series=(), placed=placed)}


def only_row(points, *, loads=None, key=None):
    (row,) = find_sustained(judged(points), one_curve(len(points), loads, key), axes=()).to_pylist()
    return row


def test_the_sustained_load_is_the_highest_below_which_everything_meets_the_objective():
    row = only_row(
        [(40.0, "success rate"), (10.0, None), (20.0, None), (80.0, "success rate and latency")],
        loads={0: 25.0, 1: 100.0, 2: 50.0, 3: 12.5},
    )

    assert {
        "study": "s",
        "curve": 0,
        "load_axis": None,
        "scope": "all",
        "name": "all",
        "points": 4,
        "sustained_point": 2,
        "sustained_load": 50.0,
        "sustained_offered_per_s": 20.0,
        "sustained_committed_per_s": 18.0,
        "missed_point": 0,
        "missed_load": 25.0,
        "missed_offered_per_s": 40.0,
        "misses": "success rate",
        "committed_in_window_max_per_s": 64.0,
        "success_rate_at_max": 0.8,
        "is_monotone": True,
    } == row


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        pytest.param([(10.0, None), (20.0, "P95"), (40.0, None)], (0, 10.0, 1, "P95", False), id="holds again above"),
        pytest.param([(10.0, "P95"), (20.0, "P95")], (None, None, 0, "P95", True), id="misses it from its lowest load"),
        pytest.param([(10.0, None), (20.0, None)], (1, 20.0, None, None, True), id="never misses it"),
        pytest.param([(10.0, None), (20.0, "?"), (40.0, None)], (0, 10.0, 1, None, False), id="measured nothing"),
    ],
)
def test_a_curve_sustains_the_highest_load_below_its_first_miss(points, expected):
    names = ("sustained_point", "sustained_offered_per_s", "missed_point", "misses", "is_monotone")

    assert expected == tuple(only_row(points)[name] for name in names)


def test_a_closed_loop_is_ordered_by_its_clients_not_by_what_they_offer():
    """More clients offer less when the catalog breaks down."""
    points = [(10.0, None), (30.0, None), (15.0, "success rate")]

    by_clients = only_row(points, loads={0: 1.0, 1: 4.0, 2: 16.0}, key="source.a.arrivals.clients")
    by_offer = only_row(points, loads={0: 1.0, 1: 4.0, 2: 16.0})

    assert (1, 4.0) == (by_clients["sustained_point"], by_clients["sustained_load"])
    assert (0, 1.0) == (by_offer["sustained_point"], by_offer["sustained_load"])


def test_a_source_is_judged_along_the_load_of_the_whole_run():
    """The rare overwrites offer the same at every point; what they suffer from is the appends."""
    whole = judged([(10.0, "success rate"), (100.0, "success rate")])
    source = judged([(1.0, None), (1.0, "success rate")], scope="source")

    rows = find_sustained(pa.concat_tables([whole, source]), one_curve(2), axes=()).to_pylist()

    (found,) = (row for row in rows if row["scope"] == "source")
    assert (10.0, 100.0) == (found["sustained_offered_per_s"], found["missed_offered_per_s"])
    assert 0.9 == found["sustained_committed_per_s"]


def test_the_curves_of_a_study_are_told_apart_by_their_axes(analysis):
    rows = [row for row in analysis.tables["sustained"].to_pylist() if (row["study"], row["scope"]) == ("mixed", "all")]
    axis = "source.appends.arrivals.mean_ms"
    assert [(0, axis, None, "cas", 2), (1, axis, None, "instant", 2)] == [
        tuple(row[column] for column in ("curve", "load_axis", axis, "catalog.type", "points")) for row in rows
    ]


def test_a_group_that_the_objective_does_not_speak_of_has_no_row():
    both = pa.concat_tables([judged([(10.0, None)]), judged([(1.0, None)], scope="operation", verdict=None)])

    rows = find_sustained(both, one_curve(1), axes=()).to_pylist()

    assert ["all"] == [row["scope"] for row in rows]


def test_a_configuration_is_judged_by_the_means_over_its_seeds_source_by_source(analysis):
    rows = [row for row in analysis.tables["configurations"].to_pylist() if row["study"] == "mixed"]
    sources = {(row["point"], row["name"]): row for row in rows if row["scope"] == "source"}
    for row in sources.values():
        assert (row["success_rate"] >= 0.99) == row["meets_objective"]
    for row in (row for row in rows if row["scope"] == "all"):
        own = [sources[row["point"], name] for name in ("appends", "overwrites")]
        assert all(source["meets_objective"] for source in own) == row["meets_objective"]
        told = [f"{source['name']}.success_rate >= 99 %" for source in own if not source["meets_objective"]]
        assert (" and ".join(told) or None) == row["misses"]
    assert {None} == {row["meets_objective"] for row in rows if row["scope"] == "operation"}
