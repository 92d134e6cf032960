"""Tables and partitions per txn by a distribution, and tables that differ in their number of partitions."""

from collections import Counter
from typing import Any

import pytest

from endive import Simulation
from endive.distributions.counts import CountDistribution
from endive.results.read_sets import ReadSet

pytestmark = pytest.mark.lengthy  # both engines, on configurations of their own


def config(**changes: Any) -> dict[str, Any]:
    transaction = {
        "real_conflict_probability": 0.0,
        "runtime": {"distribution": "fixed", "ms": 20.0},
        "inter_arrival": {"distribution": "exponential", "scale": 20.0},
    }
    return {
        "simulation": {"duration_ms": 30_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0, "seed": 7},
        "storage": {"provider": "instant"},
        "catalog": changes.pop("catalog"),
        "transaction": transaction | changes,
    }


def read_sets_of(document: dict[str, Any]) -> list[ReadSet]:
    """What every txn read, on the reference engine; the compiled one must give the same txns."""
    read_sets: list[ReadSet] = []
    result = Simulation(document).run(read_sets=read_sets)
    assert result.fingerprint == Simulation(document).run(engine="compiled").fingerprint
    return read_sets


def shares(numbers: list[int]) -> dict[int, float]:
    return {number: count / len(numbers) for number, count in sorted(Counter(numbers).items())}


def test_tables_per_txn_may_follow_a_distribution() -> None:
    counts = {"distribution": "uniform", "min": 1, "max": 3}
    read_sets = read_sets_of(config(catalog={"num_tables": 8}, tables={"count_distribution": counts}))

    per_txn = list(Counter(each.txn_id for each in read_sets).values())
    assert {1, 2, 3} == set(per_txn)
    assert all(abs(share - 1 / 3) < 0.04 for share in shares(per_txn).values())


def test_partitions_per_txn_may_follow_a_distribution() -> None:
    catalog = {"scope": "partition", "partitions": {"enabled": True, "num_partitions": 20}}
    counts = {"distribution": "exponential", "mean": 2.0, "min": 1, "max": 5}
    read_sets = read_sets_of(config(catalog=catalog, partitions={"count_distribution": counts}))

    expected = CountDistribution(mean=2.0, count_min=1, count_max=5).weights(5)
    actual = shares([len(each.partitions_read) for each in read_sets])
    assert [1, 2, 3, 4, 5] == list(actual)
    assert all(abs(actual[number] - expected[number - 1]) < 0.04 for number in actual)


def test_tables_may_have_partition_counts_of_their_own() -> None:
    catalog = {"num_tables": 3, "scope": "partition", "partitions": {"enabled": True, "per_table": [1, 4, 50]}}
    read_sets = read_sets_of(config(catalog=catalog, partitions={"count": 3}))

    touched: dict[int, set[int]] = {0: set(), 1: set(), 2: set()}
    for each in read_sets:
        touched[each.table].update(each.partitions_read)
        assert min(3, (1, 4, 50)[each.table]) == len(each.partitions_read)
    assert [{0}, {0, 1, 2, 3}, set(range(50))] == list(touched.values())
