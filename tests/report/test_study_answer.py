"""The answer to a study: a table of its objective's metric with verdicts, and at most two sentences."""

import pytest
from tests.report.synthetic import SyntheticStudy, section_of

from endive.report.study_answer import ROWS_MAX

LOADS = (1, 2, 4, 8)


@pytest.fixture
def answer_of(tmp_path):
    """The answer to a study with these axes."""
    return lambda axes, **keys: section_of(tmp_path, SyntheticStudy("study", axes, **keys)).answer


def rows_of(answer):
    return [[cell.text for cell in row.cells] for row in answer.tables[0].rows]


def test_a_cell_is_met_missed_or_marked_as_inconclusive(answer_of):
    answer = answer_of({"load_per_s": LOADS}, objective="success_rate >= 90 %")

    assert [["all transactions", "100 %", "100 %", "75 %", "38 %"]] == rows_of(answer)
    assert ["good", "good", "bad", "bad"] == [cell.tone for cell in answer.tables[0].rows[0].cells[1:]]
    assert answer.notes[0] == "2 of 4 configurations surely meet the objective."


def test_what_the_seeds_cannot_decide_is_marked(answer_of):
    answer = answer_of({"load_per_s": LOADS})

    assert [["all transactions", "100 % ?", "100 % ?", "75 %", "38 %"]] == rows_of(answer)
    assert answer.notes[-1] == "2 marked ? are inconclusive (more seeds decide)."


def test_a_variant_is_a_row(answer_of):
    axes = {"load_per_s": LOADS, "commit.protocol": ("iceberg", "merge")}
    answer = answer_of(axes, objective="success_rate >= 90 %")

    assert ["iceberg", "merge"] == [row[0] for row in rows_of(answer)]
    assert answer.notes[0].endswith("up to 2 txns/s with iceberg and merge.")


def test_where_nothing_is_met_one_sentence_says_so(answer_of):
    answer = answer_of({"load_per_s": LOADS}, capacity_per_s=0.1)

    assert "No configuration meets the objective." == answer.notes[0]
    assert 2 >= len(answer.notes)


def test_a_metric_with_another_unit_is_shown_in_it(answer_of):
    answer = answer_of({"load_per_s": LOADS}, objective="p95_commit <= 1s")

    assert answer.tables[0].columns[0].name == "p95 commit (objective <= 1 s)"
    assert all(text.endswith((" ms", " s", "?")) for text in rows_of(answer)[0][1:])


@pytest.mark.parametrize("variants", [13, 30])
def test_more_variants_than_fit_are_details(answer_of, variants):
    names = tuple(f"name{number}" for number in range(variants))
    answer = answer_of({"load_per_s": (1, 2), "experiment.label": names})

    assert ROWS_MAX == len(answer.tables[0].rows)
    assert variants - ROWS_MAX == len(answer.details[0].rows)
