"""The simulator's requests in a scenario: what a victim that is beset by rivals asks for, attempt by attempt."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from endive.catalog import CatalogSnapshot
from endive.config import SimulationConfig, parse_config
from endive.transaction import ConflictDetector, Transaction
from endive.vocabulary import KINDS
from verification.suites.beset import (
    RIVAL_GAP_MS,
    TWO_PARTITIONS,
    VICTIM_ID,
    BesetCatalog,
    Script,
    TwoPartitions,
    beset_document,
    play_victim,
    script_of,
)
from verification.suites.java.request_recording import NEWEST, RELEASES, line_of
from verification.suites.java.request_trace import (
    LIST_WRITE,
    METADATA_WRITE,
    VALIDATION_EXCEPTION,
    Recorded,
    Request,
    split_attempts,
)
from verification.suites.java.scenario import Scenario, rival_partition

FLAVOURS: Final = {"jdbc": "pointer", "rest": "rest"}
RIVAL_KINDS: Final = {"append": "fast_append", "row_delta": "validated_overwrite"}
OLDEST_LINE: Final = line_of(RELEASES[0])
HISTORY_EXPIRED: Final = "history_expired"
BULK_DELETE: Final = Request("data", "bulk_delete")  # as recorded: it names no object


def play(scenario: Scenario, release: str = NEWEST) -> Recorded:
    """What the model says of a scenario, in the form real Iceberg's answer has."""
    detector = _ScriptedConflict(len(scenario.losses) + 1 if scenario.conflict else 0)
    document = configuration(scenario, release)
    rivals = [source["name"] for source in document["source"][1:]]
    elsewhere = rivals if rival_partition(scenario) else ()
    return play_out(document, script_of(scenario.n_behind, scenario.losses), elsewhere, detector)


def play_out(
    document: Mapping[str, Any],
    script: Script,
    elsewhere: Collection[str],
    detector: ConflictDetector | None = None,
    everywhere: Collection[str] = (),
) -> Recorded:
    """The victim's requests by attempt, and how it ends."""
    config = parse_config(document)
    row, sent = play_requests(config, script, elsewhere, detector, everywhere)
    requests = [request for attempt, request in sent if attempt > 0]  # before: loading the table
    is_bulk = config.sources[0].commit_path == "transaction" and config.commit.release != OLDEST_LINE
    if row["kind"] == "expire_snapshots" or is_bulk:
        requests = [BULK_DELETE if request.operation == "delete" else request for request in requests]
    outcome = str(row["reason"] or row["status"])
    outcome = VALIDATION_EXCEPTION if outcome == HISTORY_EXPIRED else outcome  # one of them, to Iceberg
    built_with = METADATA_WRITE if row["kind"] == "expire_snapshots" else LIST_WRITE
    return Recorded(outcome=outcome, attempts=split_attempts(requests, outcome, built_with=built_with))


def play_requests(
    config: SimulationConfig,
    script: Script,
    elsewhere: Collection[str] = (),
    detector: ConflictDetector | None = None,
    everywhere: Collection[str] = (),
) -> tuple[dict[str, Any], list[tuple[int, Request]]]:
    """The victim's row, and its requests with their attempts.

    Sources named in ``elsewhere`` work on another partition than the victim, those in ``everywhere`` on both.
    """
    row, sent = play_victim(
        config,
        lambda catalog: BesetCatalog(catalog, script),
        lambda workload: TwoPartitions(workload, elsewhere, everywhere),
        detector,
    )
    return row, [(attempt, Request(obj, op)) for attempt, obj, op, count in sent for _ in range(count)]


def configuration(scenario: Scenario, release: str = NEWEST) -> dict[str, Any]:
    """The scenario's table, catalog, victim and rivals, as a release of Iceberg does it."""
    operation = scenario.operation
    return beset_document(
        _victim(scenario),
        *(_rival(scenario, turn) for turn in range(len(scenario.rivals))),
        turns=scenario.n_behind + sum(scenario.losses) + 3,
        storage={"provider": "s3"},
        catalog={
            "type": "service",
            "service": {"flavour": FLAVOURS[scenario.catalog]},
            "partitions": TWO_PARTITIONS,
        },
        table={"initial_manifests": operation.manifests, "initial_snapshots": operation.manifests},
        commit={"release": line_of(release), **({} if operation.is_merging else {"merging": "off"})},
    )


def _victim(scenario: Scenario) -> dict[str, Any]:
    operation = scenario.operation
    source: dict[str, Any] = {
        "total_timeout_ms": 0.0,  # it is held up for longer than Iceberg's half hour
        "operation_types": {name: 1.0 for name in KINDS if name == operation.kind},
    }
    if operation.kind == "validated_overwrite":
        source["overwrite"] = operation.overwrite
        if operation.overwrite != "replace_partitions":
            source["isolation"] = operation.isolation
        if operation.overwrite == "row_delta":
            source["referenced_files"] = operation.is_referring
    if operation.kind == "expire_snapshots":
        source["retain_last"] = 1  # as recorded
    if operation.removed_from:
        source["rewritten_manifests"] = operation.removed_from
    return source


def _rival(scenario: Scenario, turn: int) -> dict[str, Any]:
    """Every rival whose turn it is when the others have had theirs."""
    kind = scenario.rivals[turn]
    return {
        "name": f"rival {turn} {kind}",
        "arrivals": {
            "kind": "periodic",
            "period_ms": len(scenario.rivals) * RIVAL_GAP_MS,
            "offset_ms": (turn + 1) * RIVAL_GAP_MS,
        },
        "operation_types": {RIVAL_KINDS[kind]: 1.0},
    }


class _ScriptedConflict(ConflictDetector):
    """A real conflict of the victim at one attempt, and at no other."""

    def __init__(self, attempt: int) -> None:
        self._attempt = attempt

    def is_real_conflict(
        self, txn: Transaction, current_snapshot: CatalogSnapshot, start_snapshot: CatalogSnapshot
    ) -> bool:
        return txn.id == VICTIM_ID and txn.client.attempt == self._attempt
