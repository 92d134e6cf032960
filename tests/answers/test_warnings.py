"""Warnings and cases: what an answer depends on, the weightiest first, and nothing that cannot change it."""

import json
import re
from pathlib import Path

import pytest
from tests.answers.conftest import busy_config, regular

from endive.answers import warnings
from endive.answers.cases import assess, unset_inputs, with_values
from endive.answers.replicate import Replicator
from endive.answers.run_answer import RunAnswer
from endive.answers.warnings import REGISTRY, Warned, collect, few_runs, reference_page
from endive.config import parse_config
from endive.config.slo import names_of, objective_of
from endive.objectives import parse_objective

SEEDS = range(1, 5)
PARTITIONED = {"table": {"data_files": 1000}, "catalog": {"partitions": {"enabled": True, "num_partitions": 10}}}
STREAM = regular("stream", "1min", "fast_append", runtime="1s")
MERGE = regular("merge", "10min", "validated_overwrite", read="partitions", runtime="70s", touched_files=1)


@pytest.fixture(scope="module")
def replicator():
    with Replicator(processes=1) as running:
        yield running


def assessed(config, replicator, slo=None, seeds=SEEDS):
    return assess(config, objective_of(config, slo), replicator.samples(config, seeds), replicator)


def codes(found):
    return [warned.code for warned in found]


def test_inputs_that_turn_the_verdict_are_cases_and_no_warnings(replicator):
    """Whatever the merge reads or touches decides whether half of its transactions commit."""
    found = assessed(busy_config(4), replicator, "merge.success_rate >= 50 %")

    assert ["W201", "W202"] == [each.unset.code for each in found.cases]
    assert not {"W201", "W202"} & set(codes(found.warnings))
    reading = found.cases[0]
    assert ["cannot tell", "not met"] == [case.outcome for case in reading.cases]
    assert ('[[source]] name = "merge"   read = "table"',) == reading.paste


def test_inputs_that_lower_success_without_turning_the_verdict_are_warnings_with_their_effect(replicator):
    found = assessed(busy_config(4), replicator, "writers.success_rate >= 1 %")
    (reading,) = [warned for warned in found.warnings if warned.code == "W201"]

    assert () == found.cases
    assert reading.effect.startswith("If no predicate on the target (ON t.id = s.id): merge 0 % instead of ")


def test_inputs_that_change_nothing_are_not_mentioned(replicator):
    """With the starting sequence number a compaction commits next to deletes by key, whichever files they meet in."""
    upserts = regular("upserts", "1min", "validated_overwrite", deletes="equality", checks="none")
    compaction = regular("compaction", "10min", "rewrite_files", runtime="3min")
    expiry = regular("expiry", "1h", "expire_snapshots", retain_last=50)
    config = parse_config({"simulation": {"duration_ms": "3h"}, "source": [upserts, compaction, expiry]})

    assert ["W202"] == [each.code for each in unset_inputs(config)]
    found = assessed(config, replicator)
    assert () == found.cases
    assert "W202" not in codes(found.warnings)


def test_partitions_that_nobody_set_are_simulated_at_both_ends(replicator):
    """At random a merge meets a stream now and then; on one partition always, and on partitions of its own never."""
    config = parse_config({"simulation": {"duration_ms": "12h"}, **PARTITIONED, "source": [STREAM, MERGE]})
    (cases,) = assessed(config, replicator).cases
    values = {case.words: round(case.found.value, 2) for case in cases.cases}

    assert {
        "all sources pick partitions at random (simulated)": 0.83,
        "all write the same partition": 0.0,
        "stream and merge never share a partition": 1.0,
    } == values
    assert ["the stream writes today, the MERGE yesterday"] == [case.typical for case in cases.cases if case.typical]
    assert (
        '[[source]] name = "stream"   partitions = "newest"',
        '[[source]] name = "merge"   partitions = "previous"',
    ) == cases.paste


def test_the_lines_to_paste_give_the_case_they_stand_for(replicator):
    sources = [{**STREAM, "partitions": "newest"}, {**MERGE, "partitions": "previous"}]
    config = parse_config({"simulation": {"duration_ms": "12h"}, **PARTITIONED, "source": sources})
    answer = RunAnswer(config, replicator.samples(config, SEEDS), objective_of(config), "run")

    assert 1.0 == answer.estimate("source", "merge", "success_rate").value
    assert () == unset_inputs(config)


@pytest.mark.parametrize("read", [None, "table", "partitions", "files"])
def test_every_line_to_paste_is_accepted(read):
    """A suggestion that the configuration refuses helps nobody."""
    merge = regular("merge", "10min", "validated_overwrite", runtime="70s", **({} if read is None else {"read": read}))
    partitions = {"partitions": {"enabled": True, "num_partitions": 10}}
    config = parse_config({"catalog": partitions, "source": [STREAM, merge]})
    for line in (line for unset in unset_inputs(config) for end in unset.ends for line in end.paste):
        head, _, setting = line.partition("   ")
        name, key, value = head.split('"')[1], *re.match(r"(\w+) = (\S+)", setting).groups()
        changed = with_values(config, {f'source."{name}".{key}': json.loads(value)})
        assert changed is not None, line


def test_the_headline_names_both_values_and_the_input(replicator):
    config = parse_config({"simulation": {"duration_ms": "12h"}, **PARTITIONED, "source": [STREAM, MERGE]})
    samples, objective = replicator.samples(config, SEEDS), objective_of(config)
    answer = RunAnswer(config, samples, objective, "run", assessment=assess(config, objective, samples, replicator))

    assert (
        "merge: 0 % or 100 % of commits succeed, depending on which partitions each source writes (not set)"
        == answer.headline
    )


def test_other_ends_cost_at_most_half_of_the_answer(replicator):
    config = busy_config(4)
    objective = objective_of(config, "writers.success_rate >= 1 %")
    with Replicator(processes=1) as running:
        samples = running.take(config, 16)
        assess(config, objective, samples, running)

    assert running.simulations <= 1.5 * 16


def test_the_weightiest_comes_first(monkeypatch):
    made = [Warned(code="W301", text="a third", weight=0.3), Warned(code="W101", text="all")]
    monkeypatch.setattr(warnings, "_of_runs", lambda *_: made)
    for name in ("_of_unset", "_of_configuration", "_of_assumptions", "_of_log_work"):
        monkeypatch.setattr(warnings, name, lambda *_: [])

    assert ["W101", "W301"] == codes(collect(busy_config(), []))


def test_one_run_has_no_intervals_unless_one_run_is_meant(replicator):
    config = busy_config(4)
    sample = replicator.samples(config, [1])

    assert "W105" in codes(collect(config, sample))
    assert "W105" not in codes(collect(config, sample, is_one_run_meant=True))


@pytest.mark.parametrize("more", [{}, {"partial_progress": {"commits": 10}, "operation_types": {"rewrite_files": 1.0}}])
def test_a_source_that_never_submits_is_named(replicator, more):
    nightly = {"name": "nightly", "arrivals": {"kind": "periodic", "period_ms": "1d", "offset_ms": "1h"}, **more}
    writers = {"name": "writers", "arrivals": {"kind": "closed", "clients": 2, "think_ms": "1s"}}
    config = busy_config(4, source=[writers, nightly])
    (warned,) = [each for each in collect(config, replicator.samples(config, SEEDS)) if each.code == "W106"]

    assert warned.text == "nightly: no transaction in the measurement window, so no result."
    assert warned.remedy == "Raise simulation.duration_ms to about 48.0 h."


@pytest.mark.parametrize(
    ("retries", "runs", "do_differ", "expected"),
    [
        (0.39, 4, False, None),
        (0.4, 4, False, "4 runs can miss what up to 53 % of runs do"),
        (9.0, 16, False, None),
        (9.0, 1, False, None),
        (0.4, 64, True, "Take 256 runs or more (--seeds 256)."),
        (0.4, 255, True, "Take 256 runs or more (--seeds 256)."),
        (0.4, 256, True, None),
    ],
)
def test_few_runs_that_retry_or_differ_can_miss_a_collapse(retries, runs, do_differ, expected):
    found = few_runs({"retries_mean": retries}, runs, do_differ=do_differ)

    assert (expected is None) == (found is None)
    assert expected is None or expected in found


def test_every_code_that_the_sources_use_is_in_the_registry():
    sources = Path(warnings.__file__).parents[1].rglob("*.py")
    used = {code for source in sources for code in re.findall(r'code="(W\d{3})"', source.read_text())}

    assert set() == used - REGISTRY.keys()
    assert all(re.fullmatch(r"W[1-4]\d\d", code) for code in REGISTRY)


def test_run_and_json_have_the_same_warnings(replicator):
    config = busy_config(4)
    objective = parse_objective("success_rate >= 1 %", names_of(config))
    answer = RunAnswer(config, replicator.samples(config, SEEDS), objective, "busy")
    document = json.loads(json.dumps(answer.to_answer().to_dict()))

    assert [warned.code for warned in answer.warnings] == [warned["code"] for warned in document["warnings"]]
    assert answer.judgement()["warnings"] == [warned.line for warned in answer.warnings]


def test_the_reference_page_is_generated_from_the_registry():
    page = Path(__file__).parents[2] / "docs" / "reference" / "warnings.md"

    assert reference_page() == page.read_text(encoding="utf-8")
