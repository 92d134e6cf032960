"""Measures real Iceberg under load and keeps what was measured.

    python -m endive.verification.iceberg.load_recording

Owns the plan of the measurement (which cells, how long, how often) and its file, ``data/load.json``. Repetitions go
round the cells, so that a busy minute of the machine does not fall on one of them alone.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from endive.verification.iceberg.loading import DELAYS_MS, LoadStage, quantiles, run_beside
from endive.verification.iceberg.recorded import DATA
from endive.verification.iceberg.scenario import OVERWRITE_SERIALIZABLE, REWRITE, Operation

LOAD_FILE: Final = DATA / "load.json"
WRITERS: Final = (1, 2, 4, 8, 16)
DURATION_S: Final = 30.0
REPETITIONS: Final = 12
WARM_UP_S: Final = 30.0
BESIDE: Final[tuple[Operation, ...]] = (OVERWRITE_SERIALIZABLE, REWRITE)
BESIDE_BEHIND: Final = (10, 40)
BESIDE_PERIODS_S: Final = (1.0, 3.0)
BESIDE_REPETITIONS: Final = 8


def measure(
    jars: Path | None,
    *,
    repetitions: int = REPETITIONS,
    duration_s: float = DURATION_S,
    beside_repetitions: int = BESIDE_REPETITIONS,
    keep: Callable[[dict[str, Any]], None] = lambda document: None,
) -> dict[str, Any]:
    """Every cell ``repetitions`` times; ``keep`` is told what is there after each round."""
    with LoadStage(jars) as stage:
        stage.run_closed(4, WARM_UP_S)
        document: dict[str, Any] = {
            "iceberg": stage.jvm.version,
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "machine": f"{os.cpu_count()} CPUs, {platform.system()} {platform.machine()}",
            "delays_ms": DELAYS_MS,
            "pointer_ms": round(stage.pointer_ms(), 3),
            "closed": {str(writers): [] for writers in WRITERS},
            "beside": {},
        }
        for _ in range(repetitions):
            for writers in WRITERS:
                document["closed"][str(writers)].append(stage.run_closed(writers, duration_s).to_dict())
            keep(document)
        beyond_ms: dict[str, dict[str, list[float]]] = {}
        for turn in range(beside_repetitions):
            for key, operation, n, period_s in beside_cells():
                phase_s = period_s * (turn + 0.5) / beside_repetitions
                run = run_beside(stage, operation, n, period_s, phase_s)
                cell = document["beside"].setdefault(key, {"txns": [], "beyond_ms": {}})
                txn = run.txns[0]
                cell["txns"].append(
                    [round(phase_s, 4), round(txn.end_s, 4), int(txn.is_committed), txn.attempts, run.load_average]
                )
                for kind, values in run.beyond_ms.items():
                    beyond_ms.setdefault(key, {}).setdefault(kind, []).extend(values)
                cell["beyond_ms"] = {kind: quantiles(values) for kind, values in sorted(beyond_ms[key].items())}
            keep(document)
    return document


def beside_cells() -> list[tuple[str, Operation, int, float]]:
    """Key, operation, snapshots behind, seconds between two appends."""
    return [
        (f"{operation.java} n={n} every={period_s}", operation, n, period_s)
        for operation in BESIDE
        for n in BESIDE_BEHIND
        for period_s in BESIDE_PERIODS_S
    ]


def write_load(document: dict[str, Any], path: Path = LOAD_FILE) -> None:
    """One line per run."""
    text = json.dumps(document)
    for mark in ('{"duration_s"', '"closed"', '"beside"', '"overwrite_files n', '"rewrite_files n'):
        text = text.replace(mark, "\n" + mark)
    path.write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Measure and write; a run takes about as long as its cells add up to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iceberg-jars", type=Path, default=None)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--seconds", type=float, default=DURATION_S)
    parser.add_argument("--beside-repetitions", type=int, default=BESIDE_REPETITIONS)
    parser.add_argument("--out", type=Path, default=LOAD_FILE)
    given = parser.parse_args()
    write_load(
        measure(
            given.iceberg_jars,
            repetitions=given.repetitions,
            duration_s=given.seconds,
            beside_repetitions=given.beside_repetitions,
            keep=lambda document: write_load(document, given.out),
        ),
        given.out,
    )


if __name__ == "__main__":
    main()
