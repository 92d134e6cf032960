"""The bill of a month: what requests cost by list price, and what is not on it."""

from __future__ import annotations

from typing import Any

import pytest

from endive.answers.estimates import pooled_figures
from endive.answers.price import MONTH_S, bill_of, usd_per_commit
from endive.answers.replicate import run_sample
from endive.config import parse_config


def config(**catalog: Any) -> Any:
    return parse_config(
        {
            "simulation": {"duration_ms": 600_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0},
            "storage": {"provider": "s3"},
            "catalog": catalog,
            "source": [{"name": "w", "arrivals": {"kind": "jobs", "jobs": 20, "period_ms": 10_000.0}}],
        }
    )


def test_the_bill_of_a_month_is_that_of_its_commits():
    samples = [run_sample(config(type="cas"), seed) for seed in (1, 2)]
    bill = bill_of(config(type="cas"), samples)
    figures = pooled_figures(samples, "all", "")
    commits_a_month = figures["txns"]["committed"] / 1_200.0 * MONTH_S

    assert bill is not None
    assert usd_per_commit(config(type="cas"), figures) * commits_a_month == pytest.approx(bill.usd)
    assert bill.notes == ()


def test_calls_to_glue_cost_what_is_beyond_the_free_million():
    bill = bill_of(config(profile="glue"), [run_sample(config(profile="glue"), 1)])

    assert bill is not None
    (calls,) = [line for line in bill.lines if line.what == "catalog calls"]
    assert calls.usd == pytest.approx((calls.per_month - 1e6) / 1e6)
    assert calls.usd > 0


def test_a_catalog_without_a_price_is_named_and_a_store_without_one_has_no_bill():
    bill = bill_of(config(profile="polaris"), [run_sample(config(profile="polaris"), 1)])
    free = parse_config({**config(type="cas").to_dict(), "storage": {"provider": "instant"}})

    assert bill is not None
    assert "to polaris are not on the bill" in bill.notes[0]
    assert bill_of(free, [run_sample(free, 1)]) is None
