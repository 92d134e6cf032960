"""Tables of a configuration become distributions, or a list of what is wrong with them."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from endive.distributions import (
    EmpiricalLatency,
    ExponentialLatency,
    FixedLatency,
    GammaLatency,
    LatencyDistribution,
    LognormalLatency,
    MixtureLatency,
    SizeBasedLatency,
    TruncatedNormalLatency,
    UniformLatency,
    from_table,
)
from endive.errors import ConfigError

WHERE = "storage.objects.catalog.read"

GOOD: list[tuple[dict[str, Any], LatencyDistribution]] = [
    ({"distribution": "fixed", "ms": 5}, FixedLatency(5)),
    ({"distribution": "lognormal", "mu": 3.0, "sigma": 0.5}, LognormalLatency(3.0, 0.5)),
    ({"distribution": "lognormal", "median_ms": 61.0, "sigma": 0.14}, LognormalLatency.by_median(61.0, 0.14)),
    ({"distribution": "lognormal", "mean_ms": 61.0, "sigma": 0.14}, LognormalLatency.by_mean(61.0, 0.14)),
    (
        {"distribution": "lognormal", "mean_ms": 61.0, "sigma": 0.14, "shift_ms": 9.0, "min_latency_ms": 10.0},
        LognormalLatency.by_mean(61.0, 0.14, shift_ms=9.0, min_latency_ms=10.0),
    ),
    (
        {"distribution": "lognormal", "median_ms": 61.0, "sigma": 0.14, "latency_per_mib_ms": 20.0},
        LognormalLatency.by_median(61.0, 0.14, latency_per_mib_ms=20.0),
    ),
    (
        {"distribution": "size_based", "base_latency_ms": 30.0, "latency_per_mib_ms": 20.0, "sigma": 0.3},
        SizeBasedLatency(30.0, 20.0, 0.3),
    ),
    (
        {"distribution": "truncated_normal", "mean_ms": 50.0, "stddev_ms": 5.0, "min_ms": 1.0},
        TruncatedNormalLatency(50.0, 5.0, 1.0),
    ),
    ({"distribution": "exponential", "mean_ms": 3.0}, ExponentialLatency(3.0)),
    ({"distribution": "uniform", "low_ms": 3.0, "high_ms": 4.0}, UniformLatency(3.0, 4.0)),
    ({"distribution": "gamma", "mean_ms": 3.0, "shape": 2.0}, GammaLatency(3.0, 2.0)),
    ({"distribution": "empirical", "quantiles": [[0.5, 1.0], [0.9, 2]]}, EmpiricalLatency(((0.5, 1.0), (0.9, 2)))),
    (
        {
            "distribution": "mixture",
            "min_latency_ms": 2.0,
            "components": [
                {"weight": 3, "distribution": "fixed", "ms": 1.0},
                {"weight": 1, "distribution": "exponential", "mean_ms": 9.0, "min_latency_ms": 4.0},
            ],
        },
        MixtureLatency(((3, FixedLatency(1.0)), (1, ExponentialLatency(9.0, 4.0))), min_latency_ms=2.0),
    ),
]


@pytest.mark.parametrize(("table", "expected"), GOOD)
def test_a_table_becomes_the_distribution_it_names(table: dict[str, Any], expected: LatencyDistribution) -> None:
    assert expected == from_table(table, WHERE)


BAD = tomllib.loads((Path(__file__).parent / "refused_tables.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("text", "problems"), BAD.items())
def test_a_bad_table_is_refused_with_every_problem_named(text: str, problems: list[str]) -> None:
    with pytest.raises(ConfigError) as refusal:
        from_table(tomllib.loads(f"table = {text}")["table"], WHERE)

    assert problems == [line.replace(WHERE, "WHERE") for line in refusal.value.problems]
