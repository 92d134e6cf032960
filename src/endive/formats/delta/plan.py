"""What an attempt costs: which commit files it reads, and what its commit leaves to be done.

Pure functions that hold no state and draw nothing. A retry checks only winners it has not checked yet.
"""

from endive.formats.delta.attempt import DeltaPlan, DeltaSituation
from endive.formats.delta.protocol import (
    CATALOG_MANAGED,
    DELTA_RS,
    DYNAMODB,
    DeltaProtocol,
    lists_beside,
    makes_checkpoint,
    must_read_log,
)
from endive.formats.delta.table import has_checksum
from endive.formats.nesting import TableState
from endive.formats.operation import Operation
from endive.kernel import rule
from endive.vocabulary import BLIND_APPEND, OPTIMIZE


@rule
def describe_situation(
    protocol: DeltaProtocol,
    attempt: int,
    start: TableState,
    previous: TableState,
    base: TableState,
    older: int,
    situation: DeltaSituation,
) -> None:
    """Fill ``situation`` by subtraction; ``older`` counts commits older than the retention.

    A table of delta-rs that has fallen behind cannot go on once the commit it was loaded from is cleaned up.
    """
    situation.attempt = attempt
    situation.behind = base.version - previous.version
    situation.since_start = base.version - start.version
    situation.base = base.version
    situation.older = older
    situation.cleaned = base.delta.cleaned
    situation.checkpoint = base.delta.checkpoint
    situation.ground = 0
    situation.winners = 0
    needed = previous.version if protocol.client == DELTA_RS else previous.version + 1
    is_cleaned = base.delta.cleaned > 0 and base.delta.cleaned >= needed  # 0: nothing has been cleaned up yet
    situation.is_log_lost = 1 if situation.behind > 0 and is_cleaned else 0
    situation.is_bare = 0 if has_checksum(start.delta) else 1
    situation.is_checkpoint_new = 1 if base.delta.checkpoint > start.delta.checkpoint else 0


@rule
def plan_attempt(protocol: DeltaProtocol, operation: Operation, situation: DeltaSituation, plan: DeltaPlan) -> None:
    """Fill ``plan``, a fresh one."""
    behind = situation.behind
    plan.version = situation.base + 1
    plan.checkpoint = situation.checkpoint
    plan.schema_reads = situation.is_checkpoint_new * protocol.schema_reads
    if lists_beside(protocol) and must_read_log(protocol, situation.attempt):
        plan.looks = 1
    plan.winner_reads = behind if situation.winners == 0 else situation.winners
    if situation.is_log_lost == 1:
        plan.winner_reads = 0  # the listing tells it
    if protocol.updates_to_retry == 1 and behind > 0:
        plan.update_lists = 1
        plan.update_reads = behind
        if situation.checkpoint > situation.base - behind:
            plan.update_checkpoint = situation.checkpoint
            plan.update_reads = situation.base - situation.checkpoint
    if protocol.log_store == DYNAMODB or protocol.log_store == CATALOG_MANAGED:
        plan.stages = 1
    plan.after_reads = protocol.own_reads
    if protocol.is_checksummed == 1:
        plan.is_checksummed = 1
        if situation.attempt > 1:
            plan.checksum_reads = 1
        elif operation.kind == BLIND_APPEND:  # who has read its files knows what a checksum holds
            plan.is_bare = situation.is_bare
    if makes_checkpoint(protocol, plan.version):
        plan.is_checkpointed = 1
        plan_clean_up(protocol, situation, plan)
    if reloads(protocol, operation):
        plan_reload(situation, plan)


@rule
def reloads(protocol: DeltaProtocol, operation: Operation) -> bool:
    """Whether the table is brought up to date once more after the commit: a compaction of delta-rs does it."""
    return operation.kind == OPTIMIZE and protocol.client == DELTA_RS


@rule
def plan_reload(situation: DeltaSituation, plan: DeltaPlan) -> None:
    """Commits since the table was loaded, or a checkpoint that was made since, and the commits behind it."""
    newest = plan.version if plan.is_checkpointed == 1 else situation.checkpoint
    plan.reload_reads = situation.since_start + 1
    if newest > situation.base - situation.since_start:
        plan.reload_checkpoint = newest
        plan.reload_reads = plan.version - newest


@rule
def plan_clean_up(protocol: DeltaProtocol, situation: DeltaSituation, plan: DeltaPlan) -> None:
    """Which commit files are deleted after the checkpoint: expired ones, and with them the checkpoints among them."""
    expired = min(situation.older, situation.base)
    if protocol.cleans_log == 1 and expired > situation.cleaned:
        interval = protocol.checkpoint_interval
        plan.clean_to = expired
        files = expired - situation.cleaned + expired // interval - situation.cleaned // interval
        plan.deletes = -(-files // protocol.files_per_delete)
