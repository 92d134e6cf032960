"""Measures real Iceberg under load, cell by cell.

Which cells lives in ``verification.suites.load.cells``. Repetitions go round the cells, so that a busy minute of
the machine does not fall on one of them alone.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from rigs.java.load_stage import LoadStage, quantiles, run_beside
from verification.recordings import machine, today
from verification.suites.load.cells import DELAYS_MS, WRITERS, beside_cells

DURATION_S: Final = 30.0
REPETITIONS: Final = 12
WARM_UP_S: Final = 30.0
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
        stage.run_closed(4, min(WARM_UP_S, 2 * duration_s))
        document: dict[str, Any] = {
            "iceberg": stage.jvm.version,
            "date": today(),
            "machine": machine(),
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
