"""Chance for what names no draw: a user's own ``sample``, and calls made outside a run.

A run of a user's parts seeds one generator for all of them, and NumPy's legacy one too, which the refactoring
specification's own classes call. Built-in parts draw by name (``endive.rng``) and do not come here.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from endive.errors import EngineError
from endive.rng import stream_key, substream

STREAM: Final = "first names"
LEGACY_SEEDS: Final = 2**32
PROBES: Final = 1_000  # draws from which the mean of a user's own distribution is estimated


class _Unnamed:
    """The stream that unnamed draws come from, and the generator of the run."""

    key = stream_key(0, STREAM)
    taken = 0
    generator = np.random.default_rng(0)


def seed(value: int) -> None:
    """Restart the stream of unnamed draws, as ``np.random.seed`` does for the specification's."""
    _Unnamed.key, _Unnamed.taken = stream_key(value, STREAM), 0


def next_key() -> int:
    """Return the key of the next unnamed draw."""
    _Unnamed.taken += 1
    return int(substream(_Unnamed.key, _Unnamed.taken))


def begin_run(value: int) -> None:
    """Seed everything that a user's own parts may draw from."""
    seed(value)
    _Unnamed.generator = np.random.default_rng(value)
    np.random.seed(value % LEGACY_SEEDS)  # noqa: NPY002 - for a sample() that draws from NumPy's legacy generator


def draw(owner: object, sample: Callable[..., Any]) -> float:
    """Return a user's next sample in ms, checked; ``sample`` may take the run's generator."""
    value = sample(_Unnamed.generator) if takes_generator(type(owner)) else sample()
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)
    if not is_number or not math.isfinite(value) or value < 0.0:
        raise EngineError(
            f"{type(owner).__name__}.sample returned {value!r}; it must return a number of milliseconds, 0 or more."
        )
    return float(value)


def takes_generator(owner: type) -> bool:
    """Return whether a class's ``sample`` has a parameter for the generator."""
    return len(inspect.signature(owner.sample).parameters) > 1  # type: ignore[attr-defined]


def estimate_mean(owner: object, sample: Callable[..., Any]) -> float:
    """Return the mean of a thousand samples; chance goes on as if none had been drawn."""
    before = np.random.get_state(), _Unnamed.generator.bit_generator.state  # noqa: NPY002
    try:
        return sum(draw(owner, sample) for _ in range(PROBES)) / PROBES
    finally:
        np.random.set_state(before[0])  # noqa: NPY002
        _Unnamed.generator.bit_generator.state = before[1]
