"""How a law is tried: on random configurations, each simulated once, however many laws look at it.

The configurations are in ``strategies``, the observation of a run in ``recording``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import Phase, example, given, settings
from tests.properties.recording import Run, observe
from tests.properties.strategies import configs

EXAMPLES = 30


def maintained(overwrite: str, **commit: str) -> dict[str, Any]:
    """Compactions, overwrites and rewrites of manifests that meet each other, beside an expiry that leaves little."""
    open_loop = {"kind": "poisson", "per_s": 4.0}
    return {
        "simulation": {"duration_ms": 8_000.0, "seed": 3},
        "storage": {"provider": "constant", "latency_ms": 10.0},
        "catalog": {
            "type": "cas",
            "scope": "table",
            "num_tables": 2,
            "partitions": {"enabled": True, "num_partitions": 3},
        },
        "table": {"initial_snapshots": 3, "initial_manifests": 5},
        "commit": commit,
        "conflict": {"detector": "partition_overlap"},
        "transaction": {"runtime": {"distribution": "fixed", "ms": 300.0}, "overwrite": overwrite},
        "source": [
            {"name": "appends", "arrivals": open_loop, "operation_types": {"fast_append": 1.0}},
            {"name": "overwrites", "arrivals": open_loop, "operation_types": {"validated_overwrite": 1.0}},
            {"name": "compaction", "arrivals": open_loop, "operation_types": {"rewrite_files": 1.0}},
            {"name": "manifests", "arrivals": open_loop, "operation_types": {"rewrite_manifests": 1.0}},
            {
                "name": "expiry",
                "arrivals": open_loop,
                "operation_types": {"expire_snapshots": 1.0},
                "retain_last": 1,
                "expire_older_than_ms": 50.0,
            },
        ],
    }


# What chance seldom finds: histories that are expired, for every protocol that can miss one.
MAINTAINED = (
    maintained("overwrite_files", protocol="iceberg"),
    maintained("row_delta", protocol="iceberg"),
    maintained("row_delta", protocol="pyiceberg"),
    maintained("overwrite_files", protocol="spec"),
    maintained("row_delta", protocol="merge"),
)

# Answers that are lost and requests that are throttled, on an object and on a server.
FAILING = tuple(
    maintained("row_delta", protocol=protocol) | {"catalog": catalog, "failures": failures, "conflict": {}}
    for protocol, catalog in (("iceberg", {"type": "cas"}), ("pyiceberg", {"type": "service", "latency_ms": 4.0}))
    for failures in (
        {"throttle_rate": 0.2, "throttle_wait_ms": 20.0},
        {
            "lost_answer_rate": 0.3,
            "lost_answer_timeout_ms": 50.0,
            "status_check_wait_ms": 20.0,
            "throttle_rate": 0.3,
            "throttle_tries": 2,
            "throttle_wait_ms": 20.0,
        },
    )
)

# A profile that finds the same examples each time gives a law a few dozen, and does not look for a smaller one if it
# fails, which takes minutes; HYPOTHESIS_PROFILE=explore tries a thousand new ones and does.
SETTINGS = (
    settings(max_examples=EXAMPLES, phases=(Phase.explicit, Phase.generate))
    if settings.default.derandomize
    else settings()
)


def law(test: Callable[[Run], None]) -> Callable[[], None]:
    """Try a law on random configurations: the same ones for every law, so that each is simulated once."""

    @SETTINGS
    @given(mapping=configs(can_keep_and_fail=False))
    def tried(mapping: dict[str, Any]) -> None:
        test(observe(mapping))

    for mapping in (*MAINTAINED, *FAILING):
        tried = example(mapping=mapping)(tried)
    tried.__name__ = tried.__qualname__ = test.__name__
    tried.__doc__ = test.__doc__
    tried.__module__ = test.__module__
    return tried
