"""A distribution from a table of a configuration or profile: names become objects here.

What a value may be, each family knows itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from endive.distributions.distribution import LatencyDistribution
from endive.distributions.gamma import ExponentialLatency, GammaLatency
from endive.distributions.linear import EmpiricalLatency, FixedLatency, UniformLatency
from endive.distributions.lognormal import LognormalLatency, SizeBasedLatency
from endive.distributions.mixture import MixtureLatency
from endive.distributions.truncated_normal import TruncatedNormalLatency
from endive.errors import ConfigError

_FLOOR = "min_latency_ms"


@dataclass(frozen=True)
class _Family:
    build: Callable[..., LatencyDistribution]
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


_FAMILIES: dict[str, _Family] = {
    "fixed": _Family(FixedLatency, ("ms",)),
    "size_based": _Family(SizeBasedLatency, ("base_latency_ms", "latency_per_mib_ms", "sigma")),
    "truncated_normal": _Family(TruncatedNormalLatency, ("mean_ms", "stddev_ms"), ("min_ms",)),
    "exponential": _Family(ExponentialLatency, ("mean_ms",)),
    "uniform": _Family(UniformLatency, ("low_ms", "high_ms")),
    "gamma": _Family(GammaLatency, ("mean_ms", "shape")),
    "empirical": _Family(EmpiricalLatency, ("quantiles",)),
}

# A lognormal is given by exactly one of these; they are different numbers, so none is read as another.
_LOGNORMALS: dict[str, _Family] = {
    "mu": _Family(LognormalLatency, ("mu", "sigma"), ("shift_ms",)),
    "median_ms": _Family(LognormalLatency.by_median, ("median_ms", "sigma"), ("shift_ms", "latency_per_mib_ms")),
    "mean_ms": _Family(LognormalLatency.by_mean, ("mean_ms", "sigma"), ("shift_ms",)),
}

DISTRIBUTION_NAMES = ("lognormal", *_FAMILIES, "mixture")


def from_table(spec: Mapping[str, Any], where: str) -> LatencyDistribution:
    """The distribution that ``spec`` describes; ``where`` is the key it was found under.

    Raises ``ConfigError`` with every problem found, one line each.
    """
    if not isinstance(spec, Mapping):
        raise ConfigError(
            f'{where} = {spec!r} is not a distribution; give a table such as {{distribution = "fixed", ms = 10.0}}.'
        )
    name = spec.get("distribution")
    if name not in DISTRIBUTION_NAMES:
        raise ConfigError(_unknown_name(where, name))
    if name == "mixture":
        return _mixture(spec, where)
    family = _lognormal(spec, where) if name == "lognormal" else _FAMILIES[name]
    _check_keys(spec, where, name, family)
    values = {key: value for key, value in spec.items() if key != "distribution"}
    try:
        return family.build(**values)
    except (ValueError, TypeError) as problem:
        raise ConfigError(f"{where}.{problem}") from problem


def _lognormal(spec: Mapping[str, Any], where: str) -> _Family:
    given = [key for key in _LOGNORMALS if key in spec]
    if len(given) == 1:
        return _LOGNORMALS[given[0]]
    locations = " and ".join(given) if given else "none of them"
    raise ConfigError(
        f"{where}: a lognormal is given by exactly one of mu, median_ms, mean_ms; found {locations}. "
        "mu is the mean of the logarithm, and for sigma above zero the mean exceeds the median."
    )


def _mixture(spec: Mapping[str, Any], where: str) -> LatencyDistribution:
    _check_keys(spec, where, "mixture", _Family(MixtureLatency, ("components",)))
    tables = spec["components"]
    if not isinstance(tables, list | tuple) or not tables:
        raise ConfigError(f"{where}.components = {tables!r} is not allowed; give a list of weighted distributions.")
    problems: list[str] = []
    components: list[tuple[float, LatencyDistribution]] = []
    for index, table in enumerate(tables):
        place = f"{where}.components[{index}]"
        if not isinstance(table, Mapping) or "weight" not in table:
            problems.append(f"{place} has no weight; give each component a weight and a distribution.")
            continue
        try:
            rest = {key: value for key, value in table.items() if key != "weight"}
            components.append((table["weight"], from_table(rest, place)))
        except ConfigError as problem:
            problems += problem.problems
    if problems:
        raise ConfigError(problems)
    try:
        return MixtureLatency(tuple(components), min_latency_ms=spec.get(_FLOOR, 0.0))
    except ValueError as problem:
        raise ConfigError(f"{where}.{problem}") from problem


def _check_keys(spec: Mapping[str, Any], where: str, name: str, family: _Family) -> None:
    known = (*family.required, *family.optional, _FLOOR)
    problems = [
        f'{where}.{key} is missing; distribution = "{name}" needs {", ".join(family.required)}.'
        for key in family.required
        if key not in spec
    ]
    for key in spec:
        if key != "distribution" and key not in known:
            problems.append(
                f'{where}.{key} = {spec[key]!r} is not a key of distribution = "{name}"; '
                f"allowed: {', '.join(known)}.{_nearest(str(key), known)}"
            )
    if problems:
        raise ConfigError(problems)


def _unknown_name(where: str, name: object) -> str:
    allowed = ", ".join(DISTRIBUTION_NAMES)
    if name is None:
        return f"{where}.distribution is missing; choose one of: {allowed}."
    return (
        f"{where}.distribution = {name!r} is not known; choose one of: {allowed}."
        f"{_nearest(str(name), DISTRIBUTION_NAMES)}"
    )


def _nearest(word: str, known: tuple[str, ...]) -> str:
    matches = get_close_matches(word, known, n=1)
    return f" Did you mean {matches[0]}?" if matches else ""
