"""Latency distributions: families, each of which knows its mean and quantiles.

Which latency an operation has, ``endive.storage`` says.
"""

from endive.distributions.code import draw_us, sample_many_us
from endive.distributions.distribution import LatencyDistribution
from endive.distributions.from_table import from_table
from endive.distributions.gamma import ExponentialLatency, GammaLatency
from endive.distributions.linear import EmpiricalLatency, FixedLatency, UniformLatency
from endive.distributions.lognormal import LognormalLatency, SizeBasedLatency
from endive.distributions.mixture import MixtureLatency
from endive.distributions.sums import SUM_COUNT_MIN, draw_sum_us
from endive.distributions.truncated_normal import TruncatedNormalLatency

__all__ = [
    "SUM_COUNT_MIN",
    "EmpiricalLatency",
    "ExponentialLatency",
    "FixedLatency",
    "GammaLatency",
    "LatencyDistribution",
    "LognormalLatency",
    "MixtureLatency",
    "SizeBasedLatency",
    "TruncatedNormalLatency",
    "UniformLatency",
    "draw_sum_us",
    "draw_us",
    "from_table",
    "sample_many_us",
]
