"""The sustained load of a curve, from configurations made by hand."""

from __future__ import annotations

import pytest

from endive.pipeline.analysis.saturation import SATURATION, saturation

pytestmark = pytest.mark.spark

CONFIGURATIONS = (
    "study string, point int, scope string, name string, offered_per_s double, committed_per_s double, "
    "committed_in_window_per_s double, saturated boolean, saturation_sign string"
)
PLACES = "study string, point int, curve int, load double, is_ordered_by_load boolean"


def judged(spark, points, *, loads=None, by_load=False, scope="all"):
    """Points as (offered per s, sign of saturation or None), on one curve; '?' stands for nothing measured."""
    rows = [
        (
            "s",
            point,
            scope,
            scope,
            offered,
            offered * 0.9,
            offered * 0.8,
            None if sign == "?" else sign is not None,
            None if sign == "?" else sign,
        )
        for point, (offered, sign) in enumerate(points)
    ]
    places = [("s", point, 0, (loads or {}).get(point), by_load) for point in range(len(points))]
    return spark.createDataFrame(rows, CONFIGURATIONS), spark.createDataFrame(places, PLACES)


def only_row(spark, points, **options):
    (row,) = saturation(*judged(spark, points, **options)).toArrow().to_pylist()
    assert list(SATURATION) == list(row)
    return row


def test_the_sustained_load_is_the_highest_below_which_nothing_is_saturated(spark):
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
        "saturated_point": 0,
        "saturated_load": 25.0,
        "saturated_offered_per_s": 40.0,
        "saturation_sign": "success rate",
        "sustained_by_success_offered_per_s": 20.0,
        "committed_in_window_max_per_s": 64.0,
        "is_monotone": True,
    } == row


def test_a_load_that_holds_above_one_that_does_not_is_not_sustained(spark):
    row = only_row(spark, [(10.0, None), (20.0, "latency"), (40.0, None)])

    assert (0, 1, False) == (row["sustained_point"], row["saturated_point"], row["is_monotone"])


def test_latency_alone_does_not_end_the_load_that_succeeds(spark):
    row = only_row(spark, [(10.0, None), (20.0, "latency"), (40.0, "success rate and latency")])

    assert (10.0, 20.0) == (row["sustained_offered_per_s"], row["sustained_by_success_offered_per_s"])


def test_a_curve_saturated_from_its_lowest_load_sustains_nothing(spark):
    row = only_row(spark, [(10.0, "success rate"), (20.0, "success rate")])

    assert (None, None, 0) == (row["sustained_point"], row["sustained_offered_per_s"], row["saturated_point"])


def test_a_curve_that_never_saturates_sustains_its_highest_load(spark):
    row = only_row(spark, [(10.0, None), (20.0, None)])

    assert (1, None, None, True) == (
        row["sustained_point"],
        row["saturated_point"],
        row["saturation_sign"],
        row["is_monotone"],
    )


def test_a_point_that_measured_nothing_is_not_sustained(spark):
    row = only_row(spark, [(10.0, None), (20.0, "?"), (40.0, None)])

    assert (0, 1, None) == (row["sustained_point"], row["saturated_point"], row["saturation_sign"])


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

    rows = saturation(whole.unionByName(source), places).toArrow().to_pylist()

    (found,) = (row for row in rows if row["scope"] == "source")
    assert (10.0, 100.0) == (found["sustained_offered_per_s"], found["saturated_offered_per_s"])
    assert 0.9 == found["sustained_committed_per_s"]


def test_the_curves_of_a_study_are_told_apart_by_their_axes(analysis):
    rows = [
        row for row in analysis.tables["saturation"].to_pylist() if (row["study"], row["scope"]) == ("mixed", "all")
    ]
    assert [
        (0, "source.appends.arrivals.mean_ms", None, "cas", 2),
        (1, "source.appends.arrivals.mean_ms", None, "instant", 2),
    ] == [
        (row["curve"], row["load_axis"], row["source.appends.arrivals.mean_ms"], row["catalog.type"], row["points"])
        for row in rows
    ]


def test_a_configuration_is_judged_by_the_means_over_its_seeds(analysis):
    for row in analysis.tables["configurations"].to_pylist():
        if row["success_rate"] is None:
            assert row["saturated"] is None
            continue
        is_failing = row["success_rate"] < 0.95
        p50_ms, p95_ms = row["commit_latency_p50_ms"], row["commit_latency_p95_ms"]
        is_late = p50_ms is not None and p95_ms > 2 * p50_ms
        assert (is_failing or is_late) == row["saturated"]
        signs = {(True, True): "success rate and latency", (True, False): "success rate", (False, True): "latency"}
        assert signs.get((is_failing, is_late)) == row["saturation_sign"]
        assert 0 <= row["seeds_saturated"] <= row["seeds"]
