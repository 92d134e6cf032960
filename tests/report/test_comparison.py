"""Studies side by side."""

import math

import pytest
from tests.report.synthetic import SyntheticStudy, write_synthetic

from endive.report.comparison import change
from endive.report.report import make_report

LOADS = (1, 2, 4, 8)


def study(name, capacity_per_s=3.0, **axes):
    return SyntheticStudy(name, {"load_per_s": LOADS, **axes}, capacity_per_s=capacity_per_s, has_groups=False)


def test_a_ratio_is_the_geometric_mean_over_common_seeds():
    found = change("commit_latency_p95_ms", {1: 100.0, 2: 100.0, 9: 5.0}, {1: 200.0, 2: 50.0, 7: 1.0})

    assert (pytest.approx(1.0), 2) == (found.value, found.seeds)
    half = 12.706204736 * math.log(4) / math.sqrt(2) / math.sqrt(2)  # t of one degree, s of (log 2, -log 2)
    assert (pytest.approx(math.exp(-half)), pytest.approx(math.exp(half))) == (found.low, found.high)


@pytest.mark.parametrize(
    ("figure", "first", "second", "expected"),
    [
        ("success_rate", {1: 0.9, 2: 0.8}, {1: 0.8, 2: 0.7}, (-0.1, -0.1, -0.1, 2)),  # a difference
        ("committed_per_s", {1: 2.0}, {1: 3.0, 2: 9.0}, (1.5, None, None, 1)),  # one seed has no interval
    ],
)
def test_success_is_compared_by_difference_and_one_common_seed_has_no_interval(figure, first, second, expected):
    found = change(figure, first, second)

    assert pytest.approx(expected) == (found.value, found.low, found.high, found.seeds)


def test_no_common_seed_is_no_comparison():
    assert change("committed_per_s", {1: 2.0}, {2: 3.0}) is None
    assert change("committed_per_s", {1: 0.0}, {1: 3.0}) is None


def test_two_studies_of_one_folder_are_drawn_over_each_other_and_put_in_words(tmp_path):
    report = make_report(write_synthetic(tmp_path, study("small"), study("large", capacity_per_s=6.0)))
    comparison = report.comparison

    charts = ["latency-throughput", "success-rate", "committed-per-s", "changes"]
    assert charts == [chart.id for chart in comparison.charts]
    assert ("Small", "Large") == comparison.material.layout.series.labels
    at_8 = [row for row in comparison.material.rows("changes", ()) if row["xl"] == "8"]
    # Pressure falls from 8/3 to 8/6 at load 8: success from 0.375 to 0.75, P95 from 1,100 to 700 ms.
    assert [("Large", pytest.approx(0.375), pytest.approx(700 / 1100))] == [
        (row["name"], row["success_rate_change"], row["commit_latency_p95_ms_change"]) for row in at_8
    ]
    assert (
        "Large against Small, over 4 configurations in common: P95 from \u00d7 0.357 [0.357, 0.357] (4 txns/s) to "
        "\u00d7 0.875 [0.875, 0.875] (1 txns/s)"
    ) in comparison.paragraph
    assert "to +37.5 points [+37.5, +37.5] (8 txns/s)" in comparison.paragraph


def test_a_second_folder_can_be_compared(tmp_path):
    first = write_synthetic(tmp_path / "a", study("same"))
    second = write_synthetic(tmp_path / "b", study("same", capacity_per_s=6.0))

    report = make_report(first, compare_with=second)

    assert ("Same (a)", "Same (b)") == report.comparison.material.layout.series.labels
    assert "Same and Same" == report.title


def test_studies_that_vary_different_axes_are_not(tmp_path):
    other = study("other", **{"commit.protocol": ("iceberg", "merge")})
    report = make_report(write_synthetic(tmp_path, study("one"), other))

    assert report.comparison.material is None
    assert "vary different axes (One: load_per_s; Other: commit.protocol, load_per_s)" in report.comparison.paragraph


def test_the_series_of_both_become_panels(tmp_path):
    axes = {"commit.protocol": ("iceberg", "merge")}
    report = make_report(write_synthetic(tmp_path, study("one", **axes), study("two", **axes)))
    layout = report.comparison.material.layout

    assert ("study", "commit.protocol") == (layout.series.key, layout.panel.key)
