"""Mistakes in the rules of the model and in the statistics that people read, each with the tests that catch it.

A mistake is a line of a file and what stands in its place. ``tools.mutate`` plants them one at a time;
``make test`` only holds that every line is still there, so that the list cannot grow stale.
"""

from typing import Final, NamedTuple

from tools.statistical_mistakes import STATISTICS


class Mutation(NamedTuple):
    """One mistake: ``before`` stands in ``file`` once."""

    name: str
    file: str
    before: str
    after: str
    caught_by: str


CONFLICTS: Final = "src/endive/formats/iceberg/conflicts.py"
PLAN: Final = "src/endive/formats/iceberg/plan.py"
PROTOCOL: Final = "src/endive/formats/iceberg/protocol.py"
CATALOG: Final = "src/endive/catalog/rules.py"
RETRY: Final = "src/endive/transaction/retry.py"
PAIRS: Final = "tests/formats tests/verification/java/test_java_pairs.py"
REQUESTS: Final = "tests/formats tests/verification/java/test_java_requests.py"
SERVERS: Final = "tests/catalog"
DELTA: Final = "src/endive/formats/delta/"
DELTA_SUITES: Final = "tests/verification/delta"
DELTA_LAWS: Final = "tests/formats/delta"
LOOKS: Final = "tests/transaction/test_second_look.py"
PAUSES: Final = "tests/transaction/test_retry.py"

# A name, a file, what stands there, what stands there instead, and who must notice.
_RULES: Final = (
    ("one retry fewer", RETRY, "if attempt > retries_max:", "if attempt >= retries_max:", PAUSES),
    ("a first attempt times out", RETRY, "elapsed_us > timeout_us and attempt > 1", "elapsed_us > timeout_us", PAUSES),
    ("Iceberg's jitter goes both ways", RETRY, "1.0 + jitter * u", "1.0 + jitter * (2.0 * u - 1.0)", PAUSES),
    (
        "a pause without its maximum",
        RETRY,
        "            wait_ms = max_ms\n        if policy == BACKOFF_EXPONENTIAL:",
        "            wait_ms *= 1.0\n        if policy == BACKOFF_EXPONENTIAL:",
        PAUSES,
    ),
    (
        "an epoch goes on from the table as it was loaded",
        "src/endive/transaction/transaction.py",
        "            start = yield from look(self, world, start, PHASE_CATALOG_READ)",
        "            yield from look(self, world, start, PHASE_CATALOG_READ)",
        LOOKS,
    ),
    (
        "rows that lie apart are minded",
        CONFLICTS,
        "return is_adding and operation.adds_apart == 0",
        "return is_adding",
        PAIRS,
    ),
    (
        "a Transaction finds the list of an expired snapshot",
        "src/endive/formats/iceberg/maintenance.py",
        "if attempt == 1 and is_in_transaction(operation) and 0 < snapshot_number(start) <= base.iceberg.expired:",
        "if attempt == 0:",
        PAIRS,
    ),
    (
        "snapshot isolation minds new rows",
        CONFLICTS,
        "return operation.isolation == SERIALIZABLE and is_by_statistics",
        "return is_by_statistics",
        PAIRS,
    ),
    (
        "a sequenced compaction minds deletes by key",
        CONFLICTS,
        "return change != ROWS_ADDED and (change != KEYS_DELETED or operation.is_sequenced == 0)",
        "return change != ROWS_ADDED",
        PAIRS,
    ),
    (
        "Spark's DELETE misses a delete file that it replaces",
        CONFLICTS,
        "(is_row_delta(operation) and operation.misses_deletes == 1)",
        "(is_row_delta(operation) and operation.replaces_deletes == 1)",
        PAIRS,
    ),
    (
        "Spark's DELETE minds a dropped file",
        CONFLICTS,
        "return operation.is_referring == 1 and operation.checks == CHECKS_ALL",
        "return operation.is_referring == 1",
        PAIRS,
    ),
    (
        "a row delta takes its file away",
        CONFLICTS,
        "operation.kind == VALIDATED_OVERWRITE and operation.form != ROW_DELTA",
        "operation.kind == VALIDATED_OVERWRITE",
        PAIRS,
    ),
    (
        "replacements are not looked into",
        CONFLICTS,
        "    if is_removing or has_vectors:\n        matching += replaced",
        "    if has_vectors:\n        matching += replaced",
        REQUESTS,
    ),
    (
        "the current list is read twice",
        PLAN,
        "                cost.list_reads = 0  # the current list is one of them",
        "                cost.list_reads = 1",
        REQUESTS,
    ),
    (
        "a refusal that tells the state is not believed",
        PROTOCOL,
        "return attempt > 1 and not is_state_known",
        "return attempt > 1",
        REQUESTS + " tests/simulation/test_worked_examples.py",
    ),
    (
        "an operation reads nothing back",
        PROTOCOL,
        "return protocol.after_success == AFTER_RELOAD",
        "return False",
        REQUESTS,
    ),
    ("a stale record lands in a log", CATALOG, "if log.offset != expected_offset:", "if log.offset < 0:", SERVERS),
    (
        "a log is sealed one entry late",
        CATALOG,
        "log.entries >= compaction_max_entries",
        "log.entries > compaction_max_entries",
        SERVERS,
    ),
    ("nobody waits for a worker", CATALOG, "max(now_us, free_us[best]) + service_us", "now_us + service_us", SERVERS),
    (
        "a table moves without its version",
        CATALOG,
        "versions[table_slot(num_groups, table)] += 1",
        "versions[table_slot(num_groups, table)] += 0",
        SERVERS,
    ),
)

_RULES_OF_DELTA: Final = (
    (
        "a checksum is there with its commit",
        "effects.py",
        "(kept.checksums << 1) & ALL_CHECKSUMS",
        "ALL_CHECKSUMS",
        DELTA_LAWS,
    ),
    (
        "a checksum is that of the version before",
        "effects.py",
        "newer = table.delta, table.version - plan.version",
        "newer = table.delta, table.version - plan.version + 1",
        DELTA_LAWS,
    ),
    (
        "a table without a checksum is loaded as any other",
        "payments.py",
        "is_new and not has_checksum(table.delta)",
        "is_new and not has_checksum(table.delta) and files < 0",
        DELTA_SUITES,
    ),
    (
        "a client goes on from its first listing",
        "protocol.py",
        '        "lists_again": 1,\n',
        "",
        DELTA_LAWS,
    ),
    (
        "a loser reads the log for its checksum once",
        "payments.py",
        "    if plan.checksum_reads > 0:\n        ranges = protocol.protocol_reads",
        "    if plan.checksum_reads > 1:\n        ranges = protocol.protocol_reads",
        DELTA_SUITES,
    ),
    (
        "a blind append of delta-rs minds no removals",
        "conflicts.py",
        "is_without = operation.kind == BLIND_APPEND or operation.kind == OPTIMIZE",
        "is_without = operation.kind == OPTIMIZE",
        DELTA_SUITES,
    ),
    (
        "write-serializable minds blind appends",
        "conflicts.py",
        "return operation.isolation == SERIALIZABLE",
        "return True",
        DELTA_LAWS,
    ),
    (
        "a compaction minds added files",
        "conflicts.py",
        "return (operation.kind == APPEND_AFTER_READ or operation.kind == MERGE) and",
        "return operation.kind != BLIND_APPEND and",
        DELTA_LAWS,
    ),
    (
        "a MERGE survives the compaction of its files",
        "conflicts.py",
        "return change == REMOVED or (change == REARRANGED and operation.client != DELTA_RS)",
        "return change == REMOVED",
        DELTA_LAWS,
    ),
    (
        "delta-rs counts checkpoints as Delta Spark does",
        "protocol.py",
        "return version // interval * interval",
        "return (version - 1) // interval * interval",
        DELTA_SUITES,
    ),
    (
        "Delta Spark lists before its first attempt",
        "protocol.py",
        "return protocol.looks_first == 1 or attempt > 1",
        "return True",
        DELTA_SUITES,
    ),
    (
        "an update reads past the checkpoint",
        "plan.py",
        "        if situation.checkpoint > situation.base - behind:",
        "        if situation.checkpoint > situation.base:",
        DELTA_SUITES,
    ),
    (
        "a compaction reloads from its start past a checkpoint",
        "plan.py",
        "    if newest > situation.base - situation.since_start:",
        "    if newest > situation.base + situation.since_start:",
        DELTA_SUITES,
    ),
    (
        "the log is cleaned up to its end",
        "plan.py",
        "expired = min(situation.older, situation.base)",
        "expired = situation.base",
        DELTA_LAWS,
    ),
    (
        "a log that was cleaned up is no obstacle",
        "plan.py",
        "1 if situation.behind > 0 and is_cleaned else 0",
        "0",
        DELTA_LAWS,
    ),
    ("nobody learns of a checkpoint", "effects.py", "return plan.is_checkpointed == 1", "return False", DELTA_SUITES),
    (
        "winners are read at the same time",
        "payments.py",
        "COMMIT_FILE, READ, own.sizes.commit_bytes, plan.winner_reads, 1)",
        "COMMIT_FILE, READ, own.sizes.commit_bytes, plan.winner_reads, 64)",
        DELTA_SUITES,
    ),
)

_CONFIGURATION: Final = "src/endive/config/"
_RULES_OF_KEYS: Final = (
    (
        "a switch that is off turns nothing off",
        "effects.py",
        "            if not is_met:\n                idle[each.key]",
        "            if False:\n                idle[each.key]",
        "tests/config/test_refusals.py",
    ),
    (
        "a key that rests on a key at fault is reported",
        "reading/load.py",
        "if not _rests_on(problem, at_fault)]",
        "if problem]",
        "tests/config/test_refusals.py",
    ),
    (
        "a key that names its unit moves the hash",
        "simulation_config.py",
        "table |= {former: table.pop(present)",
        "table |= {present: table.pop(present)",
        "tests/config/test_resolution.py",
    ),
    (
        "a problem names the present spelling",
        "reading/spellings.py",
        "document.origins[*place, new] = written",
        "document.origins[*place, new] = (*place, new)",
        "tests/config/test_refusals.py",
    ),
)

MUTATIONS: Final = (
    *(Mutation(*mistake) for mistake in STATISTICS),
    *(Mutation(*rule) for rule in _RULES),
    *(Mutation(name, DELTA + file, *rest) for name, file, *rest in _RULES_OF_DELTA),
    *(Mutation(name, _CONFIGURATION + file, *rest) for name, file, *rest in _RULES_OF_KEYS),
)
