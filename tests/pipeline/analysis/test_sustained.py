"""The sustained load of a curve, from configurations made by hand."""

from __future__ import annotations

import pytest

from endive.pipeline.analysis.sustained import SUSTAINED, sustained

pytestmark = pytest.mark.spark

CONFIGURATIONS = (
    "study string, point int, scope string, name string, offered_per_s double, committed_per_s double, "
    "committed_in_window_per_s double, success_rate double, verdict string, meets_objective boolean, misses string"
)
PLACES = "study string, point int, curve int, load double, is_ordered_by_load boolean"


def judged(spark, points, *, loads=None, by_load=False, scope="all"):
    """Points as (offered per s, what it misses or None), on one curve; '?' stands for nothing measured."""
    rows = [
        (
            "s",
            point,
            scope,
            scope,
            offered,
            offered * 0.9,
            offered * 0.8,
            0.8,
            "cannot tell",
            None if misses == "?" else misses is None,
            None if misses == "?" else misses,
        )
        for point, (offered, misses) in enumerate(points)
    ]
    places = [("s", point, 0, (loads or {}).get(point), by_load) for point in range(len(points))]
    return spark.createDataFrame(rows, CONFIGURATIONS), spark.createDataFrame(places, PLACES)


def only_row(spark, points, **options):
    (row,) = sustained(*judged(spark, points, **options)).toArrow().to_pylist()
    assert list(SUSTAINED) == list(row)
    return row


def test_the_sustained_load_is_the_highest_below_which_everything_meets_the_objective(spark):
    row = only_row(
        spark,
        [(40.0, "success rate"), (10.0, None), (20.0, None), (80.0, "success rate and latency")],
        loads={0: 25.0, 1: 100.0, 2: 50.0, 3: 12.5},
    )

    assert {
        "study": "s",
        "curve": 0,
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


def test_a_load_that_holds_above_one_that_does_not_is_not_sustained(spark):
    row = only_row(spark, [(10.0, None), (20.0, "latency"), (40.0, None)])

    assert (0, 1, False) == (row["sustained_point"], row["missed_point"], row["is_monotone"])


def test_a_curve_that_misses_it_from_its_lowest_load_sustains_nothing(spark):
    row = only_row(spark, [(10.0, "success rate"), (20.0, "success rate")])

    assert (None, None, 0) == (row["sustained_point"], row["sustained_offered_per_s"], row["missed_point"])


def test_a_curve_that_never_misses_it_sustains_its_highest_load(spark):
    row = only_row(spark, [(10.0, None), (20.0, None)])

    assert (1, None, None, True) == (
        row["sustained_point"],
        row["missed_point"],
        row["misses"],
        row["is_monotone"],
    )


def test_a_point_that_measured_nothing_is_not_sustained(spark):
    row = only_row(spark, [(10.0, None), (20.0, "?"), (40.0, None)])

    assert (0, 1, None) == (row["sustained_point"], row["missed_point"], row["misses"])


def test_a_closed_loop_is_ordered_by_its_clients_not_by_what_they_offer(spark):
    """More clients offer less when the catalog breaks down."""
    points = [(10.0, None), (30.0, None), (15.0, "success rate")]

    by_clients = only_row(spark, points, loads={0: 1.0, 1: 4.0, 2: 16.0}, by_load=True)
    by_offer = only_row(spark, points, loads={0: 1.0, 1: 4.0, 2: 16.0})

    assert (1, 4.0) == (by_clients["sustained_point"], by_clients["sustained_load"])
    assert (0, 1.0) == (by_offer["sustained_point"], by_offer["sustained_load"])


def test_a_source_is_judged_along_the_load_of_the_whole_run(spark):
    """The rare overwrites offer the same at every point; what they suffer from is the appends."""
    whole, places = judged(spark, [(10.0, "success rate"), (100.0, "success rate")])
    source, _ = judged(spark, [(1.0, None), (1.0, "success rate")], scope="source")

    rows = sustained(whole.unionByName(source), places).toArrow().to_pylist()

    (found,) = (row for row in rows if row["scope"] == "source")
    assert (10.0, 100.0) == (found["sustained_offered_per_s"], found["missed_offered_per_s"])
    assert 0.9 == found["sustained_committed_per_s"]


def test_the_curves_of_a_study_are_told_apart_by_their_axes(analysis):
    rows = [row for row in analysis.tables["sustained"].to_pylist() if (row["study"], row["scope"]) == ("mixed", "all")]
    assert [
        (0, "source.appends.arrivals.mean_ms", None, "cas", 2),
        (1, "source.appends.arrivals.mean_ms", None, "instant", 2),
    ] == [
        (row["curve"], row["load_axis"], row["source.appends.arrivals.mean_ms"], row["catalog.type"], row["points"])
        for row in rows
    ]


def test_a_group_that_the_objective_does_not_speak_of_has_no_row(spark):
    whole, places = judged(spark, [(10.0, None)])
    other = whole.selectExpr(
        "study", "point", "'operation' as scope", "'fast_append' as name", "offered_per_s", "committed_per_s",
        "committed_in_window_per_s", "success_rate", "cast(null as string) as verdict",
        "cast(null as boolean) as meets_objective", "cast(null as string) as misses",
    )  # fmt: skip

    rows = sustained(whole.unionByName(other), places).toArrow().to_pylist()

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
