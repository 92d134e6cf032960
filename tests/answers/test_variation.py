"""A configuration with one of its numbers varied."""

from pathlib import Path

import pytest

from endive.answers.variation import base_of, scale_source

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


def test_a_parameter_of_a_recipe_can_be_varied_as_it_was_written_or_as_it_is_by_default():
    base = base_of({"source": [{"recipe": "flink_sink", "jobs": 7}]})

    assert 7 == base.value_of("source.flink_sink.jobs")
    assert 60_000 == base.value_of("source.flink_sink.checkpoint_interval_ms")
    assert 9 == base.varied({"source.flink_sink.jobs": 9}).config.to_dict()["source"][0]["arrivals"]["jobs"]


@pytest.mark.parametrize("key", ["load", "source.writers.load", "source.*.arrivals.clients"])
def test_a_default_of_transaction_is_no_obstacle_to_varying_the_sources(key):
    base = base_of(EXPERIMENTS / "quickstart.toml")  # it gives transaction.retry, and one source

    varied = base.with_values({key: 40 if key.endswith("clients") else 2.0})

    assert (40, 4) == (varied.sources[0].arrivals.clients, varied.sources[0].retry)


def test_load_scales_gaps_periods_and_jitter_alike_and_clients_the_other_way():
    arrivals = {
        "periodic": {"kind": "periodic", "period_ms": 60_000.0, "offset_ms": 5_000.0, "jitter_ms": 6_000.0},
        "jobs": {"kind": "jobs", "jobs": 3, "period_ms": 30_000.0, "phase": "random", "jitter_ms": 1_000.0},
        "poisson": {"kind": "poisson", "mean_ms": 500.0},
        "closed": {"kind": "closed", "clients": 3, "think_ms": 1_000.0},
    }
    scaled = {
        kind: scale_source({"name": kind, "arrivals": table}, 2.0)["arrivals"] for kind, table in arrivals.items()
    }

    assert (30_000.0, 3_000.0) == (scaled["periodic"]["period_ms"], scaled["periodic"]["jitter_ms"])
    assert (15_000.0, 500.0, 3) == tuple(scaled["jobs"][key] for key in ("period_ms", "jitter_ms", "jobs"))
    assert 250.0 == scaled["poisson"]["mean_ms"]
    assert 6 == scaled["closed"]["clients"]
