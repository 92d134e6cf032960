"""What ``endive verify --live`` asks of the rigs: real Iceberg, played and measured on this machine, now.

This file defines the questions; how they are answered lives in ``java_rig`` and ``pyiceberg_rig``. A library that
is missing is an ``IcebergMissingError``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from endive.verification.java.load_loops import Loop
from endive.verification.java.pair_recording import PairRecording
from endive.verification.java.pairs import Pair
from endive.verification.java.request_recording import Recording
from endive.verification.java.scenario import Scenario
from endive.verification.live import IcebergMissingError


def java_requests(scenarios: Sequence[Scenario], jars: Path | None) -> Recording:
    """What Java Iceberg asks for in every scenario."""
    from verification.java_rig.request_stage import record

    return record(scenarios, jars)


def java_pairs(pairs: Sequence[Pair], jars: Path | None) -> PairRecording:
    """What Java Iceberg does in every pair of victim and rival."""
    from verification.java_rig.pair_stage import record

    return record(pairs, jars)


def java_load(jars: Path | None, *, is_quick: bool = False) -> dict[str, Any]:
    """Java Iceberg under load; quick: every cell once, for a few seconds."""
    from verification.java_rig.load_plan import measure

    return measure(jars, repetitions=2, duration_s=5.0, beside_repetitions=2) if is_quick else measure(jars)


def java_loops(loops: Sequence[Loop], jars: Path | None, seconds: float, repetitions: int) -> dict[str, Any]:
    """Java Iceberg under load: row deltas, compactions, kept tables, REST."""
    from verification.java_rig.loop_stage import measure_loops

    return measure_loops(loops, jars, repetitions=repetitions, duration_s=seconds)


def java_replay(jars: Path | None, seconds: float) -> dict[str, Any]:
    """Several writers of Java Iceberg on one table, and what they left."""
    from verification.java_rig.observed_stage import record

    return record(jars, seconds)


def pyiceberg_requests() -> dict[str, Any]:
    """What the installed PyIceberg asks for in every story."""
    try:
        from verification.pyiceberg_rig.story_stage import record
    except ImportError as error:
        raise _missing(error) from None
    return record()


def pyiceberg_load(seconds: float, repetitions: int) -> dict[str, Any]:
    """The installed PyIceberg under load."""
    try:
        from verification.pyiceberg_rig.load_writers import measure_all
    except ImportError as error:
        raise _missing(error) from None
    return measure_all(seconds=seconds, repetitions=repetitions)


def _missing(error: ImportError) -> IcebergMissingError:
    return IcebergMissingError(f"there is no PyIceberg to run: {error}. Install it: pip install 'endive[verify]'.")
