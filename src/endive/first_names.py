"""Names that readers of the first documents look for, each leading to what does it now.

Nothing here decides anything. ``NAMES`` is the whole list: old name, where it is now, and what changed; ``python -m
endive.first_names`` prints it. Functions below stand where the document's own signature is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from endive.catalog.snapshot import CommitResult
from endive.config import parse_config
from endive.config.sections.simulation import margin_ms
from endive.config.unsaid import overlap_unsaid
from endive.errors import ConfigError

CASResult = CommitResult  # one result for every commit point; a success tells no state


class FirstName(NamedTuple):
    """A name of the documents."""

    name: str
    now: str  # dotted
    difference: str


NAMES: Final = (
    FirstName("CASResult", "endive.catalog.snapshot.CommitResult", "one type for every commit point"),
    FirstName("CommitResult", "endive.catalog.snapshot.CommitResult", ""),
    FirstName("AppendResult", "endive.catalog.snapshot.AppendResult", ""),
    FirstName("IntentionRecord", "endive.catalog.snapshot.IntentionRecord", "carries the base it was built on"),
    FirstName("CatalogSnapshot", "endive.catalog.snapshot.CatalogSnapshot", ""),
    FirstName("CatalogSnapshot.get_table", "endive.catalog.snapshot.CatalogSnapshot.get_table", ""),
    FirstName(
        "CatalogSnapshot.get_partition_version", "endive.catalog.snapshot.CatalogSnapshot.get_partition_version", ""
    ),
    FirstName("TableMetadata", "endive.catalog.snapshot.TableMetadata", ""),
    FirstName(
        "Catalog",
        "endive.catalog.Catalog",
        "commit takes one value, the intention, which carries expected_seq and writes",
    ),
    FirstName("CASCatalog", "endive.catalog.CASCatalog", "made of a state, not of counts"),
    FirstName("AppendCatalog", "endive.catalog.AppendCatalog", "made of a state, not of counts"),
    FirstName("InstantCatalog", "endive.catalog.InstantCatalog", "made of a state, not of counts"),
    FirstName("StorageProvider", "endive.storage.StorageProvider", ""),
    FirstName(
        "StorageProvider.read",
        "endive.storage.StorageProvider.read",
        "and write, cas, append, tail_append: also who asks (client) and the draw's name (counter)",
    ),
    FirstName(
        "S3StorageProvider",
        "endive.storage.S3StorageProvider",
        "takes a vintage of its profile instead of distributions",
    ),
    FirstName("S3ExpressStorageProvider", "endive.storage.S3ExpressStorageProvider", ""),
    FirstName("AzureBlobStorageProvider", "endive.storage.AzureBlobStorageProvider", ""),
    FirstName("GCPStorageProvider", "endive.storage.GCPStorageProvider", ""),
    FirstName("InstantStorageProvider", "endive.storage.InstantStorageProvider", ""),
    FirstName("StorageResult", "endive.storage.StorageResult", ""),
    FirstName("UnsupportedOperationError", "endive.errors.UnsupportedOperationError", ""),
    FirstName("LatencyDistribution", "endive.distributions.LatencyDistribution", "draws are named by key and counter"),
    FirstName(
        "LatencyDistribution.sample",
        "endive.distributions.LatencyDistribution.sample_ms",
        "no global generator: a draw is named by key and counter",
    ),
    FirstName("LognormalLatency", "endive.distributions.LognormalLatency", "the floor is 0 unless given"),
    FirstName("SizeBasedLatency", "endive.distributions.SizeBasedLatency", "the floor is 0 unless given"),
    FirstName("SizeBasedLatency.with_size", "endive.distributions.SizeBasedLatency.with_size", ""),
    FirstName("ConflictDetector", "endive.transaction.ConflictDetector", ""),
    FirstName(
        "ProbabilisticConflictDetector",
        "endive.transaction.ProbabilisticConflictDetector",
        "the probability is its source's",
    ),
    FirstName("PartitionOverlapConflictDetector", "endive.transaction.PartitionOverlapConflictDetector", ""),
    FirstName(
        "TransactionStatus", "endive.transaction.TransactionStatus", "results tell txns in flight apart, by phase"
    ),
    FirstName(
        "TransactionResult",
        "endive.transaction.specified_names.TransactionResult",
        "results hold one row per txn instead",
    ),
    FirstName(
        "ConflictCost", "endive.transaction.specified_names.ConflictCost", "the rules plan an attempt, by object"
    ),
    FirstName("get_conflict_cost", "endive.transaction.specified_names.SpecifiedTransaction.get_conflict_cost", ""),
    FirstName("can_have_real_conflict", "endive.transaction.Transaction.can_have_real_conflict", ""),
    FirstName(
        "should_abort_on_real_conflict",
        "endive.transaction.specified_names.SpecifiedTransaction.should_abort_on_real_conflict",
        "",
    ),
    FirstName(
        "FastAppendTransaction",
        "endive.transaction.specified_names.FastAppendTransaction",
        "a kind is a number elsewhere",
    ),
    FirstName("MergeAppendTransaction", "endive.transaction.specified_names.MergeAppendTransaction", ""),
    FirstName("ValidatedOverwriteTransaction", "endive.transaction.specified_names.ValidatedOverwriteTransaction", ""),
    FirstName("WorkloadConfig", "endive.workload.WorkloadConfig", "several sources"),
    FirstName("Workload", "endive.workload.Workload", ""),
    FirstName(
        "TableSelector",
        "endive.workload.TableSelector",
        "select is told the draw's name too: key, counter, write_counter",
    ),
    FirstName("ZipfTableSelector", "endive.workload.ZipfTableSelector", ""),
    FirstName("PartitionSelector", "endive.workload.PartitionSelector", "as TableSelector"),
    FirstName("ZipfPartitionSelector", "endive.workload.ZipfPartitionSelector", ""),
    FirstName("UniformPartitionSelector", "endive.workload.UniformPartitionSelector", ""),
    FirstName("SimulationConfig", "endive.config.SimulationConfig", "values only; parts are built by Simulation"),
    FirstName("Simulation", "endive.simulation.Simulation", "run() returns a SimulationResult"),
    FirstName("Statistics", "endive.results.Statistics", "belongs to a SimulationResult"),
    FirstName(
        "Statistics.committed",
        "endive.results.Statistics.counters",
        "statistics.counters has it, and the other nine of the specification",
    ),
    FirstName(
        "Statistics.transactions", "endive.results.SimulationResult.transactions", "an Arrow table, one row per txn"
    ),
    FirstName("Statistics.to_dataframe", "endive.results.SimulationResult.to_dataframe", "of the result"),
    FirstName("Statistics.export_parquet", "endive.results.SimulationResult.export_parquet", "of the result"),
    FirstName("load_simulation_config", "endive.config.load_simulation_config", ""),
    FirstName("validate_config", "endive.first_names.validate_config", ""),
    FirstName("ConfigurationError", "endive.errors.ConfigurationError", "every problem at once"),
    FirstName("compute_warmup_duration", "endive.first_names.compute_warmup_duration", ""),
)


def validate_config(raw: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Errors and warnings of a configuration (refactoring specification, section 7)."""
    try:
        config = parse_config(raw)
    except ConfigError as error:
        return list(error.problems), []
    warning = overlap_unsaid(config.to_dict())
    return [], [] if warning is None else [warning]


def compute_warmup_duration(duration_ms: float) -> float:
    """What is not measured at either end, in ms: min(900 s, T / 4) (experiment plan)."""
    return margin_ms(duration_ms)


def print_table() -> None:
    """The names as a Markdown table, for the page that lists them."""
    print("| first documents | here | what changed |\n|---|---|---|")
    for name in NAMES:
        print(f"| `{name.name}` | `{name.now}` | {name.difference} |")


if __name__ == "__main__":
    print_table()
