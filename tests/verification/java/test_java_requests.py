"""The simulator asks for what real Iceberg was recorded to ask for."""

from __future__ import annotations

import pytest

from endive.verification.suite import Options
from verification.suites.java import modelled_victim
from verification.suites.java.java_requests import different_parts, families, run
from verification.suites.java.request_recording import RELEASES, read_requests, write_requests
from verification.suites.java.request_trace import Recorded, from_text
from verification.suites.java.scenario import all_scenarios


@pytest.mark.lengthy
def test_every_attempt_of_every_scenario_asks_for_what_iceberg_asks_for():
    """And so does whatever comes after the last attempt."""
    checks = run(Options(is_quick=True)).checks

    assert {each.operation.name for each in all_scenarios()} == {check.name for check in checks}
    assert {"attempts", "after"} == {check.what["requests"] for check in checks}
    assert [] == [(check.name, dict(check.what), check.note) for check in checks if not check.holds]


def test_every_scenario_has_a_recording_and_every_recording_a_scenario():
    assert {each.key for each in all_scenarios()} == set(read_requests(RELEASES[0]).scenarios)


def test_a_family_differs_in_n_only():
    sizes = {len(family) for family in families(all_scenarios())}

    assert {1, 2, 3, 5} == sizes
    for family in families(all_scenarios()):
        assert 1 == len({(each.operation.name, each.catalog, each.rivals, each.losses) for each in family})


ATTEMPT = "Cr Lh Lr mw Lw Mw Cr Cs"


def recorded(*attempts: str, outcome: str = "committed") -> Recorded:
    return Recorded(outcome=outcome, attempts=tuple(from_text(text) for text in attempts))


@pytest.mark.parametrize(
    ("simulated", "part", "told"),
    [
        (recorded("Cr Lh Lr Lw Mw Cr Cs", "Cr Mr"), "attempts", "attempt 1: manifest.write 1 real, 0 simulated"),
        (recorded("Cr Lh Lr mw Lw Mw Cr Cs", "Mr"), "after", "catalog.read 1 real, 0 simulated"),
        (
            recorded(ATTEMPT, "Cr Mr", outcome="validation_exception"),
            "attempts",
            "ends validation_exception, not committed",
        ),
        (recorded("Cr Lh Lr mw Lw Mw Cr", ATTEMPT, "Cr Mr"), "attempts", "2 attempts, not 1"),
    ],
)
def test_another_request_another_end_and_another_number_of_attempts_are_wrong(simulated, part, told):
    assert {part: told} == different_parts(recorded(ATTEMPT, "Cr Mr"), simulated)


def test_a_model_that_forgets_a_rival_is_caught():
    scenario = next(each for each in all_scenarios() if each.key.startswith("row_delta_serializable jdbc append n=5"))
    real = read_requests(RELEASES[0]).scenarios[scenario.key]
    nearer = next(each for each in all_scenarios() if each.key == scenario.key.replace("n=5", "n=1"))

    assert {"attempts"} == set(different_parts(real, modelled_victim.play(nearer, RELEASES[0]))) - {"after"}


def test_a_recording_is_the_same_after_writing_and_reading(tmp_path):
    recording = read_requests(RELEASES[0])
    write_requests(recording, tmp_path)

    assert recording == read_requests(RELEASES[0], tmp_path)
