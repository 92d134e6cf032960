"""Coverage of a limit as a law: its interval holds the true limit 95 times in 100, or oftener, where runs differ.

Runs are made by hand, so that the limit is known; how they are searched is the search's own. Every value is judged by
the same runs (common random numbers), as in a real search, so that mistakes at neighbouring values go together.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from endive.answers import limit_search
from endive.answers.limit import _bracketed, _inside, _surely
from endive.answers.limit_search import Search
from endive.answers.run_count import does_share_differ, may_double
from endive.objectives import Names, judge, parse_objective
from endive.objectives.intervals import share_estimate

pytestmark = pytest.mark.lengthy

SEARCHES = 100
TXNS = 300  # of a run
OBJECTIVE = parse_objective("a.success_rate >= 90 %", Names(sources=("a",), kinds=()))
TRUTH = 47  # 90 % are left at 47.6


def fall(value):
    return 1.0 - 0.0021 * value


# What the success of runs is at a value, from draws that every value shares; its mean is ``fall``.
LEVELS = {
    "alike": lambda value, _: np.full(len(_), fall(value)),
    "phases": lambda value, draws: fall(value) + 0.06 * (draws - 0.5),
    "tipping": lambda value, draws: np.where(draws < 0.1, fall(value) - 0.36, fall(value) + 0.04),
}


WIDEST = {"alike": 5, "phases": 9, "tipping": 50}  # of the median interval: one that holds everything says nothing


class Drawn:
    """Runs of one search, by value and seed."""

    simulations = 0

    def __init__(self, case, search):
        self.levels, self.search, self.hits = LEVELS[case], search, {}
        self.draws = np.random.default_rng([7, search]).random(100)

    def take(self, config, count):
        if config.value not in self.hits:
            levels = np.clip(self.levels(config.value, self.draws), 0.0, 1.0)
            self.hits[config.value] = np.random.default_rng([8, self.search, config.value]).binomial(TXNS, levels)
        return [SimpleNamespace(n_txns=TXNS, hits=int(self.hits[config.value][seed])) for seed in range(1, 1 + count)]


class Values:
    """A configuration of which only the value matters."""

    def with_values(self, values):
        return SimpleNamespace(value=values["key"], simulation=SimpleNamespace(seed=1))


def counts(samples):
    return [sample.hits for sample in samples], [sample.n_txns for sample in samples]


@pytest.fixture(autouse=True)
def _judged_by_hand(monkeypatch):
    def judge_hits(objective, samples, confidence):
        return judge(objective, lambda _: share_estimate(*counts(samples), 0, confidence))

    monkeypatch.setattr(limit_search, "objective_of", lambda *_: OBJECTIVE)
    monkeypatch.setattr(limit_search, "judge_samples", judge_hits)
    monkeypatch.setattr(
        limit_search, "are_too_few", lambda samples, _: may_double(samples) and does_share_differ(*counts(samples))
    )


@pytest.mark.parametrize("case", LEVELS)
def test_the_interval_of_a_limit_holds_the_true_one(case):
    asked, held, widths = (20, None, None), 0, []
    for place in range(SEARCHES):
        search = Search(Values(), "key", None, Drawn(case, place), is_whole=True)
        _bracketed([search], asked)
        met, unmet, _ = _surely(search, asked, 0.02)
        low, high = sorted((met, _inside(unmet, met, is_whole=True)))
        held += low <= TRUTH <= high
        widths.append(high - low)

    assert held >= 0.95 * SEARCHES
    assert np.median(widths) <= WIDEST[case]
