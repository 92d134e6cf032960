"""What a catalog was measured to do, as keys of the model: load and commit apart, and how clients slow commits down.

A request waits for one of some workers, is worked on, and is under way for the rest of its latency. How many workers
and how much work fit the curve best is searched; the waiting follows from mean-value analysis of a closed loop (with
Seidmann's approximation for several workers). What the profile gives for what was measured is told beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from endive.errors import ConfigError
from endive.observation.fitting.arrivals import quantile_table
from endive.observation.measurement.catalog_probe import REST, CatalogMeasured

WORKERS: Final = (1, 2, 3, 4, 6, 8, 12, 16)
SHARES: Final = tuple(0.02 * step for step in range(1, 50))  # of a request's time that is work
FLAT_GAIN: Final = 0.05  # a curve that workers do not explain better by so much has none
FILE_SHARE_MAX: Final = 0.9  # parts never exceed the whole
MS_MIN: Final = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Medians in ms: a load, the client's own files in it, and commits by number of clients."""

    load_ms: float
    read_ms: float  # of the metadata file; 0 behind REST, where the server sends it
    write_ms: float
    commits_ms: Mapping[int, float]
    is_rest: bool

    @property
    def request_ms(self) -> float:
        """One request that reads the pointer."""
        return max(MS_MIN, self.load_ms - self.read_ms)

    @property
    def swap_ms(self) -> float:
        """The request that commits: what is left of a lone client's commit without its files and reads."""
        alone = self.commits_ms[min(self.commits_ms)]
        rest = alone - self.write_ms if self.is_rest else alone - self.load_ms - self.write_ms
        return max(MS_MIN, rest)

    @property
    def visits(self) -> int:
        """Requests of one commit: behind REST the commit itself, else a look at the pointer too."""
        return 1 if self.is_rest else 2


def curve_of(measured: CatalogMeasured, *, kind: str) -> Curve:
    """What was measured, with parts that fit into their wholes."""
    load_ms = median(measured.load_ms)
    commits = {n: median([*made, *measured.refused_ms[n]]) for n, made in measured.commit_ms.items() if made}
    if not commits:
        raise ConfigError("no commit succeeded, so that nothing is known of how long one takes. Measure again.")
    alone_ms = commits[min(commits)]
    is_rest = kind == REST
    read_ms = 0.0 if is_rest else min(median(measured.metadata_read_ms), FILE_SHARE_MAX * load_ms)
    room_ms = alone_ms if is_rest else max(0.0, alone_ms - load_ms)
    write_ms = min(median(measured.metadata_write_ms or measured.metadata_read_ms), FILE_SHARE_MAX * room_ms)
    return Curve(load_ms=load_ms, read_ms=read_ms, write_ms=write_ms, commits_ms=commits, is_rest=is_rest)


def commits_of(curve: Curve, workers: int, work_ms: float) -> dict[int, float]:
    """How long commits take with so many workers, by number of clients that load and commit in turn."""
    commit_ms = curve.commits_ms[min(curve.commits_ms)]
    if workers == 0:
        return dict.fromkeys(curve.commits_ms, commit_ms)
    visits = curve.visits + 1  # and the load before it
    own_ms = work_ms / workers
    waits_ms, queued = [0.0], 0.0
    for count in range(1, max(curve.commits_ms) + 1):
        served_ms = own_ms * (1.0 + queued)
        turn_ms = curve.load_ms + commit_ms + visits * (served_ms - own_ms)
        queued = count / turn_ms * visits * served_ms
        waits_ms.append(served_ms - own_ms)  # what one request waits
    return {count: commit_ms + curve.visits * waits_ms[count] for count in curve.commits_ms}


def misfit(curve: Curve, given: Mapping[int, float]) -> float:
    """The largest share by which a profile's commits differ from those that were measured."""
    return max(abs(math.log(given[count] / ms)) for count, ms in curve.commits_ms.items())


def fit_workers(curve: Curve) -> tuple[int, float]:
    """Workers and the work of one request; 0 workers if commits do not slow down."""
    best = (misfit(curve, commits_of(curve, 0, 0.0)) - FLAT_GAIN, 0, 0.0)
    longest_ms = min(curve.request_ms, curve.swap_ms)
    for workers in WORKERS:
        for share in SHARES:
            work_ms = share * longest_ms
            best = min(best, (misfit(curve, commits_of(curve, workers, work_ms)), workers, work_ms))
    return best[1], best[2]


def catalog_document(measured: CatalogMeasured, *, kind: str) -> dict[str, Any]:
    """``[catalog]`` of a configuration, and ``[measured]``, which ``endive measure --check`` holds it against."""
    curve = curve_of(measured, kind=kind)
    workers, work_ms = fit_workers(curve)
    beside_ms = curve.load_ms - curve.request_ms + work_ms
    alone = measured.commit_ms[min(measured.commit_ms)]
    around_ms = median(alone) - curve.swap_ms + work_ms
    service: dict[str, Any] = {"commit_latency": quantile_table([max(MS_MIN, ms - around_ms) for ms in alone])}
    if workers:
        service |= {"workers": workers, "time": {"distribution": "fixed", "ms": round(work_ms, 3)}}
    if curve.is_rest:
        service["flavour"] = REST
        if measured.long_answers is not None and measured.long_answers.ms_per_mib >= MS_MIN:
            service["answer_ms_per_mib"] = round(measured.long_answers.ms_per_mib, 2)
    return {
        "catalog": {
            "type": "service",
            "latency": quantile_table([max(MS_MIN, ms - beside_ms) for ms in measured.load_ms]),
            "service": service,
        },
        "measured": {
            "load_ms": round(curve.load_ms, 3),
            "metadata_read_ms": round(curve.read_ms, 3),
            "metadata_write_ms": round(curve.write_ms, 3),
            "commit_ms": [[count, round(ms, 3)] for count, ms in curve.commits_ms.items()],
        },
    }


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure as it was measured and as a profile gives it, in ms."""

    what: str
    measured_ms: float
    profile_ms: float

    @property
    def misfit_percent(self) -> float:
        """How far the profile is off."""
        return 100.0 * (self.profile_ms / self.measured_ms - 1.0) if self.measured_ms else 0.0


def check_profile(document: Mapping[str, Any], name: str) -> list[Compared]:
    """What a catalog profile gives for what was measured when it was written."""
    try:
        told, catalog = document["measured"], document["catalog"]
        service = catalog.get("service", {})
        curve = Curve(
            load_ms=float(told["load_ms"]),
            read_ms=float(told["metadata_read_ms"]),
            write_ms=float(told["metadata_write_ms"]),
            commits_ms={int(count): float(ms) for count, ms in told["commit_ms"]},
            is_rest=service.get("flavour") == REST,
        )
        workers, work_ms = int(service.get("workers", 0)), float(service.get("time", {}).get("ms", 0.0))
        request_ms, swap_ms = (_middle(each) + work_ms for each in (catalog["latency"], service["commit_latency"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ConfigError(
            f"'{name}' does not say what was measured. Give a file that endive measure catalog has written, of this "
            "version: measure again if it is older."
        ) from None
    alone_ms = swap_ms + curve.write_ms + (0.0 if curve.is_rest else request_ms + curve.read_ms)
    off_ms = alone_ms - curve.commits_ms[min(curve.commits_ms)]
    given = commits_of(curve, workers, work_ms)
    rows = [Compared("load", curve.load_ms, request_ms + curve.read_ms)]
    for count, ms in curve.commits_ms.items():
        rows.append(Compared(f"commit, {count} client{'s' * (count > 1)}", ms, given[count] + off_ms))
    return rows


def _middle(table: Mapping[str, Any]) -> float:
    return float({round(share, 3): ms for share, ms in table["quantiles"]}[0.5])
