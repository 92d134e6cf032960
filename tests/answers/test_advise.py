"""Advice: every lever changes something, effects are differences, and what meets the objective comes first."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.answers.conftest import busy_config, regular

from endive.answers.advice import advise, causes
from endive.answers.advice.advice_answer import advice_answer, headline_of_advice
from endive.answers.advice.advise import Advice, _rank, advise_on
from endive.answers.advice.causes import causes_of
from endive.answers.advice.levers import LEVERS
from endive.answers.advice.offers import Graded, Offer, shift_away
from endive.answers.estimates import judge_samples
from endive.answers.price import usd_by_request, usd_per_commit
from endive.answers.replicate import Replicator
from endive.answers.variation import base_of
from endive.config import parse_config
from endive.config.slo import objective_of
from endive.errors import ObjectiveError
from endive.objectives import MET, NOT_MET, Estimate, Subject, Verdict, field_at
from endive.objectives.names import SOURCE
from endive.storage import load_profile


def advised(slo, levers=None, **options):
    return advise_on(
        base_of(busy_config(16)), slo=slo, levers=levers, seeds=3, replicator=Replicator(processes=1), **options
    )


@pytest.mark.lengthy
def test_a_writer_that_keeps_its_table_asks_for_less():
    found = advised("writers.success_rate >= 97 %", ("kept",))

    assert found.advice[0].requests_per_commit < found.now.requests_per_commit


def test_the_smallest_step_that_is_enough_is_named_and_no_larger_one():
    found = advised("writers.success_rate >= 97 %", ("retries",))
    least = found.enough[0]
    count = int(least.words.removesuffix(" retries"))
    alone = Replicator(processes=1)
    fewer = base_of(busy_config(16)).varied({"source.*.retry": count - 1})
    below = judge_samples(objective_of(fewer.config, found.objective), alone.samples(fewer.config, range(1, 4)))

    assert 4 < count < 10
    assert 1 == len(found.enough)
    assert MET != below.outcome
    shown = advice_answer(found)
    assert shown.headline.endswith("; one setting fixes it")
    assert [f"{count} retries"] == [row.cells[0].text for row in shown.tables[0].rows]


@pytest.mark.parametrize("enough", range(1, 21))
def test_of_twenty_steps_the_first_that_meets_is_found(monkeypatch, enough):
    def offer(step):
        return Offer(words=str(step), keys={}, graded=Graded(now=0, step=step, offer=offer))

    def change(step):
        return SimpleNamespace(lever=LEVERS[0], offer=offer(step))

    def judge(change):
        is_met = int(change.offer.words) >= enough
        return SimpleNamespace(verdict=SimpleNamespace(outcome=MET if is_met else NOT_MET))

    monkeypatch.setattr(advise, "change_of", lambda _base, _lever, offered: change(int(offered.words)))
    monkeypatch.setattr(advise, "_surely", lambda _asked, advice: advice)
    ((least, _),) = advise._smallest(SimpleNamespace(base=None, of=judge), [(change(20), judge(change(20)))])

    assert str(enough) == least.offer.words


def two_causes():
    """A MERGE that streams defeat, and where they did not, a compaction that rewrites what it touches would."""
    every = {"kind": "poisson", "mean_ms": 10_000}
    streams = {"name": "streams", "arrivals": every, "runtime": "100ms", "touched_files": 1}
    own = {"overwrite": "overwrite_files", "runtime": "5min", "touched_files": 100}
    merge = regular("merge", "20min", "validated_overwrite", **own)
    compaction = regular("compaction", "20min", "rewrite_files", runtime="1min", touched_files=100)
    compaction["arrivals"]["offset_ms"] = "2min"
    return {
        "simulation": {"duration_ms": "4h", "seed": 1},
        "storage": {"provider": "s3"},
        "catalog": {"type": "service", "latency_ms": 5},
        "table": {"data_files": 100},
        "slo": {"objective": "merge.success_rate >= 80 %"},
        "source": [streams, merge, compaction],
    }


def test_levers_against_different_causes_are_paired_though_neither_helps_alone():
    levers = ("retries", "isolation", "shift", "expiry")
    found = advise_on(base_of(two_causes()), levers=levers, seeds=3, replicator=Replicator(processes=1))
    alone = {advice.words: advice.found.value for advice in found.advice if " + " not in advice.words}

    assert 0.0 == found.now.found.value
    assert 0.0 == alone["merge: snapshot isolation"]
    assert 0.0 == alone["compaction: at 6 min of every 20 min, after merge"]
    assert "merge: snapshot isolation + compaction: at 6 min of every 20 min, after merge" == found.enough[0].words
    assert 1.0 == found.enough[0].found.value


@pytest.mark.lengthy
def test_every_remedy_of_a_cause_that_is_left_gets_its_turn():
    """Under snapshot isolation this MERGE runs out of retries, because each attempt reads a bin of 400 manifests."""
    config = two_causes()
    streams, merge, _ = config["source"]
    config["table"] = {"data_files": 100, "initial_manifests": 400}
    streams["arrivals"]["mean_ms"] = 5_000
    config["source"] = [streams, {**merge, "read": "table", "touched_files": 1}]

    found = advise_on(base_of(config), seeds=3, replicator=Replicator(processes=2))

    assert "merge: snapshot isolation + manifests are not merged" == found.enough[0].words
    assert 1.0 == found.enough[0].found.value


def test_blame_is_by_removal_and_of_all_together_where_each_hides_the_others():
    base = base_of(two_causes())
    alone = Replicator(processes=1)
    subject = advise_on(base, levers=("expiry",), seeds=3, replicator=alone).subject
    snapshot = base.with_values({"source.merge.isolation": "snapshot"})

    def rivals(config):
        return causes_of(alone, config, subject, 1.0, alone.samples(config, range(1, 4))).rivals

    assert ("streams", "compaction") == rivals(base.config)
    assert ("compaction",) == rivals(snapshot)


def test_the_rival_without_which_most_is_gained_is_the_first(monkeypatch):
    gains = {"streams": 0.1, "compaction": 0.3, "merge": 0.0}
    config = parse_config(two_causes())
    here = {source.name for source in config.sources}

    def difference(_before, without, _subject):
        gain = sum(gains[name] for name in here - {source.name for source in without.sources})
        return Estimate(gain, gain - 0.01, gain + 0.01)

    monkeypatch.setattr(causes, "difference_of", difference)
    subject = Subject(SOURCE, "merge", field_at("p50_commit"))
    found = causes_of(SimpleNamespace(samples=lambda without, _seeds: without), config, subject, 1.0, [])

    assert ("compaction", "streams") == found.rivals


@pytest.mark.parametrize(
    ("gain", "low", "high", "helps"), [(0.2, 0.1, 0.3, True), (0.2, -0.1, 0.5, False), (-0.2, -0.3, -0.1, False)]
)
def test_a_change_helps_if_its_effect_is_surely_not_nothing_and_in_the_right_direction(gain, low, high, helps):
    assert helps is replace(made("a change", gain=gain), effect=Estimate(gain, low, high)).helps


def made(words, *levers, outcome=NOT_MET, gain=0.0):
    by_name = {lever.name: lever for lever in reversed(LEVERS)}  # of two formats the first, Iceberg
    return Advice(
        words=words,
        levers=tuple(by_name[name] for name in levers),
        keys={},
        verdict=Verdict(objective=None, outcome=outcome, holds=outcome == MET, parts=()),
        found=Estimate(0.5),
        effect=Estimate(gain, gain, gain),
        gain=gain,
        seeds=3,
        requests_per_commit=None,
        usd_per_1000_commits=None,
    )


def test_advice_that_meets_in_runs_that_differ_is_given_after_more_of_them(monkeypatch):
    monkeypatch.setattr(advise, "are_too_few", lambda samples, _: len(samples) < 12)
    asked = SimpleNamespace(
        base=SimpleNamespace(with_values=lambda _: None),
        samples=lambda _, count=3: [SimpleNamespace(n_txns=1)] * count,
        advice=lambda levers, config, words, keys, count: replace(made(words, outcome=MET), seeds=count),
    )

    assert 12 == advise._surely(asked, made("a change", outcome=MET)).seeds


def test_effort_and_availability_rank_before_a_tenth_of_the_help_and_the_hypothetical_is_last():
    ranked = _rank(
        [
            made("hypothetical", "rebasing", outcome=MET, gain=0.9),
            made("little", "retries", gain=0.3),
            made("store", "store", gain=0.501),
            made("setting", "isolation", gain=0.5),
            made("met by a store", "store", outcome=MET, gain=0.9),
            made("met by a pair", "isolation", "shift", outcome=MET, gain=0.7),
            made("met by a schedule", "shift", outcome=MET, gain=0.7),
        ]
    )

    met = ["met by a schedule", "met by a pair", "met by a store"]
    assert [*met, "setting", "store", "little", "hypothetical"] == [advice.words for advice in ranked]


def test_changes_that_meet_the_objective_come_first_and_effects_are_differences():
    found = advised("writers.success_rate >= 97 %", ("retries", "store"))
    outcomes = [advice.verdict.outcome == MET for advice in found.advice]

    assert outcomes == sorted(outcomes, reverse=True)
    assert "writers.success_rate" == str(found.subject)
    for advice in found.advice:
        assert advice.found.value - found.now.found.value == pytest.approx(advice.effect.value)


def test_an_objective_of_less_is_advised_towards_less():
    found = advised("writers.p50_commit <= 1ms", ("store",))

    assert found.advice[0].effect.value < 0 < found.advice[0].gain


def test_too_few_txns_are_told_and_no_change_is_praised_that_does_nothing():
    slo = "writers.success_rate >= 99.99 %"
    alone = Replicator(processes=1)
    found = advise_on(base_of(busy_config(1)), slo=slo, levers=("kept",), seeds=3, replicator=alone)
    headline = headline_of_advice(found)

    assert "cannot tell" == found.now.verdict.outcome
    assert "(objective >= 99.99 %: inconclusive, needs about " in headline
    assert headline.endswith("; give more --seeds than 3")
    assert "helps" not in headline


def test_an_unknown_lever_is_refused_with_the_known_ones():
    with pytest.raises(ObjectiveError) as refused:
        advised("success_rate >= 1 %", ("retrys",))

    assert "'retrys' is not known. Levers are: retries, backoff" in str(refused.value)


def test_a_price_counts_the_stores_requests_and_not_those_of_a_catalog_server():
    profile = load_profile("s3", "measured")
    counts = {"catalog": {"cas": 1_000}, "manifest": {"write": 4}}
    figures = {"txns": {"committed": 2}, "requests": {"counts": counts}}
    prices = usd_by_request(profile, "service")

    assert not any(name.startswith("catalog.") for name in prices)
    assert 2 * prices["manifest.write"] == usd_per_commit(busy_config(), figures)
    assert prices["manifest.write"] * 1000 == next(
        price.usd_per_1000 for op, price in profile.prices.items() if op == 1
    )


@pytest.mark.lengthy
def test_what_helps_is_shown_and_the_rest_is_not():
    """Where the objective is missed by far, retries help; where it is met as it is, nothing is worth a row."""
    levers = ("retries", "kept", "tables", "isolation", "restarts")
    missed, met = (advised(f"writers.success_rate >= {share} %", levers) for share in (99.9, 1))

    assert missed.helpful
    assert all(advice.gain > 0.0 or advice in missed.enough for advice in missed.helpful)
    assert all(advice.gain <= 0.0 for advice in missed.advice if advice not in missed.helpful)
    assert met.helpful == tuple(advice for advice in met.advice if advice.helps)


def test_a_job_that_brings_data_is_not_told_to_bring_them_once_a_night():
    """A compaction may run once for each MERGE; a sink that commits every five minutes has to go on."""
    streams, merge, compaction = parse_config(two_causes()).sources
    arrivals = compaction.arrivals.model_copy(update={"period_ms": 300_000.0})
    hourly = merge.model_copy(update={"arrivals": merge.arrivals.model_copy(update={"period_ms": 3_600_000.0})})
    upkeep = compaction.model_copy(update={"arrivals": arrivals})
    sink = upkeep.model_copy(update={"operation_types": streams.operation_types})

    assert 3_600_000.0 == shift_away(hourly, upkeep)["period_ms"]
    assert shift_away(hourly, sink) is None


@pytest.mark.lengthy
def test_late_data_are_committed_more_often_and_slow_commits_are_not():
    arrivals = {"kind": "jobs", "jobs": 1, "period_ms": 60_000.0}
    stream = {"name": "s", "arrivals": arrivals, "runtime": "1s"}
    base = base_of(parse_config({"simulation": {"duration_ms": "1h"}, "source": [stream]}))
    late = advise_on(base, slo="s.p95_freshness <= 25s", seeds=2, replicator=Replicator(processes=1))
    slow = advise_on(base, slo="s.p95_commit <= 1ms", seeds=2, replicator=Replicator(processes=1))

    enough = late.enough[0]
    assert ("s: a commit every 20 s", MET) == (enough.words, enough.verdict.outcome)  # 0.95 * 20 s + 1 s
    assert "interval" not in {lever.name for advice in slow.advice for lever in advice.levers}
