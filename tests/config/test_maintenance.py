"""Configurations of maintenance that contradict themselves are refused, with what to do."""

from __future__ import annotations

from typing import Any

import pytest

from endive.config import parse_config
from endive.errors import ConfigError

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
WITHOUT_RULE = {key: value for key, value in EXPIRY.items() if key != "retain_last"}
BY_PARTITION = {
    "catalog": {"type": "instant", "scope": "partition", "partitions": {"enabled": True, "num_partitions": 4}}
}
APPENDED = {
    "transaction": {"manifest_list_mode": "append"},
    "storage": {"provider": "s3x"},
    "catalog": {"type": "instant"},
}

REFUSED = [
    (WITHOUT_RULE, {}, "needs to know which snapshots are kept"),
    ({**EXPIRY, "retain_last": 0}, {}, "retain_last = 0"),
    ({**EXPIRY, "expire_older_than_ms": -1.0}, {}, "expire_older_than_ms = -1"),
    (EXPIRY, BY_PARTITION, "expire_snapshots changes whole tables"),
    (MANIFESTS, BY_PARTITION, "rewrite_manifests changes whole tables"),
    (MANIFESTS, APPENDED, "rewrite_manifests writes a new manifest list"),
    ({**COMPACTION, "retain_last": 3}, {}, "operation_types has no expire_snapshots"),
    ({**COMPACTION, "operation_types": {"rewrite_files": 1.0, "fast_append": 1.0}}, {}, "has fast_append"),
    (
        {**COMPACTION, "arrivals": {"kind": "closed", "clients": 2, "think_ms": 10.0}},
        {},
        "arrivals of kind 'closed' are single txns",
    ),
    ({**COMPACTION, "partial_progress": {"commits": 2, "threads": 3}}, {}, "threads = 3 must not exceed"),
    ({**COMPACTION, "partial_progress": {"commits": 0}}, {}, "commits = 0"),
]


@pytest.mark.parametrize(("source", "sections", "words"), REFUSED)
def test_maintenance_that_cannot_be_is_refused(source, sections, words):
    with pytest.raises(ConfigError) as refused:
        parse_config({**sections, "source": [source]})

    assert words in str(refused.value)


@pytest.mark.parametrize("source", [COMPACTION, EXPIRY, MANIFESTS])
def test_maintenance_comes_back_as_it_was_written(source):
    resolved = parse_config({"source": [source]})

    assert resolved == parse_config(resolved.to_dict())
    (plain,) = resolved.to_dict()["source"]
    del plain["arrivals"]["offset_ms"], plain["arrivals"]["jitter_ms"]  # defaults
    assert source == {key: plain[key] for key in source}
