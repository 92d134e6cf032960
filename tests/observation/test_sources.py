"""Commits become sources: per writer, per kind, and pooled where there are too few."""

from __future__ import annotations

import pytest

from endive.config import parse_config
from endive.observation.configuration import configuration
from endive.observation.observed_history import Commit, TableHistory, TableShape, in_order
from endive.observation.sources import fit_sources


def commits(count, every_ms, *, writer, engine="spark", kind="merge_append", operation="append", offset_ms=0.0, **more):
    return [
        Commit(
            time_us=round(1000 * (offset_ms + every_ms * index)),
            operation=operation,
            kind=kind,
            writer=writer,
            engine=engine,
            **more,
        )
        for index in range(count)
    ]


def history(*groups, shape=None, **more) -> TableHistory:
    flat = in_order(commit for group in groups for commit in group)
    return TableHistory(name="db.t", commits=flat, shape=shape or TableShape(snapshots=len(flat)), **more)


def test_each_busy_writer_is_a_source_and_the_others_are_one_per_engine():
    found = fit_sources(
        history(
            commits(60, 10_000, writer="flink-a", engine="flink"),
            commits(30, 20_000, writer="spark-b"),
            *(commits(1, 1, writer=f"spark-{index}", offset_ms=50_000 * index) for index in range(12)),
        )
    )

    assert [("flink-a", 60), ("spark-b", 30), ("spark", 12)] == [(each.name, len(each.commits)) for each in found]


def test_a_writer_that_appends_and_compacts_is_two_sources():
    found = fit_sources(
        history(
            commits(100, 10_000, writer="w"),
            commits(20, 50_000, writer="w", kind="rewrite_files", operation="replace"),
        )
    )

    assert [("w-append", {"merge_append": 1.0}), ("w-compaction", {"rewrite_files": 1.0})] == [
        (each.name, each.operation_types) for each in found
    ]


def test_a_kind_that_a_writer_used_seldom_is_a_share_of_its_source():
    (found,) = fit_sources(
        history(
            commits(60, 10_000, writer="w"),
            commits(4, 50_000, writer="w", kind="validated_overwrite", operation="overwrite", overwrite="row_delta"),
        )
    )

    assert {"merge_append": 0.9375, "validated_overwrite": 0.0625} == found.operation_types


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
    seen = history(
        commits(
            100, 10_000, writer="w", kind="validated_overwrite", operation="overwrite", overwrite="overwrite_files"
        ),
        shape=shape,
        location="gs",
        catalog_kind="rest",
        expired=12,
    )
    document, assumed = configuration(seen, fit_sources(seen))
    resolved = parse_config(document).to_dict()

    assert "gcp" == resolved["storage"]["provider"]
    assert "rest" == resolved["catalog"]["service"]["flavour"]
    expected = {
        "metadata_base_bytes": 10_000,
        "metadata_bytes_per_snapshot": 700,
        "snapshots_kept_max": 100,
        "manifest_list_bytes_per_manifest": 100,
        "manifest_bytes": 9000,
        "initial_snapshots": 100,
        "initial_manifests": 40,
    }
    assert expected == {key: resolved["table"][key] for key in expected}
    source = resolved["source"][0]
    assert (9, 50.0, "overwrite_files", {"distribution": "fixed", "ms": 5000.0}) == (
        source["retry"],
        source["retry_backoff"]["base_ms"],
        source["overwrite"],
        source["runtime"],
    )
    assert ["storage.provider", "catalog.latency_ms", "source.w.runtime"] == [line.split(" = ")[0] for line in assumed]


def test_files_and_partitions_that_were_seen_decide_who_meets_whom():
    shape = TableShape(snapshots=40, data_files=600, partitions=12, partition_fields=1)
    seen = history(
        commits(
            40,
            10_000,
            writer="w",
            kind="validated_overwrite",
            operation="overwrite",
            overwrite="row_delta",
            added_delete_files=3,
            changed_partitions=2,
        ),
        shape=shape,
    )

    resolved = parse_config(configuration(seen, fit_sources(seen))[0])

    assert (600, "files", True, 12) == (
        resolved.table.data_files,
        resolved.conflict.detector,
        resolved.catalog.partitions.enabled,
        resolved.catalog.partitions.num_partitions,
    )
    source = resolved.to_dict()["source"][0]
    assert ({"distribution": "fixed", "value": 3}, 2) == (source["touched_files"], source["partitions"]["count"])


@pytest.mark.parametrize("partitions", [None, 1, 700])
def test_partitions_that_are_not_known_or_hold_no_files_are_left_out(partitions):
    shape = TableShape(snapshots=40, data_files=600, partitions=partitions)
    seen = history(commits(40, 10_000, writer="w"), shape=shape)

    assert "partitions" not in configuration(seen, fit_sources(seen))[0]["catalog"]
