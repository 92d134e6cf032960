"""One distribution of every family, with and without floor, on a scale where a microsecond is little."""

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
)

SMOOTH: dict[str, LatencyDistribution] = {
    "lognormal": LognormalLatency(4.0, 0.5),
    "lognormal by median": LognormalLatency.by_median(61.0, 0.14),
    "lognormal by mean, shifted": LognormalLatency.by_mean(180.0, 0.8, shift_ms=30.0),
    "lognormal with floor": LognormalLatency.by_median(27.0, 0.62, min_latency_ms=20.0),
    "lognormal, shifted, with floor": LognormalLatency.by_mean(180.0, 0.8, shift_ms=30.0, min_latency_ms=70.0),
    "lognormal, wide": LognormalLatency.by_mean(180_000.0, 1.5, shift_ms=30_000.0),
    "size based": SizeBasedLatency(60.0, 20.0, 0.29),
    "size based with floor": SizeBasedLatency(60.0, 20.0, 0.29, min_latency_ms=50.0),
    "truncated normal": TruncatedNormalLatency(50.0, 5.0, 1.0),
    "truncated normal, cut at the mean": TruncatedNormalLatency(100.0, 10.0, 100.0),
    "truncated normal, cut above the mean": TruncatedNormalLatency(10.0, 20.0, 60.0),
    "truncated normal, cut at zero": TruncatedNormalLatency(30.0, 40.0, 0.0),
    "truncated normal with floor": TruncatedNormalLatency(50.0, 5.0, 1.0, min_latency_ms=48.0),
    "exponential": ExponentialLatency(100.0),
    "exponential with floor": ExponentialLatency(100.0, min_latency_ms=50.0),
    "gamma of shape 1": GammaLatency(100.0, 1.0),
    "gamma, spiky": GammaLatency(100.0, 0.4),
    "gamma with floor": GammaLatency(100.0, 3.3, min_latency_ms=60.0),
    "gamma, narrow": GammaLatency(1_000.0, 2_500.0),
}

OTHER: dict[str, LatencyDistribution] = {
    "fixed": FixedLatency(12.5),
    "fixed under its floor": FixedLatency(2.5, min_latency_ms=4.0),
    "lognormal without spread": LognormalLatency.by_median(50.0, 0.0),
    "truncated normal without spread": TruncatedNormalLatency(50.0, 0.0, 1.0),
    "uniform": UniformLatency(30.0, 90.0),
    "uniform with floor": UniformLatency(30.0, 90.0, min_latency_ms=50.0),
    "uniform under its floor": UniformLatency(30.0, 90.0, min_latency_ms=95.0),
    "empirical": EmpiricalLatency(((0.0, 5.0), (0.5, 10.0), (0.9, 20.0), (0.99, 100.0))),
    "empirical with floor": EmpiricalLatency(((0.5, 10.0), (0.9, 20.0), (1.0, 100.0)), min_latency_ms=15.0),
    "empirical of one point": EmpiricalLatency(((0.5, 10.0),)),
    "mixture": MixtureLatency(
        ((3.0, LognormalLatency.by_median(20.0, 0.3)), (1.0, ExponentialLatency(100.0)), (0.5, FixedLatency(7.0)))
    ),
    "mixture with floor": MixtureLatency(
        ((0.9, UniformLatency(10.0, 30.0, min_latency_ms=12.0)), (0.1, GammaLatency(100.0, 2.0))), min_latency_ms=20.0
    ),
    "mixture of mixtures": MixtureLatency(
        (
            (0.5, MixtureLatency(((0.2, FixedLatency(10.0)), (0.8, UniformLatency(20.0, 30.0))))),
            (0.5, ExponentialLatency(40.0)),
        )
    ),
}

EVERY = {**SMOOTH, **OTHER}
CASES = {
    "latency": EVERY,
    "smooth": SMOOTH,
    # a fourth moment that 200,000 draws can estimate
    "moderate": {name: latency for name, latency in EVERY.items() if name != "lognormal, wide"},
    "floored": {name: latency for name, latency in EVERY.items() if latency.min_latency_ms > 0.0},
}


def pytest_generate_tests(metafunc) -> None:  # type: ignore[no-untyped-def]
    """A test that asks for ``latency`` runs for every distribution, and so on for the other cases."""
    for fixture, cases in CASES.items():
        if fixture in metafunc.fixturenames:
            metafunc.parametrize(fixture, list(cases.values()), ids=list(cases))
