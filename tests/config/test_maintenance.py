"""Sources that maintain their tables come back as they were written."""

from typing import Any

import pytest

from endive.config import parse_config

COMPACTION: dict[str, Any] = {
    "name": "compaction",
    "arrivals": {"kind": "periodic", "period_ms": 600_000.0},
    "operation_types": {"rewrite_files": 1.0},
    "partial_progress": {"commits": 10, "threads": 5},
}
EXPIRY: dict[str, Any] = {
    "name": "expiry",
    "arrivals": {"kind": "periodic", "period_ms": 600_000.0},
    "operation_types": {"expire_snapshots": 1.0},
    "retain_last": 10,
}
MANIFESTS: dict[str, Any] = {
    "name": "manifests",
    "arrivals": {"kind": "periodic", "period_ms": 600_000.0},
    "operation_types": {"rewrite_manifests": 1.0},
}


@pytest.mark.parametrize("source", [COMPACTION, EXPIRY, MANIFESTS])
def test_maintenance_comes_back_as_it_was_written(source):
    resolved = parse_config({"source": [source]})

    assert resolved == parse_config(resolved.to_dict())
    (plain,) = resolved.to_dict()["source"]
    del plain["arrivals"]["offset_ms"], plain["arrivals"]["jitter_ms"]  # defaults
    assert source == {key: plain[key] for key in source}
