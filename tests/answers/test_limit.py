"""The search for a limit: the answer, its interval, and questions that have none."""

from collections import defaultdict
from types import SimpleNamespace

import pytest
from tests.answers.conftest import busy_config, merge_config

from endive.answers import limit
from endive.answers.cases import Assessment
from endive.answers.estimates import judge_samples
from endive.answers.limit import ANY, LARGEST, NONE, SMALLEST, find_limit
from endive.answers.limit_answer import headline_of_limit
from endive.answers.limit_search import Search
from endive.answers.replicate import Replicator
from endive.answers.variation import base_of
from endive.errors import ObjectiveError
from endive.objectives import CANNOT_TELL, MET, NOT_MET

CLIENTS = "source.writers.arrivals.clients"


def ask(key, slo, **options):
    return find_limit(base_of(busy_config()), key, slo=slo, replicator=Replicator(processes=1), **options)


@pytest.mark.lengthy
def test_the_largest_number_of_clients_lies_between_one_that_surely_holds_and_one_that_surely_fails():
    found = ask(CLIENTS, "writers.retries_mean <= 0.5")
    outcomes = {point.value: point.verdict.outcome for point in found.points}

    assert (LARGEST, True) == (found.which, found.is_whole)
    assert found.low <= found.value <= found.high
    assert (MET, NOT_MET) == (outcomes[found.low], outcomes[found.high + 1])
    text = found.sentence
    assert text.startswith(f"{CLIENTS}: at most {found.value:.0f} (")
    assert text.endswith("meets writers.retries_mean <= 0.5. It is 8 now.")


@pytest.mark.lengthy
def test_where_more_helps_the_smallest_value_is_asked_for():
    found = ask("source.*.retry", "writers.success_rate >= 99 %", low=0, high=16, seeds_max=32)

    assert SMALLEST == found.which
    assert 0 < found.low <= found.value <= found.high < 16


@pytest.mark.parametrize(
    ("key", "slo", "options", "problem"),
    [
        (CLIENTS, "writers.success_rate >= 99 %", {"low": 0, "high": 4}, "clients = 0 must be"),
        ("source.writers.arrivals.client", "success_rate >= 99 %", {}, "has no such number. Did you mean"),
        ("catalog.type", "success_rate >= 99 %", {}, "it is 'service', not a number."),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_with_its_reason(key, slo, options, problem):
    with pytest.raises(ObjectiveError) as refused:
        ask(key, slo, **options)

    assert problem in str(refused.value)


@pytest.mark.parametrize(
    ("slo", "which", "headline"),
    [
        ("writers.success_rate >= 0", ANY, f"any {CLIENTS} from 1 to 4 keeps writers.success_rate >= 0 (now 8)"),
        ("writers.p50_commit <= 1ms", NONE, f"no {CLIENTS} from 1 to 4 keeps writers.p50_commit <= 1ms (now 8)"),
    ],
)
def test_that_any_value_or_none_keeps_the_objective_is_an_answer(slo, which, headline):
    found = ask(CLIENTS, slo, low=1, high=4)

    assert (which, 1, 4) == (found.which, found.low, found.high)
    assert headline == headline_of_limit(found)


@pytest.mark.lengthy
def test_every_value_is_judged_with_99_percent_intervals():
    with Replicator(processes=1) as replicator:
        base = base_of(busy_config())
        slo, options = "writers.retries_mean <= 0.5", {"low": 6, "high": 12, "seeds_max": 16}
        found = find_limit(base, CLIENTS, slo=slo, replicator=replicator, **options)
        for point in found.points:
            config = base.with_values({CLIENTS: int(point.value)})
            seeds = range(config.simulation.seed, config.simulation.seed + point.seeds)
            judged = judge_samples(point.verdict.objective, replicator.samples(config, seeds), 0.99)
            assert judged.parts == point.verdict.parts


@pytest.mark.lengthy
def test_too_few_txns_to_tell_are_not_taken_for_a_no_and_the_answer_is_the_last_value_that_holds():
    """A few hundred txns in all runs of a value, of which none fails: 99.99 % would need hundreds of times as many."""
    found = ask(CLIENTS, "writers.success_rate >= 99.99 %", low=1, high=64, seeds_max=8)
    holds = {point.value: point.holds for point in found.points}
    beyond = min(value for value in holds if value > found.value)

    assert 1 <= found.low < found.value <= found.high < 64
    assert (True, False) == (holds[found.value], holds[beyond])
    assert found.doubt.startswith("No value is surely met: at ")
    assert "writers.success_rate >= 99.99 %: inconclusive (needs about " in found.doubt
    assert "by the estimates at most" in found.sentence


@pytest.mark.lengthy
def test_the_warnings_are_those_of_the_value_that_is_answered(monkeypatch):
    told = []
    monkeypatch.setattr(
        limit, "assess", lambda config, _, samples, __: told.append((config, samples)) or Assessment(warnings=())
    )
    found = ask(CLIENTS, "writers.retries_mean <= 0.5", seeds_max=16)
    ((config, samples),) = told

    assert (found.value, found.value) == (config.sources[0].arrivals.clients, found.low)
    assert next(point.seeds for point in found.points if point.value == found.value) == len(samples)


def test_a_search_that_may_not_go_on_says_so():
    found = ask(CLIENTS, "writers.retries_mean <= 0.5", low=1, high=64, simulations_max=8)

    assert any(note.startswith("Stopped after") for note in found.notes)
    assert found.low <= found.value <= found.high


@pytest.mark.lengthy
def test_a_schedule_that_only_dodges_another_is_told_to_be_no_limit():
    """A compaction every hour never meets an hourly MERGE; one every 100 minutes does again."""
    found = find_limit(
        base_of(merge_config("12h")),
        "source.compaction.arrivals.period_ms",
        slo="merge.success_rate >= 90 %",
        tolerance=0.2,
    )

    assert "Non-monotonic response: 102 min (missed) contradicts the reported limit" in found.notes[0]


class Known(Search):
    """A search whose outcomes are known: surely met below ``met``, surely not from ``unmet`` on."""

    def __init__(self, met, holds, unmet, *, is_whole=True):
        super().__init__(base_of(busy_config()), CLIENTS, None, Replicator(processes=1), is_whole=is_whole)
        self.edges = met, holds, unmet

    def try_value(self, value):
        value = float(round(value)) if self.is_whole else value
        met, holds, unmet = self.edges
        outcome = MET if value < met else NOT_MET if value >= unmet else CANNOT_TELL
        verdict = SimpleNamespace(holds=value < holds)
        self.points[value] = SimpleNamespace(value=value, outcome=outcome, holds=value < holds, verdict=verdict)
        return self.points[value]


@pytest.mark.parametrize(
    ("edges", "ends", "answer", "interval"),
    [
        ((20, 20, 20), (1, 64), 19, (19, 19)),  # nothing in doubt: one number
        ((17, 20, 25), (1, 64), 19, (16, 25)),  # within the doubt of what cannot be told
    ],
)
def test_bisection_ends_at_the_last_value_that_is_surely_met_and_the_first_that_surely_is_not(
    edges, ends, answer, interval
):
    search = Known(*edges)
    for value in ends:
        search.try_value(value)
    met, unmet, doubt = limit._ends(search)
    met, unmet = limit._narrow(search, met, unmet, 0.0)
    for value in range(*ends):
        search.try_value(value)  # whatever was not tried on the way

    assert doubt is None
    assert interval == (met, limit._inside(unmet, met, is_whole=True))
    assert answer == limit._last_holding(search, met, unmet)


class Fickle(Known):
    """A search whose first seeds have seen too little: with all of them, more values are met."""

    def __init__(self, seen, true):
        super().__init__(seen, seen, seen)
        self.true, self.confirmed = true, []

    def confirm(self, value):
        before = self.points.pop(value).outcome
        self.edges = (self.true,) * 3
        self.confirmed.append(value)
        return before == self.try_value(value).outcome


@pytest.mark.parametrize(("asked", "true"), [((None, 1.0, 64.0), 40), ((8, None, None), 40), ((8, None, None), 100)])
def test_ends_that_more_seeds_do_not_confirm_are_searched_again(asked, true):
    """The last time no value that was tried fails with all seeds, so the search goes on to larger ones."""
    search = Fickle(20, true)
    search.sizes = defaultdict(int)
    limit._bracket(search, *asked)

    met, unmet, doubt = limit._surely(search, asked, 0.0)

    assert (true - 1, true, None) == (met, unmet, doubt)
    assert [met, unmet] == search.confirmed[-2:]


def test_one_value_that_does_not_hold_ends_what_holds_though_later_ones_do():
    search = Known(10, 13, 20)
    for value in range(1, 30):
        search.try_value(value)
    search.points[15.0].holds = True

    assert 12 == limit._last_holding(search, 9.0, 20.0)


def test_the_end_of_an_interval_is_the_whole_number_before_the_one_that_is_not_met():
    ends = ((20.0, 4.0, True), (5.0, 9.0, True), (20.5, 4.0, False))
    assert (19.0, 6.0, 20.5) == tuple(limit._inside(*each) for each in ends)


class Told(Search):
    """A search whose outcomes are given; from 20 on simulations are too large to go further."""

    def try_value(self, value):
        outcome = MET if value < 9 else CANNOT_TELL if value < 11 else NOT_MET
        self.points[value] = SimpleNamespace(outcome=outcome, holds=value < 11)
        self.sizes[value] = int(value * 10_001)
        return self.points[value]


@pytest.mark.parametrize(
    ("start", "tried"), [(10.0, [5.0, 10.0, 20.0]), (40.0, [5.0, 10.0, 20.0, 40.0, 80.0]), (5.0, [5.0, 10.0, 20.0])]
)
def test_what_is_too_large_to_go_further_up_does_not_keep_the_search_from_going_down(start, tried):
    search = Told(base_of(busy_config()), CLIENTS, None, Replicator(processes=1), is_whole=True)
    search.try_value(start)

    limit._expand(search, start, is_up=True, is_down=True)

    assert (tried, True) == (sorted(search.points), search.is_bracketed)
