"""The answer in words."""

import pytest
from tests.report.synthetic import SyntheticStudy, write_synthetic

from endive.report.reading import Study
from endive.report.report import make_report
from endive.report.words import log_ticks, number, percent, with_interval


def answer_of(folder, study):
    return make_report(write_synthetic(folder, study)).sections[0].answer


def plain(name="study", **options):
    return SyntheticStudy(name, {"load_per_s": (1, 2, 4, 8)}, has_groups=False, **options)


def test_the_load_that_meets_the_objective_comes_first_then_the_reason_the_most_commits_and_the_price(tmp_path):
    answer = answer_of(tmp_path, plain())

    assert (
        "By the estimates alone, "
        "at least 99 % of txns commit up to 2 txns/s (100 % [97.5, 100]); at 4 txns/s it is 75.0 % [73.1, 76.9]; "
        "cannot tell: more seeds would." == answer.headline
    )
    assert answer.paragraph.startswith("At 4 txns/s, every abort is for retries exhausted.")
    for told in (
        "The most commits are 3.00 txns/s [2.93, 3.07] (4 txns/s), where 75.0 % of txns succeed; 40 % of commit time "
        "is backoff there.",
        "P95 of commit latency goes from 200 ms [195, 205] to 1,100 ms [1,073, 1,127], of the 37.5 % that commit",
        "takes 78.2 [76.3, 80.2] requests instead of 10.7 [10.4, 10.9]",
    ):
        assert told in answer.paragraph
    assert "they are" not in answer.paragraph  # 3.00 at 8 txns/s too


def test_fewer_commits_under_more_load_are_told_if_seeds_leave_no_doubt(tmp_path):
    study = plain()
    figures = study.figures
    study.figures = lambda point, *group: (
        figures(point, *group) | ({"committed_per_s": 1.5} if study.points[point]["load_per_s"] == 8 else {})
    )

    assert "; at 8 txns/s they are 1.50 txns/s [1.46, 1.54]" in answer_of(tmp_path, study).paragraph


def test_series_that_agree_are_told_together(report):
    assert (
        "By the estimates alone, "
        "at least 99 % of txns commit up to 2 txns/s, with iceberg and with merge alike; at 4 txns/s it is 78.8 % "
        "[76.8, 80.7] with merge, but 75.0 % [73.1, 76.9] with iceberg; cannot tell: more "
        "seeds would." == report.sections[0].answer.headline
    )


WAYS = ("iceberg", "spec", "merge", "pyiceberg")
HEADLINES = {
    "series that differ are told apart": (
        {"load_per_s": (1, 2, 3.02, 8), "commit.protocol": ("iceberg", "merge")},
        2.9,  # the second takes 3.045
        "at least 99 % of txns commit up to 3.02 txns/s with merge; up to 2 txns/s with iceberg; cannot tell: "
        "more seeds would.",
    ),
    "four ways of one axis are each told with where they end": (
        {"load_per_s": (3.1, 3.25, 3.4, 8), "commit.protocol": WAYS},
        3.0,  # each further way takes a twentieth more; the first meets the objective nowhere
        "at least 99 % of txns commit up to 3.4 txns/s with pyiceberg; up to 3.25 txns/s with merge; up to 3.1 txns/s "
        "with spec; nowhere with iceberg; cannot tell",
    ),
    "many curves are told along the axis that decides the most": (
        {
            "load_per_s": (1, 2.95, 3.1, 3.25, 3.4, 8),
            "commit.protocol": ("iceberg", "merge"),
            "storage.provider": ("s3", "s3x", "azure"),
        },
        3.0,
        "at least 99 % of txns commit up to 3.25 txns/s at worst and up to 3.4 txns/s at best with Azure; up to 3.1 "
        "txns/s at worst and up to 3.25 txns/s at best with S3 Express; up to 2.95 txns/s at worst and up to 3.1 "
        "txns/s at best with S3, depending on protocol; cannot tell",
    ),
    "a load that never misses is not called a limit": (
        {"load_per_s": (1, 2, 4, 8)},
        100.0,
        "at least 99 % of txns commit everywhere from 1 to 8 txns/s; ",
    ),
}


@pytest.mark.parametrize(("axes", "capacity_per_s", "headline"), HEADLINES.values(), ids=HEADLINES)
def test_the_headline_says_where_each_curve_ends(tmp_path, axes, capacity_per_s, headline):
    answer = answer_of(tmp_path, SyntheticStudy("study", axes, has_groups=False, capacity_per_s=capacity_per_s))

    assert answer.headline.startswith(f"By the estimates alone, {headline}")
    if capacity_per_s == 100.0:
        assert "The objective is missed nowhere" == answer.lines[2]
    if "nowhere with iceberg" in headline:
        assert ("iceberg", "nowhere") == answer.rows[0][:2]


def test_a_study_that_never_meets_the_objective_says_so_with_its_best(tmp_path):
    assert (
        "Nowhere from 1 to 8 txns/s do 99 % of txns commit; the best is 10.0 % [9.8, 10.2], at 1 txns/s."
        == answer_of(tmp_path, plain(capacity_per_s=0.1)).headline
    )


def test_a_question_about_one_source_is_answered_for_that_source(tmp_path):
    study = SyntheticStudy("study", {"load_per_s": (0.5, 1, 2)}, objective="overwrites.success_rate >= 99 %")
    section = make_report(write_synthetic(tmp_path, study)).sections[0]

    assert (
        "By the estimates alone, "
        "at least 99 % of the txns of overwrites commit up to 0.5 txns/s (100 % [97.5, 100]); at 1 txns/s it is 75.0 % "
        "[73.1, 76.9]; cannot tell: more seeds would." == section.answer.headline
    )
    assert "The most commits of overwrites are 0.600 txns/s [0.585, 0.615]" in section.answer.paragraph
    assert "Success of overwrites against offered load" in [chart.title for chart in section.charts]


def test_where_every_source_is_asked_the_one_that_misses_is_named(tmp_path):
    study = SyntheticStudy("study", {"load_per_s": (0.5, 4)}, objective="every source.success_rate >= 99 %")

    assert "at 4 txns/s it is 18.8 % [18.3, 19.2] for overwrites; " in answer_of(tmp_path, study).headline


def test_a_doubt_says_how_many_more_txns_would_tell(tmp_path, monkeypatch):
    figure_rows = Study.figure_rows

    def with_counts(study, figures, *group):
        counted = [{"point": point, "mean": 16.0, "seeds": 3} for point in range(4)]
        return counted if "txns_committed" in figures else figure_rows(study, figures, *group)

    monkeypatch.setattr(Study, "figure_rows", with_counts)

    assert "; cannot tell: about 340 more txns each would." in (answer_of(tmp_path, plain()).headline)


def test_what_is_sure_is_told_without_a_doubt(tmp_path):
    headline = answer_of(tmp_path, plain(objective="success_rate >= 90 %")).headline

    assert "At least 90 % of txns commit up to 2 txns/s" in headline
    assert "cannot tell" not in headline


def test_the_terminal_gets_five_lines(report):
    assert (
        "Two protocols: 10 configurations, 3 seeds each",
        report.sections[0].answer.headline.removesuffix("."),
    ) == report.lines()[:2]
    assert 5 == len(report.lines())


def test_one_configuration_is_described_not_compared(tmp_path):
    answer = answer_of(tmp_path, SyntheticStudy("one", {"load_per_s": (1,)}, seeds=1, has_groups=False))

    assert "The objective (success_rate >= 99 %) cannot be told yet (more seeds would): it is 100 %." == answer.headline
    assert "One configuration, 1 seed: nothing is compared here." == answer.scale


def test_configurations_without_a_load_are_compared_by_name(tmp_path):
    study = SyntheticStudy("names", {"storage.provider": ("s3", "azure", "gcp")}, load=None, has_groups=False)
    answer = answer_of(tmp_path, study)

    assert answer.headline.startswith(
        "By the estimates alone, at least 99 % of txns commit with all of S3, Azure and Google Cloud; cannot tell"
    )
    assert answer.paragraph.startswith(
        "Commit latency P95 goes from 195 ms [191, 200] (Google Cloud) to 200 ms [195, 205] (S3)."
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
