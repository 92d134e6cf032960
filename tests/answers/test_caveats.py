"""Every caveat on every answer: the same sentences, the weightiest first, with what a run can say about them."""

import json

import pytest
from tests.answers.conftest import busy_config, regular

from endive.answers import caveats
from endive.answers.caveats import Caveat, caveats_of, few_runs
from endive.answers.replicate import Replicator
from endive.answers.run_answer import RunAnswer
from endive.config import parse_config
from endive.config.slo import names_of
from endive.config.unsaid import reading_unsaid
from endive.explore.figures import answer_event
from endive.objectives import parse_objective
from endive.tables.warning_table import assumption_rows

FILES = "How many data files merge touches is not said"
READING = "What merge reads is not said"
SEEDS = range(1, 5)


@pytest.fixture(scope="module")
def replicator():
    with Replicator(processes=1) as running:
        yield running


def test_what_hinges_on_files_and_reading_that_are_not_said_is_simulated_and_told_without_that_too(replicator):
    config = busy_config(4)
    samples = replicator.samples(config, SEEDS)
    told, unsimulated = caveats_of(config, samples, replicator), caveats_of(config, samples)

    (of_files,), (of_reading,) = ([text for text in told if text.startswith(begin)] for begin in (FILES, READING))
    assert "If they always met: merge 0.0 % instead of" in of_files
    assert "Set read = 'table'" in of_reading
    assert "If the table was read: merge 0.0 % instead of" in of_reading
    assert [True] == [FILES in text for text in unsimulated if "data files" in text]
    assert not any("If they always met" in text for text in unsimulated)


def test_whoever_does_not_mind_its_rivals_survives_meeting_them(replicator):
    """With the starting sequence number a compaction commits beside deletes by key, whichever files they meet in."""
    upserts = regular("upserts", "1min", "validated_overwrite", deletes="equality", checks="none")
    compaction = regular("compaction", "10min", "rewrite_files", runtime="3min")
    expiry = regular("expiry", "1h", "expire_snapshots", retain_last=50)
    config = parse_config({"simulation": {"duration_ms": "3h"}, "source": [upserts, compaction, expiry]})
    told = caveats_of(config, replicator.samples(config, SEEDS), replicator)

    (text,) = [text for text in told if text.startswith("How many data files compaction touches is not said")]
    assert text.endswith("If they always met: compaction 100.0 % as well.")


def test_what_hinges_on_partitions_that_chance_picks_is_simulated(replicator):
    """Two appends land while a MERGE works: 0.9 x 0.9 of them live in ten partitions, none if both pick the same."""
    stream = regular("stream", "1min", "fast_append", runtime="1s")
    merge = regular("merge", "10min", "validated_overwrite", read="partitions", runtime="70s", touched_files=1)
    sections = {"table": {"data_files": 1000}, "catalog": {"partitions": {"enabled": True, "num_partitions": 10}}}
    config = parse_config({"simulation": {"duration_ms": "12h"}, **sections, "source": [stream, merge]})
    texts = caveats_of(config, replicator.samples(config, SEEDS), replicator)

    (text,) = [text for text in texts if text.startswith("stream and merge pick their partitions by chance")]
    assert "If they all picked the same: merge 0.0 % instead of 83.0 %." in text
    assert not any("data files" in text for text in texts)


def test_what_the_answer_hinges_on_most_comes_first(monkeypatch):
    monkeypatch.setattr(caveats, "_of_runs", lambda *_: [Caveat("a third", 0.3), Caveat("all", 2.0)])
    monkeypatch.setattr(caveats, "_of_unsaid", lambda *_: [Caveat("nothing", 0.0), Caveat("nearly all", 0.9, "so.")])
    monkeypatch.setattr(caveats, "_of_assumptions", lambda *_: [])

    assert ("all", "nearly all so.", "a third", "nothing") == caveats_of(busy_config(), [])


def test_one_run_says_that_it_cannot_tell_unless_one_run_is_meant(replicator):
    config = busy_config(4)
    sample = replicator.samples(config, [1])

    assert any(text.startswith("One run cannot tell how runs differ") for text in caveats_of(config, sample))
    assert not any("One run" in text for text in caveats_of(config, sample, is_one_run_meant=True))


@pytest.mark.parametrize("more", [{}, {"partial_progress": {"commits": 10}, "operation_types": {"rewrite_files": 1.0}}])
def test_a_source_that_never_submits_is_named(replicator, more):
    nightly = {"name": "nightly", "arrivals": {"kind": "periodic", "period_ms": "1d", "offset_ms": "1h"}, **more}
    config = busy_config(
        4, source=[{"name": "writers", "arrivals": {"kind": "closed", "clients": 2, "think_ms": "1s"}}, nightly]
    )
    told = caveats_of(config, replicator.samples(config, SEEDS))

    (text,) = [text for text in told if text.startswith("nightly: no txn was submitted in the window of any run")]
    assert text.endswith("so nothing is said of it. Lengthen simulation.duration_ms: two of each take about 48.0 h.")


@pytest.mark.parametrize(
    ("retries", "runs", "do_differ", "said"),
    [
        (0.39, 4, False, None),
        (0.4, 4, False, "4 runs may all miss what 53 % of runs do"),
        (9.0, 16, False, None),
        (9.0, 1, False, None),
        (0.4, 64, True, "Take 256 runs or more to rely on them."),
        (0.4, 255, True, "Take 256 runs or more to rely on them."),
        (0.4, 256, True, None),
    ],
)
def test_few_runs_of_txns_that_retry_or_of_runs_that_differ_may_all_have_missed_what_others_do(
    retries, runs, do_differ, said
):
    told = few_runs({"retries_mean": retries}, runs, do_differ=do_differ)

    assert (said is None) == (told is None)
    assert said is None or (told.endswith(said) if do_differ else said in told)


def test_run_the_live_page_and_a_report_say_it_in_the_same_words(replicator):
    config = busy_config(4)
    sentence = reading_unsaid(config.to_dict())
    objective = parse_objective("success_rate >= 1 %", names_of(config))
    answer = RunAnswer(config=config, samples=replicator.samples(config, SEEDS), objective=objective, name="busy")
    rows = assumption_rows({("study", "point"): json.dumps(config.to_dict())}, [], [])

    assert 1 == sum(text.startswith(sentence) for text in answer.warnings)
    assert answer.warnings == answer_event(answer, stage="final", share=1.0)["warnings"]
    assert [sentence] == [row["text"] for row in rows if row["warning"] == "unsaid_reading"]
