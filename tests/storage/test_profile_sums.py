"""Sums of requests, for every shipped profile: held to sums of single draws."""

import math
from functools import cache

import numpy as np
import pytest

from endive.distributions import LatencyDistribution, draw_sum_us
from endive.distributions.code import FloatArray, draws_us
from endive.kernel import jitted
from endive.rng import stream_key
from endive.storage import DELETE, HEAD, MANIFEST, MEASURED, READ, VINTAGES, WRITE, list_profiles, load_profile

pytestmark = pytest.mark.lengthy

COUNTS = (8, 64, 1_000)
SIZE_BYTES = 300_000
DRAWS, BRUTE_DRAWS = 200_000, 10_000
QUANTILES = {"P1": 0.01, "P50": 0.5, "P99": 0.99, "P99.9": 0.999}
SIGMAS_MAX = 4.5  # of 300 comparisons one beyond that in 350 trials; seeds are fixed
KEY, OTHER_KEY = stream_key(11, "profile sums"), stream_key(12, "profile sums")


def every_latency() -> dict[str, LatencyDistribution]:
    """Read, write, head and delete of each profile, each distribution once, named after the first that has it."""
    found: dict[bytes, tuple[str, LatencyDistribution]] = {}
    for vintage in VINTAGES:
        for name in list_profiles(vintage):
            profile = load_profile(name, vintage)
            for op, op_name in ((READ, "read"), (WRITE, "write"), (HEAD, "head"), (DELETE, "delete")):
                if profile.supports(op):
                    latency = profile.latency(MANIFEST, op)
                    code = latency.code()
                    assert code is not None
                    label = f"{name}-{op_name}" if vintage == MEASURED else f"{vintage}-{name}-{op_name}"
                    found.setdefault(code.tobytes(), (label, latency))
    return dict(found.values())


LATENCIES = every_latency()


@jitted
def drawn_us(code: FloatArray, key: int, count: int, draws: int, size_bytes: int) -> FloatArray:
    drawn = np.empty(draws)
    for index in range(draws):
        drawn[index] = draw_sum_us(code, 0, key, index << 6, count, size_bytes)
    return drawn


@jitted
def brute_force_us(code: FloatArray, key: int, counts: FloatArray, draws: int, size_bytes: int) -> FloatArray:
    """Sums of single draws; the longer ones go on where the shorter end."""
    drawn = np.zeros((len(counts), draws))
    for index in range(draws):
        begin = 0
        total = 0
        for row in range(len(counts)):
            end = counts[row]
            total += draws_us(code, 0, key, (index << 16) + begin, 1, end - begin, size_bytes)
            drawn[row, index] = total
            begin = end
    return drawn


@cache
def brute_force(name: str) -> dict[int, FloatArray]:
    rows = brute_force_us(LATENCIES[name].code(), OTHER_KEY, np.array(COUNTS), BRUTE_DRAWS, SIZE_BYTES)
    return dict(zip(COUNTS, rows, strict=True))


def disagreements(latency: LatencyDistribution, count: int, brute_us: FloatArray) -> list[str]:
    """What a drawn sum does not share with the law (mean, variance) and with summed draws (quantiles)."""
    code = latency.summed_code(SIZE_BYTES)
    assert code is not None
    sums_us = drawn_us(code, KEY, count, DRAWS, SIZE_BYTES)
    exact = latency.at_size(SIZE_BYTES)
    mean_us, variance_us = 1e3 * count * exact.mean(), 1e6 * count * exact.variance()
    if variance_us < 1e-6:
        expected_us = count * int(1e3 * exact.mean() + 0.5)
        return [] if (sums_us == expected_us).all() and (brute_us == expected_us).all() else ["constant"]
    off = sums_us - mean_us
    fourth = float((off**4).mean())
    apart = []
    if abs(off.mean()) > SIGMAS_MAX * math.sqrt(variance_us / DRAWS):
        apart.append("mean")
    if abs((off**2).mean() - variance_us) > SIGMAS_MAX * math.sqrt((fourth - variance_us**2) / DRAWS):
        apart.append("variance")
    for name, p in QUANTILES.items():
        share = float((brute_us <= np.quantile(sums_us, p)).mean())
        if abs(share - p) > SIGMAS_MAX * math.sqrt(p * (1.0 - p) * (1.0 / DRAWS + 1.0 / BRUTE_DRAWS)):
            apart.append(name)
    return apart


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", LATENCIES)
def test_a_sum_agrees_with_brute_force(name: str, count: int) -> None:
    assert [] == disagreements(LATENCIES[name], count, brute_force(name)[count])


def test_the_comparison_notices_another_mean_another_spread_and_another_tail() -> None:
    right = LATENCIES["s3-read"]
    brute_us = brute_force("s3-read")[64]

    assert ["P1", "P50", "P99", "P99.9"] == disagreements(right, 64, brute_us * 1.03)
    wider_us = brute_us.mean() + 1.2 * (brute_us - brute_us.mean())
    assert ["P1", "P99", "P99.9"] == disagreements(right, 64, wider_us)
