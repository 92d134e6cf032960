"""Sizes that add up: what the objects of a configuration hold together stays a number both engines can count.

The bound of a single size lives in ``endive.config.values``. Bytes are counted in 64 bits, and what a run adds to them
(commits, retries) must fit as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from endive.config.problems import Problem
from endive.config.sections.source import SourceConfig
from endive.config.simulation_config import SimulationConfig

OBJECT_BYTES_MAX: Final = 2**50  # more than a million of the largest entries, and exact as a float
TXN_BYTES_MAX: Final = 2**60  # leaves room for what rivals add while the txn runs


def size_problems(config: SimulationConfig) -> Iterator[Problem]:
    """Every sum of sizes that is too large."""
    table, catalog = config.table, config.catalog
    metadata_bytes = table.metadata_base_bytes + table.metadata_bytes_per_snapshot * table.initial_snapshots
    list_bytes = table.manifest_list_base_bytes + table.manifest_list_bytes_per_manifest * table.initial_manifests
    inlined_bytes = metadata_bytes if catalog.table_metadata_inlined else 0
    object_bytes = catalog.object_base_bytes + catalog.num_tables * (catalog.object_bytes_per_table + inlined_bytes)
    if object_bytes > OBJECT_BYTES_MAX:
        yield Problem(
            f"the catalog object would hold {object_bytes} bytes for catalog.num_tables = {catalog.num_tables}; at "
            f"most {OBJECT_BYTES_MAX} can be counted. Lower catalog.num_tables or the sizes of what is kept per table.",
            ("catalog", "num_tables"),
            ("catalog.object_bytes_per_table", "table.initial_snapshots", "table.metadata_bytes_per_snapshot"),
        )
    for index, source in enumerate(config.sources):
        yield from _source(index, source, config, metadata_bytes + list_bytes + object_bytes)


def _source(index: int, source: SourceConfig, config: SimulationConfig, object_bytes: int) -> Iterator[Problem]:
    """What one txn may move, if every attempt it has handles every object it can."""
    table = config.table
    manifests = table.initial_manifests + source.rewritten_manifests + 1
    attempt_bytes = source.tables.count * (object_bytes + manifests * table.manifest_bytes)
    attempts = (source.retry + 1) * (source.application_retries + 1)
    if attempts * attempt_bytes > TXN_BYTES_MAX:
        yield Problem(
            f"a txn of source {source.name!r} may move {attempt_bytes} bytes in each of {attempts} attempts, which is "
            f"more than {TXN_BYTES_MAX} in all. Lower the sizes in [table], the manifests or the retries.",
            ("source", index, "retry"),
            ("table", "transaction.retry", "transaction.rewritten_manifests", "transaction.application_retries"),
        )
