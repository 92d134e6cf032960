"""What was fitted is simulated before it is written: rates are held against those seen, and the cause is named."""

import pytest
from tests.observation.fitting.test_sources import COMPACTS, OVERWRITES, commits, history

from endive.observation.exact_intervals import count_interval, share_interval
from endive.observation.fitting.arrivals import fit_arrivals
from endive.observation.fitting.configuration import configuration
from endive.observation.fitting.rate_check import check, settle, simulate
from endive.observation.fitting.sources import fit_sources
from endive.observation.history import TableShape


def settled(seen):
    sources = fit_sources(seen)
    document, _ = configuration(seen, sources)
    return settle(document, sources, seen.duration_ms)


@pytest.mark.lengthy
def test_a_loop_turns_as_fast_as_it_did_and_the_rest_of_its_turn_is_work():
    """Commits of 4 s where the model takes a fraction of one: thinking alone would make it four times as fast."""
    worked = {"duration_ms": 4_000.0, "is_submission": True, "runtime_ms": 0.0}
    loop = commits(100, 5_000, writer="w", engine="pyiceberg", kind="fast_append", **worked)

    document, (rate,), told = settled(history(loop))

    assert "closed" == document["source"][0]["arrivals"]["kind"]
    assert 3_000.0 < document["source"][0]["runtime"]["ms"] < 4_000.0
    assert (True, 100) == (rate.holds, pytest.approx(rate.simulated, rel=0.03))
    assert ["source.w.runtime"] == [line.split(" = ")[0] for line in told]


@pytest.mark.lengthy
def test_the_widest_filter_is_taken_with_which_a_statement_commits_as_often_as_it_did():
    appends = commits(300, 2_000, writer="a")
    made = {"added_files": 1, "added_delete_files": 1, "changed_partitions": 1}
    merges = commits(20, 30_000, writer="m", **OVERWRITES, **made)
    shape = TableShape(snapshots=320, data_files=600, partitions=3, partition_fields=1)
    beside = settled(history(appends, merges, shape=shape))
    alone = settled(history(merges, shape=shape))

    assert ["files", "table"] == [document["source"][-1]["read"] for document, _, _ in (beside, alone)]
    assert [True, True] == [rates[-1].holds for _, rates, _ in (beside, alone)]
    assert 'with "table" the model commits 0 of 20' in " ".join(beside[2])


def test_a_source_that_the_model_fails_is_told_with_what_fails_it():
    appends = commits(300, 2_000, writer="a")
    logged = commits(20, 30_000, writer="m", read="table", **OVERWRITES)

    _, rates, _ = settled(history(appends, logged))

    assert (
        "m: 20 commits seen, but 0 in the model in the same time, 100 % of its txns fail. What makes the difference: "
        "source.m.read, touched_files and isolation"
    ) == rates[-1].text


def test_work_that_was_a_guess_is_dropped_where_no_filter_explains_the_commits():
    """Another replaces the one file two seconds after each statement began; what works for longer never commits."""
    own = OVERWRITES | {"removed_files": 1, "added_files": 1}
    merges = commits(40, 5_000, writer="m", **own | {"overwrite": "overwrite_files"})
    rivals = commits(40, 5_000, writer="n", offset_ms=4_500.0, **own | {"overwrite": "replace_partitions"})

    document, rates, told = settled(history(merges, rivals, shape=TableShape(snapshots=80, data_files=1)))
    work = {source["name"]: source["runtime"]["ms"] for source in document["source"]}

    assert {"m": 0.0, "n": pytest.approx(2_500.0, rel=0.02)} == work
    assert [True, True] == [rate.holds for rate in rates]
    unsaid = "no summary tells the filter of a statement"
    assert [f'source.m.read = "table" and runtime = 0 ms: {unsaid}; with "table" the model commits 1 of 40'] == told


def test_what_failed_and_commits_in_the_model_is_told_with_what_would_fail_it():
    failed = {"is_committed": False, "reason": "retries_exhausted", "is_submission": True}
    tried = commits(9, 60_000, writer="m", **COMPACTS, **failed)

    _, rates, _ = settled(history(commits(100, 5_000, writer="a"), tried))

    assert rates[-1].text.startswith("m: 0 commits seen of 9 tried, but ")
    assert (
        "the latencies of storage.provider and of the commit point; what failed commits in the model" == rates[-1].cause
    )


def test_a_rate_that_was_planted_wrong_does_not_hold():
    seen = history(commits(100, 10_000, writer="w"))
    sources = fit_sources(seen)
    document, _ = configuration(seen, sources)
    document["source"][0]["arrivals"] = {"kind": "periodic", "period_ms": 2_500.0}

    rate = check(sources[0], document, simulate(document, sources, seen.duration_ms)["w"])

    assert (False, "source.w.arrivals") == (rate.holds, rate.cause)


def test_a_job_that_was_down_keeps_its_clock_and_is_not_blamed_for_the_time_it_was_down():
    before = commits(60, 10_000, writer="w")
    after = commits(60, 10_000, writer="w", offset_ms=2_000_000.0)
    seen = history(before, after)

    found = fit_arrivals(seen.commits, seen.duration_ms, seen.commits[0].time_us)
    _, (rate,), _ = settled(seen)

    assert ("periodic", 1_410_000.0) == (found.pattern, found.down_ms)
    assert rate.holds


def test_intervals_from_few_events_are_exact():
    assert (0.6187, 8.7673) == pytest.approx(count_interval(3), abs=1e-4)
    assert (0.0, 0.3085) == pytest.approx(share_interval(0, 10), abs=1e-4)
    assert (0.3456, 0.6544) == pytest.approx(share_interval(22, 44), abs=1e-4)
