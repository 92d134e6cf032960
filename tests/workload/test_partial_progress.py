"""A job with partial progress: several commits from one arrival, over groups of files that share none."""

from itertools import pairwise
from typing import Any

import pytest

from endive import simulate
from endive.config import parse_config
from endive.formats.data_files import first_of_group
from endive.simulation.build import OwnParts, build_parts
from endive.workload import Source, Workload
from endive.workload.source import RUNTIME_COUNTER

PERIOD_MS = 100_000.0


def config(commits: int, threads: int, **source: Any) -> dict[str, Any]:
    return {
        "simulation": {"duration_ms": 250_000.0, "warmup_ms": 0, "cooldown_ms": 0},
        "storage": {"provider": "constant", "latency_ms": 10.0},
        "catalog": {"type": "instant", "latency_ms": 2.0, "scope": "table", "num_tables": 3},
        "table": {"data_files": 40},
        "source": [
            {
                "name": "compaction",
                "arrivals": {"kind": "periodic", "period_ms": PERIOD_MS},
                "operation_types": {"rewrite_files": 1.0},
                "runtime": {"distribution": "fixed", "ms": 5_000.0},
                "touched_files": 11,
                "partial_progress": {"commits": commits, "threads": threads},
                **source,
            }
        ],
    }


def workload(commits: int, threads: int, **source: Any) -> tuple[Workload, Source]:
    made = build_parts(parse_config(config(commits, threads, **source)), 1, OwnParts()).workload
    return made, made.sources[0]


def test_every_arrival_submits_all_commits_of_its_job_at_once():
    made, _ = workload(commits=3, threads=2)

    arrivals = [(submit_us, index) for submit_us, _, index in made.generate(150_000_000)]
    assert [(0, 0), (0, 1), (0, 2), (100_000_000, 3), (100_000_000, 4), (100_000_000, 5)] == arrivals


def test_a_thread_rewrites_its_groups_one_after_another():
    made, source = workload(commits=5, threads=2)

    assert [5, 5, 10, 10, 15] == [made.draft(source, index).runtime_us // 1_000_000 for index in range(5)]


def test_the_runtimes_of_a_thread_add_up():
    runtime = {"distribution": "exponential", "mean_ms": 5_000.0}
    made, source = workload(commits=4, threads=2, runtime=runtime)
    alone = [source.runtime.sample_us(source.transaction_key(index), RUNTIME_COUNTER) for index in range(4)]

    expected = [alone[0], alone[1], alone[0] + alone[2], alone[1] + alone[3]]
    assert expected == [made.draft(source, index).runtime_us for index in range(4)]


def test_commits_of_a_job_share_their_table_and_no_file():
    made, source = workload(commits=4, threads=1)

    drafts = [made.draft(source, index) for index in range(8)]
    assert 1 == len({draft.tables_read for draft in drafts[:4]})
    assert 1 == len({draft.job_key for draft in drafts[:4]})
    assert drafts[0].job_key != drafts[4].job_key
    assert [0, 1, 2, 3, 0, 1, 2, 3] == [draft.group for draft in drafts]


@pytest.mark.parametrize(("count", "groups"), [(11, 4), (3, 5), (0, 2), (8, 1)])
def test_groups_divide_the_files_of_a_job(count, groups):
    edges = [first_of_group(count, groups, group) for group in range(groups + 1)]

    assert (0, count) == (edges[0], edges[-1])
    sizes = [after - before for before, after in pairwise(edges)]
    assert sum(sizes) == count
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_one_thread_never_loses_an_attempt_and_four_fight_each_other(engine):
    attempts = {}
    for threads in (1, 4):
        rows = simulate(config(commits=8, threads=threads), seed=1, engine=engine).transactions.to_pylist()
        assert 24 == len(rows)
        assert {"committed"} == {row["status"] for row in rows}  # no group holds a file of another
        attempts[threads] = sum(row["attempts"] for row in rows)

    assert 24 == attempts[1]
    assert attempts[4] > 36
