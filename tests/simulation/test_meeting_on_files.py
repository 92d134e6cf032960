"""Who fails beside whom, from the files both touch: the questions people bring, in a minute of simulated time."""

from __future__ import annotations

from typing import Any

import pytest

import endive

MINUTE = {"duration_ms": 60_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0}
MERGE = {"validated_overwrite": 1.0}
COMPACTION = {"rewrite_files": 1.0}


def outcomes(victim: dict[str, Any], rival: dict[str, Any], engine: str, files: int = 10) -> tuple[int, int]:
    """Committed and failed for good, of a victim that works 5 s beside a rival that commits every second."""
    config = {
        "simulation": MINUTE,
        "storage": {"provider": "constant", "latency_ms": 5.0},
        "catalog": {"type": "service"},
        "table": {"data_files": files},
        "source": [
            {"name": "victim", "arrivals": {"kind": "closed", "clients": 1}, "runtime": fixed(5_000.0), **victim},
            {"name": "rival", "arrivals": {"kind": "periodic", "period_ms": 1_000.0}, "runtime": fixed(1.0), **rival},
        ],
    }
    rows = endive.simulate(config, engine=engine).transactions.to_pylist()
    mine = [row for row in rows if row["source"] == "victim"]
    failed = [row for row in mine if row["reason"] == "validation_exception"]
    return sum(row["status"] == "committed" for row in mine), len(failed)


def fixed(ms: float) -> dict[str, Any]:
    return {"distribution": "fixed", "ms": ms}


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize("form", ["row_delta", "overwrite_files"])
def test_a_merge_never_survives_a_compaction_that_rewrites_its_files(engine, form):
    merge = {"operation_types": MERGE, "overwrite": form, "touched_files": 2}
    compaction = {"operation_types": COMPACTION, "touched_files": "100%"}

    committed, failed = outcomes(merge, compaction, engine)

    assert committed == 0
    assert failed == 11


def test_a_row_delta_that_names_no_files_does_not_notice_a_compaction():
    merge = {"operation_types": MERGE, "touched_files": 2, "referenced_files": False}
    compaction = {"operation_types": COMPACTION, "touched_files": "100%"}

    committed, failed = outcomes(merge, compaction, "compiled")

    assert failed == 0
    assert committed == 11


def test_a_compaction_fails_beside_another_that_takes_the_same_files():
    compaction = {"operation_types": COMPACTION, "touched_files": "100%"}

    assert outcomes(compaction, compaction, "compiled") == (0, 11)


def test_an_append_never_fails_for_good():
    append = {"touched_files": 10}
    merge = {"operation_types": MERGE, "overwrite": "overwrite_files", "touched_files": "100%"}

    assert outcomes(append, merge, "compiled")[1] == 0


def test_snapshot_isolation_lets_a_merge_pass_appends_that_serializable_does_not():
    append = {"touched_files": 10}
    merge = {"operation_types": MERGE, "touched_files": 2}

    serializable = outcomes({**merge, "isolation": "serializable"}, append, "compiled")
    snapshot = outcomes({**merge, "isolation": "snapshot"}, append, "compiled")

    assert serializable == (0, 11)
    assert snapshot == (11, 0)


def test_operations_that_touch_few_of_many_files_rarely_meet():
    merge = {"operation_types": MERGE, "overwrite": "overwrite_files", "isolation": "snapshot", "touched_files": 1}
    compaction = {"operation_types": COMPACTION, "touched_files": 1}

    committed, failed = outcomes(merge, compaction, "compiled", files=100_000)

    assert (committed, failed) == (11, 0)


def test_a_probability_given_by_hand_overrides_the_files():
    merge = {"operation_types": MERGE, "touched_files": 2, "real_conflict_probability": 0.0}
    compaction = {"operation_types": COMPACTION, "touched_files": "100%"}

    assert outcomes(merge, compaction, "compiled")[1] == 0
