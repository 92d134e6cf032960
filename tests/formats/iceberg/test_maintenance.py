"""Maintenance as an actor: what expiry and rewrites of manifests ask for, and whom they make fail.

Requests and verdicts are those that Java Iceberg 1.9.2 was recorded with: a table of appends or row deltas, an expiry
that keeps some of its snapshots, and operations that started before it.
"""

from typing import Any

import pytest
from tests.transaction.stage import (
    REFRESHING,
    SWAPPING,
    Rival,
    append,
    expiry,
    play,
    rewrite,
    row_delta,
    without_catalog,
)

from endive import simulate
from endive.formats.iceberg.effects import snapshots_kept
from endive.formats.iceberg.maintenance import manifests_to_scan
from endive.formats.iceberg.table import IcebergTable
from endive.formats.nesting import TableState
from endive.formats.rules import count_before


def appended(count: int, **table: Any) -> dict[str, Any]:
    """A table that so many appends have made."""
    return {"table": {"initial_snapshots": count, "initial_manifests": count, **table}}


SIX = appended(6)


def expire(script: Any = None, *, keep: int = 2, **sections: Any) -> Any:
    return play("expire_snapshots", script, transaction={"retain_last": keep}, **(SIX | sections))


# ---- expiry ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["1.9", "1.10", "1.11"])
@pytest.mark.parametrize("keep", [2, 5])
def test_an_expiry_commits_metadata_then_reads_every_list_and_what_the_expired_snapshots_added(keep, release):
    """Since 1.11 not the manifests of appends: no file of theirs has been taken out."""
    played = expire(keep=keep, commit={"release": release})

    assert ("committed", 1) == (played.row["status"], played.row["attempts"])
    assert {"metadata.write": 1} == without_catalog(played.attempt(1))
    expected = {"metadata.read": 1, "manifest_list.read": 6, "manifest_list.delete": 1}
    assert expected | ({} if release == "1.11" else {"manifest.read": 6 - keep}) == dict(played.after())


def test_an_expiry_installs_no_snapshot_and_leaves_the_list_as_it_is():
    played = expire(keep=2)

    table = played.catalog.state.content.states[0]
    own = table.iceberg
    assert (7, 1, 4, 2) == (table.version, own.without_snapshot, own.expired, snapshots_kept(table))
    assert 6 == own.manifests


def test_an_expiry_that_lost_decides_anew_on_the_newer_table():
    played = expire({(1, REFRESHING): append(), (1, SWAPPING): append()}, keep=2, commit={"release": "1.9"})

    assert [{"metadata.read": 1, "metadata.write": 1}] * 2 == [without_catalog(played.attempt(n)) for n in (1, 2)]
    assert (8, 6) == (played.after()["manifest_list.read"], played.after()["manifest.read"])
    assert 6 == played.catalog.state.content.states[0].iceberg.expired


def test_an_expiry_deletes_manifests_too_if_some_were_taken_out_of_a_list():
    played = expire({(1, REFRESHING): rewrite()}, keep=2)

    assert (1, 1) == (played.after()["manifest_list.delete"], played.after()["manifest.delete"])


def test_an_expiry_with_nothing_to_expire_deletes_nothing():
    assert {"metadata.read": 1} == dict(expire(keep=6).after())


def test_only_snapshots_older_than_the_age_are_expired():
    config = {
        "simulation": {"duration_ms": 100_000, "warmup_ms": 0, "cooldown_ms": 0},
        "storage": {"provider": "constant", "latency_ms": 1.0},
        "catalog": {"type": "instant", "latency_ms": 1.0, "table_metadata_inlined": False},
        "commit": {"release": "1.9"},
        "transaction": {"runtime": {"distribution": "fixed", "ms": 0.0}},
        "source": [
            {"name": "stream", "arrivals": {"kind": "periodic", "period_ms": 1_000.0}},
            {
                "name": "expiry",
                "arrivals": {"kind": "periodic", "period_ms": 1_000_000.0, "offset_ms": 50_500.0},
                "operation_types": {"expire_snapshots": 1.0},
                "expire_older_than_ms": 20_000.0,
            },
        ],
    }
    rows = simulate(config, seed=1, engine="reference").transactions.to_pylist()

    (row,) = [row for row in rows if row["kind"] == "expire_snapshots"]
    assert 51 == row["requests_manifest_list_read"]  # all that were there: 31 expired, 20 younger than 20 s
    assert 31 == row["requests_manifest_read"]


def test_times_before_an_instant_are_counted():
    times_us = [10, 20, 20, 30]

    assert [0, 0, 1, 3, 4] == [count_before(times_us, 0, 4, before) for before in (0, 10, 11, 21, 31)]
    assert 1 == count_before(times_us, 0, 2, 15)


def test_a_clean_up_looks_through_as_many_manifests_as_snapshots_add_on_average():
    assert 4 == manifests_to_scan(TableState(version=6), 4)
    own = IcebergTable(without_snapshot=1, data_manifests=6)
    assert 4 == manifests_to_scan(TableState(version=7, appends=6, iceberg=own), 4)
    own = IcebergTable(data_manifests=6, delete_manifests=6)
    assert 8 == manifests_to_scan(TableState(version=6, overwrites=6, iceberg=own), 4)


# ---- history that is gone ------------------------------------------------------------------------------


# The txn started at snapshot 3, three appends followed (4, 5, 6), and the oldest so many were expired.
HISTORY_LOST = [
    ("validated_overwrite", "overwrite_files", 3, "committed", 3),
    ("validated_overwrite", "overwrite_files", 4, "aborted", 2),
    ("rewrite_files", None, 3, "committed", 0),
    ("rewrite_files", None, 4, "aborted", 0),
    ("validated_overwrite", "row_delta", 2, "committed", 3),
    ("validated_overwrite", "row_delta", 3, "aborted", 0),
    ("fast_append", None, 5, "committed", 0),
    ("merge_append", None, 5, "committed", 0),
    ("validated_overwrite", "replace_partitions", 5, "committed", 0),
    ("rewrite_manifests", None, 5, "committed", 0),
]


@pytest.mark.parametrize(("kind", "form", "expired", "status", "lists"), HISTORY_LOST)
def test_a_validated_operation_fails_if_the_snapshot_after_its_start_was_expired(kind, form, expired, status, lists):
    transaction = {"overwrite": form} if form else {}
    played = play(kind, {(1, REFRESHING): append(3) + expiry(expired)}, transaction=transaction, **appended(3))

    reason = "history_expired" if status == "aborted" else None
    assert (status, reason, lists) == played.told("status", "reason", "history_lists")
    assert (0, 3) == played.told("real_conflicts", "n_behind_first")  # the expiry installed no snapshot


def test_an_expiry_alone_leaves_a_started_operation_its_history():
    played = play("validated_overwrite", {(1, REFRESHING): expiry(2)}, **appended(3))

    assert ("committed", 0) == played.told("status", "n_behind_first")
    assert 1 == played.attempt(1)["metadata.read"]


def test_history_may_be_lost_at_a_later_attempt():
    played = play("rewrite_files", {(1, SWAPPING): append(2), (2, REFRESHING): expiry(2)}, **appended(1))

    assert ("history_expired", 2) == played.told("reason", "attempts")
    assert 1 == played.after()["manifest_list.delete"]  # of the attempt that lost


def test_an_application_may_start_over_without_its_history():
    script = {(1, REFRESHING): append(2) + expiry(2)}
    played = play("rewrite_files", script, transaction={"application_retries": 1}, **appended(1))

    assert ("committed", 1, 2) == played.told("status", "restarts", "attempts")


@pytest.mark.parametrize(("expired", "status"), [(0, "committed"), (1, "aborted")])
def test_pyiceberg_wants_the_start_itself_when_it_validates_at_a_retry(expired, status):
    script = {(1, SWAPPING): append() + expiry(expired)}
    played = play("validated_overwrite", script, commit={"protocol": "pyiceberg"}, **appended(1))

    assert status == played.row["status"]


# ---- rewriting manifests -------------------------------------------------------------------------------


@pytest.mark.parametrize("rivals", [[], append(2), row_delta(1)])
def test_a_rewrite_of_manifests_minds_neither_appends_nor_row_deltas(rivals):
    played = play("rewrite_manifests", {(1, REFRESHING): rivals}, **SIX)

    assert ("committed", 1) == (played.row["status"], played.row["attempts"])
    expected = {"manifest_list.read": 1, "manifest_list.write": 1, "metadata.write": 1}
    if rivals:
        expected |= {"metadata.read": 1}
    assert expected == without_catalog(played.attempt(1))
    assert {"metadata.read": 1, "manifest_list.read": 1} == dict(played.after())


@pytest.mark.parametrize("rivals", [rewrite(), [Rival("rewrite_manifests")]])
def test_a_rewrite_of_manifests_fails_if_one_it_rewrote_is_gone(rivals):
    played = play("rewrite_manifests", {(1, REFRESHING): rivals}, **SIX)

    assert ("aborted", "validation_exception") == (played.row["status"], played.row["reason"])


def test_a_rewrite_of_manifests_leaves_as_many_as_their_bytes_need_and_keeps_those_added_meanwhile():
    played = play("rewrite_manifests", {(1, REFRESHING): append(2)}, **appended(6, manifest_bytes=3 << 20))

    # 18 MiB make three of 8 MiB, and two were added
    assert 5 == played.catalog.state.content.states[0].iceberg.manifests


def test_a_row_delta_beside_a_rewrite_of_manifests_reads_its_list_and_opens_nothing():
    script = {(1, REFRESHING): [Rival("rewrite_manifests")]}
    played = play("validated_overwrite", script, transaction={"referenced_files": True}, **SIX)

    assert ("committed", 1) == played.told("status", "history_lists")
    assert (1, 0) == tuple(played.attempt(1)[name] for name in ("manifest_list.read", "manifest.read"))


@pytest.mark.parametrize("path", ["table", "transaction"])
def test_a_transaction_misses_the_list_it_begins_with_once_its_snapshot_is_expired(path):
    """Recorded of Trino's way to commit: a 404, whatever the operation."""
    played = play("merge_append", {(1, REFRESHING): append() + expiry(6)}, transaction={"commit_path": path}, **SIX)

    assert ("history_expired" if path == "transaction" else None) == played.row["reason"]
