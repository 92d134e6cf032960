"""SimPy's event loop gives the result of ours on every golden configuration."""

import json
from pathlib import Path

import pytest
from tests.golden.configurations import CONFIGURATIONS
from tests.simulation.simpy_driver import SimPyEngine

from endive import Simulation
from endive.simulation import simulation

FINGERPRINTS = json.loads((Path(__file__).parents[1] / "golden" / "fingerprints.json").read_text())


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_simpy_gives_the_result_of_our_own_loop(name, monkeypatch):
    monkeypatch.setattr(simulation, "ReferenceEngine", SimPyEngine)

    assert FINGERPRINTS[name]["fingerprint"] == Simulation(CONFIGURATIONS[name]).run(engine="reference").fingerprint
