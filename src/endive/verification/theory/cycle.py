"""The commit cycle of every provider, by sampling its figures with NumPy, beside the saturated engine.

1. An attempt whose base the server evaluated at u reaches its swap's evaluation at u + W, with W = (1 - s_r) R + H + G
   + P + s_c C + D: the rest of the catalog read R, HEAD, GET and PUT of a list, the request leg of the swap C, and the
   delay D if it is throttled. It wins if nobody else was evaluated successfully in between.
2. So after a commit at time 0 only attempts with u > 0 can win, and the next commit comes at the minimum of u_j + W_j.
3. Losers pause, and winners rest, for a random time that is long against W (about eight reads begin in a window), so
   reads are a Poisson process of rate r. 400,000 attempts of it are sampled; those within the window of throttling
   after another wait their delay; in the order of evaluation each wins whose u lies after the last commit. The mean
   time between winners is the expected cycle.
4. r follows from the number of clients N (Little), with X = 1 / mean cycle: N = r E[attempt] + (r - X) E[lost] + X
   E[won]. An attempt holds a client for R + H + G + P + s_c C + D, the penalty if contended, and the pause; a lost one
   also for the rest of the refusal, a won one for the rest of the swap, for what the swaps within the window of
   crowding add, and the first read of the next txn.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from endive.verification.suite import Check, Figure, Point
from endive.verification.theory.ceilings import pause_up_to, saturate

Sample = npt.NDArray[np.float64]

PROVIDERS: Final = ("s3", "s3x", "azure", "azurex", "gcp", "instant")
QUICK_PROVIDERS: Final = ("s3", "azurex")
ALLOWED: Final = 0.02
QUICK_ALLOWED: Final = 0.04
CLIENTS: Final = 300
READS_PER_WINDOW: Final = 8.0  # reads that begin during one hazard window
COMMITS: Final = 10_000
QUICK_COMMITS: Final = 3_000
SAMPLES: Final = 400_000
LIST_BYTES: Final = 2_000
MIB: Final = 1 << 20
SHARE_OF_A_READ: Final = 0.5  # of its latency before the server evaluates, where the profile says nothing

CYCLE_TEXT: Final = """
**The commit cycle.** Clients of one `cas` catalog on a provider, metadata inlined, protocol `iceberg`; each attempt
reads the catalog, reads the manifest list (a HEAD first on S3), writes a list and swaps. Losers pause and winners rest
for long, so reads are a Poisson process; 400,000 attempts of it are sampled with NumPy from the figures in the
profile's TOML file, and in the order of their evaluation each wins whose base was evaluated after the last commit. The
mean time between winners is the expected cycle. Nothing of the simulator's own distributions, rules or engines takes
part; the derivation is in `src/endive/verification/theory/cycle.py`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """What the derivation says of one provider."""

    mean_ms: float
    pause_max_ms: float
    reads_per_ms: float


def cycle_checks(*, is_quick: bool) -> tuple[Check, ...]:
    """Mean time between two commits, sampled and simulated."""
    return tuple(_checks(QUICK_PROVIDERS if is_quick else PROVIDERS, is_quick))


def _checks(providers: tuple[str, ...], is_quick: bool) -> Iterator[Check]:
    for provider in providers:
        cycle = expected_cycle(provider)
        commits = QUICK_COMMITS if is_quick else COMMITS
        yield Check.relative(
            "mean commit cycle, sampled against saturated engine",
            {"provider": provider, "clients": CLIENTS, "pause up to, ms": round(cycle.pause_max_ms)},
            expected=cycle.mean_ms,
            actual=_simulated_ms(provider, cycle, commits),
            allowed=QUICK_ALLOWED if is_quick else ALLOWED,
            unit="ms",
        )


def cycle_figure(checks: tuple[Check, ...]) -> Figure:
    """A panel per provider would hold one point: errors side by side instead."""
    points = tuple(
        Point(panel="all providers", x=float(i), expected=0.0, actual=100.0 * (check.error or 0.0), low=-2.0, high=2.0)
        for i, check in enumerate(checks)
    )
    names = ", ".join(f"{i} {check.what['provider']}" for i, check in enumerate(checks))
    return Figure(
        name="theory-cycle",
        title="Mean commit cycle: error of the engine against sampling, %",
        x_title=f"provider: {names}",
        y_title="error, %",
        points=points,
        expected_label="sampled",
    )


# ---- sampling --------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def _figures(provider: str) -> dict[str, Any]:
    path = resources.files("endive.storage").joinpath(f"profiles/{provider}.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def draw(rng: np.random.Generator, spec: Mapping[str, Any], size_bytes: int = 0, floor_ms: float = 0.0) -> Sample:
    """SAMPLES latencies of a distribution table."""
    kind = spec["distribution"]
    if kind == "mixture":
        parts = spec["components"]
        weights = np.array([part["weight"] for part in parts])
        chosen = rng.choice(len(parts), SAMPLES, p=weights / weights.sum())
        drawn = np.choose(chosen, [draw(rng, part, size_bytes) for part in parts])
    elif kind == "fixed":
        drawn = np.full(SAMPLES, float(spec["ms"]))
    elif kind == "lognormal":
        drawn = spec["median_ms"] * np.exp(spec["sigma"] * rng.standard_normal(SAMPLES))
    elif kind == "empirical":
        levels, values_ms = (np.array(column) for column in zip(*spec["quantiles"], strict=True))
        drawn = np.interp(rng.random(SAMPLES), levels, values_ms)
    else:
        assert kind == "size_based", f"sampling knows no {kind}"
        median_ms = spec["base_latency_ms"] + spec["latency_per_mib_ms"] * size_bytes / MIB
        drawn = median_ms * np.exp(spec["sigma"] * rng.standard_normal(SAMPLES))
    floored: Sample = np.maximum(drawn, floor_ms)
    return floored


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """Samples of the parts of an attempt, without what depends on how crowded the object is."""

    read: Sample
    build: Sample
    leg: Sample  # of the swap
    swap: Sample
    refusal: Sample
    delay: Sample
    throttling_ms: float
    penalty: Sample
    contention_ms: float
    share_of_read: float
    crowding_ms: float = 0.0
    crowd: tuple[tuple[int, float], ...] = ((0, 0.0),)  # rivals, and how much later a success is answered, on average


def _attempt(provider: str) -> _Attempt:
    rng = np.random.default_rng(7)
    profile = _figures(provider)
    latency = profile["latency"]
    floor_ms = profile.get("floor", {}).get("min_latency_ms", 0.0)
    swap_of = latency["cas"]
    success, failure = swap_of.get("success", swap_of), swap_of.get("failure", swap_of.get("success", swap_of))
    heads = "manifest_list" in profile.get("head_before_read", {}).get("objects", ())
    reads = [draw(rng, latency["read"], floor_ms=floor_ms) for _ in range(3 if heads else 2)]
    swap = draw(rng, success, floor_ms=floor_ms)
    legs = profile.get("legs", {})
    nothing = {"distribution": "fixed", "ms": 0.0}
    throttling = profile.get("throttling", {}).get("cas", {"window_ms": 0.0, "delay": nothing})
    contention = profile.get("contention", {}).get("cas", {"window_ms": 0.0, "penalty": nothing})
    crowding = profile.get("crowding", {}).get("cas", {"window_ms": 0.0, "among": ()})
    return _Attempt(
        read=reads[0],
        build=np.sum(reads[1:], axis=0) + draw(rng, latency["write"], LIST_BYTES, floor_ms),
        leg=swap * legs.get("cas", 0.5),
        swap=swap,
        refusal=draw(rng, failure, floor_ms=floor_ms),
        delay=draw(rng, throttling["delay"]),
        throttling_ms=throttling["window_ms"],
        penalty=draw(rng, contention["penalty"]),
        contention_ms=contention["window_ms"],
        share_of_read=legs.get("read", SHARE_OF_A_READ),
        crowding_ms=crowding["window_ms"],
        crowd=((0, 0.0), *((one["rivals"], float(draw(rng, one["penalty"]).mean())) for one in crowding["among"])),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sampled:
    """What came of a long Poisson process of attempts."""

    mean_ms: float
    throttled: float  # share of the swaps
    contended: float
    crowded_ms: float  # how much later a success is acknowledged, on average


def expected_cycle(provider: str) -> Cycle:
    """The mean cycle, and the pause that makes the clients' reads as dense as they should be."""
    parts = _attempt(provider)
    plain_ms = float(np.mean((1.0 - parts.share_of_read) * parts.read + parts.build + parts.leg))
    reads_per_ms = READS_PER_WINDOW / plain_ms
    for _ in range(5):  # the delay of throttling depends on the rate, and the rate on it
        sample = sample_cycle(parts, reads_per_ms)
        window_ms = plain_ms + sample.throttled * float(parts.delay.mean())
        reads_per_ms = READS_PER_WINDOW / window_ms
    sample = sample_cycle(parts, reads_per_ms)
    commits_per_ms = 1.0 / sample.mean_ms
    late_ms = sample.contended * float(parts.penalty.mean())
    attempt_ms = window_ms + parts.share_of_read * float(parts.read.mean()) + late_ms
    lost_ms = float(np.mean(np.maximum(parts.refusal - parts.leg, 0.0)))
    won_ms = float(np.mean(parts.swap - parts.leg)) + float(parts.read.mean()) + sample.crowded_ms
    lost_per_ms = reads_per_ms - commits_per_ms
    busy = reads_per_ms * attempt_ms + lost_per_ms * lost_ms + commits_per_ms * won_ms
    pause_ms = (CLIENTS - busy) / reads_per_ms
    assert pause_ms > 2.0 * window_ms, "too few clients for reads that are spread out"
    return Cycle(mean_ms=sample.mean_ms, pause_max_ms=2.0 * pause_ms, reads_per_ms=reads_per_ms)


def sample_cycle(parts: _Attempt, reads_per_ms: float) -> _Sampled:
    """Let attempts begin as a Poisson process, and count who wins."""
    rng = np.random.default_rng(8)
    began_ms = np.cumsum(rng.exponential(1.0 / reads_per_ms, SAMPLES))
    reached_ms = began_ms + (1.0 - parts.share_of_read) * parts.read + parts.build + parts.leg
    order = np.argsort(reached_ms)
    throttled = np.diff(reached_ms[order], prepend=-np.inf) <= parts.throttling_ms
    evaluated_ms = reached_ms[order] + np.where(throttled, parts.delay, 0.0)
    again = np.argsort(evaluated_ms)
    evaluated_ms, began_ms = evaluated_ms[again], began_ms[order][again]
    contended = np.diff(evaluated_ms, prepend=-np.inf) <= parts.contention_ms
    near = np.arange(SAMPLES) - np.searchsorted(evaluated_ms, evaluated_ms - parts.crowding_ms)
    crowd = np.array(parts.crowd)
    commits_ms = [0.0]
    for end_ms, start_ms in zip(evaluated_ms.tolist(), began_ms.tolist(), strict=True):
        if start_ms > commits_ms[-1]:  # nobody has committed since its base was read
            commits_ms.append(end_ms)
    return _Sampled(
        mean_ms=(commits_ms[-1] - commits_ms[1]) / (len(commits_ms) - 2),
        throttled=float(throttled.mean()),
        contended=float(contended.mean()),
        crowded_ms=float(np.mean(np.interp(near, crowd[:, 0], crowd[:, 1]))),
    )


# ---- the engine ------------------------------------------------------------------------------------


def _simulated_ms(provider: str, cycle: Cycle, commits: int) -> float:
    """Mean time between commits of the same clients in the engine."""
    warmup_ms = 2.0 * cycle.pause_max_ms
    duration_ms = commits * cycle.mean_ms + 2.0 * warmup_ms
    summary = saturate(
        CLIENTS,
        {"distribution": "uniform", "low_ms": 0.0, "high_ms": cycle.pause_max_ms},
        {"retry_backoff": pause_up_to(cycle.pause_max_ms)},
        simulation={"duration_ms": duration_ms, "warmup_ms": warmup_ms, "cooldown_ms": warmup_ms},
        storage={"provider": provider},
        catalog={"type": "cas", "table_metadata_inlined": True},
        table={"manifest_list_base_bytes": LIST_BYTES, "manifest_list_bytes_per_manifest": 0},
        commit={"protocol": "iceberg", "own_manifest": "none", "after_success": "none"},
    )
    return 1_000.0 / float(summary["committed_in_window_per_s"])
