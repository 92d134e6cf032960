"""Advice: every lever changes something, effects are differences, and what meets the objective comes first."""

import pytest
from tests.answers.conftest import busy_config

from endive.answers.advise import advise_on
from endive.answers.advise_text import advice_sentence
from endive.answers.levers import LEVERS, offers_of
from endive.answers.price import usd_by_request, usd_per_commit
from endive.answers.replicate import Replicator
from endive.answers.variation import base_of
from endive.errors import ObjectiveError
from endive.objectives import MET
from endive.storage import load_profile


def advised(slo, levers=None, **options):
    return advise_on(
        base_of(busy_config(16)), slo=slo, levers=levers, seeds=3, replicator=Replicator(processes=1), **options
    )


def test_every_lever_has_a_name_of_its_own_and_says_what_it_gives_up():
    assert len(LEVERS) == len({lever.name for lever in LEVERS})
    assert all(lever.gives_up for lever in LEVERS)


def test_every_offer_is_another_configuration():
    base = base_of(busy_config())
    hashes = [config.config_hash() for *_, config in offers_of(base)]

    assert base.config.config_hash() not in hashes
    assert len(hashes) == len(set(hashes))
    assert {"retries", "backoff", "writers", "isolation", "tables", "kept", "store", "catalog"} <= {
        lever.name for lever, *_ in offers_of(base)
    }


def test_only_writers_that_stay_are_offered_to_keep_their_table():
    offered = [config for lever, *_, config in offers_of(base_of(busy_config())) if lever.name == "kept"]

    assert [[True, False]] == [[source.keeps_table for source in config.sources] for config in offered]


def test_a_kept_table_is_not_offered_again():
    kept = base_of(busy_config()).with_values({"source.writers.keeps_table": True})

    assert not [lever for lever, *_ in offers_of(base_of(kept)) if lever.name == "kept"]


def test_a_compaction_may_run_less_often_and_what_it_defeats_be_shorter_or_run_again():
    compaction = {"name": "compaction", "recipe": "spark_rewrite_data_files", "interval_ms": "30min"}
    merge = {"name": "merge", "recipe": "spark_merge_cow", "working_ms": "20min"}
    base = base_of({"catalog": {"type": "service", "latency_ms": 5}, "source": [merge, compaction]})
    names = ("schedule", "shorter", "restarts")
    offered = {lever.name: config.sources for lever, *_, config in offers_of(base, names)}

    assert names == tuple(offered)
    assert 7_200_000.0 == offered["schedule"][1].arrivals.period_ms
    assert 600_000.0 == offered["shorter"][0].runtime.ms
    assert [3, 0] == [source.application_retries for source in offered["restarts"]]


def test_partitions_are_offered_with_a_version_each_and_finer_where_there_are_some():
    split = {"partitions": {"enabled": True, "num_partitions": 16}}
    swapped = busy_config(catalog={"type": "cas"})
    divided = busy_config(catalog={"type": "service", "latency_ms": 5, **split})

    assert [[("partition", 8)], [("table", 32)]] == [
        [
            (config.catalog.scope, config.catalog.partitions.num_partitions)
            for lever, *_, config in offers_of(base_of(base))
            if lever.name == "partitions"
        ]
        for base in (swapped, divided)
    ]


def test_a_writer_that_keeps_its_table_asks_for_less():
    found = advised("writers.success_rate >= 97 %", ("kept",))

    assert found.advice[0].requests_per_commit < found.now.requests_per_commit


def test_a_job_with_partial_progress_may_use_one_thread_or_make_one_commit():
    compaction = {
        "name": "compaction",
        "arrivals": {"kind": "periodic", "period_ms": 60_000.0},
        "operation_types": {"rewrite_files": 1.0},
        "partial_progress": {"commits": 8, "threads": 4},
    }
    offers = offers_of(base_of({"source": [compaction]}), ("threads",))

    tried = [config.to_dict()["source"][0]["partial_progress"] for *_, config in offers]
    assert [{"commits": 8, "threads": 1}, {"commits": 1, "threads": 1}] == tried


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


def test_the_sentence_names_what_would_do_it():
    sentence = advice_sentence(advised("writers.success_rate >= 97 %", ("retries",)))

    assert "would be met by: " in sentence
    assert "20 retries" in sentence


def test_too_few_txns_are_told_and_no_change_is_praised_that_does_nothing():
    slo = "writers.success_rate >= 99.99 %"
    alone = Replicator(processes=1)
    found = advise_on(base_of(busy_config(1)), slo=slo, levers=("kept",), seeds=3, replicator=alone)
    sentence = advice_sentence(found)

    assert "cannot tell" == found.now.verdict.outcome
    assert sentence.startswith("writers.success_rate >= 99.99 %: cannot tell: about ")
    assert " txns in 3 runs. Simulate longer (simulation.duration_ms) or give more --seeds than 3." in sentence
    assert "helps" not in sentence


def test_an_unknown_lever_is_refused_with_the_known_ones():
    with pytest.raises(ObjectiveError) as refused:
        advised("success_rate >= 1 %", ("retrys",))

    assert "'retrys' is not known. Levers are: retries, backoff" in str(refused.value)


def test_a_price_counts_the_stores_requests_and_not_those_of_a_catalog_server():
    profile = load_profile("s3", "measured")
    figures = {
        "txns": {"committed": 2},
        "requests": {"counts": {"catalog": {"cas": 1_000}, "manifest": {"write": 4}}},
    }
    prices = usd_by_request(profile, "service")

    assert not any(name.startswith("catalog.") for name in prices)
    assert 2 * prices["manifest.write"] == usd_per_commit(busy_config(), figures)
    assert prices["manifest.write"] * 1000 == next(
        price.usd_per_1000 for op, price in profile.prices.items() if op == 1
    )
