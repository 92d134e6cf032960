"""Questions asked cold: what counts as agreement, and questions that can be asked."""

import random
import tomllib

import pytest

from endive.config import parse_config
from endive.objectives import Estimate
from verification.coverage import is_shown
from verification.questions import AGAIN, CHECKS, HERE, THROWN, agree, page, row_files, throw

ASKED = tomllib.loads((HERE / "questions.toml").read_text(encoding="utf-8"))["question"]
CONFIGS = {question["name"]: question.get("config") for question in ASKED}


@pytest.mark.parametrize(
    ("truth", "is_same"),
    [
        (Estimate(10.0, 10.0, 10.0), True),
        (Estimate(11.0, 11.0, 11.0), True),  # at the end of the interval
        (Estimate(11.1, 11.1, 11.1), False),
        (Estimate(11.4, 10.4, 12.4), True),  # the root of 1 + 1 apart, and no further
        (Estimate(11.5, 10.5, 12.5), False),
        (Estimate(8.9, 8.9, 8.9), False),
        (Estimate(None), False),
    ],
)
def test_two_intervals_agree_if_their_difference_may_be_nothing(truth, is_same):
    assert is_same is agree(Estimate(10.0, 9.0, 11.0), truth)


def test_a_figure_without_an_interval_agrees_with_nothing():
    assert not agree(Estimate(10.0), Estimate(10.0, 9.0, 11.0))
    assert agree(Estimate(None, txns=0), Estimate(None, txns=0))


@pytest.mark.parametrize("question", ASKED, ids=lambda question: question["name"])
def test_every_question_has_a_configuration_a_command_and_seeds(question):
    config = parse_config(tomllib.loads(question.get("config") or CONFIGS[question["same_as"]]))
    sources = {source.name for source in config.sources}

    assert question["command"].split()[0] in CHECKS
    assert "{file}" in question["command"]
    assert "{seed}" in question["command"]
    assert len(set(question["seeds"])) == len(question["seeds"])
    assert {name.partition(".")[0] for name in question.get("figures", ())} <= sources


def test_a_die_throws_the_same_questions_again_and_others_with_another_seed():
    def thrown(seed):
        die = random.Random(seed)
        return [(made_of, str(subject)) for made_of, _, subject in (throw(die) for _ in range(3))]

    assert thrown(7) == thrown(7)
    assert thrown(7) != thrown(8)


def thrown(agrees: bool, answer: str) -> dict[str, object]:
    return {
        **{"what": "flink_sink, load x 1; s3, glue", "figure": "s0.p50_commit of 16 runs", "answer": answer},
        **{"truth": "2 s", "is_in": True, "agrees": agrees, "verdict": "s0.p50_commit <= 1s: not met"},
        **{"said": "not met", "is_right": True},
    }


def test_the_page_shows_questions_that_disagree_and_the_file_has_all():
    again = {"name": "jobs", "command": "run FILE", "said": ["a", "b"], "truth": "2"}
    rows = [thrown(True, "2 s [1, 3]"), thrown(False, "9 s [8, 10]")]
    text, files = page([{**again, "held": 1, "of": 2}], rows, die=7), row_files([again], rows)

    assert "**1 of 2 agree**" in text
    assert "9 s [8, 10]" in text
    assert "2 s [1, 3]" not in text
    assert [AGAIN, THROWN] == list(files)
    assert ["jobs,endive run FILE,a,2", "jobs,endive run FILE,b,2"] == files[AGAIN].splitlines()[1:]
    assert 3 == len(files[THROWN].splitlines())


def test_coverage_shows_what_run_does_and_what_holds_too_seldom():
    rows = [
        ("a case", "4", "95.0", "93.0"),
        ("a case", "16", "95.0", "92.9"),
        ("a case", "64 by itself", "95.0", "99.0"),
    ]

    assert ["16", "64 by itself"] == [row[1] for row in rows if is_shown(row)]
