"""The estimate of ``--dry-run``, and of a study that warns before it starts."""

from __future__ import annotations

import time

import pytest

from endive.pipeline.sweep import expected_time
from endive.pipeline.sweep.expected_time import RUN_S, START_S, TXN_BYTES, Probe, _expected_s, estimate
from endive.pipeline.sweep.plan import TXN_COMPILED_S, Run


def runs_of(*txns: float) -> list[Run]:
    return [
        Run(run_id=str(number), point=number, seed=1, config_hash="", point_config="", values={}, txns=each)
        for number, each in enumerate(txns)
    ]


def let_runs_cost(monkeypatch, cost_s):
    """Probes take what a function of their run says."""

    def probe(run, engine, *, keeps):
        return Probe(cost_s(run) / _expected_s([run], engine)[0], 100.0)

    monkeypatch.setattr(expected_time, "_probe", probe)


@pytest.mark.lengthy
def test_an_estimate_is_scaled_from_runs_of_the_study(planned):
    small = estimate(planned().runs, cores=2, engine="auto")
    large = estimate(planned(seeds=8).runs, cores=2, engine="auto")

    assert small.is_measured
    assert small.wall_s == START_S + small.cpu_s / 2
    assert large.transactions_bytes > small.transactions_bytes > 0.0
    assert estimate(planned().runs, cores=2, engine="auto", detail="runs").transactions_bytes == 0.0


@pytest.mark.parametrize("largest", [9_000.0, 90_000.0])
def test_what_a_run_costs_to_start_is_not_taken_for_the_cost_of_its_txns(monkeypatch, largest):
    """A run of 700 txns takes 37 ms, of which 7 are its txns: by the txn that is five times too much."""
    sizes = [700.0, 1_800.0, 3_600.0, 7_200.0, largest] * 5
    let_runs_cost(monkeypatch, lambda run: 0.03 + run.txns * 1e-5)

    guess = estimate(runs_of(*sizes), cores=2, engine="auto")
    assert sum(0.03 + size * 1e-5 for size in sizes) == pytest.approx(guess.cpu_s, rel=0.03)


def test_runs_of_equal_size_may_differ_tenfold(monkeypatch):
    """Of six points the last costs ten times the first: the largest one tried does not stand for all."""
    runs = runs_of(*[100_000.0] * 54)
    let_runs_cost(monkeypatch, lambda run: 0.1 * (1 + run.point % 6 * 2))

    assert 0.1 * 6 * 54 == pytest.approx(estimate(runs, cores=2, engine="auto").cpu_s, rel=0.15)


def test_what_a_process_does_once_is_not_counted_for_every_run(monkeypatch):
    seen = set()

    def cost_s(run):
        is_first = run.run_id not in seen
        seen.add(run.run_id)
        return 0.5 if is_first else 0.01

    let_runs_cost(monkeypatch, cost_s)

    assert 0.01 * 64 == pytest.approx(estimate(runs_of(*[500.0] * 64), cores=2, engine="auto").cpu_s)


def test_a_run_too_large_to_try_costs_by_the_txn_what_the_largest_one_tried_did(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(expected_time.time, "process_time", lambda: clock[0])

    def probe(run, engine, *, keeps):
        assert run.txns < 1e7
        clock[0] += 1e-5 * run.txns
        return Probe(1e-5 * run.txns / _expected_s([run], engine)[0], 100.0)

    monkeypatch.setattr(expected_time, "_probe", probe)

    guess = estimate(runs_of(100_000.0, 100_000.0, 1e7), cores=2, engine="auto")

    assert 1e7 * 1e-5 == pytest.approx(guess.cpu_s, rel=0.1)


def test_time_that_others_use_the_processor_is_not_counted(monkeypatch, planned):
    simulate_run = expected_time.simulate_run

    def wait_and_simulate(*given):
        time.sleep(0.1)
        return simulate_run(*given)

    monkeypatch.setattr(expected_time, "simulate_run", wait_and_simulate)
    study = planned("transaction.inter_arrival.scale=[2000]")

    assert estimate(study.runs, cores=2, engine="auto").cpu_s < 0.1 * len(study.runs)


def test_runs_too_large_to_try_are_estimated_by_rule_of_thumb():
    guess = estimate(runs_of(*[2e6] * 4), cores=2, engine="auto")

    assert not guess.is_measured
    assert 4 * (RUN_S + 2e6 * TXN_COMPILED_S) == pytest.approx(guess.cpu_s)
    assert 8e6 * TXN_BYTES < guess.transactions_bytes < 8e6 * TXN_BYTES + 1e6
