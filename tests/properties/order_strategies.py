"""Who orders commits, and servers that answer otherwise: added to random configurations for the engines to agree on.

The laws look at attempts one by one and keep to configurations without them; tests/simulation/test_order_of_commits.py
says what each does.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from tests.properties.strategies import Mapping, distributions, drop_unread, maybe, ms


def add_order(draw: Any, config: Mapping) -> None:
    """A lock, batches, a coordinator, refusals for good, commits that are known again."""
    catalog, commit, lost = config["catalog"], config["commit"], config.get("failures")
    service, is_alone = catalog.get("service", {}), catalog["num_tables"] == 1
    if service:
        maybe(service, draw, "refusal", st.sampled_from(("retried", "retried", "final")))
    if service.get("flavour") == "rest":
        if is_alone and not service.get("server_retries"):
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
        _add_coordinator(draw, config["source"], catalog)
        drop_unread(config["transaction"], config["source"])


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


def _add_coordinator(draw: Any, sources: list[Mapping], catalog: Mapping) -> None:
    """One that gathers the files of the sources which share a queue, if all they do is append."""
    if catalog["num_tables"] > 1 or "partitions" in catalog or draw(st.booleans()):
        return
    for source in sources:
        queue = source.get("commit_queue")
        mates = [each for each in sources if each.get("commit_queue") == queue]
        if queue is not None and source is mates[0]:
            every_ms = draw(ms(20.0, 900.0))
            for mate in mates:
                if "partial_progress" in mate or mate["arrivals"]["kind"] == "trace":
                    break
            else:
                for mate in mates:
                    unused = {"validated_overwrite": 0.0, "rewrite_files": 0.0, "expire_snapshots": 0.0}
                    mate["operation_types"] = {**unused, "fast_append": 1.0, "merge_append": draw(ms(0.0, 1.0))}
                    mate["gather_every_ms"] = every_ms
