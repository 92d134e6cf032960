"""Runs that stop when nobody waits for them any more, and shorter versions of a configuration."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from endive.answers.replicate import Job, Replicator
from endive.answers.sample import Sample
from endive.config import SimulationConfig
from endive.workload.expected_txns import expected_txns

IsCancelled = Callable[[], bool]
Events = Iterator[dict[str, Any]]


class Cancelled(Exception):  # noqa: N818  # no error: nobody waits for the answer any more
    """The question has been taken back."""


class LateError(Exception):
    """The time that a question has is up."""


class Watched(Replicator):
    """Runs in this process, and stops between two simulations once nobody waits or the time is up."""

    def __init__(self, is_cancelled: IsCancelled, seconds_max: float = float("inf")) -> None:
        super().__init__(processes=1)
        self._is_cancelled = is_cancelled
        self._until_s = time.monotonic() + seconds_max
        self.latest: dict[str, list[Sample]] = {}  # hash of a configuration -> its samples, as last asked for

    def samples(self, config: SimulationConfig, seeds: Iterable[int]) -> list[Sample]:
        """Return as any replicator; they are remembered by the configuration."""
        samples = self.latest[config.config_hash()] = super().samples(config, seeds)
        return samples

    def run_all(self, jobs: Sequence[Job]) -> list[Sample]:
        """Return as any replicator, one job at a time."""
        samples = []
        for job in jobs:
            if self._is_cancelled():
                raise Cancelled
            if time.monotonic() > self._until_s:
                raise LateError
            samples += super().run_all([job])
        return samples


def shorten(config: SimulationConfig, txns: float) -> tuple[SimulationConfig, float]:
    """Return the same for so short a time that about ``txns`` are submitted, and that time's share of the whole."""
    share = min(1.0, txns / max(1.0, expected_txns(config)))
    if share == 1.0:
        return config, 1.0
    times = {name: getattr(config.simulation, name) * share for name in ("duration_ms", "warmup_ms", "cooldown_ms")}
    return config.model_copy(update={"simulation": config.simulation.model_copy(update=times)}), share
