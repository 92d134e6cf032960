"""Commits become sources: per job, also one that was restarted, and per operation, however rare."""

from dataclasses import replace

import pytest

from endive.config import parse_config
from endive.observation.fitting.configuration import configuration
from endive.observation.fitting.sources import fit_sources
from endive.observation.history import Commit, TableHistory, TableShape, in_order
from endive.observation.observe import with_least_partitions

OVERWRITES = {"kind": "validated_overwrite", "operation": "overwrite", "overwrite": "row_delta"}
COMPACTS = {"kind": "rewrite_files", "operation": "replace"}


def commits(count, every_ms, *, offset_ms=0.0, **given):
    said = {"engine": "spark", "kind": "merge_append", "operation": "append"} | given
    return [Commit(time_us=round(1000 * (offset_ms + every_ms * index)), **said) for index in range(count)]


def history(*groups, shape=None, **more) -> TableHistory:
    flat = in_order(commit for group in groups for commit in group)
    return TableHistory(name="db.t", commits=flat, shape=shape or TableShape(snapshots=len(flat)), **more)


def resolved(seen: TableHistory) -> dict:
    return parse_config(configuration(seen, fit_sources(seen))[0]).to_dict()


def test_each_busy_writer_is_a_source_and_the_others_are_one_per_engine():
    found = fit_sources(
        history(
            commits(60, 10_000, writer="flink-a", engine="flink"),
            commits(30, 20_000, writer="spark-b"),
            *(commits(1, 1, writer=f"spark-{index}", offset_ms=50_000 * index) for index in range(12)),
        )
    )

    assert [("flink-a", 60), ("spark-b", 30), ("spark", 12)] == [(each.name, len(each.commits)) for each in found]


def test_a_kind_that_a_writer_used_seldom_is_a_source_of_its_own():
    found = fit_sources(
        history(
            commits(60, 10_000, writer="w"),
            commits(3, 120_000, writer="w", **OVERWRITES),
            commits(2, 90_000, writer="w", **COMPACTS),
            commits(1, 1, writer="w", **COMPACTS | {"kind": "rewrite_manifests"}),
            commits(1, 1, writer="w", **OVERWRITES | {"operation": "delete"}),
            commits(40, 10_000, writer="v"),
            commits(20, 20_000, writer="v", **COMPACTS),
        )
    )

    assert [
        ("w-append", "merge_append"),
        ("v-append", "merge_append"),
        ("v-compaction", "rewrite_files"),
        ("w-overwrite", "validated_overwrite"),
        ("w-compaction", "rewrite_files"),
        ("w-delete", "validated_overwrite"),
        ("w-rewrite_manifests", "rewrite_manifests"),
    ] == [(each.name, each.kind) for each in found]


def test_application_ids_one_after_another_are_one_writer_and_overlapping_ones_are_not():
    restarted = [commits(15, 10_000, writer=f"spark-{n}", offset_ms=160_000.0 * n) for n in range(3)]
    beside = commits(48, 10_000, writer="spark-beside", offset_ms=5_000.0)

    found = fit_sources(history(*restarted, beside))

    assert [("spark-beside", 48), ("spark", 45)] == [(each.name, len(each.commits)) for each in found]
    assert ("spark-0", "spark-1", "spark-2") == found[1].writers
    assert 10_000.0 == pytest.approx(found[1].arrivals.table["period_ms"], rel=0.02)


def test_names_that_people_gave_are_not_restarts_of_one_another():
    found = fit_sources(history(commits(15, 10_000, writer="load"), commits(15, 10_000, writer="fix", offset_ms=3e5)))

    assert ["fix", "load"] == [each.name for each in found]


def test_a_job_that_commits_far_more_often_does_not_go_on_for_one_that_has_ended():
    slow = commits(12, 100_000, writer="spark-1")
    quick = commits(200, 5_000, writer="spark-2", offset_ms=1_200_000.0)

    found = fit_sources(history(slow, quick))

    assert [("spark-2", 1_200_000.0, None), ("spark-1", None, 1_100_001.0)] == [
        (each.name, each.arrivals.table.get("offset_ms"), each.stop_ms) for each in found
    ]


def test_three_nights_at_the_same_hour_are_a_clock_with_its_phase():
    day_ms = 86_400_000
    appends = commits(120, 3_600_000, writer="a")
    merges = commits(3, day_ms, writer="m", offset_ms=2 * 3_600_000.0, **OVERWRITES)

    found = fit_sources(history(appends, merges))[1]

    assert {"kind": "periodic", "period_ms": day_ms, "jitter_ms": 0.0, "offset_ms": 7_200_000.0} == (
        found.arrivals.table
    )


def test_a_rare_job_without_a_clock_is_extrapolated_with_its_doubt():
    appends = commits(121, 3_600_000, writer="a")
    rare = [commits(1, 1, writer="r", offset_ms=ms, **COMPACTS) for ms in (5e6, 9e6, 4e8)]
    seen = history(appends, *rare)

    _, assumed = configuration(seen, fit_sources(seen))

    assert "source.r.arrivals: 3 in 120 h; in the long run 0.62 to 8.8 in that time" in assumed


@pytest.mark.parametrize(
    ("operation", "more", "expected"),
    [
        ("overwrite", {"added_files": 1}, {"isolation": "snapshot", "read": "table"}),
        ("delete", {}, {"isolation": "serializable", "adds_rows": False, "checks": "added_rows"}),
        ("delete", {"overwrite": "overwrite_files"}, {"adds_rows": False, "overwrite": "overwrite_files"}),
        ("overwrite", {"engine": "flink"}, {"checks": "none"}),
        ("overwrite", {"engine": "flink", "added_equality_deletes": 5}, {"checks": "none", "deletes": "equality"}),
        ("overwrite", {"engine": "trino"}, {"commit_path": "transaction"}),
        ("overwrite", {"read": "files"}, {"read": "files"}),
    ],
)
def test_what_an_overwrite_checks_is_its_engines_and_its_level_the_tables(operation, more, expected):
    shape = TableShape(snapshots=20, properties=(("write.merge.isolation-level", "snapshot"),))
    seen = history(commits(20, 10_000, writer="w", **OVERWRITES | {"operation": operation} | more), shape=shape)

    assert expected.items() <= resolved(seen)["source"][0].items()


def test_the_configuration_holds_what_was_seen_and_lists_what_was_assumed():
    shape = TableShape(
        snapshots=100,
        metadata_bytes=80_000,
        bytes_per_snapshot=700.0,
        manifests=40,
        manifest_bytes=9000.4,
        manifest_list_bytes=6000,
        properties=(("commit.retry.num-retries", "9"), ("commit.retry.min-wait-ms", "50")),
    )
    own = commits(100, 10_000, writer="w", **OVERWRITES | {"overwrite": "overwrite_files"})
    seen = history(own, shape=shape, location="gs", catalog_kind="rest", expired=12)
    document = resolved(seen)
    _, assumed = configuration(seen, fit_sources(seen))

    assert "gcp" == document["storage"]["provider"]
    assert "rest" == document["catalog"]["service"]["flavour"]
    assert {
        "metadata_base_bytes": 10_000,
        "metadata_bytes_per_snapshot": 700,
        "snapshots_kept_max": 100,
        "manifest_list_bytes_per_manifest": 100,
        "manifest_bytes": 9000,
        "initial_snapshots": 100,
        "initial_manifests": 40,
    }.items() <= document["table"].items()
    source = document["source"][0]
    runtime = {"distribution": "fixed", "ms": 5000.0}
    assert {"retry": 9, "overwrite": "overwrite_files", "runtime": runtime}.items() <= source.items()
    assert 50.0 == source["retry_backoff"]["base_ms"]
    assert ["storage.provider", "catalog.latency_ms", "source.w.runtime"] == [line.split(" = ")[0] for line in assumed]


def test_files_and_partitions_that_were_seen_decide_who_meets_whom():
    shape = TableShape(snapshots=40, data_files=600, partitions=12, partition_fields=1)
    own = commits(40, 10_000, writer="w", added_delete_files=3, changed_partitions=2, **OVERWRITES)

    document = resolved(history(own, shape=shape))

    assert (600, "files") == (document["table"]["data_files"], document["conflict"]["detector"])
    assert {"enabled": True, "num_partitions": 12}.items() <= document["catalog"]["partitions"].items()
    source = document["source"][0]
    assert ({"distribution": "fixed", "value": 3}, 2) == (source["touched_files"], source["partitions"]["count"])


@pytest.mark.parametrize("partitions", [None, 1, 700])
def test_partitions_that_are_not_known_or_hold_no_files_are_left_out(partitions):
    shape = TableShape(snapshots=40, data_files=600, partitions=partitions)
    seen = history(commits(40, 10_000, writer="w"), shape=shape)

    assert "partitions" not in configuration(seen, fit_sources(seen))[0]["catalog"]


def test_partitions_that_were_not_counted_are_at_least_those_that_one_commit_changed():
    seen = history(
        commits(20, 10_000, writer="w", changed_partitions=1),
        commits(1, 1, writer="w", changed_partitions=8),
        shape=TableShape(snapshots=21, data_files=40, partition_fields=1),
    )

    found = with_least_partitions(seen)

    assert (8, "8 are assumed, the most that one commit changed." in found.notes[-1]) == (found.shape.partitions, True)
    assert seen.shape.partitions is None


def merges_beside_a_compaction(*ends_ms: float, moved: int) -> TableHistory:
    """A statement of 5 s every minute; beside each a compaction ends so long after it began; the first ones fail."""
    statements = [
        replace(
            each,
            duration_ms=5_000.0,
            runtime_ms=None if n < moved else 4_000.0,
            is_committed=n >= moved,
            reason="table_moved" if n < moved else "",
            is_submission=True,
        )
        for n, each in enumerate(commits(len(ends_ms), 60_000, writer="merge", **OVERWRITES))
    ]
    rivals = [
        Commit(time_us=60_000_000 * n + round(1000 * ms), writer="compact", **COMPACTS) for n, ms in enumerate(ends_ms)
    ]
    return history(statements, rivals)


@pytest.mark.parametrize("moved", [0, 2])
def test_a_statement_that_found_the_table_moved_is_copy_on_write(moved):
    seen = merges_beside_a_compaction(100, 700, 900, 2_000, 4_000, moved=moved)
    (merge,) = (source for source in fit_sources(seen) if source.name == "merge")

    assert ("overwrite_files" if moved else "row_delta") == merge.table({})["overwrite"]  # only copy-on-write filters
    assert [5_000.0] * moved + [4_000.0] * (5 - moved) == [each.worked_ms for each in merge.commits]
