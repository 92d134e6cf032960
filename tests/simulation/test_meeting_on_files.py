"""Who fails beside whom, from the files both touch: the questions people bring, in a minute of simulated time."""

from __future__ import annotations

from typing import Any

import pytest
from tests.simulation.service_runs import fixed

import endive
from endive.errors import ConfigError

MINUTE = {"duration_ms": 60_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0}
MERGE = {"validated_overwrite": 1.0}
MEASURED = {2: 1.0, 3: 13 / 32}  # three loops of DELETEs of Java Iceberg by format version: 19 of 19, and 13 of 32
TOLERANCE = 0.1


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


ROWWISE = {"operation_types": MERGE, "touched_files": 2}
FILEWISE = {"operation_types": MERGE, "overwrite": "overwrite_files"}
COMPACTION = {"operation_types": {"rewrite_files": 1.0}, "touched_files": "100%"}
APPEND = {"touched_files": 10}


@pytest.mark.parametrize(
    ("victim", "rival", "files", "expected"),
    [
        pytest.param(ROWWISE, COMPACTION, 10, (0, 11), id="a row delta beside a compaction of its files"),
        pytest.param({**FILEWISE, "touched_files": 2}, COMPACTION, 10, (0, 11), id="an overwrite beside one"),
        pytest.param({**ROWWISE, "referenced_files": False}, COMPACTION, 10, (11, 0), id="a row delta names no files"),
        pytest.param(COMPACTION, COMPACTION, 10, (0, 11), id="two compactions of the same files"),
        pytest.param(APPEND, {**FILEWISE, "touched_files": "100%"}, 10, (11, 0), id="an append never fails for good"),
        pytest.param({**ROWWISE, "isolation": "serializable"}, APPEND, 10, (0, 11), id="serializable beside appends"),
        pytest.param({**ROWWISE, "isolation": "snapshot"}, APPEND, 10, (11, 0), id="snapshot beside appends"),
        pytest.param(
            {**FILEWISE, "isolation": "snapshot", "touched_files": 1},
            {**COMPACTION, "touched_files": 1},
            100_000,
            (11, 0),
            id="few of many files",
        ),
        pytest.param({**ROWWISE, "real_conflict_probability": 0.0}, COMPACTION, 10, (11, 0), id="a given probability"),
    ],
)
def test_who_fails_beside_whom(engine, victim, rival, files, expected):
    assert expected == outcomes(victim, rival, engine, files)


@pytest.mark.parametrize("version", [2, 3])
def test_loops_of_deletes_that_have_one_vector_a_file_on_v3_commit_as_often_as_measured(version):
    document = {
        "simulation": {"duration_ms": 120_000, "warmup_ms": 0, "cooldown_ms": 0, "seed": 1},
        "storage": {"provider": "constant", "latency_ms": 5.0},
        "catalog": {"type": "service", "latency_ms": 2.0},
        "table": {"format_version": version, "data_files": 20, "initial_snapshots": 1, "initial_manifests": 1},
        "source": [
            {
                "name": "delete",
                "arrivals": {"kind": "closed", "clients": 3, "think_ms": 0.0},
                "operation_types": {"validated_overwrite": 1.0},
                "adds_rows": False,
                "checks": "added_rows",
                "read": "table",
                "touched_files": 4,
                "runtime": {"distribution": "fixed", "ms": 300.0},
            }
        ],
    }
    statuses = endive.simulate(document).transactions["status"].to_pylist()

    committed, aborted = statuses.count("committed"), statuses.count("aborted")
    assert committed + aborted > 500
    assert abs(committed / (committed + aborted) - MEASURED[version]) < TOLERANCE


def test_a_table_that_does_not_fit_into_memory_is_refused_before_anything_is_reserved(monkeypatch):
    monkeypatch.setattr("os.sysconf", {"SC_PHYS_PAGES": 2**20, "SC_PAGE_SIZE": 4096}.get)
    config = {"table": {"data_files": 100_000_000}, "conflict": {"detector": "files"}}

    with pytest.raises(ConfigError, match=r"data_files = 100,000,000 in 1 tables needs 4\.5 GiB; this"):
        endive.simulate(config, seed=1)
