"""The bill of a month: what requests cost by list price, and what is not on it."""

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
    (kept,) = [line for line in bill.lines if line.what == "GiB kept for a month"]
    assert usd_per_commit(config(type="cas"), figures) * commits_a_month == pytest.approx(bill.usd - kept.usd)
    assert figures["requests"]["bytes_written"] / 1_200.0 * MONTH_S / 2**30 * 0.023 == pytest.approx(kept.usd)
    assert "one month of keeping them is on the bill" in bill.notes[0]


def test_a_store_that_charges_bytes_has_them_on_the_bill_and_one_without_a_price_says_so():
    express = parse_config({**config(type="cas").to_dict(), "storage": {"provider": "s3x"}})
    premium = parse_config({**config(type="cas").to_dict(), "storage": {"provider": "azurex"}})
    samples = [run_sample(express, 1)]
    by_bytes = {line.what: line for line in bill_of(express, samples).lines if "GiB" in line.what}
    requests = pooled_figures(samples, "all", "")["requests"]

    assert {"GiB kept for a month", "GiB written", "GiB read"} == set(by_bytes)
    assert requests["bytes_read"] / 600.0 * MONTH_S / 2**30 * 0.0006 == pytest.approx(by_bytes["GiB read"].usd)
    assert "no list price for keeping them is known" in bill_of(premium, [run_sample(premium, 1)]).notes[0]


def test_requests_to_a_lock_are_none_to_glue():
    locked = config(profile="glue", service={"lock": {"kind": "dynamodb"}})
    samples = [run_sample(locked, 1)]
    bill = bill_of(locked, samples)
    (calls,) = [line for line in bill.lines if line.what == "catalog calls"]
    counts = pooled_figures(samples, "all", "")["requests"]["counts"]["catalog"]

    # A look and a swap of the pointer for every attempt that got the lock; the look at the lock is DynamoDB's.
    glue = counts["read"] - counts["create"] + counts["cas"]
    assert glue / 600.0 * MONTH_S == pytest.approx(calls.per_month)
    assert "the lock's table in DynamoDB are not on the bill" in bill.notes[-1]


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
    assert "to polaris are not on the bill" in bill.notes[1]
    assert bill_of(free, [run_sample(free, 1)]) is None
