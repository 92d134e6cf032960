"""Keys of one source that contradict each other, or what its tables are: rows for ``endive.config.contradictions``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any, Final

from endive.config.arrivals import Closed, Jobs, Trace
from endive.config.conditions import (
    Condition,
    Contradiction,
    Scene,
    all_of,
    any_of,
    is_,
    is_above,
    is_absent,
    is_more,
    is_not,
    is_so,
)
from endive.config.problems import shown
from endive.config.stream import stream_problem
from endive.config.table_list import unknown_tables
from endive.config.transaction import BACKOFF_KEYS, TABLES_PER_TXN_MAX, FixedCount, ShareOfFiles
from endive.vocabulary import KINDS, KINDS_OF

KEPT_TABLES_MAX: Final = 10_000_000
APPENDS: Final = ("fast_append", "merge_append")
ADDS_ALONE: Final = ("fast_append", "merge_append", "blind_append")
OF_WHOLE_TABLES: Final = ("rewrite_manifests", "expire_snapshots")
APPEND: Final = is_("catalog.type", "append")
BY_FILES: Final = is_("conflict.detector", "files")
PARTITIONED: Final = is_("catalog.partitions.enabled", True)
LISTS_APPENDED: Final = is_("transaction.manifest_list_mode", "append")


def _clients(scene: Scene) -> int:
    arrivals = scene.value("arrivals")
    return arrivals.clients if isinstance(arrivals, Closed) else arrivals.jobs if isinstance(arrivals, Jobs) else 0


def _kept_per_client(scene: Scene) -> int:
    return int(scene.config.catalog.num_tables * (1 + scene.config.catalog.partitions.num_partitions))


def _touches_too_many(scene: Scene) -> bool:
    counts = scene.value("touched_files")
    if counts is None or isinstance(counts, ShareOfFiles):
        return False
    most = counts.value if isinstance(counts, FixedCount) else counts.max
    return bool(most > scene.config.table.data_files)


def _others(scene: Scene, *own: str) -> list[str]:
    weights = scene.value("operation_types")
    return [kind for kind in KINDS if kind not in (own or ("rewrite_files",)) and getattr(weights, kind)]


def _has_contrary_backoff(scene: Scene) -> bool:
    table = scene.written("retry_backoff")
    written = table if isinstance(table, Mapping) else {}
    return {"enabled", "policy"} <= written.keys() and written["enabled"] is (written["policy"] == "none")


def _arrives(*kinds: type) -> Condition:
    return is_so("arrivals", lambda scene: isinstance(scene.value("arrivals"), kinds))


def _is_weighed(kind: str) -> Condition:
    return is_above(f"operation_types.{kind}", 0)


def _own_tables(scene: Scene) -> int:
    only = scene.value("tables.only")
    return int(scene.config.catalog.num_tables) if only is None else len(only)


def _unknown(scene: Scene) -> tuple[int | str, ...]:
    return unknown_tables(scene.value("tables"), scene.config.catalog)


def _fewest_partitions(scene: Scene) -> int:
    """Of any table."""
    return int(min(scene.value("catalog.partitions.per_table") or [scene.value("catalog.partitions.num_partitions")]))


UNKNOWN_TABLES: Final = is_so("tables.only catalog.num_tables catalog.table_names", lambda s: bool(_unknown(s)))
KEEPS: Final = is_("keeps_table", True)
KEEPS_AND_STAYS: Final = all_of(KEEPS, _arrives(Closed, Jobs))
IS_JOB: Final = is_so("partial_progress", lambda scene: scene.value("partial_progress") is not None)

DELTA: Final = is_("table.format", "delta")
DELTA_ROWS: Final = (
    *(
        Contradiction(
            f"operation_types.{kind}",
            all_of(_is_weighed(kind), is_not("table.format", name)),
            f"{{key}} is an operation of table.format = {name!r}, and table.format is {{table.format!q}}. Choose from "
            f"its own: {', '.join(kind for other in KINDS_OF if other != name for kind in KINDS_OF[other])}.",
        )
        for name, kinds in KINDS_OF.items()
        for kind in kinds
    ),
    Contradiction(
        "read",
        all_of(DELTA, is_("read", "columns")),
        "{key} = 'columns' belongs to table.format = 'iceberg'. Delta tells files apart by their partitions; choose "
        "one of: table, partitions, files.",
    ),
    Contradiction(
        "isolation",
        all_of(is_not("table.format", "delta"), is_("isolation", "write_serializable")),
        "{key} = 'write_serializable' belongs to table.format = 'delta'. Choose one of: serializable, snapshot.",
    ),
    Contradiction(
        "tables.count",
        all_of(
            DELTA,
            is_so(
                "tables.count tables.count_zipf tables.count_distribution",
                lambda s: (
                    s.value("tables.count") > 1
                    or s.value("tables.count_zipf") is not None
                    or s.value("tables.count_distribution") is not None
                ),
            ),
        ),
        "{key}: a txn of table.format = 'delta' commits to the log of one table, and to nothing else. Set "
        "tables.count = 1 and leave tables.count_zipf and tables.count_distribution out.",
    ),
)

READ_ROWS: Final = (
    Contradiction(
        "read",
        all_of(is_("read", "partitions"), is_("catalog.partitions.enabled", False)),
        "{key} = {value} needs partitions, and the table has none: a predicate then narrows nothing. Set read = "
        "'table', or catalog.partitions.enabled = true and catalog.partitions.num_partitions.",
    ),
    Contradiction(
        "read",
        is_so(
            "read real_conflict_probability",
            lambda scene: scene.value("read") is not None and scene.is_given("real_conflict_probability"),
        ),
        "{key} = {value} and real_conflict_probability are both given, and each decides who fails. Keep one of them.",
    ),
    Contradiction(
        "checks",
        all_of(is_("checks", "added_rows"), is_("overwrite", "overwrite_files")),
        "{key} = {value} is how a merge-on-read DELETE is checked, and overwrite = 'overwrite_files' is copy-on-write. "
        "Choose one of: all, none.",
    ),
    Contradiction(
        "commit_path",
        all_of(is_("commit_path", "epoch"), is_so("operation_types", lambda scene: bool(_others(scene, *APPENDS)))),
        "{key} = {value} is how Spark's streaming appends, and operation_types has {not_appends}. Make a source of "
        "appends alone, or choose one of: table, transaction.",
    ),
    Contradiction(
        "deletes",
        all_of(is_("deletes", "vector", "equality_and_vector"), is_("table.format_version", 2)),
        "{key} = {value} needs table.format_version = 3: a v2 table has no deletion vectors. Set it, or choose one of: "
        "position, equality, equality_and_position.",
    ),
    Contradiction(
        "deletes",
        all_of(is_("deletes", "position", "equality_and_position"), is_("table.format_version", 3)),
        "{key} = {value} does not fit table.format_version = 3, which takes no new files of position deletes. Choose "
        "one of: vector, equality, equality_and_vector.",
    ),
    Contradiction(
        "deletes",
        all_of(
            is_("deletes", "equality", "equality_and_position", "equality_and_vector"),
            is_("overwrite", "row_delta"),
            is_not("checks", "none"),
        ),
        "{key} = {value} does not fit checks = {checks!q}: Spark and Trino write no equality deletes, and the sinks "
        "that do (Flink, Kafka Connect) check nothing. Set checks = 'none', or leave deletes out.",
    ),
)


def _shares_unlike(scene: Scene) -> bool:
    """Whether another source of the same queue gathers at another interval, or into another table."""
    assert scene.source is not None
    own = scene.source
    mates = [each for each in scene.config.sources if each.commit_queue == own.commit_queue]
    return any((each.gather_every_ms, each.tables.only) != (own.gather_every_ms, own.tables.only) for each in mates)


GATHERS: Final = is_so(
    "gather_every_ms commit_queue",
    lambda s: s.value("gather_every_ms") is not None and s.value("commit_queue") is not None,
)
GATHER_ROWS: Final = (
    Contradiction(
        "gather_every_ms",
        all_of(
            GATHERS,
            is_so(
                "operation_types",
                lambda s: any(
                    weight for kind, weight in s.value("operation_types").model_dump().items() if kind not in ADDS_ALONE
                ),
            ),
        ),
        "{key} = {value} gathers files that are added, and operation_types has other kinds. Make a source of appends "
        f"alone ({', '.join(ADDS_ALONE)}), or leave gather_every_ms out: they then commit one after another.",
    ),
    Contradiction(
        "gather_every_ms",
        all_of(GATHERS, is_so("tables catalog.num_tables", lambda s: _own_tables(s) > 1)),
        "{key} = {value} makes one commit to one table of all, and the source has {n_own}. Name one in tables.only.",
    ),
    Contradiction(
        "gather_every_ms",
        all_of(GATHERS, PARTITIONED),
        "{key} = {value} is not simulated for catalog.partitions.enabled = true: which partitions one commit of many "
        "writers touches is not kept. Leave the partitions out, or gather_every_ms.",
    ),
    Contradiction(
        "gather_every_ms",
        all_of(GATHERS, is_above("failures.lost_answer_rate", 0)),
        "{key} = {value} is not simulated together with failures.lost_answer_rate = {failures.lost_answer_rate}: what "
        "the writers learn then is not known. Keep one of them.",
    ),
    Contradiction(
        "gather_every_ms",
        all_of(GATHERS, is_so("gather_every_ms commit_queue tables", _shares_unlike)),
        "{key} = {value}: sources that share commit_queue = {commit_queue!q} have one coordinator. Give them the same "
        "gather_every_ms and tables.only, or queues of their own.",
    ),
)

SOURCE_ROWS: Final = (
    *DELTA_ROWS,
    *READ_ROWS,
    Contradiction(
        "keeps_table",
        all_of(KEEPS, is_so("arrivals", lambda scene: not isinstance(scene.value("arrivals"), (Closed, Jobs)))),
        "{key} = true needs clients that stay, and arrivals of kind {arrivals.kind!q} have none. Choose arrivals from: "
        '{{kind = "closed", clients = 4}}, {{kind = "jobs", jobs = 30, period_ms = 30000}}; or set keeps_table to '
        "false.",
    ),
    Contradiction(
        "keeps_table",
        all_of(KEEPS_AND_STAYS, APPEND),
        "{key} = true is not available with catalog.type = 'append'. Set keeps_table to false, or choose another "
        "catalog.type.",
    ),
    Contradiction(
        "keeps_table",
        all_of(KEEPS_AND_STAYS, LISTS_APPENDED, is_not("catalog.type", "append")),
        "{key} = true is not available with transaction.manifest_list_mode = 'append'. Set keeps_table to false, or "
        "choose another transaction.manifest_list_mode.",
    ),
    Contradiction(
        "keeps_table",
        all_of(
            KEEPS,
            is_so(
                "arrivals catalog.num_tables catalog.partitions",
                lambda scene: _clients(scene) * _kept_per_client(scene) > KEPT_TABLES_MAX,
            ),
        ),
        "{key} = true with {clients} clients and {kept} tables and partitions must not make more than "
        f"{KEPT_TABLES_MAX} kept states. Lower one of them.",
    ),
    Contradiction(
        "partial_progress",
        all_of(IS_JOB, is_so("operation_types", lambda scene: bool(_others(scene)))),
        "{key} is how a compaction commits, and operation_types has {others}. Make a source of rewrite_files alone, or "
        "leave partial_progress out.",
    ),
    Contradiction(
        "partial_progress",
        all_of(IS_JOB, _arrives(Closed, Jobs, Trace)),
        "{key} makes a job of every arrival, and arrivals of kind {arrivals.kind!q} are single txns. "
        'Choose arrivals such as {{kind = "periodic", period_ms = 600000}}.',
    ),
    Contradiction(
        "partial_progress.threads",
        all_of(IS_JOB, is_more("partial_progress.threads", "partial_progress.commits")),
        "{key} = {partial_progress.threads} must not exceed partial_progress.commits = {partial_progress.commits}: a "
        "thread makes at least one of the commits. Lower threads.",
    ),
    Contradiction(
        "operation_types.expire_snapshots",
        all_of(_is_weighed("expire_snapshots"), is_absent("retain_last"), is_absent("expire_older_than_ms")),
        "{key} needs to know which snapshots are kept. Give retain_last = 10 (the newest ten), expire_older_than_ms = "
        "3600000 (the last hour), or both.",
    ),
    *(
        Contradiction(
            f"operation_types.{kind}",
            all_of(_is_weighed(kind), is_("catalog.scope", "partition")),
            "{key} changes whole tables, and catalog.scope = 'partition' checks partitions one by one. Choose "
            "catalog.scope from: catalog, group, table.",
        )
        for kind in OF_WHOLE_TABLES
    ),
    Contradiction(
        "operation_types.rewrite_manifests",
        all_of(_is_weighed("rewrite_manifests"), LISTS_APPENDED),
        "{key} writes a new manifest list, and transaction.manifest_list_mode = 'append' only adds to the old one. Set "
        "it to 'rewrite', or leave the kind out.",
    ),
    Contradiction(
        "touched_files",
        all_of(BY_FILES, is_so("touched_files table.data_files", _touches_too_many)),
        "{key} = {value} must not exceed table.data_files = {table.data_files}: an operation cannot touch more files "
        "than a table has. Lower it, or give a share such as '5%'.",
    ),
    Contradiction(
        "start_ms",
        is_so("start_ms simulation.duration_ms", lambda s: s.value("start_ms") >= s.config.simulation.duration_ms),
        "{key} = {start_ms} must be less than simulation.duration_ms = {simulation.duration_ms}, or the source never "
        "submits.",
    ),
    Contradiction(
        "stop_ms",
        is_so(
            "stop_ms start_ms", lambda s: s.value("stop_ms") is not None and s.value("stop_ms") <= s.value("start_ms")
        ),
        "{key} = {stop_ms} must be greater than start_ms = {start_ms}.",
    ),
    Contradiction(
        "retry_backoff.enabled",
        is_so("retry_backoff", _has_contrary_backoff),
        "{key} = {value} contradicts policy = {policy}. Keep one of them.",
    ),
    Contradiction(
        "retry_backoff.base_ms",
        all_of(
            is_so("retry_backoff", lambda s: "max_ms" in BACKOFF_KEYS[s.value("retry_backoff.policy")]),
            is_more("retry_backoff.base_ms", "retry_backoff.max_ms"),
        ),
        "{key} = {retry_backoff.base_ms} must not exceed max_ms = {retry_backoff.max_ms}.",
    ),
    Contradiction(
        "tables.count_zipf",
        all_of(
            is_so("tables.count_zipf", lambda s: s.value("tables.count_zipf") is not None),
            is_above("catalog.num_tables", TABLES_PER_TXN_MAX),
        ),
        "{key} = {tables.count_zipf} may draw as many tables as there are, catalog.num_tables = {catalog.num_tables}, "
        f"and a txn has at most {TABLES_PER_TXN_MAX}. Lower catalog.num_tables, or give tables.count.",
    ),
    Contradiction(
        "tables.count_distribution",
        all_of(
            is_so("tables.count_distribution", lambda s: s.value("tables.count_distribution") is not None),
            is_so("tables.count_zipf", lambda s: s.value("tables.count_zipf") is not None),
        ),
        "{key} and tables.count_zipf are both given. Keep one of them.",
    ),
    Contradiction(
        "tables.count_distribution",
        all_of(
            is_so("tables.count_distribution", lambda s: s.value("tables.count_distribution") is not None),
            is_above("catalog.num_tables", TABLES_PER_TXN_MAX),
        ),
        "{key} may draw as many tables as there are, catalog.num_tables = {catalog.num_tables}, and a txn has at most "
        f"{TABLES_PER_TXN_MAX}. Lower catalog.num_tables, or give tables.count.",
    ),
    Contradiction(
        "tables.count",
        is_more("tables.count", "catalog.num_tables"),
        "{key} = {tables.count} must not exceed catalog.num_tables = {catalog.num_tables}.",
    ),
    Contradiction(
        "after_failure",
        all_of(is_not("after_failure.kind", "lost"), _arrives(Trace)),
        "{key} is not available with arrivals of kind 'trace', which says itself what was submitted again. Leave "
        "after_failure out, or choose other arrivals.",
    ),
    Contradiction(
        "after_failure.delay_ms",
        all_of(
            is_("after_failure.kind", "restart"),
            is_so("after_failure", lambda s: not s.value("after_failure.delay_ms")),
        ),
        '{key} is missing: a restart takes time. Give how long, such as "30s" (Flink\'s restart strategy, and the time '
        "until the job runs again).",
    ),
    Contradiction(
        "after_failure",
        all_of(
            is_("after_failure.kind", "restart"),
            is_so("arrivals", lambda scene: not _clients(scene) and not isinstance(scene.value("arrivals"), Trace)),
        ),
        "{key}.kind = 'restart' takes a job down, and arrivals of kind {arrivals.kind!q} are no jobs. Choose arrivals "
        'such as {{kind = "jobs", jobs = 1, period_ms = 60000}}, or after_failure = "carried".',
    ),
    Contradiction(
        "after_failure",
        all_of(is_("after_failure.kind", "rerun"), is_above("application_retries", 0)),
        "{key}.kind = 'rerun' and application_retries = {application_retries} both run the txn again. Keep one.",
    ),
    Contradiction(
        "after_failure",
        all_of(is_("after_failure.kind", "rerun"), IS_JOB),
        "{key}.kind = 'rerun' is not available with partial_progress, whose commits share a job. Keep one.",
    ),
    Contradiction(
        "commit_queue",
        all_of(
            is_so("commit_queue", lambda s: s.value("commit_queue") is not None),
            any_of(is_above("application_retries", 0), is_("after_failure.kind", "rerun")),
        ),
        "{key} = {value} holds the turn until the txn has ended, and application_retries or after_failure = 'rerun' "
        "would work and pause meanwhile. Leave one of them out.",
    ),
    *GATHER_ROWS,
    Contradiction(
        "fresh_within_ms",
        is_so(
            "fresh_within_ms arrivals operation_types adds_rows",
            lambda s: s.value("fresh_within_ms") is not None and stream_problem(s.source) is not None,
        ),
        "{key} = {value} speaks of data that this source does not have: {no_stream}",
    ),
    Contradiction(
        "tables.only",
        UNKNOWN_TABLES,
        "{key} = {value} names what is no table here: {unknown}. Tables are numbered from 0 to "
        "catalog.num_tables - 1 = {last_table}, and catalog.table_names gives them names.",
    ),
    Contradiction(
        "tables.count",
        all_of(
            is_so("tables.only tables.count", lambda s: s.value("tables.only") is not None),
            is_so("catalog.num_tables", lambda s: len(s.value("tables.only") or ()) < s.value("tables.count")),
            is_so("tables.count", lambda s: s.value("tables.count") <= s.value("catalog.num_tables")),
        ),
        "{key} = {tables.count} must not exceed the number of tables in tables.only, {n_only}.",
    ),
    Contradiction(
        "tables.one_each",
        all_of(is_("tables.one_each", True), is_so("arrivals", lambda scene: not _clients(scene))),
        "{key} = true gives every client or job a table, and arrivals of kind {arrivals.kind!q} have none. Choose "
        'arrivals such as {{kind = "jobs", jobs = 40, period_ms = 3600000}}, or list the tables in tables.only.',
    ),
    Contradiction(
        "tables.one_each",
        all_of(
            is_("tables.one_each", True),
            is_so("arrivals tables.only catalog.num_tables", lambda scene: _clients(scene) > _own_tables(scene)),
        ),
        "{key} = true needs a table for each of {clients} clients, and there are {n_own}. Set catalog.num_tables = "
        "{clients}, or lower the number of clients.",
    ),
    Contradiction(
        "partitions.count",
        all_of(PARTITIONED, is_more("partitions.count", "catalog.partitions.num_partitions")),
        "{key} = {partitions.count} must not exceed catalog.partitions.num_partitions = "
        "{catalog.partitions.num_partitions}.",
    ),
    Contradiction(
        "partitions.weights",
        all_of(
            PARTITIONED,
            is_so(
                "partitions.weights catalog.partitions.num_partitions catalog.partitions.per_table",
                lambda s: len(s.value("partitions.weights") or ()) > _fewest_partitions(s),
            ),
        ),
        "{key} = {value} must not hold more numbers than a table has partitions: catalog.partitions.num_partitions, or "
        "the least of catalog.partitions.per_table.",
    ),
    Contradiction(
        "partitions.count",
        all_of(
            PARTITIONED,
            is_so(
                "partitions.count partitions.weights",
                lambda s: (
                    0 < sum(each > 0 for each in s.value("partitions.weights") or ()) < s.value("partitions.count")
                ),
            ),
        ),
        "{key} = {partitions.count} must not exceed the number of partitions with a weight in partitions.weights.",
    ),
    Contradiction(
        "arrivals.path",
        all_of(_arrives(Trace), is_so("arrivals", lambda s: not FilePath(s.value("arrivals.path")).is_file())),
        "{key} = {value} does not exist. Give the path of a trace file.",
    ),
)


def words_of_source(scene: Scene) -> dict[str, Any]:
    """What a sentence about a source may name beside keys."""
    return {
        "clients": _clients(scene),
        "kept": _kept_per_client(scene),
        "others": ", ".join(_others(scene)),
        "not_appends": ", ".join(_others(scene, *APPENDS)),
        "unknown": ", ".join(map(shown, _unknown(scene))),
        "last_table": scene.config.catalog.num_tables - 1,
        "n_only": len(scene.value("tables.only") or ()),
        "n_own": _own_tables(scene),
        "no_stream": stream_problem(scene.source) or "",
        "policy": shown(scene.written("retry_backoff.policy")),
    }
