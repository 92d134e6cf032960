"""The rules an engine calls, whatever the table's format: this is the seam between engines and formats.

Each rule hands on to the format of the world (``world.format``), and this is the only place that does. Where a rule has
no world, the kind of the operation says whose it is. ``txn`` and ``world`` are an engine's own; ``table``,
``situation`` and ``plan`` are the records of ``endive.formats.nesting``.

The order in which an engine calls them: ``pay_before_load``, ``pay_load``; then for every attempt
``must_read_catalog``, ``describe``, ``is_beset``, ``verdict_on``, ``plan``, ``pay_validation``, ``pay_build``,
``pay_last_step``, and at the server ``install``; ``lose`` after a refusal, ``win``, ``pay_afterwards`` and ``publish``
after a success, ``pay_clean_up`` at the end.
"""

from typing import Any

from endive.distributions.counts import draw_count
from endive.formats.delta import conflicts as delta_conflicts
from endive.formats.delta import effects as delta_effects
from endive.formats.delta import plan as delta_planning
from endive.formats.delta import protocol as delta_protocol
from endive.formats.delta.table import ALL_CHECKSUMS
from endive.formats.iceberg import conflicts, effects, maintenance, protocol
from endive.formats.iceberg import plan as planning
from endive.formats.iceberg.draws import CONFLICTING_MANIFESTS
from endive.formats.iceberg.protocol import protocol_of
from endive.formats.iceberg.table import list_bytes, metadata_bytes
from endive.formats.nesting import FormatSettings, Plan, Situation, TableState
from endive.formats.operation import CLASS_NONE, CLASS_REPLACE, Operation
from endive.kernel import Ints, rule
from endive.rng import slot, uniform
from endive.vocabulary import (
    CHECKPOINT,
    COMMIT_FILE,
    EXPIRE_SNAPSHOTS,
    FAST_APPEND,
    FIRST_DELTA_KIND,
    MANIFEST,
    MANIFEST_LIST,
)

# The same for both formats, or of one that alone is asked.
snapshot_of = effects.snapshot_number
builds_before_looking = effects.is_in_transaction  # on the table as loaded, until its first attempt asks for the newest
undo = effects.undo
ground_against = delta_conflicts.ground_against


def batched_objects(settings: FormatSettings) -> tuple[int, ...]:
    """What a txn asks for several at a time: lists of the history, manifests; files of the log."""
    return (COMMIT_FILE, CHECKPOINT) if settings.is_delta else (MANIFEST_LIST, MANIFEST)


def requests_at_a_time(settings: FormatSettings) -> int:
    """How many requests of a batch are under way together."""
    return settings.delta.protocol.parallel_max if settings.is_delta else settings.iceberg.protocol.parallel_max


@rule
def may_ask_for_many(settings: FormatSettings, operation: Operation) -> bool:
    """Whether the operation may ask for many objects of a kind, depending on how many others commit meanwhile.

    If not, no sum of equal draws is ever needed, and the compiled engine saves the tables of such sums.
    """
    if settings.is_delta == 1 or operation.kind != FAST_APPEND or effects.is_in_transaction(operation):
        return True
    own = settings.iceberg.protocol
    return own.history == protocol.HISTORY_EVERY_KIND or own.real_conflict == protocol.REAL_MERGE


def begin_table(world: Any, table: TableState) -> None:
    """A table as it is before the first txn, with so many versions: its log has the checkpoints it would have."""
    if world.format.is_delta == 1:
        own = world.format.delta.protocol
        table.delta.checksums = ALL_CHECKSUMS
        table.delta.checkpoint = delta_protocol.last_checkpoint(own, table.version)
        if own.cleans_log == 1:
            table.delta.cleaned = max(0, table.delta.checkpoint - 1)


def inlined_bytes(world: Any, table: TableState) -> int:
    """What the table adds to the catalog object."""
    return 0 if world.format.is_delta else effects.inlined_bytes(world.format.iceberg, table)


# --- the life of a txn ------------------------------------------------------------------------------


@rule
def looks_at_kept(world: Any) -> bool:
    """Whether a txn whose client has kept its table asks at its beginning what is new."""
    return bool(world.format.is_delta == 1 and world.format.delta.protocol.looks_at_kept == 1)


@rule
def lists_twice(world: Any) -> bool:
    """Whether a client that has loaded its table asks once more what is new, and goes on from that."""
    return bool(world.format.is_delta == 1 and world.format.delta.protocol.lists_again == 1)


@rule
def learns_by_looking(world: Any) -> bool:
    """Whether a client that keeps its table goes on from what a txn saw while it committed, also if that failed.

    A table of delta-rs moves when it is loaded, and when a commit succeeds.
    """
    return bool(world.format.is_delta == 0 or world.format.delta.protocol.client != delta_protocol.DELTA_RS)


@rule
def must_read_catalog(world: Any, operation: Operation, attempt: int, is_state_known: bool) -> bool:
    """Whether this attempt pays a catalog read before it builds."""
    if world.format.is_delta == 1:
        return delta_protocol.must_read_log(world.format.delta.protocol, attempt)
    return protocol.must_read_catalog(protocol_of(world.format.iceberg, operation), attempt, is_state_known)


@rule
def builds_on_told_state(world: Any, operation: Operation) -> bool:
    """Whether a retry builds on the state that came with a refusal."""
    own = protocol_of(world.format.iceberg, operation)
    return world.format.is_delta == 0 and own.base == protocol.BASE_START


@rule
def appends_before_swap(world: Any) -> bool:
    """Whether objects that others see are appended to between the build and the swap."""
    return bool(world.format.iceberg.protocol.is_list_appended == 1)


@rule
def checks_before_last_step(world: Any, operation: Operation) -> bool:
    """Whether the attempt asks if its base is still current before it pays for its last step."""
    return world.format.is_delta == 0 and protocol.checks_before_metadata(protocol_of(world.format.iceberg, operation))


@rule
def reads_base_last(world: Any, operation: Operation, attempt: int) -> bool:
    """Whether the attempt reads the version it swaps on only when all is written."""
    own = protocol_of(world.format.iceberg, operation)
    return world.format.is_delta == 0 and protocol.reads_base_last(own, operation, attempt)


@rule
def rereads_catalog(world: Any, operation: Operation) -> bool:
    """Whether a committed operation reads the catalog once more to learn the new state."""
    own = protocol_of(world.format.iceberg, operation)
    return world.format.is_delta == 0 and protocol.rereads_catalog(own, operation)


# --- planning ---------------------------------------------------------------------------------------


@rule
def asks_for_age(operation: Operation) -> bool:
    """Whether the operation wants to know how old a table's snapshots are."""
    return operation.kind == EXPIRE_SNAPSHOTS or (operation.kind >= FIRST_DELTA_KIND and operation.expire_age_us > 0)


@rule
def count_before(times_us: Ints, first: int, count: int, before_us: int) -> int:
    """How many of ``count`` ascending times from ``first`` on lie before ``before_us``."""
    low = 0
    high = count
    while low < high:
        middle = (low + high) // 2
        if times_us[first + middle] < before_us:
            low = middle + 1
        else:
            high = middle
    return low


@rule
def describe(
    world: Any,
    operation: Operation,
    attempt: int,
    start: TableState,
    previous: TableState,
    base: TableState,
    partition_manifests: int,
    partition_behind: int,
    older: int,
    situation: Situation,
) -> None:
    """Fill ``situation``: one table, as it was at the fixed start, at the attempt before, and is at this one's base.

    ``partition_manifests`` and ``partition_behind`` count commits to the txn's partitions since the start and since the
    attempt before (-1: they do not matter), ``older`` the snapshots older than the age the operation keeps.
    """
    if world.format.is_delta == 1:
        own_protocol = world.format.delta.protocol
        delta_planning.describe_situation(own_protocol, attempt, start, previous, base, older, situation.delta)
    else:
        own = situation.iceberg
        chosen = protocol_of(world.format.iceberg, operation)
        planning.describe_situation(
            chosen, operation, attempt, start, previous, base, partition_manifests, partition_behind, own
        )
        maintenance.describe_maintenance(chosen, operation, start, previous, base, older, own)


@rule
def is_beset(world: Any, operation: Operation, situation: Situation, is_by_files: bool) -> bool:
    """Whether somebody committed beside the operation with whom it could be in real conflict: ask the detector."""
    if world.format.is_delta == 1:
        return situation.delta.behind > 0 and delta_conflicts.has_read(operation)
    own = situation.iceberg
    return conflicts.rivals_since(protocol_of(world.format.iceberg, operation), operation, own, is_by_files) > 0


@rule
def is_in_conflict(world: Any, situation: Situation) -> bool:
    """Whether the conflict on this table is real."""
    return world.format.is_delta == 0 and situation.iceberg.is_real == 1


@rule
def find_conflict(world: Any, key: int, attempt: int, position: int, ground: int, situation: Situation) -> None:
    """The conflict on the table at ``position`` is real, on this ground; draws what that costs."""
    if world.format.is_delta == 1:
        situation.delta.ground = ground
    else:
        u = uniform(key, slot(attempt, CONFLICTING_MANIFESTS, position))
        situation.iceberg.is_real = 1
        situation.iceberg.conflicting = draw_count(world.format.iceberg.conflicting, u)


@rule
def checks_in_order(world: Any) -> bool:
    """Whether an attempt looks at the commits since one after another, and stops at the first that makes it fail."""
    return bool(world.format.is_delta == 1)


@rule
def commits_kept(world: Any, num_tables: int, num_partitions: int) -> int:
    """How many of a table's newest commits are remembered one by one for that."""
    return delta_conflicts.commits_kept(num_tables, num_partitions) if world.format.is_delta == 1 else 0


@rule
def stop_at(world: Any, situation: Situation, ground: int, commits: int) -> None:
    """It has looked at so many commits when one makes it fail, on this ground; 0: on the one that is known."""
    if world.format.is_delta == 1:
        situation.delta.winners = commits
        if ground != 0:
            situation.delta.ground = ground


@rule
def verdict_on(world: Any, operation: Operation, situation: Situation, reason: int) -> int:
    """Why the attempt must end here, after one more table; ``reason`` is what the tables before it said."""
    if world.format.is_delta == 1:
        return delta_conflicts.verdict_on(operation, situation.delta, reason)
    return conflicts.verdict_on(situation.iceberg, protocol_of(world.format.iceberg, operation), reason)


@rule
def plan(world: Any, operation: Operation, situation: Situation, made: Plan) -> None:
    """Fill ``made``, a fresh plan, with what the attempt does on one table."""
    if world.format.is_delta == 1:
        delta_planning.plan_attempt(world.format.delta.protocol, operation, situation.delta, made.delta)
    else:
        planning.plan_attempt(world.format.iceberg, operation, situation.iceberg, made.iceberg)


@rule
def refreshes_first(operation: Operation) -> bool:
    """Whether it asks for the newest state before its commit begins, and goes on from that."""
    return operation.is_epoch == 1


# --- how an attempt ends ----------------------------------------------------------------------------


@rule
def lose(world: Any, txn: Any, made: Plan) -> None:
    """The attempt was refused: remember what it wrote on one table for nothing."""
    if world.format.is_delta == 0:
        effects.lose(protocol_of(world.format.iceberg, txn.operation), txn.leftovers, made.iceberg)


@rule
def win(world: Any, txn: Any, made: Plan) -> None:
    """The attempt was installed: remember what it wrote on one table that is of no use any more."""
    if world.format.is_delta == 0:
        superfluous = effects.merged_away(protocol_of(world.format.iceberg, txn.operation), txn.operation, made.iceberg)
        txn.leftovers.lost_manifests += superfluous


@rule
def install(world: Any, table: TableState, operation: Operation, made: Plan) -> int:
    """The commit is the table's newest state; by how many bytes that makes the catalog object grow."""
    if world.format.is_delta == 1:
        delta_effects.install(table, operation, made.delta)
        return 0
    before_bytes = effects.inlined_bytes(world.format.iceberg, table)
    effects.install(table, operation, made.iceberg)
    return effects.inlined_bytes(world.format.iceberg, table) - before_bytes


@rule
def undoable(world: Any, table: TableState, base: TableState) -> int:
    """How many commits since ``base`` a catalog that rolls compactions back may undo; 0 if one is none of them."""
    return 0 if world.format.is_delta == 1 else effects.undoable(table, base)


@rule
def replaces(operation: Operation) -> bool:
    """Whether a commit puts files or manifests in the place of others that hold the same rows."""
    return effects.class_of(operation) == CLASS_REPLACE


@rule
def publishes(world: Any, made: Plan) -> bool:
    """Whether a committed operation adds something to its table afterwards that others can see."""
    return world.format.is_delta == 1 and delta_effects.publishes(made.delta)


@rule
def publish(world: Any, table: TableState, made: Plan) -> None:
    """That is there now."""
    if world.format.is_delta == 1:
        delta_effects.publish(table, made.delta)


@rule
def installs_snapshot(operation: Operation) -> bool:
    """Whether a commit leaves a new snapshot behind, or changes something about the table only."""
    return effects.class_of(operation) != CLASS_NONE


@rule
def writes_at_server(world: Any) -> bool:
    """Whether a server that writes an object per commit for its clients has one to write."""
    return bool(world.format.iceberg.protocol.is_inlined == 0 and world.format.is_delta == 0)


@rule
def server_bytes(world: Any, operation: Operation, table: TableState, made: Plan) -> int:
    """Size of the object that such a server writes, or that the commit itself creates."""
    if world.format.is_delta == 1:
        return int(world.format.delta.sizes.commit_bytes)
    snapshots = effects.snapshots_after(operation, table, made.iceberg)
    return metadata_bytes(world.format.iceberg.sizes, snapshots)


@rule
def server_list_bytes(world: Any, table: TableState) -> int:
    """Size of the list that a server rewrites to put a commit on another base."""
    if world.format.is_delta == 1:
        return 0
    return list_bytes(world.format.iceberg.sizes, table.iceberg.manifests + 1)
