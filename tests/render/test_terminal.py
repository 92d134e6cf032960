"""Answers as text: nothing wraps, and what matters least is left out first."""

import pytest

from endive.answers.answer import Answer, Column, Fact, make_table
from endive.answers.warnings import Warned
from endive.render.html import answer_html
from endive.render.terminal import answer_lines, answer_text, table_lines

COLUMNS = (Column(name="source"), Column(name="committed", align="right", priority=1), Column(name="success"))
TABLE = make_table(COLUMNS, [("writers", "36,608 of 36,805", "99.46 %"), ("merge", "0 of 12", "0 %")])


def lines(table, width):
    return [line.plain for line in table_lines(table, width)]


def test_columns_are_as_wide_as_their_widest_cell():
    assert [
        "source          committed  success",
        "writers  36,608 of 36,805  99.46 %",
        "merge             0 of 12  0 %",
    ] == lines(TABLE, 80)


def test_the_column_of_lowest_priority_is_left_out_where_there_is_no_room():
    assert ["source   success", "writers  99.46 %", "merge    0 %"] == lines(TABLE, 20)


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_no_line_is_longer_than_the_terminal(width):
    answer = Answer(
        question="run",
        headline="writers: 99.5 % of commits succeed (objective >= 99 %: met) " * 2,
        tables=(TABLE,),
        facts=(Fact("failed", "197 transactions ran out of retries (CommitFailedException)"),),
        warnings=(
            Warned(code="W201", text="What merge reads is not set.", remedy="Set source.merge.read to 'table'."),
        ),
        provenance="16 runs of 1 h (middle 30 min measured), seeds 42-57; Iceberg 1.11 on S3, service catalog",
    )

    assert max(len(line.plain) for line in answer_lines(answer, width)) <= width


def test_three_warnings_are_shown_and_all_of_them_with_details():
    warnings = tuple(Warned(code=f"W10{number}", text=f"Warning {number}.") for number in range(1, 6))
    answer = Answer(question="run", headline="done", warnings=warnings)

    assert 3 == answer_text(answer).count("Warning ")
    assert "2 more warnings with --details" in answer_text(answer)
    detailed = "\n".join(line.plain for line in answer_lines(answer, 100, with_details=True))
    assert 5 == detailed.count("Warning ")


def test_html_has_the_same_headline_cells_and_warnings():
    answer = Answer(question="run", headline="<merge>", tables=(TABLE,), warnings=(Warned(code="W101", text="a & b"),))
    page = answer_html(answer)

    assert "&lt;merge&gt;" in page
    assert all(cell.text in page for row in TABLE.rows for cell in row.cells)
    assert "<b>W101</b>a &amp; b" in page
