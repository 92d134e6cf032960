"""What a replay may try to be otherwise: every time of a law is scaled, whichever law it is."""

import math

import pytest

from endive.observation.replay.changes import WORKS, changes_of, scale_times


def document(**keys):
    source = {
        "name": "w",
        "arrivals": {"kind": "poisson", "mean_ms": 10_000.0},
        "operation_types": {"fast_append": 1.0},
        "runtime": {"distribution": "fixed", "ms": 0.0},
        **keys,
    }
    return {
        "storage": {"provider": "constant", "latency_ms": 80.0},
        "catalog": {"type": "service", "latency_ms": 20.0},
        "source": [source],
    }


def tried(key, tmp_path, late_ms=0.0, **keys):
    changes = changes_of(document(**keys), tmp_path, is_measured=False, late_ms={"w": late_ms})
    return [change.document["source"][0][key] for change in changes if change.key == f"source.w.{key}"]


@pytest.mark.parametrize(
    ("runtime", "key"),
    [
        ({"distribution": "lognormal", "median_ms": 1_000.0, "sigma": 0.2}, "median_ms"),
        ({"distribution": "exponential", "mean_ms": 1_000.0}, "mean_ms"),
        ("1s", "ms"),
    ],
)
def test_work_of_every_law_is_tried_at_other_lengths(runtime, key, tmp_path):
    assert [1_000.0 * factor for factor in WORKS] == [each[key] for each in tried("runtime", tmp_path, runtime=runtime)]


def test_work_is_tried_as_much_longer_as_statements_took(tmp_path):
    works = {"distribution": "fixed", "ms": 1_000.0}

    assert [3_000.0] == [each["ms"] for each in tried("runtime", tmp_path, 2_000.0, runtime=works)][len(WORKS) :]
    assert [{"distribution": "fixed", "ms": 2_000.0}] == tried("runtime", tmp_path, 2_000.0)
    assert [] == tried("runtime", tmp_path)


def test_clients_that_stay_are_tried_the_other_way_and_others_are_not(tmp_path):
    closed = {"kind": "closed", "clients": 4, "think_ms": {"distribution": "fixed", "ms": 1_000.0}}

    assert [True] == tried("keeps_table", tmp_path, arrivals=closed)
    assert [False] == tried("keeps_table", tmp_path, arrivals=closed, keeps_table=True)
    assert [] == tried("keeps_table", tmp_path)


def test_a_law_is_scaled_by_its_times_and_nothing_else():
    law = {
        "distribution": "mixture",
        "components": [
            {"weight": 0.5, "distribution": "lognormal", "mu": 1.0, "sigma": 0.5, "shift_ms": 10.0},
            {"weight": 0.5, "distribution": "empirical", "quantiles": [[0.5, 10.0], [0.9, 20.0]]},
        ],
        "min_latency_ms": 1.0,
    }

    assert {
        "distribution": "mixture",
        "components": [
            {"weight": 0.5, "distribution": "lognormal", "mu": 1.0 + math.log(2.0), "sigma": 0.5, "shift_ms": 20.0},
            {"weight": 0.5, "distribution": "empirical", "quantiles": [[0.5, 20.0], [0.9, 40.0]]},
        ],
        "min_latency_ms": 2.0,
    } == scale_times(law, 2.0)
