"""The estimate of ``--dry-run``, and of a study that warns before it starts."""

from __future__ import annotations

import time

import pytest

from endive.pipeline.sweep import expected_time
from endive.pipeline.sweep.expected_time import RUN_S, START_S, TXN_BYTES, TXN_COMPILED_S, Probe, estimate
from endive.pipeline.sweep.plan import Run


def runs_of(*txns: float) -> list[Run]:
    return [
        Run(run_id=str(number), point=number, seed=1, config_hash="", config="", values={}, txns=each)
        for number, each in enumerate(txns)
    ]


def test_an_estimate_is_scaled_from_runs_of_the_study(planned):
    small = estimate(planned().runs, cores=2, engine="auto")
    large = estimate(planned(seeds=8).runs, cores=2, engine="auto")

    assert small.is_measured
    assert small.wall_s == START_S + small.cpu_s / 2
    assert large.transactions_bytes > small.transactions_bytes > 0.0
    assert estimate(planned().runs, cores=2, engine="auto", detail="runs").transactions_bytes == 0.0


@pytest.mark.parametrize("largest", [9_000.0, 3_600_000.0])
def test_what_a_run_costs_to_start_is_not_taken_for_the_cost_of_its_txns(monkeypatch, largest):
    """A run of 700 txns takes 37 ms, of which 7 are its txns: by the txn that is five times too much."""

    def probe(run, engine, *, keeps):
        return Probe(run.txns, 0.03 + run.txns * 1e-5, 100.0)

    monkeypatch.setattr(expected_time, "_probe", probe)
    sizes = [700.0, 1_800.0, 3_600.0, 7_200.0, largest] * 5

    assert sum(0.03 + size * 1e-5 for size in sizes) == pytest.approx(
        estimate(runs_of(*sizes), cores=2, engine="auto").cpu_s, rel=0.01
    )


def test_time_that_others_use_the_processor_is_not_counted(monkeypatch, planned):
    simulate_run = expected_time.simulate_run

    def wait_and_simulate(*given):
        time.sleep(0.3)
        return simulate_run(*given)

    monkeypatch.setattr(expected_time, "simulate_run", wait_and_simulate)
    study = planned()

    assert estimate(study.runs, cores=2, engine="auto").cpu_s < 0.3 * len(study.runs)


def test_runs_too_large_to_try_are_estimated_by_rule_of_thumb():
    guess = estimate(runs_of(*[2e6] * 4), cores=2, engine="auto")

    assert not guess.is_measured
    assert 4 * (RUN_S + 2e6 * TXN_COMPILED_S) == pytest.approx(guess.cpu_s)
    assert 8e6 * TXN_BYTES < guess.transactions_bytes < 8e6 * TXN_BYTES + 1e6
