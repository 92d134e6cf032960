"""What maintenance needs of the rest of a configuration: what an expiry keeps, what is rewritten, who makes a job.

This file defines those checks of one source. The keys are in ``endive.config.transaction``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from endive.config.arrivals import Closed, Jobs, Trace
from endive.config.problems import Path, Problem, dotted, shown, source_path
from endive.config.simulation_config import SimulationConfig
from endive.config.transaction import SourceConfig
from endive.vocabulary import KINDS

OF_WHOLE_TABLES = ("rewrite_manifests", "expire_snapshots")


def maintenance_problems(
    index: int, source: SourceConfig, config: SimulationConfig, document: Mapping[str, Any]
) -> Iterator[Problem]:
    """Every contradiction of a source that maintains its tables."""
    yield from _partial_progress(index, source, document)
    weights = source.operation_types
    path: Path = source_path(index, ("operation_types",), document)
    is_unsaid = source.retain_last is None and source.expire_older_than_ms is None
    if weights.expire_snapshots and is_unsaid:
        yield Problem(
            f"{dotted((*path, 'expire_snapshots'), document)} needs to know which snapshots are kept. Give "
            "retain_last = 10 (the newest ten), expire_older_than_ms = 3600000 (the last hour), or both.",
            path,
            ("retain_last", "expire_older_than_ms"),
        )
    for kind in OF_WHOLE_TABLES:
        if getattr(weights, kind) and config.catalog.scope == "partition":
            yield Problem(
                f"{dotted((*path, kind), document)} changes whole tables, and catalog.scope = 'partition' checks "
                "partitions one by one. Choose catalog.scope from: catalog, group, table.",
                path,
                ("catalog.scope",),
            )
    if weights.rewrite_manifests and config.transaction.manifest_list_mode == "append":
        yield Problem(
            f"{dotted((*path, 'rewrite_manifests'), document)} writes a new manifest list, and "
            "transaction.manifest_list_mode = 'append' only adds to the old one. Set it to 'rewrite', or leave the "
            "kind out.",
            path,
            ("transaction.manifest_list_mode",),
        )


def _partial_progress(index: int, source: SourceConfig, document: Mapping[str, Any]) -> Iterator[Problem]:
    """A job of several commits is a compaction, and arrives."""
    if source.partial_progress is None:
        return
    commits, threads = source.partial_progress.commits, source.partial_progress.threads
    path = source_path(index, ("partial_progress",), document)
    name = dotted(path, document)
    weights = source.operation_types
    others = [kind for kind in KINDS if kind != "rewrite_files" and getattr(weights, kind)]
    if others:
        yield Problem(
            f"{name} is how a compaction commits, and operation_types has {', '.join(others)}. Make a source of "
            "rewrite_files alone, or leave partial_progress out.",
            path,
            ("operation_types",),
        )
    if isinstance(source.arrivals, (Closed, Jobs, Trace)):
        yield Problem(
            f"{name} makes a job of every arrival, and arrivals of kind {shown(source.arrivals.kind)} are single txns. "
            'Choose arrivals such as {kind = "periodic", period_ms = 600000}.',
            path,
            ("arrivals",),
        )
    if threads > commits:
        yield Problem(
            f"{name}.threads = {threads} must not exceed {name}.commits = {commits}: a thread makes at least one of "
            "the commits. Lower threads.",
            (*path, "threads"),
            ("partial_progress",),
        )
