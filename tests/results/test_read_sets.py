"""What a txn read and wrote of each table, if asked for."""

from collections import Counter
from typing import Any

from endive.results.read_sets import READ_SET_SCHEMA, ReadSet, read_set_table
from endive.simulation import Simulation

CONFIG: dict[str, Any] = {
    "simulation": {"duration_ms": 20_000.0, "seed": 3},
    "storage": {"provider": "instant"},
    "catalog": {"num_tables": 3, "scope": "partition", "partitions": {"enabled": True, "num_partitions": 5}},
    "transaction": {
        "real_conflict_probability": 0.0,
        "tables": {"count": 2, "write_fraction": 0.5},
        "partitions": {"count": 2, "write_fraction": 0.5},
        "runtime": {"distribution": "fixed", "ms": 50.0},
        "inter_arrival": {"distribution": "exponential", "scale": 100.0},
    },
}


def test_a_row_tells_versions_and_partitions_if_asked() -> None:
    read_sets: list[ReadSet] = []

    result = Simulation(CONFIG).run(read_sets=read_sets)

    committed = result.transactions.filter(result.transactions["status"].cast("string").to_numpy() == "committed")
    by_txn: dict[int, list[ReadSet]] = {}
    for each in read_sets:
        by_txn.setdefault(each.txn_id, []).append(each)
    assert len(committed) > 100
    versions: dict[int, int] = {}
    for row in committed.sort_by("end_ms").to_pylist():
        mine = by_txn[row["txn_id"]]
        assert row["tables_read"] == [each.table for each in mine]
        assert [True, False] == [each.is_written for each in mine]
        for each in mine:
            assert 2 == len(each.partitions_read) == len(each.partition_versions_read)
            assert each.partitions_read[: len(each.partitions_written)] == each.partitions_written
            assert (1 if each.is_written else 0) == len(each.partitions_written)
            assert each.version_read <= versions.get(each.table, 0)  # nobody saw what was not committed yet
        versions[mine[0].table] = versions.get(mine[0].table, 0) + 1


def test_a_lone_txn_read_what_was_committed_before_it() -> None:
    """One client, one txn at a time: the versions it saw are the commits so far, of catalog, table and partition."""
    transaction = {key: value for key, value in CONFIG["transaction"].items() if key != "inter_arrival"}
    source = {"name": "lone", "arrivals": {"kind": "closed", "clients": 1, "think_ms": 10.0}}
    read_sets: list[ReadSet] = []
    Simulation({**CONFIG, "transaction": transaction, "source": [source]}).run(read_sets=read_sets)

    commits: Counter[object] = Counter()
    assert len(read_sets) > 200
    for written, read in zip(read_sets[::2], read_sets[1::2], strict=False):
        for each in (written, read):
            assert (commits["catalog"], commits[each.table]) == (each.catalog_seq, each.version_read)
            partitions = tuple(commits[each.table, partition] for partition in each.partitions_read)
            assert partitions == each.partition_versions_read
        commits.update(("catalog", written.table, (written.table, written.partitions_written[0])))


def test_asking_for_read_sets_changes_no_result() -> None:
    assert Simulation(CONFIG).run(read_sets=[]).fingerprint == Simulation(CONFIG).run(engine="compiled").fingerprint


def test_read_sets_become_a_table_also_if_there_are_none() -> None:
    one = ReadSet(7, 3, 1, True, 2, (4, 0), (4,), (1, 0))

    table = read_set_table([one])

    assert READ_SET_SCHEMA == table.schema
    assert [
        one._asdict() | {"partitions_read": [4, 0], "partitions_written": [4], "partition_versions_read": [1, 0]}
    ] == (table.to_pylist())
    assert 0 == read_set_table([]).num_rows
