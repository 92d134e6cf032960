"""The answer in words: one sentence of each shape, and the facts behind them."""

import pytest
from tests.report.synthetic import SyntheticStudy, section_of

from endive.report.reading import Study

ALONE = "By the estimates alone, "
LOADS = (1, 2, 4, 8)
SOURCE, EVERY = "overwrites.success_rate >= 99 %", "every source.success_rate >= 99 %"
SERIES = {"load_per_s": (1, 2, 3.02, 8), "commit.protocol": ("iceberg", "merge")}
FOUR_WAYS = {"load_per_s": (3.1, 3.25, 3.4, 8), "commit.protocol": ("iceberg", "spec", "merge", "pyiceberg")}
MANY = {
    "load_per_s": (1, 2.95, 3.1, 3.25, 3.4, 8),
    "commit.protocol": ("iceberg", "merge"),
    "storage.provider": ("s3", "s3x", "azure"),
}
NAMES = {"storage.provider": ("s3", "azure", "gcp")}
HEADLINES = {
    "a limit, what is there, and what is beyond": (
        {},
        f"{ALONE}at least 99 % of txns commit up to 2 txns/s (100 % [97.5, 100]); at 4 txns/s it is 75.0 % "
        "[73.1, 76.9]; cannot tell: more seeds would.",
    ),
    "what is sure, without a doubt": (
        {"objective": "success_rate >= 90 %"},
        "At least 90 % of txns commit up to 2 txns/s (100 % [97.5, 100]); at 4 txns/s it is 75.0 % [73.1, 76.9].",
    ),
    "no limit where none is missed": (
        {"capacity_per_s": 100.0},
        f"{ALONE}at least 99 % of txns commit everywhere from 1 to 8 txns/s; cannot tell: more seeds would.",
    ),
    "the best where none is met": (
        {"capacity_per_s": 0.1},
        "Nowhere from 1 to 8 txns/s do 99 % of txns commit; the best is 10.0 % [9.8, 10.2], at 1 txns/s.",
    ),
    "series that agree, together": (
        {"axes": {"load_per_s": (0.5, *LOADS), "commit.protocol": ("iceberg", "merge")}},
        f"{ALONE}at least 99 % of txns commit up to 2 txns/s, with iceberg and with merge alike; at 4 txns/s it is "
        "78.8 % [76.8, 80.7] with merge, but 75.0 % [73.1, 76.9] with iceberg; cannot tell: more seeds would.",
    ),
    "series that differ, apart": (
        {"axes": SERIES, "capacity_per_s": 2.9},  # the second takes 3.045
        f"{ALONE}at least 99 % of txns commit up to 3.02 txns/s with merge; up to 2 txns/s with iceberg; cannot tell: "
        "more seeds would.",
    ),
    "four ways of one axis, each with its end": (
        {"axes": FOUR_WAYS},  # each further way takes a twentieth more; the first meets the objective nowhere
        f"{ALONE}at least 99 % of txns commit up to 3.4 txns/s with pyiceberg; up to 3.25 txns/s with merge; up to 3.1 "
        "txns/s with spec; nowhere with iceberg; cannot tell: more seeds would.",
    ),
    "many curves, along the axis that decides the most": (
        {"axes": MANY},
        f"{ALONE}at least 99 % of txns commit up to 3.25 txns/s at worst and up to 3.4 txns/s at best with Azure; up "
        "to 3.1 txns/s at worst and up to 3.25 txns/s at best with S3 Express; up to 2.95 txns/s at worst and up to "
        "3.1 txns/s at best with S3, depending on protocol; cannot tell: more seeds would.",
    ),
    "one source, if it is asked about": (
        {"axes": {"load_per_s": (0.5, 1, 2)}, "objective": SOURCE, "has_groups": True},
        f"{ALONE}at least 99 % of the txns of overwrites commit up to 0.5 txns/s (100 % [97.5, 100]); at 1 txns/s it "
        "is 75.0 % [73.1, 76.9]; cannot tell: more seeds would.",
    ),
    "of every source, the one that misses": (
        {"axes": {"load_per_s": (0.5, 4)}, "objective": EVERY, "has_groups": True},
        f"{ALONE}every source commits at least 99 % of its txns up to 0.5 txns/s (100 % [97.5, 100] for appends); at "
        "4 txns/s it is 18.8 % [18.3, 19.2] for overwrites; cannot tell: more seeds would.",
    ),
    "names, without a load": (
        {"axes": NAMES, "load": None},
        f"{ALONE}at least 99 % of txns commit with all of S3, Azure and Google Cloud; cannot tell: more seeds would.",
    ),
    "one configuration, described": (
        {"axes": {"load_per_s": (1,)}, "seeds": 1},
        "The objective (success_rate >= 99 %) cannot be told yet (more seeds would): it is 100 %.",
    ),
}


def study_of(axes=None, **options):
    return SyntheticStudy("study", axes or {"load_per_s": LOADS}, **{"has_groups": False, **options})


def answer_of(folder, **options):
    return section_of(folder, study_of(**options)).answer


@pytest.mark.parametrize(("options", "headline"), HEADLINES.values(), ids=HEADLINES)
def test_the_headline_tells(tmp_path, options, headline):
    assert headline == answer_of(tmp_path, **options).headline


def test_the_reason_the_most_commits_and_the_price_follow(tmp_path):
    assert (
        "At 4 txns/s, every abort is for retries exhausted. The most commits are 3.00 txns/s [2.93, 3.07] (4 txns/s), "
        "where 75.0 % of txns succeed; 40 % of commit time is backoff there. From 1 txns/s to 8 txns/s, P95 of commit "
        "latency goes from 200 ms [195, 205] to 1,100 ms [1,073, 1,127], of the 37.5 % that commit, and a committed "
        "txn takes 78.2 [76.3, 80.2] requests instead of 10.7 [10.4, 10.9]."
    ) == answer_of(tmp_path).paragraph  # 3.00 at 8 txns/s too


@pytest.mark.parametrize(("commits", "told"), [(1.5, "; at 8 txns/s they are 1.50 txns/s [1.46, 1.54]"), (2.95, "")])
def test_fewer_commits_under_more_load_are_told_if_seeds_leave_no_doubt(tmp_path, commits, told):
    study = study_of()
    figures = study.figures
    study.figures = lambda point, *group: figures(point, *group) | ({"committed_per_s": commits} if point == 3 else {})

    assert f"where 75.0 % of txns succeed{told}; 40 % of" in section_of(tmp_path, study).answer.paragraph


def test_a_question_about_one_source_is_drawn_for_that_source(tmp_path):
    section = section_of(tmp_path, study_of({"load_per_s": (0.5, 1, 2)}, objective=SOURCE, has_groups=True))

    assert "The most commits of overwrites are 0.600 txns/s [0.585, 0.615]" in section.answer.paragraph
    assert "Success of overwrites against offered load" in [chart.title for chart in section.charts]


def test_a_doubt_says_how_many_more_txns_would_tell(tmp_path, monkeypatch):
    figure_rows = Study.figure_rows

    def with_counts(study, figures, *group):
        counted = [{"point": point, "mean": 16.0, "seeds": 3} for point in range(4)]
        return counted if "txns_committed" in figures else figure_rows(study, figures, *group)

    monkeypatch.setattr(Study, "figure_rows", with_counts)

    assert "; cannot tell: about 340 more txns each would." in answer_of(tmp_path).headline


def test_the_table_has_a_row_for_each_curve(tmp_path):
    rows = answer_of(tmp_path, axes=FOUR_WAYS).rows

    assert ("iceberg", "nowhere", "3.1 txns/s: 96.8 % [94.4, 99.2]", "3.00 txns/s [2.93, 3.07]") == rows[0][:4]
    assert ("96.8 %", "610 [595, 625]", "16.8 [16.4, 17.2]") == rows[0][4:]


def test_the_terminal_gets_five_lines(report):
    head = ("Two protocols: 10 configurations, 3 seeds each", report.sections[0].answer.headline.removesuffix("."))

    assert head == report.lines()[:2]
    assert 5 == len(report.lines())


def test_lines_say_that_nothing_is_missed_or_compared(tmp_path):
    answer = answer_of(tmp_path / "one", axes={"load_per_s": (1,)}, seeds=1)

    assert "One configuration, 1 seed: nothing is compared here." == answer.scale
    assert "The objective is missed nowhere" == answer_of(tmp_path / "all", capacity_per_s=100.0).lines[2]


def test_configurations_without_a_load_are_compared_by_name(tmp_path):
    assert answer_of(tmp_path, axes=NAMES, load=None).paragraph.startswith(
        "Commit latency P95 goes from 195 ms [191, 200] (Google Cloud) to 200 ms [195, 205] (S3)."
    )
