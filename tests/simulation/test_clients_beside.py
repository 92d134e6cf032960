"""Two client libraries on one table, each with a protocol of its own."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from endive import simulate

CATALOGS = [{"type": "cas"}, {"type": "service", "latency_ms": 30.0, "service": {"flavour": "rest"}}]


def run(engine: str, *sources: dict[str, Any], protocol: str = "iceberg", catalog: dict[str, Any] = CATALOGS[0]) -> Any:
    document = {
        "simulation": {"duration_ms": 60_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "storage": {"provider": "s3"},
        "catalog": catalog,
        "commit": {"protocol": protocol},
        "source": list(sources),
    }
    return simulate(document, 0, engine=engine).transactions


def writer(name: str, clients: int = 2, work_ms: float = 400.0, **keys: Any) -> dict[str, Any]:
    loop = {"kind": "closed", "clients": clients, "think_ms": 100.0}
    return {"name": name, "arrivals": loop, "runtime": {"distribution": "fixed", "ms": work_ms}, **keys}


@pytest.mark.parametrize("catalog", CATALOGS)
def test_sources_that_all_commit_as_pyiceberg_are_a_table_of_pyiceberg(engine, catalog):
    alone = run(engine, writer("a"), writer("b"), protocol="pyiceberg", catalog=catalog)
    each = run(engine, writer("a", commit_path="pyiceberg"), writer("b", commit_path="pyiceberg"), catalog=catalog)

    assert alone.equals(each)
    assert not alone.equals(run(engine, writer("a"), writer("b"), catalog=catalog))


def test_engines_agree_on_two_libraries_at_one_table():
    both = writer("spark", operation_types={"merge_append": 1.0}), writer("python", commit_path="pyiceberg")

    assert run("reference", *both).equals(run("compiled", *both))


def test_work_before_the_first_attempt_is_what_pyiceberg_may_be_overtaken_in_and_java_is_not():
    """PyIceberg builds its first attempt on the table as loaded; Java Iceberg asks for the newest first."""
    rival = writer("rival", clients=1, work_ms=0.0)

    shares = {}
    for path in ("table", "pyiceberg"):
        rows = run("compiled", writer("own", clients=1, work_ms=2_000.0, commit_path=path), rival).to_pylist()
        own = Counter(row["attempts"] > 1 for row in rows if row["source"] == "own" and row["status"] == "committed")
        shares[path] = own[True] / own.total()

    assert 1.0 == shares["pyiceberg"]
    assert shares["table"] < 0.9
