"""Statements of pages that are held to runs."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

from verification.suites.claims.page_claims import PAGE_CLAIMS
from verification.suites.claims.ruling import judge

ROOT = Path(__file__).parents[2]


def test_the_guide_and_its_claims_speak_of_one_configuration():
    guide = (ROOT / "experiments/questions/nightly_merge.toml").read_text()
    claims = resources.files("verification.suites").joinpath("data/claims/nightly.toml").read_text()

    assert tomllib.loads(guide) == tomllib.loads(claims)


def test_a_merge_that_read_the_table_never_commits_beside_one_append_a_minute():
    finding = judge(PAGE_CLAIMS[0])

    assert "holds" == finding.verdict
    assert finding.what.startswith("Beside one append a minute 0 of 72 MERGEs commit that read the table")


def test_the_quick_claims_of_the_readme_hold():
    """The one about rates of appends takes longer; ``endive verify claims`` runs it."""
    by_name = {claim.name: claim for claim in PAGE_CLAIMS}

    for name in ("twenty jobs", "retries at 2/s", "snapshots that nobody expires"):
        assert "holds" == judge(by_name[name]).verdict, name
