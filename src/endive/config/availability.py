"""Whether an option of the catalog, the protocol or a source can be had: available, needs something, or hypothetical.

Levers of ``endive advise`` say it of themselves (``endive.answers.advice``). A value that is not listed is a figure and
no option. What is said of a product was read in its source; the releases are those that were recorded.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from endive.config.toml_text import value_text

if TYPE_CHECKING:
    from endive.config.simulation_config import SimulationConfig

AVAILABLE: Final = "available"
NEEDS: Final = "needs"
HYPOTHETICAL: Final = "hypothetical"
PROPOSED: Final = "proposed"
ANY: Final = object()  # whatever else the key may hold, None and its default left out


class Option(NamedTuple):
    """A value of a key, and whether it can be had."""

    key: str
    value: Any
    had: str
    how: str


OPTIONS: Final = (
    Option("catalog.type", "service", AVAILABLE, "Hive, JDBC, Glue and REST catalogs (Iceberg 1.9)"),
    Option("catalog.type", "cas", NEEDS, "a catalog that keeps one object in the store, and a store that can swap it"),
    Option("catalog.type", "append", HYPOTHETICAL, "no catalog keeps a log that is appended to"),
    Option("catalog.type", "instant", HYPOTHETICAL, "a service that is never busy, for comparison"),
    Option("catalog.type", "put_if_absent", AVAILABLE, "delta-rs 1.6 on S3, Delta Lake 4.1 on Azure and Google Cloud"),
    Option("catalog.type", "single_driver", AVAILABLE, "S3SingleDriverLogStore (Delta Lake 4.1)"),
    Option("catalog.type", "dynamodb", AVAILABLE, "S3DynamoDBLogStore (Delta Lake 4.1)"),
    Option("catalog.scope", "table", AVAILABLE, "every catalog of Iceberg keeps a version for each table"),
    Option("catalog.scope", "catalog", NEEDS, "a catalog in one object, where any two commits meet"),
    Option("catalog.scope", "group", HYPOTHETICAL, "no catalog keeps versions of groups of tables"),
    Option("catalog.scope", "partition", HYPOTHETICAL, "no catalog of Iceberg keeps versions by partition"),
    Option("catalog.service.server_retries", ANY, HYPOTHETICAL, "no catalog whose source was read rebases a commit"),
    Option("catalog.service.batch_ms", ANY, HYPOTHETICAL, "no catalog whose source was read groups commits"),
    Option(
        "catalog.service.rolls_back_compactions",
        True,
        NEEDS,
        "polaris.config.rollback.compaction.on-conflicts.enabled (Polaris 1.0.0), and compactions marked for it",
    ),
    Option("catalog.service.flavour", "pointer", AVAILABLE, "Hive, JDBC, Glue, Nessie's own type (Iceberg 1.9)"),
    Option("catalog.service.flavour", "rest", AVAILABLE, "REST catalogs (Iceberg 1.9)"),
    Option("catalog.service.reads_metadata", "load_and_commit", AVAILABLE, "Polaris, whose source was read"),
    Option("catalog.service.reads_metadata", "load", NEEDS, "a server that keeps what it needs to commit, and no more"),
    Option(
        "catalog.service.idempotency_keys",
        True,
        NEEDS,
        "a REST server that takes Idempotency-Key (client: Iceberg 1.12)",
    ),
    Option("catalog.service.load_answer", "refs", AVAILABLE, "snapshot-loading-mode = refs (Iceberg 1.9)"),
    Option("catalog.service.refusal", "final", AVAILABLE, "a server that answers 400 to a conflict (polaris #5138)"),
    Option("catalog.service.lock.kind", "hive", AVAILABLE, "engine.hive.lock-enabled, the default (Iceberg 1.9)"),
    Option("catalog.service.lock.kind", "dynamodb", AVAILABLE, "lock-impl of the Glue catalog (Iceberg 1.9)"),
    Option("commit.protocol", "iceberg", AVAILABLE, "Java Iceberg, recorded with 1.9 and 1.11"),
    Option("commit.protocol", "pyiceberg", AVAILABLE, "PyIceberg, recorded"),
    Option("commit.protocol", "spec", HYPOTHETICAL, "the refactoring specification's, which no release follows"),
    Option("commit.protocol", "merge", HYPOTHETICAL, "the first documents' own, which no release follows"),
    Option(
        "commit.protocol",
        "v4",
        PROPOSED,
        "spec PR apache/iceberg #16025 and the write plan in #16694; no release has it",
    ),
    Option("transaction.manifest_list_mode", "rewrite", AVAILABLE, "every release of Iceberg"),
    Option("transaction.manifest_list_mode", "append", HYPOTHETICAL, "no format has lists that are appended to (ML+)"),
    Option(
        "source.commit_queue", ANY, NEEDS, "writers that are threads of one process, and a lock around their commits"
    ),
    Option("source.gather_every_ms", ANY, NEEDS, "a coordinator, as Kafka Connect's sink and Flink's have in one job"),
    Option("source.partial_progress", ANY, AVAILABLE, "partial-progress.enabled (Iceberg 1.9)"),
    Option("source.keeps_table", True, NEEDS, "a job that stays, as Flink's sink does"),
)


def hypothetical_notes(config: SimulationConfig) -> list[str]:
    """What no service has is said wherever it is answered with; designs of the first documents name themselves."""
    notes = []
    for option in OPTIONS:
        section, _, key = option.key.partition(".")
        is_read = config.catalog.type == "service" if section == "catalog" else config.table.format == "iceberg"
        is_told = option.had == PROPOSED or (option.had == HYPOTHETICAL and option.key.startswith("catalog.service."))
        value = attrgetter(key)(getattr(config, section)) if is_told and is_read else None
        if not value or (option.value is not ANY and value != option.value):
            continue
        cost = ""
        if option.key == "catalog.service.server_retries" and config.catalog.service.rebase == "metadata":
            cost = (
                ", and one that did would have to read and rewrite the manifest list, which costs nothing here "
                "(catalog.service.rebase = 'list' charges it)"
            )
        notes.append(f"{option.key} = {value_text(value)} is {option.had}: {option.how}{cost}.")
    return notes
