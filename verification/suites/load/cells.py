"""What is measured of Java Iceberg under load: which cells, with which delays, on which table.

How real Iceberg is loaded lives in ``rigs/java``, how the model is asked in ``load_model``.
"""

from __future__ import annotations

from typing import Final

from verification.suites.java.scenario import OVERWRITE_SERIALIZABLE, REWRITE, Operation

DELAYS_MS: Final = {"GET": 20.0, "HEAD": 10.0, "PUT": 30.0, "DELETE": 20.0}
BASE_SNAPSHOTS: Final = 5
WRITERS: Final = (1, 2, 4, 8, 16)
BESIDE: Final[tuple[Operation, ...]] = (OVERWRITE_SERIALIZABLE, REWRITE)
BESIDE_BEHIND: Final = (10, 40)
BESIDE_PERIODS_S: Final = (1.0, 3.0)


def beside_cells() -> list[tuple[str, Operation, int, float]]:
    """Key, operation, snapshots behind, seconds between two appends."""
    return [
        (f"{operation.java} n={n} every={period_s}", operation, n, period_s)
        for operation in BESIDE
        for n in BESIDE_BEHIND
        for period_s in BESIDE_PERIODS_S
    ]
