"""The probability that a txn over k tables meets at least one real conflict: 1 - (1-p)^k."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from endive.simulation import simulate
from endive.verification.suite import Check

PROBABILITIES: Final = (0.1, 0.3, 0.5)
TABLES: Final = (1, 2, 3, 5)
STANDARD_ERRORS: Final = 4.0


def chance_checks(*, is_quick: bool) -> Iterator[Check]:
    """Verdicts that were real, as a share of all."""
    for p in (0.3,) if is_quick else PROBABILITIES:
        for k in (1, 3) if is_quick else TABLES:
            real, false = _verdicts(p, k, 120_000.0 if is_quick else 600_000.0)
            expected = 1.0 - (1.0 - p) ** k
            yield Check.points(
                "at least one real conflict among k tables",
                {"p": p, "k": k, "verdicts": real + false},
                expected=100.0 * expected,
                actual=100.0 * real / (real + false),
                allowed=100.0 * STANDARD_ERRORS * math.sqrt(expected * (1.0 - expected) / (real + false)),
            )


def _verdicts(p: float, k: int, duration_ms: float) -> tuple[int, int]:
    """Refused attempts that met a real conflict, and that met none; every txn writes the same k tables."""
    config = {
        "simulation": {"duration_ms": duration_ms, "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "storage": {"provider": "constant", "latency_ms": 1.0},
        "catalog": {"type": "instant", "scope": "table", "num_tables": k},
        "commit": {"protocol": "spec"},
        "transaction": {
            "runtime": {"distribution": "exponential", "mean_ms": 100.0},
            "operation_types": {"validated_overwrite": 1.0},
            "tables": {"count": k},
            "real_conflict_probability": p,
        },
        "source": [{"name": "txns", "arrivals": {"kind": "closed", "clients": 10, "think_ms": 10.0}}],
    }
    rows = simulate(config, seed=5).transactions.select(["real_conflicts", "false_conflicts"])
    return int(sum(rows["real_conflicts"].to_pylist())), int(sum(rows["false_conflicts"].to_pylist()))
