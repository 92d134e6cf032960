"""Who orders commits, servers that answer otherwise, and sources with tables of their own, for random configurations.

tests/simulation/test_order_of_commits.py says what each does.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from tests.properties.section_strategies import Mapping, distributions, maybe, ms
from tests.properties.strategies import configs, drop_unread

from endive.config.sections.stream import stream_problem_of

ADDED_ALONE = {"validated_overwrite": 0.0, "rewrite_files": 0.0, "rewrite_manifests": 0.0, "expire_snapshots": 0.0}


@st.composite
def ordered_configs(draw: Any, can_keep_and_fail: bool = True) -> Mapping:
    """A configuration of Iceberg tables, with whatever can order its commits."""
    drawn: Mapping = draw(configs(can_keep_and_fail))
    add_order(draw, drawn)
    return drawn


def add_order(draw: Any, config: Mapping) -> None:
    """Tables of one's own, quotas, a lock, batches, a coordinator, refusals for good, commits that are known again."""
    catalog, commit, lost = config["catalog"], config["commit"], config.get("failures")
    for source in config["source"]:
        _add_own_tables(draw, source, catalog["num_tables"])
        _add_freshness(draw, source, config["transaction"])
    drop_unread(config["transaction"], config["source"])
    service, is_alone = catalog.get("service", {}), _commits_to_one(config)
    if service:
        maybe(service, draw, "refusal", st.sampled_from(("retried", "retried", "final")))
        if not service.get("workers") and "time" not in service:
            maybe(service, draw, "calls_per_s", st.sampled_from((8.0, 40.0, 1_000.0)))
    if service.get("flavour") == "rest":
        if catalog.get("scope", "table") == "table" and not service.get("server_retries") and draw(st.booleans()):
            service["rolls_back_compactions"] = True
        if is_alone and not service.get("server_retries") and "rolls_back_compactions" not in service:
            maybe(service, draw, "batch_ms", st.sampled_from((20.0, 100.0, 700.0)))
            service.pop("rebase", None)
        if lost and draw(st.booleans()):
            service["idempotency_keys"] = True
            for key in ("status_checks", "absent_commit"):
                lost.pop(key, None)
    elif service and is_alone and lost is None:
        is_checked = commit.get("metadata", "if_current" if commit["protocol"] == "pyiceberg" else "") == "if_current"
        if not is_checked:
            maybe(service, draw, "lock", table_locks())
    if lost is None:
        _add_coordinator(draw, config["source"], catalog, config["transaction"])
        drop_unread(config["transaction"], config["source"])


def _commits_to_one(config: Mapping) -> bool:
    """Whether every txn commits to one table."""
    choices = [{**config["transaction"], **source}.get("tables", {}) for source in config["source"]]
    is_one = (choice.get("one_each") or choice.get("count", 1) == 1 for choice in choices)
    is_drawn = any({"count_zipf", "count_distribution"} & set(choice) for choice in choices)
    return config["catalog"]["num_tables"] == 1 or (all(is_one) and not is_drawn)


def _add_own_tables(draw: Any, source: Mapping, num_tables: int) -> None:
    """A table for each client or job, where there are enough."""
    clients = source["arrivals"].get("clients", source["arrivals"].get("jobs", num_tables + 1))
    if clients <= num_tables and draw(st.booleans()):
        source["tables"] = {"one_each": True}


def _add_freshness(draw: Any, source: Mapping, transaction: Mapping) -> None:
    """A bound on the age of data, where a source has data whose age can be told; some sources are made so."""
    rewrites = {"partial_progress", "rewritten_files"} & set(source)
    is_job = source["arrivals"]["kind"] in ("jobs", "periodic") and not rewrites
    if is_job and draw(st.booleans()):
        source["operation_types"] = {**ADDED_ALONE, "fast_append": 1.0, "merge_append": draw(ms(0.0, 1.0))}
    if stream_problem_of({**transaction, **source}) is None:
        maybe(source, draw, "fresh_within_ms", st.sampled_from((50.0, 900.0)))


@st.composite
def table_locks(draw: Any) -> Mapping:
    """Hive's, or DynamoDB's beside Glue, faster than they are."""
    lock: Mapping = {"kind": draw(st.sampled_from(("hive", "dynamodb"))), "wait_ms": draw(ms(1.0, 40.0))}
    if lock["kind"] == "dynamodb":
        lock |= {"lease_ms": draw(ms(1.0, 100.0)), "latency": draw(distributions(high=8.0))}
    maybe(lock, draw, "multiplier", st.sampled_from((1.0, 3.0)))
    lock["wait_max_ms"] = draw(ms(40.0, 90.0))
    lock["timeout_ms"] = draw(st.sampled_from((10.0, 200.0, 180_000.0)))
    return lock


def _add_coordinator(draw: Any, sources: list[Mapping], catalog: Mapping, transaction: Mapping) -> None:
    """One that gathers the files of the sources which share a queue, and lets all they do be appends."""
    if catalog["num_tables"] > 1 or "partitions" in catalog or draw(st.integers(0, 3)) == 0:
        return
    apart = {"partial_progress", "rewritten_files", "after_failure"}
    can_wait = [source for source in sources if not apart & set(source)]
    mates = [source for source in can_wait if source["arrivals"]["kind"] != "trace"]
    mates = [source for source in mates if not {**transaction, **source}.get("application_retries")]
    if {source.get("commit_queue") for source in sources if source not in mates} - {None}:
        return  # somebody else waits there as well
    if len({str({**transaction, **mate}.get("tables", {}).get("only")) for mate in mates}) > 1:
        return  # who shares a queue names the same tables
    every_ms = draw(ms(20.0, 900.0))
    for mate in mates:
        mate["operation_types"] = {**ADDED_ALONE, "fast_append": 1.0, "merge_append": draw(ms(0.0, 1.0))}
        mate |= {"commit_queue": "gathered", "gather_every_ms": every_ms}
