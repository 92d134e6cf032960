"""Sentences of pages that are held to runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from verification.suites.claims import page_claims as module
from verification.suites.claims.page_claims import quoted_claims
from verification.suites.claims.ruling import FAILS, HOLDS, judge

ROOT = Path(__file__).parents[2]


def _plain(text: str) -> str:
    """Words alone: no marks, no addresses of links, no line breaks."""
    return " ".join(re.sub(r"\]\([^)]*\)|[\[\]*`]", "", text).split())


@pytest.mark.parametrize("claim", quoted_claims(), ids=lambda claim: claim.name)
def test_a_claim_is_a_sentence_of_its_page(claim):
    assert _plain(claim.text) in _plain((ROOT / claim.document).read_text())


@pytest.mark.parametrize("name", ["a MERGE that read the table", "four threads of a compaction"])
def test_what_the_pages_say_holds(name):
    """Quick ones; ``endive verify claims`` runs all."""
    (claim,) = (claim for claim in quoted_claims() if claim.name == name)

    assert HOLDS == judge(claim).verdict


def test_a_claim_that_one_of_its_runs_denies_does_not_hold(tmp_path, monkeypatch):
    run = '{ file = "experiments/field-cases/partial_progress.toml", that = "compaction.retries_mean %s", seeds = 1 }'
    text = f'[[claim]]\nname = "n"\npage = "p"\nsays = "s"\nruns = [{run % ">= 1"}, {run % "<= 1"}]'
    (tmp_path / "claims.toml").write_text(text)
    monkeypatch.setattr(module, "FILE", tmp_path / "claims.toml")

    finding = judge(quoted_claims()[0])

    assert FAILS == finding.verdict
    assert ("endive run experiments/field-cases/partial_progress.toml --seeds 1",) == finding.commands
