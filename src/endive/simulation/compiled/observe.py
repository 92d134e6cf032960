"""The observer of the compiled engine: what a txn was shown and installed, held against a second set of books.

Owns which places of the arrays are compared. States no rule of its own: they are those of ``endive.catalog.ledger``,
which the reference engine's observer calls as well. Changes nothing but its own places; the first violation stays in
the books, and the engine raises it when the loop comes back.
"""

from endive.catalog.ledger import (
    BY_CATALOG,
    BY_GROUP,
    BY_PARTITION,
    COMMITS,
    THE_CATALOG,
    begin_commit,
    change_unit,
    check_base,
    check_installed,
    check_instant,
    check_log,
    check_once,
    check_seen,
    check_told,
    deciding_unit,
    unit_of_group,
    unit_of_partition,
    unit_of_table,
)
from endive.catalog.rules import LOG_EPOCH, LOG_OFFSET, N_COUNTERS, VERSION
from endive.distributions.code import IntArray
from endive.kernel import inlined, leaf
from endive.results.schema import (
    ROW_N_TABLES_READ,
    ROW_N_TABLES_WRITTEN,
    ROW_STATUS,
    ROW_TXN_ID,
    STATUS_COMMITTED,
)
from endive.simulation.compiled.layout import (
    C_B_EXPECTED,
    C_B_PARTITION_COUNTS,
    C_B_PARTITIONS,
    C_B_WATCHED,
    C_ENTRY_BYTES,
    C_GROUPS,
    C_LEDGER,
    C_PARTITIONS,
    C_PARTITIONS_MAX,
    C_Q,
    C_SCOPE,
    C_TABLES,
    C_V,
    G_LOG,
    X_BASE_COMMIT,
    X_BASE_US,
    X_N_WATCHED,
    X_TIMES_APPLIED,
    B,
    G,
    R,
)

UNSEEN = -1  # the version of a unit that a txn meets others on and was shown nothing of


@inlined
def observe_read(m: IntArray, x: IntArray, i: int, now: int) -> None:
    """A txn has just been shown the catalog."""
    at = m[C_LEDGER]
    txn = x[i + R + ROW_TXN_ID]
    x[i + X_BASE_COMMIT] = m[at + COMMITS]
    check_instant(m, at, txn, now, x[i + X_BASE_US])
    if m[C_SCOPE] == BY_CATALOG:
        check_seen(m, at, txn, THE_CATALOG, x[i + B + m[C_B_EXPECTED]], now)
    else:
        observe_units_read(m, x, i, now)


@leaf
def observe_units_read(m: IntArray, x: IntArray, i: int, now: int) -> None:
    """What it was shown of every unit it meets others on."""
    at = m[C_LEDGER]
    txn = x[i + R + ROW_TXN_ID]
    expected = i + B + m[C_B_EXPECTED]
    groups = m[C_GROUPS]
    shown = 0
    for position in range(x[i + R + ROW_N_TABLES_READ]):
        table = x[i + B + position]
        if m[C_SCOPE] == BY_PARTITION:
            first = i + B + m[C_B_PARTITIONS] + position * m[C_PARTITIONS_MAX]
            for j in range(x[i + B + m[C_B_PARTITION_COUNTS] + 2 * position]):
                unit = unit_of_partition(table, x[first + j], groups, m[C_TABLES], m[C_PARTITIONS])
                check_seen(m, at, txn, unit, x[expected + shown], now)
                shown += 1
        elif m[C_SCOPE] == BY_GROUP:
            unit = unit_of_group(table, groups)
            check_seen(m, at, txn, unit, shown_of_group(m, x, i, unit), now)
        else:
            check_seen(m, at, txn, unit_of_table(table, groups), x[expected + position], now)


@leaf
def shown_of_group(m: IntArray, x: IntArray, i: int, unit: int) -> int:
    """The version of a group that the txn was shown; several of its tables may share it."""
    for j in range(x[i + X_N_WATCHED]):
        if x[i + B + m[C_B_WATCHED] + j] == unit:
            return x[i + B + m[C_B_EXPECTED] + j]
    return UNSEEN


@leaf
def observe_commit(m: IntArray, x: IntArray, i: int, now: int) -> None:
    """A txn's commit has just been installed."""
    at = m[C_LEDGER]
    txn = x[i + R + ROW_TXN_ID]
    check_once(m, at, txn, x[i + X_TIMES_APPLIED], now)
    x[i + X_TIMES_APPLIED] += 1
    if m[C_SCOPE] == BY_CATALOG:
        check_base(m, at, txn, THE_CATALOG, x[i + X_BASE_COMMIT], now)
    else:
        observe_base(m, x, i, now)
    begin_commit(m, at)
    check_installed(m, at, txn, THE_CATALOG, m[m[C_V]], now)
    groups = m[C_GROUPS]
    for position in range(x[i + R + ROW_N_TABLES_WRITTEN]):
        table = x[i + B + position]
        unit = unit_of_table(table, groups)
        change_unit(m, at, unit)
        check_installed(m, at, txn, unit, m[m[C_V] + unit], now)
        check_installed(m, at, txn, unit, m[m[C_Q] + table * N_COUNTERS + VERSION], now)
        if groups > 0:
            unit = unit_of_group(table, groups)
            change_unit(m, at, unit)
            check_installed(m, at, txn, unit, m[m[C_V] + unit], now)
        if m[C_PARTITIONS] > 0:
            first = i + B + m[C_B_PARTITIONS] + position * m[C_PARTITIONS_MAX]
            for j in range(x[i + B + m[C_B_PARTITION_COUNTS] + 2 * position + 1]):
                unit = unit_of_partition(table, x[first + j], groups, m[C_TABLES], m[C_PARTITIONS])
                change_unit(m, at, unit)
                check_installed(m, at, txn, unit, m[m[C_V] + unit], now)


@leaf
def observe_base(m: IntArray, x: IntArray, i: int, now: int) -> None:
    """Nothing that the txn touches has changed since the commit it built on."""
    at = m[C_LEDGER]
    txn = x[i + R + ROW_TXN_ID]
    base_commit = x[i + X_BASE_COMMIT]
    for position in range(x[i + R + ROW_N_TABLES_READ]):
        table = x[i + B + position]
        if m[C_SCOPE] == BY_PARTITION:
            first = i + B + m[C_B_PARTITIONS] + position * m[C_PARTITIONS_MAX]
            for j in range(x[i + B + m[C_B_PARTITION_COUNTS] + 2 * position]):
                unit = unit_of_partition(table, x[first + j], m[C_GROUPS], m[C_TABLES], m[C_PARTITIONS])
                check_base(m, at, txn, unit, base_commit, now)
        else:
            check_base(m, at, txn, deciding_unit(m[C_SCOPE], table, m[C_GROUPS]), base_commit, now)


@inlined
def observe_rebase(m: IntArray, x: IntArray, i: int) -> None:
    """A server that may do so has rebased a change that commutes on the newest state."""
    x[i + X_BASE_COMMIT] = m[m[C_LEDGER] + COMMITS]


@leaf
def observe_log(m: IntArray, x: IntArray, i: int, has_applied: bool, now: int) -> None:
    """A request has just been at the log of an append catalog."""
    log = G + G_LOG
    txn = x[i + R + ROW_TXN_ID]
    check_log(m, m[C_LEDGER], txn, m[log + LOG_OFFSET], m[log + LOG_EPOCH], m[C_ENTRY_BYTES], has_applied, now)


@inlined
def observe_end(m: IntArray, x: IntArray, i: int, now: int) -> None:
    """A txn has ended, and its row says what it was told."""
    is_committed = x[i + R + ROW_STATUS] == STATUS_COMMITTED
    check_told(m, m[C_LEDGER], x[i + R + ROW_TXN_ID], is_committed, x[i + X_TIMES_APPLIED], now)
