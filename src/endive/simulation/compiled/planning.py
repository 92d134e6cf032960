"""What an attempt will cost: the situation of every written table, and the plan that follows from it.

Owns how the counters a txn has seen become the vectors of ``endive.transaction.rules``, which does the planning.
"""

from endive.catalog.rules import (
    SCOPE_PARTITION,
)
from endive.distributions.code import FloatArray, IntArray
from endive.kernel import inlined, leaf
from endive.results.schema import (
    ROW_ATTEMPTS,
    ROW_FALSE_CONFLICTS,
    ROW_N_TABLES_WRITTEN,
    ROW_REAL_CONFLICTS,
)
from endive.rng import (
    CONFLICTING_MANIFESTS,
    slot,
    uniform,
)
from endive.simulation.compiled.layout import (
    C_B_PARTITION_COUNTS,
    C_B_PARTITION_VERSIONS,
    C_B_PLANS,
    C_CONFLICTING,
    C_CONFLICTING_MAX,
    C_CONFLICTING_MIN,
    C_CONFLICTING_VALUE,
    C_DETECTOR,
    C_PARTITIONS,
    C_PARTITIONS_MAX,
    C_PROTOCOL,
    C_SCOPE,
    F_CONFLICTING_MEAN,
    FIRST_SOURCE_FLOAT,
    FS_REAL_PROBABILITY,
    G_SITUATION,
    N_FS,
    N_PLANS,
    N_SNAPS,
    SNAP_BASE,
    SNAP_PREVIOUS,
    SNAP_START,
    X_ATTEMPT,
    X_KEY,
    X_OPERATION,
    X_SOURCE,
    B,
    G,
    R,
)
from endive.simulation.compiled.sizes import table_at
from endive.transaction.conflicting import conflicting_manifests
from endive.transaction.detectors import DETECTOR_PROBABILISTIC, is_real_by_chance
from endive.transaction.protocol import (
    N_PROTOCOL,
)
from endive.transaction.rules import (
    CONFLICTING,
    IS_REAL,
    N_OPERATION,
    N_SITUATION,
    describe_situation,
    plan_attempt,
    rivals_since,
)


@leaf
def partitions_moved(m: IntArray, x: IntArray, i: int, position: int, since: int) -> int:
    """Commits to the touched partitions since the snapshot at ``since`` (0: start, 1: previous)."""
    room = m[C_PARTITIONS_MAX]
    at = m[C_B_PARTITION_VERSIONS] + position * 3 * room
    moved = 0
    for j in range(x[i + B + m[C_B_PARTITION_COUNTS] + 2 * position]):
        moved += x[i + B + at + 2 * room + j] - x[i + B + at + since * room + j]
    return moved


@leaf
def overlaps(m: IntArray, x: IntArray, i: int, position: int) -> bool:
    """Whether a written partition of the table has moved since the attempt before."""
    room = m[C_PARTITIONS_MAX]
    at = m[C_B_PARTITION_VERSIONS] + position * 3 * room
    for j in range(x[i + B + m[C_B_PARTITION_COUNTS] + 2 * position + 1]):
        if x[i + B + at + 2 * room + j] != x[i + B + at + room + j]:
            return True
    return False


@inlined
def plan(m: IntArray, f: FloatArray, x: IntArray, i: int) -> bool:
    """Fill in the plan of every written table; whether a real conflict stands in the way."""
    o = m[x[i + X_OPERATION] : x[i + X_OPERATION] + N_OPERATION]
    s = m[G + G_SITUATION : G + G_SITUATION + N_SITUATION]
    p = m[C_PROTOCOL : C_PROTOCOL + N_PROTOCOL]
    key = x[i + X_KEY]
    attempt = x[i + R + ROW_ATTEMPTS]
    is_real = False
    for position in range(x[i + R + ROW_N_TABLES_WRITTEN]):
        at = table_at(m, position)
        filtered = -1
        behind = -1
        if m[C_PARTITIONS] > 0:
            filtered = partitions_moved(m, x, i, position, 0)
            if m[C_SCOPE] == SCOPE_PARTITION:
                behind = partitions_moved(m, x, i, position, 1)
        describe_situation(
            o,
            x[i + X_ATTEMPT],
            x[i + B + at + SNAP_START : i + B + at + SNAP_PREVIOUS],
            x[i + B + at + SNAP_PREVIOUS : i + B + at + SNAP_BASE],
            x[i + B + at + SNAP_BASE : i + B + at + N_SNAPS],
            filtered,
            behind,
            s,
        )
        if rivals_since(p, o, s) > 0:
            if m[C_DETECTOR] == DETECTOR_PROBABILISTIC:
                probability = f[FIRST_SOURCE_FLOAT + x[i + X_SOURCE] * N_FS + FS_REAL_PROBABILITY]
                s[IS_REAL] = 1 if is_real_by_chance(key, attempt, position, probability) else 0
            else:
                s[IS_REAL] = 1 if overlaps(m, x, i, position) else 0
            if s[IS_REAL] == 1:
                is_real = True
                s[CONFLICTING] = conflicting_manifests(
                    m[C_CONFLICTING],
                    f[F_CONFLICTING_MEAN],
                    m[C_CONFLICTING_VALUE],
                    m[C_CONFLICTING_MIN],
                    m[C_CONFLICTING_MAX],
                    uniform(key, slot(attempt, CONFLICTING_MANIFESTS, position)),
                )
        first = m[C_B_PLANS] + position * N_PLANS
        plan_attempt(p, o, s, x[i + B + first : i + B + first + N_PLANS])
    if is_real:
        x[i + R + ROW_REAL_CONFLICTS] += 1
    elif x[i + X_ATTEMPT] > 1:
        x[i + R + ROW_FALSE_CONFLICTS] += 1
    return is_real
