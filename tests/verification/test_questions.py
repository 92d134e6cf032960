"""Questions asked cold: what counts as agreement, and questions that can be asked."""

import random
import tomllib

import pytest

from endive.config import parse_config
from endive.objectives import Estimate
from verification.questions import CHECKS, HERE, agree, throw

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
