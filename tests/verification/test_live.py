"""What ``--live`` finds in a checkout, and what it says where there is none."""

from __future__ import annotations

import pytest

import endive
from endive.verification import Options, run_suite, suite_named
from endive.verification.live import IcebergMissingError, checkout, rigs


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """The package as an installer puts it: no folder ``verification`` beside it."""
    monkeypatch.setattr(endive, "__file__", str(tmp_path / "lib" / "endive" / "__init__.py"))


def test_a_checkout_has_the_rigs():
    found = rigs()

    assert checkout() / "verification" / "rigs.py" == type(checkout())(found.__file__)
    assert callable(found.java_load)


def test_an_installed_package_says_that_live_needs_a_checkout(installed):
    with pytest.raises(IcebergMissingError, match=r"--live needs a checkout of Endive: .*leave --live out"):
        rigs()


@pytest.mark.parametrize("name", ["requests", "load"])
def test_a_live_suite_of_an_installed_package_is_skipped_with_the_reason(installed, name):
    outcomes = run_suite(suite_named(name), Options(is_live=True))

    assert [part.name for part in suite_named(name).parts] == [outcome.part for outcome in outcomes]
    live = [outcome for outcome in outcomes if outcome.part != "spark sql"]  # read from its recording, live or not
    assert {"--live needs a checkout of Endive"} == {str(outcome.skipped)[:33] for outcome in live}
