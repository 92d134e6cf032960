"""Attempts and convoy, counted again from the txns themselves."""

from __future__ import annotations

from collections import Counter

import pyarrow.parquet as pq
import pytest


@pytest.fixture(scope="module")
def ended(swept):
    """Txns of the study ``mixed`` that were submitted in its window and ended, each with its point."""
    runs = pq.ParquetFile(swept / "runs" / "study=mixed" / "runs.parquet").read(["run_id", "point"]).to_pylist()
    point = {row["run_id"]: row["point"] for row in runs}
    columns = ["run_id", "kind", "source", "status", "submit_ms", "attempts", "n_behind_first", "history_lists"]
    columns += ["commit_latency_ms", "phase_history_ms"]
    parts = sorted((swept / "transactions" / "study=mixed").rglob("*.parquet"))
    txns = [row for part in parts for row in pq.ParquetFile(part).read(columns).to_pylist()]
    return [
        {**row, "point": point[row["run_id"]]}
        for row in txns
        if row["status"] != "in_flight" and 7_500.0 <= row["submit_ms"] < 22_500.0
    ]


def low(value):
    return value if value < 4 else value >> (value.bit_length() - 2) << (value.bit_length() - 2)


def chosen(analysis, table, scope, name):
    rows = analysis.tables[table].to_pylist()
    return [row for row in rows if (row["study"], row["scope"], row["name"]) == ("mixed", scope, name)]


@pytest.mark.parametrize(("scope", "name"), [("all", "all"), ("operation", "merge_append"), ("source", "overwrites")])
def test_every_txn_that_ended_is_counted_at_its_attempts(analysis, ended, scope, name):
    key = {"operation": "kind"}.get(scope, scope)
    expected = Counter(
        (row["point"], low(row["attempts"]), row["status"]) for row in ended if name in ("all", row.get(key))
    )

    rows = chosen(analysis, "attempts", scope, name)

    found = Counter()
    for row in rows:
        found[row["point"], row["attempts_low"], "committed"] += row["txns_committed"]
        found[row["point"], row["attempts_low"], "aborted"] += row["txns_aborted"]
    assert expected == +found
    for point in range(4):
        shares = [row["share"] for row in rows if row["point"] == point]
        assert sum(shares) == pytest.approx(1.0, abs=1e-12)


def test_the_convoy_is_what_txns_read_by_how_far_they_were_behind(analysis, ended):
    readers = [row for row in ended if row["history_lists"] > 0]
    expected = {}
    for row in readers:
        expected.setdefault((row["point"], low(row["n_behind_first"])), []).append(row)

    rows = chosen(analysis, "convoy", "all", "all")

    assert set(expected) == {(row["point"], row["n_behind_low"]) for row in rows}
    for row in rows:
        txns = expected[row["point"], row["n_behind_low"]]
        assert len(txns) == row["txns"]
        for column, name in (
            ("n_behind_mean", "n_behind_first"),
            ("history_lists_mean", "history_lists"),
            ("history_mean_ms", "phase_history_ms"),
            ("attempts_mean", "attempts"),
            ("commit_latency_mean_ms", "commit_latency_ms"),
        ):
            assert sum(txn[name] for txn in txns) / len(txns) == pytest.approx(row[column], rel=1e-12)
        assert sum(txn["status"] == "committed" for txn in txns) / len(txns) == row["success_rate"]


def test_only_operation_types_that_read_history_are_in_the_convoy(analysis):
    rows = [row for row in analysis.tables["convoy"].to_pylist() if row["scope"] == "operation"]
    assert {"validated_overwrite"} == {row["name"] for row in rows}
