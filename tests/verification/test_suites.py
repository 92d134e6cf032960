"""The list of suites: lazily imported, so that what one lacks stops nobody else."""

from __future__ import annotations

import importlib

import pytest

import endive
from endive.errors import ConfigError
from endive.verification import Options, find_suite, run_suite, suites_here
from endive.verification.suites import NAMES, Part, Suite


def test_a_suite_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(ConfigError, match=r"no suite is called 'nothing'. Choose one of: theory, stores"):
        find_suite("nothing")


def test_a_missing_library_is_a_reason_to_skip_with_what_to_do():
    part = Part(module="verification.suites.made_up", name="java", needs="Install it.")
    suite = Suite(name="load", title="Made up", parts=(part,))

    (outcome,) = run_suite(suite, Options())

    assert ("load", "java", True) == (outcome.suite, outcome.part, outcome.holds)
    assert outcome.skipped.startswith("verification.suites.made_up cannot be imported: No module named")
    assert outcome.skipped.endswith("Install it.")


def test_an_installed_package_has_what_needs_no_recording_and_says_where_the_rest_is(monkeypatch, tmp_path):
    monkeypatch.setattr(endive, "__file__", str(tmp_path / "lib" / "endive" / "__init__.py"))

    assert ["theory"] == [suite.name for suite in suites_here()]
    assert "theory" == find_suite("theory").name
    with pytest.raises(ConfigError, match=r"'requests' is held against recordings .* Here there is: theory, dataset\."):
        find_suite("requests")


def test_a_checkout_has_every_suite_that_has_a_name():
    assert list(NAMES) == [suite.name for suite in suites_here()]


@pytest.mark.parametrize("suite", suites_here(), ids=lambda suite: suite.name)
def test_every_part_of_a_suite_is_a_module_that_runs(suite):
    for part in suite.parts:
        assert callable(getattr(importlib.import_module(part.module), part.run))
