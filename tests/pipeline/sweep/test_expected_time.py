"""The estimate of ``--dry-run``."""

from __future__ import annotations

from endive.pipeline.sweep.expected_time import START_S, TXN_BYTES, TXN_S, estimate
from endive.pipeline.sweep.plan import RUN_COST_TXNS, Run


def test_an_estimate_is_scaled_from_a_run_of_the_study(planned):
    small = estimate(planned().runs, cores=2, engine="auto")
    large = estimate(planned(seeds=8).runs, cores=2, engine="auto")

    assert small.is_measured
    assert small.wall_s > START_S
    assert large.transactions_bytes > small.transactions_bytes


def test_runs_too_large_to_try_are_estimated_by_rule_of_thumb():
    runs = [
        Run(run_id=str(number), point=number, seed=1, config_hash="", config="", values={}, txns=1e6)
        for number in range(4)
    ]
    guess = estimate(runs, cores=2, engine="auto")

    assert not guess.is_measured
    assert guess.wall_s == START_S + 4 * (1e6 + RUN_COST_TXNS) * TXN_S / 2
    assert 4e6 * TXN_BYTES < guess.transactions_bytes < 4e6 * TXN_BYTES + 1e6
