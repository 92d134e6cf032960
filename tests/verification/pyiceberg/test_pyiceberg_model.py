"""The model held against PyIceberg: the same requests in every scenario, and nearly the same figures under load."""

from __future__ import annotations

import pytest

from verification.suites.pyiceberg.pyiceberg_load import Figures, measured_runs, measurement, simulated_runs
from verification.suites.pyiceberg.pyiceberg_requests import recording, simulate_story, story_of
from verification.suites.pyiceberg.stories import scenarios

RECORDED = recording()["scenarios"]
MEASURED = measurement()
SEEDS = range(1, 41)


@pytest.mark.parametrize("scenario", scenarios(), ids=lambda scenario: scenario.key)
def test_the_model_sends_what_pyiceberg_sent(scenario):
    assert story_of(RECORDED[scenario.key]) == simulate_story(scenario)


@pytest.mark.parametrize("cell", MEASURED["cells"], ids=lambda cell: f"{cell['writers']} writers")
def test_commits_and_exhausted_retries_under_load_are_those_of_pyiceberg(cell):
    measured = Figures.of(measured_runs(cell), cell["duration_ms"])

    simulated = Figures.of(simulated_runs(cell, MEASURED["quantiles"], SEEDS), cell["duration_ms"])

    assert measured.commits_per_s == pytest.approx(simulated.commits_per_s, rel=0.05)
    assert measured.exhausted_percent == pytest.approx(simulated.exhausted_percent, abs=5.0)
