"""Which conflicts are real: by chance, or because a partition the txn writes was changed."""

import pytest
from tests.transaction.stage import REFRESHING, SWAPPING, Played, append, play, row_delta


def overwrites(partition: int, count: int, written: float = 1.0) -> list[Played]:
    """Overwrites that touch so many of two partitions, by chance, when a rival writes ``partition``."""
    sections = {
        "conflict": {"detector": "partition_overlap"},
        "catalog": {"partitions": {"enabled": True, "num_partitions": 2}},
        "transaction": {"partitions": {"count": count, "write_fraction": written}},
    }
    script = {(1, REFRESHING): append(1, partition=partition)}
    return [play("validated_overwrite", script, seed=seed, **sections) for seed in range(12)]


@pytest.mark.parametrize("partition", [0, 1])
def test_by_overlap_a_rival_in_the_same_partition_aborts_and_one_in_another_does_not(partition):
    """A committed txn has moved its own partition: the rival's and its own are two."""
    found = set()
    for played in overwrites(partition, count=1):
        versions = played.catalog.state.snapshot(0).tables[0].partition_versions
        found.add((played.row["status"], "same" if sum(versions) == max(versions) else "other"))

    assert {("committed", "other"), ("aborted", "same")} == found


def test_by_overlap_only_partitions_that_are_written_count():
    """It touches both and writes one: a rival in the partition it only reads is a false conflict."""
    assert {"committed", "aborted"} == {each.row["status"] for each in overwrites(0, count=2, written=0.5)}


@pytest.mark.parametrize(("probability", "status"), [(0.0, "committed"), (1.0, "aborted")])
def test_by_chance_a_conflict_is_as_real_as_configured(probability, status):
    chance = {"real_conflict_probability": probability}

    assert status == play("validated_overwrite", {(1, REFRESHING): append()}, transaction=chance).row["status"]


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
