"""The list of suites: lazily imported, so that what one lacks stops nobody else."""

from __future__ import annotations

import importlib

import pytest

from endive.errors import ConfigError
from endive.verification import SUITES, Options, run_suite, suite_named
from endive.verification.suites import Part, Suite


def test_a_suite_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(ConfigError, match=r"no suite is called 'nothing'. Choose one of: theory, stores"):
        suite_named("nothing")


def test_a_missing_library_is_a_reason_to_skip_with_what_to_do():
    part = Part(module="endive.verification.made_up", name="java", needs="Install it.")
    suite = Suite(name="load", title="Made up", parts=(part,))

    (outcome,) = run_suite(suite, Options())

    assert ("load", "java", True) == (outcome.suite, outcome.part, outcome.holds)
    assert outcome.skipped.startswith("endive.verification.made_up cannot be imported: No module named")
    assert outcome.skipped.endswith("Install it.")


@pytest.mark.parametrize("name", ["theory", "stores", "claims", "isolation"])
def test_suites_that_need_nothing_but_endive_are_there(name):
    for part in SUITES[name].parts:
        assert callable(importlib.import_module(part.module).run)
