"""The answer in words."""

from __future__ import annotations

import pytest
from tests.report.synthetic import SyntheticStudy, write_synthetic

from endive.report.report import make_report
from endive.report.words import log_ticks, number, percent, with_interval


def answer_of(folder, study):
    return make_report(write_synthetic(folder, study)).sections[0].answer


def plain(name="study", **options):
    return SyntheticStudy(name, {"load_per_s": (1, 2, 4, 8)}, has_groups=False, **options)


def test_the_load_that_holds_comes_first_with_its_success_rate(tmp_path):
    answer = answer_of(tmp_path, plain())

    assert "At least 95 % of txns commit up to 2 txns/s (100 % [97.5, 100.0] there)." == answer.headline


def test_what_breaks_first_and_why(tmp_path):
    text = answer_of(tmp_path, plain()).paragraph

    assert "It breaks at 4 txns/s, with 75.0 % [73.1, 76.9]; every abort is for retries exhausted." in text


def test_the_most_that_got_through_and_where_its_time_goes(tmp_path):
    text = answer_of(tmp_path, plain()).paragraph

    assert "The most that got through is 3.00 txns/s [2.93, 3.07], at 4 txns/s" in text
    assert "40 % of commit time is backoff there" in text
    assert "more load brought fewer commits" not in text  # 3.00 at 8 txns/s too


def test_fewer_commits_under_more_load_are_told_if_seeds_leave_no_doubt(tmp_path):
    study = plain()
    figures = study.figures
    study.figures = lambda point, *group: (
        figures(point, *group) | ({"committed_per_s": 1.5} if study.points[point]["load_per_s"] == 8 else {})
    )

    assert (
        "more load brought fewer commits (1.50 txns/s [1.46, 1.54] at 8 txns/s)" in answer_of(tmp_path, study).paragraph
    )


def test_the_price_in_latency_and_requests(tmp_path):
    text = answer_of(tmp_path, plain()).paragraph

    assert "P95 of commit latency goes from 200 ms [195, 205] to 1,100 ms [1,073, 1,127]" in text
    assert "takes 78.2 [76.3, 80.2] requests instead of 10.7 [10.4, 10.9]" in text


def test_latency_that_spreads_before_txns_fail_is_told(tmp_path):
    study = plain(capacity_per_s=0.99)  # pressure 1.01: 99 % commit, but P95 is three times P50

    assert (
        "Latency spreads before txns fail: P95 is more than twice P50 from 1 txns/s on"
        in answer_of(tmp_path, study).paragraph
    )


def test_series_that_agree_are_told_together(report):
    assert "At least 95 % of txns commit up to 2 txns/s, whatever the protocol." == report.sections[0].answer.headline


def test_series_that_differ_are_told_apart(tmp_path):
    axes = {"load_per_s": (1, 2, 3.1, 8), "commit.protocol": ("iceberg", "merge")}
    study = SyntheticStudy("study", axes, has_groups=False, capacity_per_s=2.9)  # the second takes 3.045

    assert (
        "At least 95 % of txns commit up to 3.1 txns/s with merge; up to 2 txns/s with iceberg."
        == answer_of(tmp_path, study).headline
    )


def test_a_load_that_never_breaks_is_not_called_a_limit(tmp_path):
    answer = answer_of(tmp_path, plain(capacity_per_s=100.0))

    assert answer.headline.startswith("At least 95 % of txns commit at every load tried, up to 8 txns/s")
    assert "Breaks at no load that was tried" == answer.lines[2]


def test_a_load_that_never_holds_is_told(tmp_path):
    assert answer_of(tmp_path, plain(capacity_per_s=0.1)).headline.startswith("At least 95 % of txns commit at no load")


def test_a_source_that_fares_worse_than_its_run_is_named(report):
    text = report.sections[0].answer.paragraph

    assert "Not all fare alike. At least 95 % of the txns of source overwrites commit up to 0.5 txns/s" in text
    assert "where all txns together have 37.5 %" in text


def test_the_terminal_gets_five_lines(report):
    assert (
        "Two protocols: 10 configurations, 3 seeds each",
        "At least 95 % of txns commit up to 2 txns/s, whatever the protocol",
    ) == report.lines()[:2]
    assert 5 == len(report.lines())


def test_one_configuration_is_described_not_compared(tmp_path):
    study = SyntheticStudy("one", {"load_per_s": (1,)}, seeds=1, has_groups=False)
    answer = answer_of(tmp_path, study)

    assert "Of 1.00 txns/s offered, 1.00 txns/s commit, 100 % of those that ended." == answer.headline
    assert "One configuration, 1 seed: nothing is compared here." == answer.scale


def test_configurations_without_a_load_are_compared_by_name(tmp_path):
    study = SyntheticStudy("names", {"storage.provider": ("s3", "azure", "gcp")}, load=None, has_groups=False)
    answer = answer_of(tmp_path, study)

    assert "The success rate is 100 % [97.5, 100.0] everywhere." == answer.headline
    assert (
        "The best P95 of commit latency is 195 ms [191, 200] (gcp), the worst 200 ms [195, 205] (s3)."
        in answer.paragraph
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (None, "-"),
        (1234.5, "1,234"),
        (9.999, "10.0"),
        (0.0123, "0.0123"),
        (3.0, "3.00"),
        (1.5e-9, "1.50e-09"),
    ],
)
def test_numbers_keep_three_digits(value, text):
    assert text == number(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "100 %"), (0.99999, "99.999 %"), (0.9999999, "> 99.99 %"), (0.5, "50.0 %"), (0.0, "0.0 %"), (None, "-")],
)
def test_a_share_is_a_hundred_percent_only_if_it_is(value, text):
    assert text == percent(value)


def test_an_interval_without_width_is_left_out():
    row = {"success_rate": 1.0, "success_rate_ci95_low": 1.0, "success_rate_ci95_high": 1.0}

    assert "100 %" == with_interval(row, "success_rate")


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.5, 8, [0.5, 1, 2, 5]),
        (3, 4, [3, 4]),
        (0.75, 2.4, [1, 1.2, 1.5, 2]),
        (1, 10_000, [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000]),
    ],
)
def test_ticks_of_a_logarithmic_axis_are_few(low, high, ticks):
    assert ticks == log_ticks(low, high)
