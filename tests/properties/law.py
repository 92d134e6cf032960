"""How a law is tried: on random configurations, each simulated once, however many laws look at it.

The configurations are in ``strategies``, the observation of a run in ``recording``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import Phase, example, given, settings
from tests.properties.order_strategies import ordered_configs
from tests.properties.recording import Run, observe

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


def ordered(catalog: dict[str, Any], failures: dict[str, Any] | None = None, **keys: Any) -> dict[str, Any]:
    """Appends and overwrites of one table at a server, four jobs and a crowd, whose commits something orders."""
    return {
        "simulation": {"duration_ms": 6_000.0, "seed": 5},
        "storage": {"provider": "constant", "latency_ms": 8.0},
        "catalog": {"type": "service", "latency_ms": 4.0, **catalog},
        "transaction": {"runtime": {"distribution": "fixed", "ms": 90.0}, "retry": 2},
        "source": [
            {"name": "jobs", "arrivals": {"kind": "jobs", "jobs": 4, "period_ms": 300.0, "phase": "random"}, **keys},
            {"name": "crowd", "arrivals": {"kind": "poisson", "per_s": 9.0}, "operation_types": {"fast_append": 1.0}},
            {
                "name": "overwrites",
                "arrivals": {"kind": "closed", "clients": 2, "think_ms": 70.0},
                "operation_types": {"validated_overwrite": 1.0},
            },
        ],
        **({"failures": failures} if failures else {}),
    }


UNTOLD = {"lost_answer_rate": 0.3, "lost_answer_timeout_ms": 40.0, "status_checks": 0}

# Each of what orders commits, and each aftermath, where it has something to do.
ORDERED = (
    ordered({"service": {"lock": {"kind": "hive", "wait_ms": 5.0, "wait_max_ms": 50.0, "timeout_ms": 200.0}}}),
    ordered(
        {"service": {"lock": {"kind": "dynamodb", "wait_ms": 5.0, "wait_max_ms": 50.0, "lease_ms": 20.0}}},
        after_failure={"kind": "restart", "delay_ms": 60.0},
    ),
    ordered({}, commit_queue="ours", after_failure="carried"),
    ordered({}, commit_queue="ours", gather_every_ms=400.0),
    ordered({"service": {"calls_per_s": 60.0}}, after_failure={"kind": "rerun", "times": 2, "pause_ms": 50.0}),
    ordered({"service": {"flavour": "rest", "batch_ms": 100.0}}),
    ordered({"service": {"flavour": "rest", "server_retries": 2, "rebase": "list"}}, commit_queue="ours"),
    ordered(
        {"service": {"flavour": "rest", "idempotency_keys": True}},
        {"lost_answer_rate": 0.3, "lost_answer_timeout_ms": 40.0},
    ),
    ordered({"service": {"refusal": "final"}}, after_failure="carried"),
    ordered({"service": {"flavour": "rest", "answer_ms_per_mib": 500.0, "load_answer": "refs"}}),
    ordered({}, UNTOLD, after_failure={"kind": "carried", "unknown": "again"}),
    ordered({}, UNTOLD, after_failure={"kind": "restart", "delay_ms": 60.0}),
    ordered({"num_tables": 4}, tables={"one_each": True}),
    ordered({"service": {"flavour": "rest", "rolls_back_compactions": True}}, operation_types={"rewrite_files": 1.0})
    | {"table": {"data_files": 9}, "conflict": {"detector": "files"}},
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
    @given(mapping=ordered_configs(can_keep_and_fail=False))
    def tried(mapping: dict[str, Any]) -> None:
        test(observe(mapping))

    for mapping in (*MAINTAINED, *FAILING, *ORDERED):
        tried = example(mapping=mapping)(tried)
    tried.__name__ = tried.__qualname__ = test.__name__
    tried.__doc__ = test.__doc__
    tried.__module__ = test.__module__
    return tried
