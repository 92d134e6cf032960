"""The model held against PyIceberg: the same requests in every scenario, and nearly the same figures under load."""

from __future__ import annotations

import pytest

from verification.suites.load.load_model import simulate_closed
from verification.suites.load.measurement import Figures
from verification.suites.pyiceberg.pyiceberg_load import configuration, measured_runs, measurement
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
    duration_s = cell["duration_ms"] / 1e3
    measured = Figures.of_runs(measured_runs(cell), duration_s)

    simulated = Figures.of_runs(simulate_closed(configuration(cell, MEASURED["quantiles"]), SEEDS), duration_s)

    assert measured.committed_per_s == pytest.approx(simulated.committed_per_s, rel=0.05)
    assert measured.exhausted_percent == pytest.approx(simulated.exhausted_percent, abs=5.0)
