"""Results that must not change by accident: the fingerprints of a dozen configurations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.golden.configurations import CONFIGURATIONS

from endive import simulate

GOLDEN = json.loads((Path(__file__).parent / "fingerprints.json").read_text())


def test_every_configuration_has_a_golden_result_and_no_two_are_alike():
    assert list(CONFIGURATIONS) == list(GOLDEN)
    assert len(GOLDEN) == len({result["fingerprint"] for result in GOLDEN.values()})


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_configuration_gives_the_result_it_always_gave(name):
    """If the change was meant: python tests/golden/regenerate.py, and a line in the changelog under Numbers."""
    result = simulate(CONFIGURATIONS[name])

    statuses = result.transactions.column("status").to_pylist()
    found = {
        "fingerprint": result.fingerprint,
        "txns": len(statuses),
        "committed": statuses.count("committed"),
        "aborted": statuses.count("aborted"),
    }
    assert GOLDEN[name] == found
