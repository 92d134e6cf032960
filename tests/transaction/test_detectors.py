"""Which conflicts are real: by chance, or because a partition the txn writes was changed."""

from __future__ import annotations

import pytest
from tests.transaction.stage import REFRESHING, SWAPPING, append, play, row_delta

PARTITIONED = {
    "type": "instant",
    "latency_ms": 2.0,
    "scope": "table",
    "partitions": {"enabled": True, "num_partitions": 2},
}
OVERLAP = {"conflict": {"detector": "partition_overlap"}, "catalog": PARTITIONED}


def outcome(partition: int, written: float = 1.0) -> set[tuple[str, str | None]]:
    """What becomes of overwrites of every partition when a rival writes ``partition``."""
    transaction = {"partitions": {"count": 1, "write_fraction": written}}
    found = set()
    for seed in range(12):  # some are about partition 0, some about partition 1
        played = play(
            "validated_overwrite",
            {(1, REFRESHING): append(1, partition=partition)},
            seed=seed,
            transaction=transaction,
            **OVERLAP,
        )
        mine = played.catalog.state.snapshot(0).tables[0].partition_versions
        found.add((played.row["status"], "same" if sum(mine) == max(mine) else "other"))
    return found


@pytest.mark.parametrize("partition", [0, 1])
def test_by_overlap_a_rival_in_the_same_partition_aborts_and_one_in_another_does_not(partition):
    """A committed txn has moved its own partition: the rival's and its own are two."""
    assert {("committed", "other"), ("aborted", "same")} == outcome(partition)


def test_by_overlap_only_partitions_that_are_written_count():
    """It touches both and writes one: a rival in the partition it only reads is a false conflict."""
    transaction = {"partitions": {"count": 2, "write_fraction": 0.5}}
    statuses = {
        play(
            "validated_overwrite",
            {(1, REFRESHING): append(1, partition=0)},
            seed=seed,
            transaction=transaction,
            **OVERLAP,
        ).row["status"]
        for seed in range(12)
    }

    assert {"committed", "aborted"} == statuses


@pytest.mark.parametrize(("probability", "status"), [(0.0, "committed"), (1.0, "aborted")])
def test_by_chance_a_conflict_is_as_real_as_configured(probability, status):
    played = play(
        "validated_overwrite",
        {(1, REFRESHING): append()},
        transaction={"real_conflict_probability": probability},
    )

    assert status == played.row["status"]


def test_a_verdict_is_asked_again_only_about_what_is_new():
    """Rivals that were found harmless once are not judged again: each attempt judges what came since the last."""
    script = {(1, REFRESHING): append(), (1, SWAPPING): append(), (2, SWAPPING): append()}
    played = [
        play("validated_overwrite", script, seed=seed, transaction={"real_conflict_probability": 0.5})
        for seed in range(200)
    ]

    # Three verdicts, one per attempt: committed with probability 1/8.
    committed = sum(one.row["status"] == "committed" for one in played)
    assert 12 <= committed <= 40
    assert {1, 2, 3} == {one.row["attempts"] for one in played}


def test_under_merge_a_real_conflict_is_no_end():
    played = play(
        "fast_append",
        {(1, SWAPPING): row_delta()},
        commit={"protocol": "merge"},
        transaction={"real_conflict_probability": 1.0},
    )

    assert ("committed", 1) == (played.row["status"], played.row["real_conflicts"])
