"""One configuration and one seed give one result, bit for bit, wherever and after whatever it runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from endive import Simulation, simulate
from endive.config import parse_config
from endive.simulation.build_source import build_workload_config
from endive.workload import Workload

ROOT = Path(__file__).parents[2]

# Some of everything that is drawn: latencies, contention, arrivals, kinds, tables, partitions, conflicts, jitter.
CONFIG: dict[str, Any] = {
    "simulation": {"duration_ms": 20_000.0, "seed": 7},
    "storage": {"provider": "s3x"},
    "catalog": {
        "type": "append",
        "num_tables": 4,
        "compaction_max_entries": 20,
        "partitions": {"enabled": True, "num_partitions": 5},
    },
    "transaction": {
        "runtime": {"mean": 300.0, "sigma": 1.0, "min": 20.0},
        "operation_types": {"fast_append": 5, "merge_append": 2, "validated_overwrite": 2, "rewrite_files": 1},
        "real_conflict_probability": 0.1,
        "tables": {"count_zipf": 1.5, "selection": "zipf"},
        "partitions": {"count": 2, "write_fraction": 0.5},
    },
    "source": [
        {"name": "stream", "arrivals": {"kind": "poisson", "per_s": 8.0}},
        {"name": "clients", "arrivals": {"kind": "closed", "clients": 3, "think_ms": 50.0}},
    ],
}
# The same draws for the first source, whoever else is there.
FIRST_ALONE = {**CONFIG, "source": CONFIG["source"][:1]}


def test_the_same_seed_twice_gives_the_same_result():
    assert simulate(CONFIG).fingerprint == simulate(CONFIG).fingerprint == simulate(CONFIG, seed=7).fingerprint


def test_one_simulation_object_gives_the_same_result_however_often_it_runs():
    simulation = Simulation(CONFIG)

    assert simulation.run().fingerprint == simulation.run().fingerprint
    assert simulation.run(seed=8).fingerprint == simulation.run(seed=8).fingerprint


@pytest.mark.lengthy
def test_another_process_gives_the_same_result():
    """Nor does the order of Python's sets and dictionaries matter, which differs between processes."""
    program = (
        "import json, sys, endive; print(endive.simulate(json.loads(sys.argv[1]), engine='reference').fingerprint)"
    )
    other_order = "1" if os.environ.get("PYTHONHASHSEED") == "0" else "0"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONHASHSEED": other_order}
    command = [sys.executable, "-c", program, json.dumps(CONFIG)]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)

    assert simulate(CONFIG, engine="reference").fingerprint == found.stdout.strip()


def test_another_seed_gives_another_result():
    assert 5 == len({simulate(CONFIG, seed=seed).fingerprint for seed in range(5)})


def test_a_traced_run_and_one_without_a_trace_are_the_same_run():
    trace: list[Any] = []

    assert Simulation(CONFIG).run(trace=trace).fingerprint == simulate(CONFIG).fingerprint
    assert trace


def drawn(config: dict[str, Any], seed: int, source: str, count: int = 200) -> list[Any]:
    """What a source draws for its txns before they start, and when they arrive."""
    workload = Workload(build_workload_config(parse_config(config), seed))
    chosen = next(one for one in workload.sources if one.name == source)
    drafts, arrival_us = [], 0
    for index in range(count):
        arrival_us = chosen.next_arrival_us(index, arrival_us)
        drafts.append((arrival_us, workload.draft(chosen, index)))
    return drafts


OTHERS = {
    "a second source": FIRST_ALONE,
    "another place in the file": {**CONFIG, "source": CONFIG["source"][::-1]},
    "another catalog": {**CONFIG, "catalog": {**CONFIG["catalog"], "append_preset": "append_design"}},
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_source_keeps_its_draws_whatever_stands_beside_it(other):
    assert drawn(OTHERS[other], 7, "stream") == drawn(CONFIG, 7, "stream")


def test_another_seed_changes_every_kind_of_draw():
    ours, theirs = drawn(CONFIG, 7, "stream"), drawn(CONFIG, 8, "stream")

    for part in (
        lambda arrival_us, draft: arrival_us,
        lambda arrival_us, draft: draft.kind,
        lambda arrival_us, draft: draft.runtime_us,
        lambda arrival_us, draft: draft.tables_read,
        lambda arrival_us, draft: draft.partitions,
    ):
        assert [part(*one) for one in ours] != [part(*one) for one in theirs]


def test_two_sources_of_one_run_do_not_share_their_luck():
    alike = [{**CONFIG["source"][0], "name": name} for name in ("stream", "other")]
    config = {**CONFIG, "source": alike}

    assert drawn(config, 7, "stream") != drawn(config, 7, "other")


def test_in_a_whole_run_the_first_sources_txns_are_the_same_beside_a_second_one():
    """Kinds, tables, submission times; and the runtimes, seen through a start whose latency is fixed."""
    fixed = {"storage": {"provider": "constant", "latency_ms": 5.0}, "catalog": {"type": "instant", "num_tables": 4}}
    transaction = {key: value for key, value in CONFIG["transaction"].items() if key != "partitions"}
    alone = {**FIRST_ALONE, **fixed, "transaction": transaction}
    beside = {**CONFIG, **fixed, "transaction": transaction}

    def rows(config: dict[str, Any]) -> dict[int, Any]:
        table = simulate(config).transactions
        return {row["source_index"]: row for row in table.to_pylist() if row["source"] == "stream"}

    ours, theirs = rows(alone), rows(beside)
    assert ours.keys() == theirs.keys()
    for index, row in ours.items():
        other = theirs[index]
        for column in ("kind", "submit_ms", "tables_read", "tables_written"):
            assert row[column] == other[column]
        if "in_flight" not in (row["status"], other["status"]) and not row["restarts"] + other["restarts"]:
            assert row["phase_runtime_ms"] == other["phase_runtime_ms"]
