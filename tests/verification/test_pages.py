"""Pages: a function of what was found, and an index that remembers suites that did not run this time."""

from __future__ import annotations

import pytest

from endive.errors import OutputError
from endive.verification import Check, Outcome, Table, skipped, suites_here
from endive.verification.pages import ROWS_ON_PAGE, PageFolder, joint_text, suite_page

TITLES = {suite.name: suite.title for suite in suites_here()}


def test_a_page_says_right_or_wrong_first_then_everything_else(outcome):
    lines = suite_page("Theory", [outcome()]).splitlines()

    assert "Made by `endive verify theory`." == lines[2]
    assert "**Wrong: 1 of 2 checks.** 1 more are shown without a limit. (model version 2)" == lines[4]
    assert "![Rates](theory-rate.svg)" in lines
    assert "| x\\|y | 1.500 |" in lines
    assert "| s3 | 20.00 | 20.50 | +2.50 % | 5 % | right |" in lines
    assert "| gcp | 20.00 | 30.00 | +50.00 % | 5 % | **wrong** |" in lines
    assert "## Not covered" == lines[-1]


def test_a_page_of_what_could_not_run_says_why(outcome):
    page = suite_page("Theory", [skipped("theory", "no Java.", part="java"), outcome(wrong=20.0)])

    assert "## java\n\n**Skipped.** no Java.\n" in page
    assert "**Right: all 2 checks.**" in page


def test_the_same_outcome_gives_the_same_bytes(outcome, tmp_path):
    for name in ("one", "two"):
        PageFolder(tmp_path / name).write([outcome()])

    contents = [{path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two")]
    assert contents[0] == contents[1]


def test_the_index_keeps_what_it_knew_of_other_suites(outcome, tmp_path):
    PageFolder(tmp_path).write([outcome()])
    PageFolder(tmp_path).write([Outcome(suite="claims", checks=outcome().checks[:1], command="endive verify claims")])

    index = (tmp_path / "README.md").read_text()
    assert f"| [theory](theory.md) | {TITLES['theory']} | 1 | **1** | 0 | 1 |" in index
    assert f"| [claims](claims.md) | {TITLES['claims']} | 1 | 0 | 0 | 0 |" in index


def test_the_index_has_a_row_per_suite_and_says_which_part_did_not_run(outcome, tmp_path):
    PageFolder(tmp_path).write([outcome(part="java"), outcome(part="rust"), skipped("theory", "no Go.", part="go")])

    index = (tmp_path / "README.md").read_text()
    assert f"| [theory](theory.md) | {TITLES['theory']}; go did not run: no Go. | 2 | **2** | 0 | 2 |" in index


def test_a_long_table_is_a_file_and_the_page_keeps_what_is_wrong(outcome, tmp_path):
    wrong = outcome().checks[1]
    right = [Check.exact("rate", {"store": f"s{i}"}, expected=1_000, actual=1_000) for i in range(ROWS_ON_PAGE)]
    PageFolder(tmp_path).write([outcome(checks=(*right, wrong))])

    page, rows = (tmp_path / "theory.md").read_text(), (tmp_path / "theory.csv").read_text().splitlines()
    assert "Made by `endive verify theory`. Every row: [theory.csv](theory.csv)." in page
    assert f"| rate | {ROWS_ON_PAGE + 1} | {ROWS_ON_PAGE} | 1 | 0 | +50.00 % | equal / 5 % |" in page
    assert "| gcp | 20.00 | 30.00 |" in page
    assert "s0" not in page
    assert ",rate,s0,1000,1000,,-,equal,right," == rows[1]
    assert ",rate,gcp,20.00,30.00,per s,+50.00 %,5 %,wrong," == rows[-1]

    PageFolder(tmp_path).write([outcome()])
    assert not (tmp_path / "theory.csv").exists()


def test_kinds_without_a_difference_have_no_row(outcome):
    equal = [Check.exact(f"kind {i}", {"n": n}, expected=1, actual=1) for i in range(5) for n in range(ROWS_ON_PAGE)]
    other = Check.exact("other", {"n": 1}, expected=1, actual=2)

    assert "what is compared" not in suite_page("Theory", [outcome(checks=tuple(equal))])
    page = suite_page("Theory", [outcome(checks=(*equal, other))])
    assert "| other | 1 | 0 | 1 | 0 | differs | equal |" in page
    assert "kind 0" not in page


def test_short_parts_of_a_suite_with_a_file_show_what_is_wrong_alone(outcome):
    many = tuple(Check.exact("count", {"n": n}, expected=1, actual=1) for n in range(ROWS_ON_PAGE + 1))
    page = suite_page("Theory", [outcome(part="long", checks=many), outcome(part="short")])

    assert "| gcp | 20.00 | 30.00 |" in page
    assert "| s3 | 20.00 | 20.50 |" not in page


def test_of_what_is_unclear_a_long_part_says_where_it_is_worst_and_shows_what_is_wrong(outcome):
    checks = [
        Check.relative(name, {"n": n}, expected=100.0, actual=actual, allowed=0.05, doubt=doubt)
        for n, (name, actual, doubt) in enumerate(
            [
                ("rate", 107.0, 0.2),
                ("rate", 109.0, 0.2),
                ("P50", 120.0, 0.01),
                ("P50", 130.0, 0.01),
                ("P50", 110.0, 0.2),
            ]
        )
    ]
    right = [Check.exact("count", {"n": n}, expected=1, actual=1) for n in range(ROWS_ON_PAGE)]
    page = suite_page("Theory", [outcome(checks=(*checks, *right))])

    assert "| rate | 2 | 0 | 0 | 2 | +9.00 ± 20 % (n 1) | 5 % |" in page
    assert "| P50 | 3 | 0 | 2 | 1 | +30.00 % | 5 % |" in page
    shown = [line for line in page.splitlines() if line.startswith("| ") and "100.0" in line]
    assert ["120.0", "130.0"] == [line.split(" | ")[2] for line in shown]


def test_a_table_for_whoever_looks_closer_is_a_file_however_short(outcome, tmp_path):
    PageFolder(tmp_path).write(
        [outcome(tables=(Table(title="The input", headings=("writers",), rows=((4,),), is_filed=True),))]
    )

    assert "The input: [1 rows](theory-the-input.csv)." in (tmp_path / "theory.md").read_text()
    assert "writers\n4\n" == (tmp_path / "theory-the-input.csv").read_text()


def test_a_broken_index_is_named(outcome, tmp_path):
    (tmp_path / "index.json").write_text("{")

    with pytest.raises(OutputError, match=r"is not JSON. Remove it and run every suite again"):
        PageFolder(tmp_path).write([outcome()])


@pytest.mark.parametrize(
    ("beyond", "told"), [(2, "noise may explain all of it"), (3, "off by more than noise in some")]
)
def test_comparisons_with_noise_are_judged_together_too(beyond, told):
    checks = [
        Check.relative(
            "rate", {"n": n}, expected=100.0, actual=107.0 if n < beyond else 101.0, allowed=0.05, doubt=0.03
        )
        for n in range(10)
    ]
    text = joint_text(Outcome(suite="load", checks=tuple(checks)))

    assert f" Jointly: {beyond} of 10 differ by more than noise (by chance up to 2)" in text
    assert told in text


@pytest.mark.parametrize(("below", "leans"), [(12, False), (15, False), (16, True), (20, True)])
def test_errors_within_noise_on_one_side_only_are_no_noise(below, leans):
    """Of twenty coins more than fifteen show heads in 6 of 1,000 cases: with two sides and two kinds in 24."""
    checks = [
        Check.relative("P95", {"n": n}, expected=100.0, actual=98.0 if n < below else 102.0, allowed=0.1, doubt=0.2)
        for n in range(20)
    ] + [
        Check.relative("P50", {"n": n}, expected=100.0, actual=98.0 if n % 2 else 102.0, allowed=0.1, doubt=0.2)
        for n in range(20)
    ]
    text = joint_text(Outcome(suite="load", checks=tuple(checks)))

    told = f" By side: the model has P95 below what was measured in {below} of 20 (chance: 15), so it leans there."
    assert leans == text.endswith(told)
    assert leans == ("By side" in text)
